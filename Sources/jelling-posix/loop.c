#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "include/jelling-posix.h"
#include "state.h"
#include "transport.h"

enum { maximum_watches = 16, maximum_timers = 64, read_length = 16384 };

struct watch {
    int fd;
    jelling_on_readable callback;
    void *context;
};

struct timer {
    /* 0: free. */
    int number;
    int64_t due;
    jelling_on_timer callback;
    void *context;
};

struct jelling_loop {
    jelling_engine *engine;
    transport transport;
    char *name;
    int epoll, is_writing;
    jelling_on_event on_event;
    void *context;
    struct watch watches[maximum_watches];
    struct timer timers[maximum_timers];
    int last_timer;
    int must_quit, status;
    int must_reopen;
    state state;
    /* Why the file lacks what `state` has; empty: it has all. */
    char state_error[256];
    uint8_t buffer[read_length];
};

int64_t jelling_loop_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

jelling_engine *jelling_loop_engine(jelling_loop *loop) { return loop ? loop->engine : NULL; }

void jelling_loop_quit(jelling_loop *loop, int status) {
    if (!loop) return;
    loop->must_quit = 1;
    loop->status = status;
}

/* --------------------------------------------------------------- Watching */

static int set_events(jelling_loop *loop, int fd, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(loop->epoll, operation, fd, &event);
}

int jelling_loop_watch(jelling_loop *loop, int fd, jelling_on_readable callback, void *context) {
    if (!loop || fd < 0 || !callback) return fail("a watch needs a loop, a descriptor and a function");
    for (int i = 0; i < maximum_watches; i++) {
        if (loop->watches[i].callback) continue;
        if (set_events(loop, fd, EPOLL_CTL_ADD, EPOLLIN)) return fail("cannot watch: %s", strerror(errno));
        loop->watches[i] = (struct watch){fd, callback, context};
        return 0;
    }
    return fail("too many watches");
}

void jelling_loop_unwatch(jelling_loop *loop, int fd) {
    if (!loop) return;
    for (int i = 0; i < maximum_watches; i++) {
        if (!loop->watches[i].callback || loop->watches[i].fd != fd) continue;
        set_events(loop, fd, EPOLL_CTL_DEL, 0);
        loop->watches[i].callback = NULL;
    }
}

int jelling_loop_after(jelling_loop *loop, int64_t microseconds, jelling_on_timer callback, void *context) {
    if (!loop || !callback || microseconds < 0) return fail("a timer needs a loop, a span and a function");
    for (int i = 0; i < maximum_timers; i++) {
        if (loop->timers[i].number) continue;
        loop->last_timer = loop->last_timer == 0x7FFFFFFF ? 1 : loop->last_timer + 1;
        loop->timers[i] = (struct timer){loop->last_timer, jelling_loop_now() + microseconds, callback, context};
        return loop->last_timer;
    }
    return fail("too many timers");
}

void jelling_loop_cancel(jelling_loop *loop, int timer) {
    if (!loop || timer <= 0) return;
    for (int i = 0; i < maximum_timers; i++)
        if (loop->timers[i].number == timer) loop->timers[i].number = 0;
}

static void run_timers(jelling_loop *loop) {
    int64_t now = jelling_loop_now();
    for (int i = 0; i < maximum_timers && !loop->must_quit; i++) {
        struct timer timer = loop->timers[i];
        if (!timer.number || timer.due > now) continue;
        loop->timers[i].number = 0;
        timer.callback(timer.context, loop);
    }
}

/* -------------------------------------------------------------- Transport */

static int open_transport(jelling_loop *loop) {
    if (transport_open(&loop->transport, loop->name)) return -1;
    loop->is_writing = 0;
    if (set_events(loop, loop->transport.fd, EPOLL_CTL_ADD, EPOLLIN)) {
        int code = errno;
        transport_close(&loop->transport);
        return fail("cannot watch the transport: %s", strerror(code));
    }
    jelling_transport_opened(loop->engine, jelling_loop_now());
    return 0;
}

static void lose_transport(jelling_loop *loop) {
    if (loop->transport.fd < 0) return;
    transport_close(&loop->transport);
    jelling_transport_closed(loop->engine, jelling_loop_now());
}

static void send_packet(void *context, const uint8_t *packet, size_t length) {
    jelling_loop *loop = context;
    if (loop->transport.fd >= 0 && transport_send(&loop->transport, packet, length)) loop->must_reopen = 2;
}

