// What the kernel's Bluetooth sockets exchange with programs. linux-libc-dev lacks it, and the headers that have it are
// those of a library under the GPL; numbers and layouts are the kernel's and never change.

#ifndef CLINUX_KERNEL_BLUETOOTH_H
#define CLINUX_KERNEL_BLUETOOTH_H

#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { KERNEL_PROTOCOL_HCI = 1 };

struct kernel_hci_address {
    sa_family_t family;
    uint16_t device;
    uint16_t channel;
};

// Options of an HCI socket, and the control message beside a received packet.
enum { KERNEL_LEVEL_HCI = 0, KERNEL_HCI_DATA_DIRECTION = 1, KERNEL_HCI_FILTER = 2, KERNEL_HCI_MESSAGE_DIRECTION = 1 };

enum { KERNEL_PACKET_ACL = 2, KERNEL_PACKET_EVENT = 4 };

struct kernel_hci_filter {
    uint32_t type_mask;
    uint32_t event_mask[2];
    uint16_t opcode;
};

// Requests.
#define KERNEL_HCI_DEVICE_UP _IOW('H', 201, int)
#define KERNEL_HCI_DEVICE_DOWN _IOW('H', 202, int)
#define KERNEL_HCI_DEVICE_LIST _IOR('H', 210, int)
#define KERNEL_HCI_DEVICE_INFO _IOR('H', 211, int)
#define KERNEL_HCI_CONNECTION_LIST _IOR('H', 212, int)
#define KERNEL_HCI_CONNECTION_INFO _IOR('H', 213, int)

// The least significant octet first.
struct kernel_address {
    uint8_t octets[6];
};

struct kernel_hci_device {
    uint16_t index;
    uint32_t flags;
};

struct kernel_hci_device_list {
    uint16_t count;
    struct kernel_hci_device devices[];
};

struct kernel_hci_device_info {
    uint16_t index;
    char name[8];
    struct kernel_address address;
    uint32_t flags;
    uint8_t type;
    uint8_t features[8];
    uint32_t packet_types;
    uint32_t link_policy;
    uint32_t link_mode;
    uint16_t acl_byte_count;
    uint16_t acl_packet_count;
    uint16_t sco_byte_count;
    uint16_t sco_packet_count;
    uint32_t statistics[10];
};

// The bit of `flags` that tells whether the adapter is up.
enum { KERNEL_HCI_UP = 0 };

struct kernel_hci_connection {
    uint16_t handle;
    struct kernel_address address;
    uint8_t type;
    uint8_t is_outgoing;
    uint16_t state;
    uint32_t link_mode;
};

struct kernel_hci_connection_list {
    uint16_t device;
    uint16_t count;
    struct kernel_hci_connection connections[];
};

enum { KERNEL_LINK_ACL = 1 };

struct kernel_hci_connection_request {
    struct kernel_address address;
    uint8_t type;
    struct kernel_hci_connection connection[];
};

_Static_assert(sizeof(struct kernel_hci_address) == 6, "as the kernel has it");
_Static_assert(sizeof(struct kernel_hci_filter) == 16, "as the kernel has it");
_Static_assert(sizeof(struct kernel_hci_device) == 8, "as the kernel has it");
_Static_assert(sizeof(struct kernel_hci_device_list) == 4, "as the kernel has it");
_Static_assert(sizeof(struct kernel_hci_device_info) == 92, "as the kernel has it");
_Static_assert(sizeof(struct kernel_hci_connection) == 16, "as the kernel has it");
_Static_assert(sizeof(struct kernel_hci_connection_list) == 4, "as the kernel has it");
_Static_assert(sizeof(struct kernel_hci_connection_request) == 8, "as the kernel has it");

#endif
