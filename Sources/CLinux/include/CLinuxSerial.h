// Serial ports at any speed: the kernel's own request, as the C library's knows only a fixed list of speeds.

#ifndef CLINUX_SERIAL_H
#define CLINUX_SERIAL_H

#include <stdint.h>

/// A port's settings as they were, opaque to Swift: the kernel's structure clashes with the C library's.
struct clinux_serial_settings {
    uint8_t bytes[128];
};

/// Reads the port's settings. ENOTTY: not a serial port.
int clinux_serial_read_settings(int descriptor, struct clinux_serial_settings *settings);

/// Gives the port the settings that were read before.
int clinux_serial_restore_settings(int descriptor, const struct clinux_serial_settings *settings);

/// Eight bits, no or even parity, one stop bit, no translation. `*actual_baud` is the speed
/// that the driver chose.
int clinux_serial_configure(int descriptor, uint32_t baud, int hardware_flow_control, int even_parity,
                            uint32_t *actual_baud);

/// Drops what was received and not read, and what was written and not sent.
int clinux_serial_flush(int descriptor);

/// Claims the port: others that open it get EBUSY (but root).
int clinux_serial_claim(int descriptor);
int clinux_serial_release(int descriptor);

/// 1 when the kernel's own Bluetooth has attached itself to the port.
int clinux_serial_is_kernel_hci(int descriptor);

#endif
