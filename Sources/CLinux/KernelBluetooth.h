// What the kernel's Bluetooth sockets exchange with programs, as libbluetooth-dev has it: numbers and layouts are the
// kernel's and never change. Nothing of the library is linked.

#ifndef CLINUX_KERNEL_BLUETOOTH_H
#define CLINUX_KERNEL_BLUETOOTH_H

#if !__has_include(<bluetooth/hci.h>)
#error "the headers of libbluetooth-dev are missing; on Debian and Ubuntu: sudo apt-get install libbluetooth-dev"
#endif

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>

_Static_assert(sizeof(struct sockaddr_hci) == 6, "as the kernel has it");
_Static_assert(sizeof(struct hci_filter) == 16, "as the kernel has it");
_Static_assert(sizeof(struct hci_dev_req) == 8, "as the kernel has it");
_Static_assert(sizeof(struct hci_dev_list_req) == 4, "as the kernel has it");
_Static_assert(sizeof(struct hci_dev_info) == 92, "as the kernel has it");
_Static_assert(sizeof(struct hci_conn_info) == 16, "as the kernel has it");
_Static_assert(sizeof(struct hci_conn_list_req) == 4, "as the kernel has it");
_Static_assert(sizeof(struct hci_conn_info_req) == 8, "as the kernel has it");

#endif
