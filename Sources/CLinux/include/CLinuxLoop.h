// epoll, eventfd, timerfd and the thread that waits on them. All return -1 with errno set, as the calls beneath.

#ifndef CLINUX_LOOP_H
#define CLINUX_LOOP_H

#include <stdint.h>

enum { CLINUX_EPOLL_READABLE = 1, CLINUX_EPOLL_WRITABLE = 2, CLINUX_EPOLL_FAILED = 4, CLINUX_EPOLL_URGENT = 8 };

int clinux_epoll_create(void);

/// Watches a descriptor for some of the above; `token` comes back with what it is ready for.
int clinux_epoll_add(int epoll, int descriptor, uint32_t interest, uint64_t token);
int clinux_epoll_change(int epoll, int descriptor, uint32_t interest, uint64_t token);
int clinux_epoll_remove(int epoll, int descriptor);

/// Waits, for ever with a negative timeout. Each event is two numbers: its token, and what the descriptor is ready for.
/// Returns the count of events, at most 64.
int clinux_epoll_wait(int epoll, uint64_t *events, int capacity, int milliseconds);

/// A counter at zero that does not block.
int clinux_eventfd_create(void);

/// A timer on the clock that goes on while the machine is suspended.
int clinux_timerfd_create_boottime(void);

/// Arms the timer for an absolute time; zero disarms it.
int clinux_timerfd_set_microseconds(int timer, uint64_t microseconds);

/// Microseconds since the machine started, suspension included.
uint64_t clinux_boottime_microseconds(void);

/// Microseconds since 1970-01-01 00:00 UTC.
uint64_t clinux_unix_microseconds(void);

/// Starts a detached thread that takes no asynchronous signals: those belong to the program's own threads.
/// Returns an errno value, zero when the thread runs.
int clinux_thread_start(const char *name, void (*body)(void *), void *context);

#endif
