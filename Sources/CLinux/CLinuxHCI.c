#define _GNU_SOURCE
#include "CLinuxHCI.h"
#include "KernelBluetooth.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

_Static_assert(
    sizeof(((struct kernel_hci_device_info *)0)->name) == sizeof(((struct clinux_adapter *)0)->name), "names fit");

int clinux_hci_socket(void) {
    return socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, KERNEL_PROTOCOL_HCI);
}

int clinux_hci_bind(int descriptor, uint16_t adapter, uint16_t channel) {
    struct kernel_hci_address address = {.family = AF_BLUETOOTH, .device = adapter, .channel = channel};
    return bind(descriptor, (struct sockaddr *)&address, sizeof address);
}

int clinux_hci_set_filter_events_and_acl(int descriptor, int *narrowed) {
    struct kernel_hci_filter wanted = {
        .type_mask = 1u << KERNEL_PACKET_EVENT | 1u << KERNEL_PACKET_ACL, .event_mask = {UINT32_MAX, UINT32_MAX}};
    struct kernel_hci_filter set;
    socklen_t length = sizeof set;
    if (setsockopt(descriptor, KERNEL_LEVEL_HCI, KERNEL_HCI_FILTER, &wanted, sizeof wanted) < 0) return -1;
    memset(&set, 0, sizeof set);
    if (getsockopt(descriptor, KERNEL_LEVEL_HCI, KERNEL_HCI_FILTER, &set, &length) < 0) return -1;
    *narrowed = set.type_mask != wanted.type_mask || set.event_mask[0] != wanted.event_mask[0] ||
                set.event_mask[1] != wanted.event_mask[1];
    return 0;
}

int clinux_hci_enable_direction(int descriptor) {
    int on = 1;
    return setsockopt(descriptor, KERNEL_LEVEL_HCI, KERNEL_HCI_DATA_DIRECTION, &on, sizeof on);
}

ssize_t clinux_hci_receive(int descriptor, void *bytes, size_t capacity, int *outgoing) {
    struct iovec vector = {.iov_base = bytes, .iov_len = capacity};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(int64_t[2]))];
    } control;
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    *outgoing = 0;
    ssize_t count = recvmsg(descriptor, &message, MSG_DONTWAIT);
    if (count < 0) return count;
    for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
        if (item->cmsg_level == KERNEL_LEVEL_HCI && item->cmsg_type == KERNEL_HCI_MESSAGE_DIRECTION) {
            int incoming;
            memcpy(&incoming, CMSG_DATA(item), sizeof incoming);
            *outgoing = !incoming;
        }
    }
    return count;
}

int clinux_hci_list_adapters(int descriptor, uint16_t *indexes) {
    union {
        struct kernel_hci_device_list list;
        char bytes[sizeof(struct kernel_hci_device_list) + CLINUX_HCI_MAX_ADAPTERS * sizeof(struct kernel_hci_device)];
    } request;
    memset(&request, 0, sizeof request);
    request.list.count = CLINUX_HCI_MAX_ADAPTERS;
    if (ioctl(descriptor, KERNEL_HCI_DEVICE_LIST, &request) < 0) return -1;
    int count = request.list.count < CLINUX_HCI_MAX_ADAPTERS ? request.list.count : CLINUX_HCI_MAX_ADAPTERS;
    for (int i = 0; i < count; i++) indexes[i] = request.list.devices[i].index;
    return count;
}

static uint64_t address_value(const struct kernel_address *address) {
    uint64_t value = 0;
    for (int i = 5; i >= 0; i--) value = value << 8 | address->octets[i];
    return value;
}

int clinux_hci_adapter_info(int descriptor, uint16_t index, struct clinux_adapter *adapter) {
    struct kernel_hci_device_info info;
    memset(&info, 0, sizeof info);
    info.index = index;
    if (ioctl(descriptor, KERNEL_HCI_DEVICE_INFO, &info) < 0) return -1;
    memset(adapter, 0, sizeof *adapter);
    adapter->address = address_value(&info.address);
    memcpy(adapter->name, info.name, sizeof adapter->name);
    adapter->is_up = (info.flags >> KERNEL_HCI_UP) & 1;
    adapter->type = info.type;
    adapter->acl_byte_count = info.acl_byte_count;
    adapter->acl_packet_count = info.acl_packet_count;
    return 0;
}

int clinux_hci_list_connections(int descriptor, uint16_t index, struct clinux_connection *connections) {
    union {
        struct kernel_hci_connection_list list;
        char bytes
            [sizeof(struct kernel_hci_connection_list) +
             CLINUX_HCI_MAX_CONNECTIONS * sizeof(struct kernel_hci_connection)];
    } request;
    memset(&request, 0, sizeof request);
    request.list.device = index;
    request.list.count = CLINUX_HCI_MAX_CONNECTIONS;
    if (ioctl(descriptor, KERNEL_HCI_CONNECTION_LIST, &request) < 0) return -1;
    int count = request.list.count < CLINUX_HCI_MAX_CONNECTIONS ? request.list.count : CLINUX_HCI_MAX_CONNECTIONS;
    for (int i = 0; i < count; i++) {
        const struct kernel_hci_connection *info = &request.list.connections[i];
        connections[i] = (struct clinux_connection){
            .address = address_value(&info->address), .handle = info->handle, .type = info->type,
            .is_outgoing = info->is_outgoing != 0, .state = info->state, .mode = info->link_mode};
    }
    return count;
}

int clinux_hci_is_taken_by_user_channel(int descriptor) {
    union {
        struct kernel_hci_connection_request request;
        char bytes[sizeof(struct kernel_hci_connection_request) + sizeof(struct kernel_hci_connection)];
    } question;
    memset(&question, 0, sizeof question);
    question.request.type = KERNEL_LINK_ACL;
    return ioctl(descriptor, KERNEL_HCI_CONNECTION_INFO, &question) < 0 && errno == EBUSY;
}

int clinux_hci_set_power(int descriptor, uint16_t adapter, int on) {
    return ioctl(descriptor, on ? KERNEL_HCI_DEVICE_UP : KERNEL_HCI_DEVICE_DOWN, (int)adapter);
}
