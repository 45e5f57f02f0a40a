// epoll, eventfd, timerfd and the thread that waits on them. All return -1 with errno set, as the calls beneath.

#ifndef CLINUX_LOOP_H
#define CLINUX_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

static inline int clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int clinux_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

static inline uint64_t clinux_epoll_token(const struct epoll_event *event) { return event->data.u64; }
static inline uint32_t clinux_epoll_events(const struct epoll_event *event) { return event->events; }

static inline uint32_t clinux_epoll_readable(void) { return EPOLLIN; }
static inline uint32_t clinux_epoll_writable(void) { return EPOLLOUT; }
static inline uint32_t clinux_epoll_failed(void) { return EPOLLERR | EPOLLHUP; }

/// A counter at zero that does not block.
static inline int clinux_eventfd_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// A timer on the clock that goes on while the machine is suspended.
static inline int clinux_timerfd_create_boottime(void) {
    return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
}

/// Arms the timer for an absolute time; zero disarms it.
static inline int clinux_timerfd_set_microseconds(int timer, uint64_t microseconds) {
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(microseconds / 1000000), .tv_nsec = (long)(microseconds % 1000000) * 1000}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, 0);
}

/// Microseconds since the machine started, suspension included.
static inline uint64_t clinux_boottime_microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/// Microseconds since 1970-01-01 00:00 UTC.
static inline uint64_t clinux_unix_microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/// Starts a detached thread that takes no asynchronous signals: those belong to the program's own threads.
/// Returns an errno value, zero when the thread runs.
int clinux_thread_start(const char *name, void (*body)(void *), void *context);

#endif
