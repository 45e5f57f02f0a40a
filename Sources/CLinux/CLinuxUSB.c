#include "CLinuxUSB.h"

#include <linux/usbdevice_fs.h>
#include <sys/ioctl.h>

int clinux_usb_reset(int descriptor) { return ioctl(descriptor, USBDEVFS_RESET, 0); }
