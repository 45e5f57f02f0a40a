/* What a device keeps from one run to the next: its own keys and its bonds, in one file. */
#ifndef STATE_H
#define STATE_H

#include "include/jelling-posix.h"

enum { state_maximum_bonds = 256 };

typedef struct state {
    char *path;
    uint8_t resolving_key[16];
    /* Static random. */
    jelling_address address;
    size_t count;
    struct {
        jelling_address identity;
        uint8_t *blob;
        size_t length;
    } bonds[state_maximum_bonds];
} state;

/* Reads the file, or makes keys where there is none. 0, or -1 with `fail()` called. `path` may be NULL: nothing lasts. */
int state_load(state *s, const char *path);
/* Writes through to the disk before it returns. 0, or -1 with `fail()` called. */
int state_save_bond(state *s, const jelling_address *identity, const uint8_t *blob, size_t length);
int state_remove_bond(state *s, const jelling_address *identity);
void state_free(state *s);

#endif
