// HCI sockets: addresses, filters, control messages and the requests that list adapters and connections.

#ifndef CLINUX_HCI_H
#define CLINUX_HCI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int clinux_hci_socket(void);

/// - channel: 0 for raw, 1 for the user channel, 2 for the monitor.
int clinux_hci_bind(int descriptor, uint16_t adapter, uint16_t channel);

/// Lets all events and ACL data through. `*narrowed` becomes 1 when the kernel took less than it was asked for, as it
/// does without CAP_NET_RAW.
int clinux_hci_set_filter_events_and_acl(int descriptor, int *narrowed);

/// Each received packet tells its direction from now on.
int clinux_hci_enable_direction(int descriptor);

enum { CLINUX_HCI_BATCH = 32 };

/// Room for packets that are received together.
struct clinux_hci_batch;

/// - capacity: so many bytes of each packet; what is longer is cut.
/// - Returns: NULL without memory.
struct clinux_hci_batch *clinux_hci_batch_make(size_t capacity);
void clinux_hci_batch_free(struct clinux_hci_batch *batch);

/// Receives what has come, at most CLINUX_HCI_BATCH packets, without blocking; returns their count, or -1.
int clinux_hci_batch_receive(struct clinux_hci_batch *batch, int descriptor);

/// A packet of those that were received last. `*outgoing` is 1 for what this machine sent to the controller.
const void *clinux_hci_batch_packet(struct clinux_hci_batch *batch, int index, size_t *length, int *outgoing);

enum { CLINUX_HCI_MAX_ADAPTERS = 64, CLINUX_HCI_MAX_CONNECTIONS = 128 };

/// Fills in the adapters' indexes, at most 64; returns their count.
int clinux_hci_list_adapters(int descriptor, uint16_t *indexes);

/// What the kernel says of an adapter. Swift has the same structure, of the same layout.
struct clinux_adapter {
    /// Most significant octet first as printed.
    uint64_t address;
    /// Ended by a zero byte where it is shorter.
    char name[8];
    uint32_t is_up;
    /// Bus in the low four bits, kind in the two above.
    uint32_t type;
    uint32_t acl_byte_count;
    uint32_t acl_packet_count;
    /// The first page of LMP features, bit 0 first; zero while the kernel has not read them.
    uint64_t features;
};

int clinux_hci_adapter_info(int descriptor, uint16_t index, struct clinux_adapter *adapter);

/// What the kernel says of a connection. Swift has the same structure, of the same layout.
struct clinux_connection {
    uint64_t address;
    uint32_t handle;
    uint32_t type;
    uint32_t is_outgoing;
    uint32_t state;
    uint32_t mode;
    uint32_t reserved;
};

/// Fills in the connections that the kernel holds on an adapter, at most 128; returns their count.
int clinux_hci_list_connections(int descriptor, uint16_t index, struct clinux_connection *connections);

/// 1 when a user channel has taken the adapter that this raw socket is bound to: requests about a bound adapter are
/// refused with EBUSY then. The question, about a connection to nobody, changes nothing.
int clinux_hci_is_taken_by_user_channel(int descriptor);

/// Brings an adapter up or takes it down, as the kernel's own stack uses it.
int clinux_hci_set_power(int descriptor, uint16_t adapter, int on);

#endif
