/* Values on their way to subscribers. */
#ifndef UPDATES_H
#define UPDATES_H

#include "profile.h"

enum { maximum_updates = 64 };

struct update {
    uint16_t handle;
    uint8_t value[maximum_value];
    size_t length;
    /* It waits, with those of the same characteristic, for JELLING_EVENT_SERVER_READY_TO_UPDATE. */
    int is_refused;
};

struct updates {
    struct update waiting[maximum_updates];
    size_t count;
    /* The one under way, and its place; one at a time, so that the order of a characteristic is kept. */
    jelling_operation operation;
    size_t place;
};

/* When there is no room, the oldest that waits is dropped. */
void updates_add(struct updates *updates, jelling_engine *engine, uint16_t handle, const uint8_t *value, size_t length);
/* Whether values of a characteristic wait. */
int updates_wait(const struct updates *updates, uint16_t handle);
/* JELLING_EVENT_COMPLETED, of whatever operation. */
void updates_ended(struct updates *updates, jelling_engine *engine, const jelling_event *event);
/* JELLING_EVENT_SERVER_READY_TO_UPDATE. */
void updates_ready(struct updates *updates, jelling_engine *engine);

#endif
