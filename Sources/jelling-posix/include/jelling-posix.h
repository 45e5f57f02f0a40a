/*
 * A loop for libjelling on Linux: transport, clock, timers, cryptography and bonds, on epoll.
 *
 *     jelling_loop_options options = {.size = sizeof options, .transport = "user:0", .on_event = handle};
 *     jelling_loop *loop;
 *     if (jelling_loop_open(&options, &loop)) return fail(jelling_loop_error());
 *     int status = jelling_loop_run(loop);
 *     jelling_loop_close(loop);
 *
 * A loop and its engine belong to one thread: the one that runs it.
 */
#ifndef JELLING_POSIX_H
#define JELLING_POSIX_H

#include "jelling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A loop with its engine and its transport. */
typedef struct jelling_loop jelling_loop;

/* Something happened. Commands may be submitted from here; `event` is lent until it returns. */
typedef void (*jelling_on_event)(void *context, jelling_loop *loop, const jelling_event *event);

/* A file descriptor can be read, or a timer is due. */
typedef void (*jelling_on_readable)(void *context, jelling_loop *loop, int fd);
typedef void (*jelling_on_timer)(void *context, jelling_loop *loop);

/* How to open a loop. */
typedef struct jelling_loop_options {
    uint32_t size;
    uint32_t reserved;
    /* `user:0`, `unix:PATH`, `tcp:ADDRESS:PORT` or `uart:DEVICE@BAUD`; NULL: `user:0`. */
    const char *transport;
    /* NULL: all defaults. Where this build has cryptography, the loop answers the engine's questions. */
    const jelling_config *config;
    jelling_on_event on_event;
    void *context;
    /* Where bonds, this device's resolving key and its random address are kept, a file with mode 0600; NULL: nowhere. At most
       256 bonds. */
    const char *state_file;
} jelling_loop_options;

/* Opens the transport and makes the engine. 0, or -1: `jelling_loop_error()` says why, and `*loop` is NULL. */
int jelling_loop_open(const jelling_loop_options *options, jelling_loop **loop);

/* Runs until `jelling_loop_quit`; its status, or -1 when the transport was lost for good. */
int jelling_loop_run(jelling_loop *loop);

/* Closes the transport and frees everything. Not from within a callback. */
void jelling_loop_close(jelling_loop *loop);

/* Makes `jelling_loop_run` return. Call `jelling_stop` before, and this at JELLING_EVENT_STOPPED, to hand the
   controller back in good order. */
void jelling_loop_quit(jelling_loop *loop, int status);

/* What went wrong in this thread last: cause and remedy, in English. */
const char *jelling_loop_error(void);

/* The engine, for commands. */
jelling_engine *jelling_loop_engine(jelling_loop *loop);

/* The moment for `now`. */
int64_t jelling_loop_now(void);

/* Calls back whenever `fd` can be read, until `jelling_loop_unwatch`. At most 16. 0, or -1. */
int jelling_loop_watch(jelling_loop *loop, int fd, jelling_on_readable callback, void *context);
void jelling_loop_unwatch(jelling_loop *loop, int fd);

/* Calls back once after so many microseconds, unless cancelled. At most 64 at a time. A number above 0, or -1. */
int jelling_loop_after(jelling_loop *loop, int64_t microseconds, jelling_on_timer callback, void *context);
void jelling_loop_cancel(jelling_loop *loop, int timer);

/* Why bonds, or the removal of one, are not in the state file: at the next start things would be as they were before. NULL:
   the file has all. Ask at JELLING_EVENT_PAIRED, or when `jelling_remove_bond` has ended. */
const char *jelling_loop_state_error(const jelling_loop *loop);

/* The bond with this index, from 0. 0, or -1 behind the last. */
int jelling_loop_bond(jelling_loop *loop, size_t index, jelling_bond *bond);

/* Does what a question asks, and answers it. 0 in a build without cryptography. */
int jelling_crypto_answer(jelling_engine *engine, const jelling_question *question, int64_t now);

/* Random octets from the kernel, good enough for keys. 0, or -1. */
int jelling_random(uint8_t *octets, size_t count);

#ifdef __cplusplus
}
#endif

#endif