static void read_transport(jelling_loop *loop) {
    /* A few reads at a time, so that timers and commands get their turn. */
    for (int turn = 0; turn < 16; turn++) {
        ssize_t length = read(loop->transport.fd, loop->buffer, read_length);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (length <= 0) {
            loop->must_reopen = 2;
            return;
        }
        int64_t now = jelling_loop_now();
        jelling_status status =
            loop->transport.keeps_packets
                ? jelling_receive(loop->engine, loop->buffer, (size_t)length, now)
                : jelling_receive_stream(loop->engine, loop->buffer, (size_t)length, now);
        if (status == JELLING_ERROR_FRAMING) {
            loop->must_reopen = 1;
            return;
        }
        if (length < read_length && !loop->transport.keeps_packets) return;
    }
}

/* --------------------------------------------------------------- Settling */

static void keep_bond(jelling_loop *loop, const jelling_event *event) {
    int status;
    if (event->kind == JELLING_EVENT_BOND_CHANGED)
        status = state_save_bond(&loop->state, &event->bond.identity, event->bond.blob.data, event->bond.blob.length);
    else if (event->kind == JELLING_EVENT_BOND_REMOVED) status = state_remove_bond(&loop->state, &event->address);
    else return;
    snprintf(loop->state_error, sizeof loop->state_error, "%s", status ? jelling_loop_error() : "");
}

