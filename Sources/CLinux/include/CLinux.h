// What the kernel offers and the C library's Swift module does not: epoll, eventfd, timerfd, serial ports of any speed,
// and HCI sockets. Swift cannot import macros with casts nor variadic functions, so each such thing is a small function.

#ifndef CLINUX_H
#define CLINUX_H

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#if !__has_include(<bluetooth/hci.h>)
#error "Bluetooth headers are missing: apt-get install libbluetooth-dev (headers only; the library is not linked)"
#endif

#include "CLinuxLoop.h"
#include "CLinuxHCI.h"
#include "CLinuxSerial.h"
#include "CLinuxSystem.h"

#endif
