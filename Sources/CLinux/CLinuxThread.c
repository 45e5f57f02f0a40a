#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct thread_start {
    void (*body)(void *);
    void *context;
    char name[16];
};

static void *thread_main(void *argument) {
    struct thread_start start = *(struct thread_start *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), start.name);
    start.body(start.context);
    return 0;
}

int clinux_thread_start(const char *name, void (*body)(void *), void *context) {
    struct thread_start *start = calloc(1, sizeof *start);
    if (!start) return ENOMEM;
    start->body = body;
    start->context = context;
    strncpy(start->name, name, sizeof start->name - 1);

    sigset_t blocked, before;
    sigfillset(&blocked);
    // Faults are delivered to the thread that made them: a blocked one would end the process without a backtrace.
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);

    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int error = pthread_create(&thread, &attributes, thread_main, start);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, 0);
    if (error) free(start);
    return error;
}
