#include "jelling-engines.h"

/*
 * A pointer is looked up before anything behind it is read, so a pointer to an engine that is gone is harmless. Each
 * place is reserved with one atomic exchange; none waits for another.
 */
static struct {
    const void *engine;
    int is_used;
} places[JELLING_MAXIMUM_ENGINES];

static int reserve(int place) { return !__atomic_exchange_n(&places[place].is_used, 1, __ATOMIC_ACQUIRE); }

static void give(int place) { __atomic_store_n(&places[place].is_used, 0, __ATOMIC_RELEASE); }

static const void *engine_at(int place) { return __atomic_load_n(&places[place].engine, __ATOMIC_ACQUIRE); }

static int place_of(const void *engine) {
    for (int place = 0; place < JELLING_MAXIMUM_ENGINES; place++)
        if (engine_at(place) == engine) return place;
    return -1;
}

jelling_status jelling_engines_add(const void *engine) {
    for (int place = 0; place < JELLING_MAXIMUM_ENGINES; place++) {
        if (engine_at(place) || !reserve(place)) continue;
        int is_free = !engine_at(place);
        if (is_free) __atomic_store_n(&places[place].engine, engine, __ATOMIC_RELEASE);
        give(place);
        if (is_free) return JELLING_OK;
    }
    return JELLING_ERROR_LIMIT;
}

jelling_status jelling_engines_enter(const void *engine) {
    if (!engine) return JELLING_ERROR_ARGUMENT;
    int place = place_of(engine);
    if (place < 0) return JELLING_ERROR_ENGINE;
    if (!reserve(place)) return JELLING_ERROR_BUSY;
    /* It may have been destroyed between the two steps. */
    if (engine_at(place) == engine) return JELLING_OK;
    give(place);
    return JELLING_ERROR_ENGINE;
}

void jelling_engines_leave(const void *engine) {
    int place = place_of(engine);
    if (place >= 0) give(place);
}

void jelling_engines_remove(const void *engine) {
    int place = place_of(engine);
    if (place < 0) return;
    __atomic_store_n(&places[place].engine, (const void *)0, __ATOMIC_RELEASE);
    give(place);
}
