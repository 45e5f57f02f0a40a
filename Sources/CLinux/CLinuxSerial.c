// <asm/termbits.h> and <termios.h> declare the same names differently: this file sees the kernel's only.
#include "CLinuxSerial.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <linux/tty.h>
#include <string.h>

extern int ioctl(int descriptor, unsigned long request, ...);

_Static_assert(sizeof(struct termios2) <= sizeof(struct clinux_serial_settings), "settings fit");

int clinux_serial_read_settings(int descriptor, struct clinux_serial_settings *settings) {
    struct termios2 port;
    if (ioctl(descriptor, TCGETS2, &port) < 0) return -1;
    memset(settings, 0, sizeof *settings);
    memcpy(settings->bytes, &port, sizeof port);
    return 0;
}

int clinux_serial_restore_settings(int descriptor, const struct clinux_serial_settings *settings) {
    struct termios2 port;
    memcpy(&port, settings->bytes, sizeof port);
    return ioctl(descriptor, TCSETS2, &port);
}

int clinux_serial_configure(int descriptor, uint32_t baud, int hardware_flow_control, int even_parity,
                            uint32_t *actual_baud) {
    struct termios2 port;
    if (ioctl(descriptor, TCGETS2, &port) < 0) return -1;
    port.c_iflag = 0;
    port.c_oflag = 0;
    port.c_lflag = 0;
    port.c_cflag &= ~(tcflag_t)(CSIZE | PARENB | PARODD | CSTOPB | CRTSCTS | CBAUD | CBAUD << IBSHIFT);
    port.c_cflag |= CS8 | CREAD | CLOCAL | BOTHER | BOTHER << IBSHIFT;
    if (even_parity) port.c_cflag |= PARENB;
    if (hardware_flow_control) port.c_cflag |= CRTSCTS;
    port.c_ispeed = baud;
    port.c_ospeed = baud;
    port.c_cc[VMIN] = 1;
    port.c_cc[VTIME] = 0;
    if (ioctl(descriptor, TCSETS2, &port) < 0) return -1;
    if (ioctl(descriptor, TCGETS2, &port) < 0) return -1;
    *actual_baud = port.c_ospeed;
    return 0;
}

int clinux_serial_flush(int descriptor) { return ioctl(descriptor, TCFLSH, TCIOFLUSH); }

int clinux_serial_claim(int descriptor) { return ioctl(descriptor, TIOCEXCL); }
int clinux_serial_release(int descriptor) { return ioctl(descriptor, TIOCNXCL); }

int clinux_serial_is_kernel_hci(int descriptor) {
    int discipline = 0;
    return ioctl(descriptor, TIOCGETD, &discipline) == 0 && discipline == N_HCI;
}