/* Questions, packets and events, until there are none: each may lead to others. */
static void settle(jelling_loop *loop) {
    for (int is_busy = 1; is_busy;) {
        is_busy = 0;
        const jelling_question *question;
        while (jelling_next_question(loop->engine, &question) == JELLING_OK && question) {
            jelling_crypto_answer(loop->engine, question, jelling_loop_now());
            is_busy = 1;
        }
        jelling_drain(loop->engine, send_packet, loop);
        const jelling_event *event;
        while (!loop->must_quit && jelling_next_event(loop->engine, &event) == JELLING_OK && event) {
            is_busy = 1;
            keep_bond(loop, event);
            if (event->kind == JELLING_EVENT_REOPEN_TRANSPORT) loop->must_reopen = 1;
            if (loop->on_event) loop->on_event(loop->context, loop, event);
        }
        if (loop->must_reopen) {
            int is_lost = loop->must_reopen == 2;
            loop->must_reopen = 0;
            lose_transport(loop);
            is_busy = 1;
            if (is_lost) {
                fail("the controller is gone (%s)", loop->name);
                jelling_loop_quit(loop, -1);
            } else if (open_transport(loop)) {
                jelling_loop_quit(loop, -1);
            }
        }
        if (loop->must_quit) {
            jelling_drain(loop->engine, send_packet, loop);
            return;
        }
    }
    int must_write = loop->transport.waiting_length > 0;
    if (loop->transport.fd >= 0 && must_write != loop->is_writing) {
        loop->is_writing = must_write;
        set_events(loop, loop->transport.fd, EPOLL_CTL_MOD, must_write ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }
}

static int wait_milliseconds(jelling_loop *loop) {
    int64_t deadline = -1;
    jelling_next_deadline(loop->engine, &deadline);
    for (int i = 0; i < maximum_timers; i++)
        if (loop->timers[i].number && (deadline < 0 || loop->timers[i].due < deadline)) deadline = loop->timers[i].due;
    if (deadline < 0) return -1;
    int64_t span = deadline - jelling_loop_now();
    if (span <= 0) return 0;
    span = (span + 999) / 1000;
    return span > 0x7FFFFFFF ? 0x7FFFFFFF : (int)span;
}

static void handle(jelling_loop *loop, const struct epoll_event *event) {
    if (event->data.fd == loop->transport.fd) {
        if (event->events & EPOLLOUT && transport_flush(&loop->transport)) loop->must_reopen = 2;
        if (event->events & ~(uint32_t)EPOLLOUT) read_transport(loop);
        return;
    }
    for (int i = 0; i < maximum_watches; i++)
        if (loop->watches[i].callback && loop->watches[i].fd == event->data.fd)
            return loop->watches[i].callback(loop->watches[i].context, loop, event->data.fd);
}

int jelling_loop_run(jelling_loop *loop) {
    if (!loop) return fail("there is no loop");
    loop->must_quit = 0;
    settle(loop);
    while (!loop->must_quit) {
        struct epoll_event events[8];
        int count = epoll_wait(loop->epoll, events, 8, wait_milliseconds(loop));
        if (count < 0 && errno != EINTR) return fail("epoll_wait: %s", strerror(errno));
        for (int i = 0; i < count; i++) {
            handle(loop, &events[i]);
            settle(loop);
            if (loop->must_quit) break;
        }
        int64_t deadline = -1, now = jelling_loop_now();
        if (jelling_next_deadline(loop->engine, &deadline) == JELLING_OK && deadline >= 0 && deadline <= now)
            jelling_advance(loop->engine, now);
        run_timers(loop);
        settle(loop);
    }
    return loop->status;
}

const char *jelling_loop_state_error(const jelling_loop *loop) {
    return loop && *loop->state_error ? loop->state_error : NULL;
}

int jelling_loop_bond(jelling_loop *loop, size_t index, jelling_bond *bond) {
    if (!loop || !bond || index >= loop->state.count) return -1;
    *bond = (jelling_bond){.size = sizeof *bond};
    return jelling_describe_bond(loop->state.bonds[index].blob, loop->state.bonds[index].length, bond) ? -1 : 0;
}

/* ------------------------------------------------------- Opening, closing */

static int make_engine(jelling_loop *loop, const jelling_config *wished) {
    jelling_config config = {.size = sizeof config};
    jelling_security_settings security = {.size = sizeof security};
    if (wished) {
        if (wished->size > sizeof config || wished->size < sizeof config.size) return fail("the configuration has another version");
        memcpy(&config, wished, wished->size);
        config.size = sizeof config;
    }
    if (config.security) {
        if (config.security->size > sizeof security || config.security->size < sizeof security.size)
            return fail("the security settings have another version");
        memcpy(&security, config.security, config.security->size);
        security.size = sizeof security;
    }
    config.security = &security;
    /* The engine makes room by its own rule before the file is full. */
    if (!config.bonds || config.bonds > state_maximum_bonds) config.bonds = state_maximum_bonds;
    if (!security.identity_resolving_key) security.identity_resolving_key = loop->state.resolving_key;
    static const uint8_t zeros[6];
    if (!memcmp(config.address.octets, zeros, 6) && config.own_address != JELLING_ADDRESS_PUBLIC)
        config.address = loop->state.address;
    if (jelling_crypto_answer(NULL, NULL, 0)) config.flags |= JELLING_CONFIG_ANSWERS_QUESTIONS;
    jelling_status status = jelling_create(&config, &loop->engine);
    if (status) return fail("the configuration is not accepted: %s", jelling_status_text(status));
    jelling_bytes blobs[state_maximum_bonds];
    for (size_t i = 0; i < loop->state.count; i++)
        blobs[i] = (jelling_bytes){loop->state.bonds[i].blob, loop->state.bonds[i].length};
    /* A library without pairing refuses even an empty list. */
    if (!loop->state.count) return 0;
    status = jelling_restore_bonds(loop->engine, blobs, loop->state.count, jelling_loop_now(), NULL);
    return status ? fail("the bonds are not accepted: %s", jelling_status_text(status)) : 0;
}

int jelling_loop_open(const jelling_loop_options *wished, jelling_loop **result) {
    if (!result) return fail("jelling_loop_open needs a place for the loop");
    *result = NULL;
    jelling_loop_options options = {.size = sizeof options};
    if (wished) {
        if (wished->size > sizeof options || wished->size < sizeof options.size) return fail("the options have another version");
        memcpy(&options, wished, wished->size);
    }
    jelling_loop *loop = calloc(1, sizeof *loop);
    if (!loop) return fail("out of memory");
    loop->transport.fd = -1;
    loop->on_event = options.on_event;
    loop->context = options.context;
    loop->name = strdup(options.transport ? options.transport : "user:0");
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!loop->name || loop->epoll < 0) {
        fail("out of memory or descriptors");
    } else if (state_load(&loop->state, options.state_file) == 0 && make_engine(loop, options.config) == 0 &&
               open_transport(loop) == 0) {
        *result = loop;
        return 0;
    }
    jelling_loop_close(loop);
    return -1;
}

void jelling_loop_close(jelling_loop *loop) {
    if (!loop) return;
    if (loop->transport.fd >= 0) transport_close(&loop->transport);
    if (loop->engine) jelling_destroy(loop->engine);
    if (loop->epoll >= 0) close(loop->epoll);
    state_free(&loop->state);
    free(loop->name);
    free(loop);
}
