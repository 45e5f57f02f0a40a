/* A controller behind a file descriptor. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct transport {
    int fd;
    /* Packets stay whole: a socket of the kernel's. Otherwise a byte stream. */
    int keeps_packets;
    /* What the descriptor did not take yet. */
    uint8_t *waiting;
    size_t waiting_length, waiting_capacity;
} transport;

/* 0, or -1 with `fail()` called. */
int transport_open(transport *t, const char *name);
void transport_close(transport *t);

/* Sends a packet, or keeps it until `transport_flush`. 0, or -1: the transport is lost. */
int transport_send(transport *t, const uint8_t *packet, size_t length);
int transport_flush(transport *t);

/* Sets what `jelling_loop_error` returns; always -1. */
__attribute__((format(printf, 1, 2))) int fail(const char *format, ...);

#endif
