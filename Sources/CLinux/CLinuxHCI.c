#define _GNU_SOURCE
#include "CLinuxHCI.h"
#include "KernelBluetooth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

_Static_assert(
    sizeof(((struct hci_dev_info *)0)->name) == sizeof(((struct clinux_adapter *)0)->name), "names fit");

int clinux_hci_socket(void) {
    return socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
}

int clinux_hci_bind(int descriptor, uint16_t adapter, uint16_t channel) {
    struct sockaddr_hci address = {.hci_family = AF_BLUETOOTH, .hci_dev = adapter, .hci_channel = channel};
    return bind(descriptor, (struct sockaddr *)&address, sizeof address);
}

int clinux_hci_set_filter_events_and_acl(int descriptor, int *narrowed) {
    struct hci_filter wanted = {
        .type_mask = 1u << HCI_EVENT_PKT | 1u << HCI_ACLDATA_PKT, .event_mask = {UINT32_MAX, UINT32_MAX}};
    struct hci_filter set;
    socklen_t length = sizeof set;
    if (setsockopt(descriptor, SOL_HCI, HCI_FILTER, &wanted, sizeof wanted) < 0) return -1;
    memset(&set, 0, sizeof set);
    if (getsockopt(descriptor, SOL_HCI, HCI_FILTER, &set, &length) < 0) return -1;
    *narrowed = set.type_mask != wanted.type_mask || set.event_mask[0] != wanted.event_mask[0] ||
                set.event_mask[1] != wanted.event_mask[1];
    return 0;
}

int clinux_hci_enable_direction(int descriptor) {
    int on = 1;
    return setsockopt(descriptor, SOL_HCI, HCI_DATA_DIR, &on, sizeof on);
}

enum { PAGE_BYTES = 4096 };

union direction_message {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(int64_t[2]))];
};

struct clinux_hci_batch {
    struct mmsghdr messages[CLINUX_HCI_BATCH];
    struct iovec vectors[CLINUX_HCI_BATCH];
    union direction_message controls[CLINUX_HCI_BATCH];
    // How many of the messages the kernel has filled.
    int used;
};

