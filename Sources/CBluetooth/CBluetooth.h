/* libbluetooth-dev: the kernel's Bluetooth sockets. Headers alone: nothing of the library is linked. */
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
