// Devices of /dev/bus/usb.

#ifndef CLINUX_USB_H
#define CLINUX_USB_H

/// Resets a device as if it were unplugged and plugged in (Linux, drivers/usb/core/devio.c, USBDEVFS_RESET). Returns when
/// the kernel has it again, which may take seconds; negative with errno.
int clinux_usb_reset(int descriptor);

#endif