struct clinux_hci_batch *clinux_hci_batch_make(size_t capacity) {
    // The kernel makes a page when a packet first needs it: in most of these places, one.
    size_t stride = (capacity + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    struct clinux_hci_batch *batch = calloc(1, sizeof *batch);
    char *bytes = batch ? malloc(CLINUX_HCI_BATCH * stride) : NULL;
    if (!bytes) {
        free(batch);
        return NULL;
    }
    batch->used = CLINUX_HCI_BATCH;
    for (int index = 0; index < CLINUX_HCI_BATCH; index++) {
        batch->vectors[index] = (struct iovec){.iov_base = bytes + index * stride, .iov_len = capacity};
        batch->messages[index].msg_hdr = (struct msghdr){
            .msg_iov = &batch->vectors[index], .msg_iovlen = 1, .msg_control = &batch->controls[index]};
    }
    return batch;
}

void clinux_hci_batch_free(struct clinux_hci_batch *batch) {
    if (!batch) return;
    free(batch->vectors[0].iov_base);
    free(batch);
}

int clinux_hci_batch_receive(struct clinux_hci_batch *batch, int descriptor) {
    // Of the room for control messages, the kernel leaves how much it has used.
    for (int index = 0; index < batch->used; index++)
        batch->messages[index].msg_hdr.msg_controllen = sizeof batch->controls[index];
    int count = recvmmsg(descriptor, batch->messages, CLINUX_HCI_BATCH, MSG_DONTWAIT, NULL);
    batch->used = count > 0 ? count : 0;
    return count;
}

const void *clinux_hci_batch_packet(struct clinux_hci_batch *batch, int index, size_t *length, int *outgoing) {
    struct msghdr *message = &batch->messages[index].msg_hdr;
    *length = batch->messages[index].msg_len;
    *outgoing = 0;
    for (struct cmsghdr *item = CMSG_FIRSTHDR(message); item; item = CMSG_NXTHDR(message, item)) {
        if (item->cmsg_level == SOL_HCI && item->cmsg_type == HCI_CMSG_DIR) {
            int incoming;
            memcpy(&incoming, CMSG_DATA(item), sizeof incoming);
            *outgoing = !incoming;
        }
    }
    return batch->vectors[index].iov_base;
}

int clinux_hci_list_adapters(int descriptor, uint16_t *indexes) {
    union {
        struct hci_dev_list_req list;
        char bytes[sizeof(struct hci_dev_list_req) + CLINUX_HCI_MAX_ADAPTERS * sizeof(struct hci_dev_req)];
    } request;
    memset(&request, 0, sizeof request);
    request.list.dev_num = CLINUX_HCI_MAX_ADAPTERS;
    if (ioctl(descriptor, HCIGETDEVLIST, &request) < 0) return -1;
    int count = request.list.dev_num < CLINUX_HCI_MAX_ADAPTERS ? request.list.dev_num : CLINUX_HCI_MAX_ADAPTERS;
    for (int i = 0; i < count; i++) indexes[i] = request.list.dev_req[i].dev_id;
    return count;
}

static uint64_t address_value(const bdaddr_t *address) {
    uint64_t value = 0;
    for (int i = 5; i >= 0; i--) value = value << 8 | address->b[i];
    return value;
}

int clinux_hci_adapter_info(int descriptor, uint16_t index, struct clinux_adapter *adapter) {
    struct hci_dev_info info;
    memset(&info, 0, sizeof info);
    info.dev_id = index;
    if (ioctl(descriptor, HCIGETDEVINFO, &info) < 0) return -1;
    memset(adapter, 0, sizeof *adapter);
    adapter->address = address_value(&info.bdaddr);
    memcpy(adapter->name, info.name, sizeof adapter->name);
    adapter->is_up = (info.flags >> HCI_UP) & 1;
    adapter->type = info.type;
    adapter->acl_byte_count = info.acl_mtu;
    adapter->acl_packet_count = info.acl_pkts;
    for (int i = 7; i >= 0; i--) adapter->features = adapter->features << 8 | info.features[i];
    return 0;
}

int clinux_hci_list_connections(int descriptor, uint16_t index, struct clinux_connection *connections) {
    union {
        struct hci_conn_list_req list;
        char bytes
            [sizeof(struct hci_conn_list_req) +
             CLINUX_HCI_MAX_CONNECTIONS * sizeof(struct hci_conn_info)];
    } request;
    memset(&request, 0, sizeof request);
    request.list.dev_id = index;
    request.list.conn_num = CLINUX_HCI_MAX_CONNECTIONS;
    if (ioctl(descriptor, HCIGETCONNLIST, &request) < 0) return -1;
    int count =
        request.list.conn_num < CLINUX_HCI_MAX_CONNECTIONS ? request.list.conn_num : CLINUX_HCI_MAX_CONNECTIONS;
    for (int i = 0; i < count; i++) {
        const struct hci_conn_info *info = &request.list.conn_info[i];
        connections[i] = (struct clinux_connection){
            .address = address_value(&info->bdaddr), .handle = info->handle, .type = info->type,
            .is_outgoing = info->out != 0, .state = info->state, .mode = info->link_mode};
    }
    return count;
}

int clinux_hci_is_taken_by_user_channel(int descriptor) {
    union {
        struct hci_conn_info_req request;
        char bytes[sizeof(struct hci_conn_info_req) + sizeof(struct hci_conn_info)];
    } question;
    memset(&question, 0, sizeof question);
    question.request.type = ACL_LINK;
    return ioctl(descriptor, HCIGETCONNINFO, &question) < 0 && errno == EBUSY;
}

int clinux_hci_set_power(int descriptor, uint16_t adapter, int on) {
    return ioctl(descriptor, on ? HCIDEVUP : HCIDEVDOWN, (int)adapter);
}
