/* What a device offers: its services, found once for each link. */
#ifndef DATABASE_H
#define DATABASE_H

#include "../jelling-posix/include/jelling-posix.h"

struct characteristic {
    jelling_characteristic found;
    jelling_descriptor *descriptors;
    size_t descriptor_count;
};

struct service {
    jelling_service found;
    jelling_include *includes;
    size_t include_count;
    struct characteristic *characteristics;
    size_t characteristic_count;
};

struct database {
    int is_complete;
    struct service *services;
    size_t service_count;
};

void database_clear(struct database *database);

/* Takes over copies of what a discovery found. 0, or -1: out of memory. */
int database_add_services(struct database *database, const jelling_service *items, size_t count);
int database_set_includes(struct service *service, const jelling_include *items, size_t count);
int database_set_characteristics(struct service *service, const jelling_characteristic *items, size_t count);
int database_set_descriptors(struct characteristic *characteristic, const jelling_descriptor *items, size_t count);

/* `UUID`, `SERVICE/UUID` or `0xHANDLE`. NULL where there is none. */
const struct characteristic *database_find(const struct database *database, const char *target);
const struct characteristic *database_at(const struct database *database, uint16_t value_handle);

/* Prints everything as `bletool gatt PEER discover` does. */
void database_print(const struct database *database, uint16_t mtu);

/* 0 without: the handle of the Client Characteristic Configuration. */
uint16_t characteristic_configuration(const struct characteristic *characteristic);

#endif
