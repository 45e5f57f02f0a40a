/* What a run of ble-beacon is. */
#ifndef BEACON_H
#define BEACON_H

#include "profile.h"
#include "updates.h"

enum { maximum_links = 64, maximum_services = 16 };

struct link {
    jelling_link id;
    jelling_address peer;
};

struct beacon {
    jelling_loop *loop;
    jelling_engine *engine;
    struct profile profile;
    const char *name;
    jelling_uuid services[maximum_services];
    size_t service_count;
    uint32_t flags;
    uint16_t interval;
    int confirms, is_stopping;
    jelling_operation publishing, advertising;
    struct served_service *published;
    struct link links[maximum_links];
    struct updates updates;
};

struct link *link_of(struct beacon *beacon, jelling_link id);
/* Begins a line about a link. */
void begin(struct beacon *beacon, const char *event, jelling_link id);

#endif
