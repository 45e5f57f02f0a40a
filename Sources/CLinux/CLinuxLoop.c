#define _GNU_SOURCE
#include "CLinuxLoop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>

enum { EVENTS_PER_WAIT = 64 };

int clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int control(int epoll, int operation, int descriptor, uint32_t interest, uint64_t token) {
    uint32_t events = (interest & CLINUX_EPOLL_READABLE ? EPOLLIN : 0) | (interest & CLINUX_EPOLL_WRITABLE ? EPOLLOUT : 0) |
                      (interest & CLINUX_EPOLL_URGENT ? EPOLLPRI : 0);
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

int clinux_epoll_add(int epoll, int descriptor, uint32_t interest, uint64_t token) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, interest, token);
}

int clinux_epoll_change(int epoll, int descriptor, uint32_t interest, uint64_t token) {
    return control(epoll, EPOLL_CTL_MOD, descriptor, interest, token);
}

int clinux_epoll_remove(int epoll, int descriptor) { return control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0); }

int clinux_epoll_wait(int epoll, uint64_t *events, int capacity, int milliseconds) {
    struct epoll_event found[EVENTS_PER_WAIT];
    int count = epoll_wait(epoll, found, capacity < EVENTS_PER_WAIT ? capacity : EVENTS_PER_WAIT, milliseconds);
    for (int i = 0; i < count; i++) {
        uint32_t ready = found[i].events;
        events[2 * i] = found[i].data.u64;
        events[2 * i + 1] = (ready & EPOLLIN ? CLINUX_EPOLL_READABLE : 0) | (ready & EPOLLOUT ? CLINUX_EPOLL_WRITABLE : 0) |
                            (ready & (EPOLLERR | EPOLLHUP) ? CLINUX_EPOLL_FAILED : 0) |
                            (ready & EPOLLPRI ? CLINUX_EPOLL_URGENT : 0);
    }
    return count;
}

int clinux_eventfd_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int clinux_timerfd_create_boottime(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int clinux_timerfd_set_microseconds(int timer, uint64_t microseconds) {
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(microseconds / 1000000), .tv_nsec = (long)(microseconds % 1000000) * 1000}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, 0);
}

static uint64_t microseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t clinux_boottime_microseconds(void) { return microseconds(CLOCK_BOOTTIME); }
uint64_t clinux_unix_microseconds(void) { return microseconds(CLOCK_REALTIME); }
