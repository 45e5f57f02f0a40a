#ifndef CONTROLLER_H
#define CONTROLLER_H
#include "CFeeding.h"
#include <stdio.h>

enum { LINKS = 64, DEVICES = 16 };

// A link to one of the feeder's peers, each of which has the same attributes.
struct link {
    bool is_open;
    uint64_t address;
    // What is left of a stream of notifications as fast as they are taken, and how long each is.
    uint32_t remaining;
    uint16_t length;
    uint32_t number;
    // What is left of notifications at intervals.
    uint32_t timed;
    uint64_t interval, due;
    // Packets that have been taken since the host was told.
    uint16_t completed;
};

struct feeder {
    struct database database;
    uint16_t credits;
    // How many credits are returned together.
    uint16_t returns;
    FILE *log;
    struct link links[LINKS];
    int open;
    bool is_scanning;
    uint64_t next_report;
    uint64_t accepted[LINKS];
    int accepted_count;
    // What of a packet on a stream is there.
    size_t in_used;
    // What waits for the socket.
    uint8_t *out;
    size_t out_used, out_sent, out_room;
};

// Room for so many more octets that wait.
uint8_t *feeder_room(struct feeder *feeder, size_t count);

void feeder_receive(struct feeder *feeder, const uint8_t *packet, size_t length);
// What is due by time. Returns the time of what is due next, or 0.
uint64_t feeder_advance(struct feeder *feeder);
// Credits for what has been received on a link, where there are so many.
void feeder_return_credits(struct feeder *feeder, uint16_t least);
bool feeder_is_streaming(const struct feeder *feeder);
// Notifications of the streams, until about so many octets wait.
void feeder_fill(struct feeder *feeder, size_t octets);

#endif
