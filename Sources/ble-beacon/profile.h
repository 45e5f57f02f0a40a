/* The services of a profile file, and what their values are now. */
#ifndef PROFILE_H
#define PROFILE_H

#include "../jelling-posix/include/jelling-posix.h"

enum { maximum_value = 512 };

struct served_characteristic {
    jelling_uuid uuid;
    uint32_t permissions;
    uint8_t properties;
    int needs_encryption;
    jelling_descriptor_definition *descriptors;
    size_t descriptor_count;
    /* Microseconds; 0: only when it changes. */
    int64_t notify_every;
    /* Microseconds from a read to its answer; 0: at once. */
    int64_t answer_after;
    /* Once it is published. */
    uint16_t handle;
    uint8_t value[maximum_value];
    size_t length;
    struct beacon *beacon;
};

struct served_service {
    jelling_uuid uuid;
    int is_secondary;
    jelling_uuid *includes;
    /* Their places among the services. */
    size_t *included;
    size_t include_count;
    struct served_characteristic *characteristics;
    size_t characteristic_count;
    int is_published;
    uint16_t handle;
};

struct profile {
    struct served_service *services;
    size_t count;
};

/* 0, or -1 with the place and the cause in `error`. */
int profile_read(struct profile *profile, const char *path, char *error, size_t capacity);
void profile_free(struct profile *profile);

struct served_characteristic *profile_at(struct profile *profile, uint16_t handle);
/* The next service that is not published and includes none that is not; NULL where there is none. */
struct served_service *profile_next(struct profile *profile);

#endif
