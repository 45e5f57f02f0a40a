#ifndef FEEDING_KERNEL_H
#define FEEDING_KERNEL_H
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// What of the kernel's Bluetooth sockets is needed here: its headers are in no package of the C library.

enum { BTPROTO_L2CAP = 0, BTPROTO_HCI = 1, HCI_CHANNEL_USER = 1, HCIDEVUP = _IOW('H', 201, int), HCIDEVDOWN = _IOW('H', 202, int) };

struct sockaddr_hci {
    sa_family_t family;
    uint16_t adapter, channel;
};

enum { ADDRESS_LE_PUBLIC = 1, ADDRESS_LE_RANDOM = 2 };

struct sockaddr_l2 {
    sa_family_t family;
    uint16_t psm;
    uint8_t address[6];
    uint16_t channel;
    uint8_t address_type;
};
#endif
