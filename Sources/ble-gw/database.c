#include "database.h"

#include <stdlib.h>
#include <string.h>

#include "../jelling-posix/json-lines.h"

static void *copy(const void *items, size_t count, size_t size) {
    void *place = malloc(count ? count * size : 1);
    if (place && count) memcpy(place, items, count * size);
    return place;
}

void database_clear(struct database *database) {
    for (size_t s = 0; s < database->service_count; s++) {
        struct service *service = &database->services[s];
        for (size_t c = 0; c < service->characteristic_count; c++) free(service->characteristics[c].descriptors);
        free(service->characteristics);
        free(service->includes);
    }
    free(database->services);
    memset(database, 0, sizeof *database);
}

static int by_handle(const void *a, const void *b) {
    return (int)((const struct service *)a)->found.handle - (int)((const struct service *)b)->found.handle;
}

int database_add_services(struct database *database, const jelling_service *items, size_t count) {
    struct service *larger = realloc(database->services, (database->service_count + count + 1) * sizeof *larger);
    if (!larger) return -1;
    database->services = larger;
    for (size_t i = 0; i < count; i++) {
        memset(&larger[database->service_count], 0, sizeof *larger);
        larger[database->service_count++].found = items[i];
    }
    qsort(larger, database->service_count, sizeof *larger, by_handle);
    return 0;
}

int database_set_includes(struct service *service, const jelling_include *items, size_t count) {
    service->includes = copy(items, count, sizeof *items);
    service->include_count = service->includes ? count : 0;
    return service->includes ? 0 : -1;
}

int database_set_characteristics(struct service *service, const jelling_characteristic *items, size_t count) {
    service->characteristics = calloc(count + 1, sizeof *service->characteristics);
    if (!service->characteristics) return -1;
    for (size_t i = 0; i < count; i++) service->characteristics[i].found = items[i];
    service->characteristic_count = count;
    return 0;
}

int database_set_descriptors(struct characteristic *characteristic, const jelling_descriptor *items, size_t count) {
    characteristic->descriptors = copy(items, count, sizeof *items);
    characteristic->descriptor_count = characteristic->descriptors ? count : 0;
    return characteristic->descriptors ? 0 : -1;
}

const struct characteristic *database_find(const struct database *database, const char *target) {
    char first[48];
    jelling_uuid service_uuid, uuid;
    const char *slash = strchr(target, '/');
    if (slash) {
        size_t length = (size_t)(slash - target);
        if (length >= sizeof first) return NULL;
        memcpy(first, target, length);
        first[length] = 0;
        if (jelling_parse_uuid(first, &service_uuid)) return NULL;
        target = slash + 1;
    }
    if (jelling_parse_uuid(target, &uuid)) return NULL;
    for (size_t s = 0; s < database->service_count; s++) {
        const struct service *service = &database->services[s];
        if (slash && !jelling_uuids_equal(&service->found.uuid, &service_uuid)) continue;
        for (size_t c = 0; c < service->characteristic_count; c++)
            if (jelling_uuids_equal(&service->characteristics[c].found.uuid, &uuid)) return &service->characteristics[c];
    }
    return NULL;
}

const struct characteristic *database_at(const struct database *database, uint16_t value_handle) {
    for (size_t s = 0; s < database->service_count; s++)
        for (size_t c = 0; c < database->services[s].characteristic_count; c++)
            if (database->services[s].characteristics[c].found.value_handle == value_handle)
                return &database->services[s].characteristics[c];
    return NULL;
}

uint16_t characteristic_configuration(const struct characteristic *characteristic) {
    jelling_uuid uuid;
    jelling_parse_uuid("2902", &uuid);
    for (size_t d = 0; d < characteristic->descriptor_count; d++)
        if (jelling_uuids_equal(&characteristic->descriptors[d].uuid, &uuid)) return characteristic->descriptors[d].handle;
    return 0;
}

static void print_characteristic(const struct characteristic *characteristic) {
    static const char *names[] = {"broadcast", "read", "writeWithoutResponse", "write", "notify", "indicate",
                                  "authenticatedSignedWrites", "extendedProperties"};
    json_open(NULL, '{');
    json_uuid("uuid", &characteristic->found.uuid);
    json_number("handle", characteristic->found.handle);
    json_number("valueHandle", characteristic->found.value_handle);
    json_open("properties", '[');
    for (int bit = 0; bit < 8; bit++)
        if (characteristic->found.properties & 1 << bit) json_string(NULL, names[bit]);
    json_close(']');
    json_open("descriptors", '[');
    for (size_t d = 0; d < characteristic->descriptor_count; d++) {
        json_open(NULL, '{');
        json_uuid("uuid", &characteristic->descriptors[d].uuid);
        json_number("handle", characteristic->descriptors[d].handle);
        json_close('}');
    }
    json_close(']');
    json_close('}');
}

void database_print(const struct database *database, uint16_t mtu) {
    json_begin("database");
    json_number("mtu", mtu);
    json_open("services", '[');
    for (size_t s = 0; s < database->service_count; s++) {
        const struct service *service = &database->services[s];
        json_open(NULL, '{');
        json_uuid("uuid", &service->found.uuid);
        json_number("handle", service->found.handle);
        json_number("endHandle", service->found.end_handle);
        json_bool("primary", service->found.is_primary != 0);
        json_open("includes", '[');
        for (size_t i = 0; i < service->include_count; i++) json_uuid(NULL, &service->includes[i].uuid);
        json_close(']');
        json_open("characteristics", '[');
        for (size_t c = 0; c < service->characteristic_count; c++) print_characteristic(&service->characteristics[c]);
        json_close(']');
        json_close('}');
    }
    json_close(']');
    json_end();
}
