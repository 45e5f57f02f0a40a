#include "updates.h"

#include <string.h>

static int waits(const struct updates *updates, uint16_t handle, size_t before) {
    for (size_t i = 0; i < before; i++)
        if (updates->waiting[i].handle == handle) return 1;
    return 0;
}

int updates_wait(const struct updates *updates, uint16_t handle) { return waits(updates, handle, updates->count); }

static void drop_at(struct updates *updates, size_t place) {
    struct update *update = &updates->waiting[place];
    memmove(update, update + 1, (--updates->count - place) * sizeof *update);
    if (updates->place > place) updates->place--;
}

/* One characteristic whose centrals take nothing does not hold up the others. */
static void send_next(struct updates *updates, jelling_engine *engine) {
    for (size_t i = 0; i < updates->count && !updates->operation;) {
        struct update *update = &updates->waiting[i];
        if (update->is_refused || waits(updates, update->handle, i)) {
            i++;
            continue;
        }
        updates->place = i;
        jelling_status status = jelling_update_value(
            engine, update->handle, update->value, update->length, NULL, 0, jelling_loop_now(), &updates->operation);
        if (status != JELLING_OK) drop_at(updates, i);
    }
}

/* The oldest goes, first of all one that was refused; not the one under way. */
static void make_room(struct updates *updates) {
    for (size_t i = 0; i < updates->count; i++)
        if (updates->waiting[i].is_refused) return drop_at(updates, i);
    drop_at(updates, updates->operation && updates->place == 0);
}

void updates_add(struct updates *updates, jelling_engine *engine, uint16_t handle, const uint8_t *value, size_t length) {
    if (updates->count == maximum_updates) make_room(updates);
    struct update *update = &updates->waiting[updates->count++];
    update->handle = handle;
    update->length = length;
    update->is_refused = 0;
    memcpy(update->value, value, length);
    send_next(updates, engine);
}

void updates_ended(struct updates *updates, jelling_engine *engine, const jelling_event *event) {
    if (!updates->operation || event->operation != updates->operation) return;
    updates->operation = 0;
    if (!event->completed.failure && !event->completed.is_accepted) updates->waiting[updates->place].is_refused = 1;
    else drop_at(updates, updates->place);
    send_next(updates, engine);
}

void updates_ready(struct updates *updates, jelling_engine *engine) {
    for (size_t i = 0; i < updates->count; i++) updates->waiting[i].is_refused = 0;
    send_next(updates, engine);
}
