// What the kernel offers and the C library's Swift module does not: epoll, eventfd, timerfd, serial ports of any speed,
// and HCI sockets. BLELinux declares these functions for Swift and does not import this module: a module that
// imports C asks everyone who sees it for the C module's map.

#ifndef CLINUX_H
#define CLINUX_H

#include "CLinuxLoop.h"
#include "CLinuxHCI.h"
#include "CLinuxSerial.h"
#include "CLinuxSystem.h"
#include "CLinuxUSB.h"

#endif
