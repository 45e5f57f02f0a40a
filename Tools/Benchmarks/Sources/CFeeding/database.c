#include "CFeeding.h"
#include <stdlib.h>
#include <string.h>

enum {
    PRIMARY_SERVICE = 0x2800,
    INCLUDE = 0x2802,
    CHARACTERISTIC = 0x2803,
    CONFIGURATION = 0x2902,
    // Properties of a characteristic.
    READ = 0x02,
    WRITE_COMMAND = 0x04,
    WRITE = 0x08,
    NOTIFY = 0x10,
    // Errors of the Attribute Protocol.
    INVALID_HANDLE = 0x01,
    INVALID_PDU = 0x04,
    NOT_SUPPORTED = 0x06,
    INVALID_OFFSET = 0x07,
    NOT_FOUND = 0x0A,
    UNSUPPORTED_GROUP = 0x10,
};

// 6B7Axxxx-9D1C-4F5E-8A2B-3C4D5E6F7081, least significant octet first.
static const uint8_t service_base[16] = {0x81, 0x70, 0x6F, 0x5E, 0x4D, 0x3C, 0x2B, 0x8A,
                                         0x5E, 0x4F, 0x1C, 0x9D, 0, 0, 0x7A, 0x6B};

struct uuid {
    uint8_t octets[16];
    uint8_t length;
};

static struct uuid short_uuid(unsigned number) {
    struct uuid uuid = {.length = 2};
    put16(uuid.octets, number);
    return uuid;
}

static struct uuid long_uuid(unsigned number) {
    struct uuid uuid = {.length = 16};
    memcpy(uuid.octets, service_base, 16);
    put16(uuid.octets + 12, number);
    return uuid;
}

static struct attribute *add(struct database *database, struct uuid type, const void *value, size_t length) {
    struct attribute *attribute = &database->attributes[database->count++];
    memcpy(attribute->type, type.octets, type.length);
    attribute->type_length = type.length;
    memcpy(attribute->value, value, length);
    attribute->value_length = length;
    return attribute;
}

static struct attribute *add_service(struct database *database, struct uuid uuid) {
    return add(database, short_uuid(PRIMARY_SERVICE), uuid.octets, uuid.length);
}

static uint16_t add_characteristic(struct database *database, struct uuid uuid, uint8_t properties) {
    uint8_t declaration[19] = {properties};
    uint16_t handle = database->count + 2;
    put16(declaration + 1, handle);
    memcpy(declaration + 3, uuid.octets, uuid.length);
    add(database, short_uuid(CHARACTERISTIC), declaration, 3 + uuid.length);
    uint8_t value[20];
    memset(value, 0x41, sizeof value);
    add(database, uuid, value, sizeof value);
    if (properties & NOTIFY) add(database, short_uuid(CONFIGURATION), "\0", 2);
    return handle;
}

struct database database_make(int services, int characteristics) {
    struct database database = {0};
    database.attributes = calloc(32 + services * (1 + 3 * characteristics), sizeof(struct attribute));
    struct attribute *service = add_service(&database, short_uuid(0x1800));
    add_characteristic(&database, short_uuid(0x2A00), READ);
    service->end = database.count;
    service = add_service(&database, long_uuid(1));
    database.control = add_characteristic(&database, long_uuid(8), WRITE);
    database.stream = add_characteristic(&database, long_uuid(9), NOTIFY);
    database.stream_configuration = database.count;
    database.sink = add_characteristic(&database, long_uuid(10), WRITE_COMMAND);
    database.reading = add_characteristic(&database, long_uuid(11), READ);
    service->end = database.count;
    for (int number = 0; number < services; number++) {
        service = add_service(&database, short_uuid(0x1810 + number % 16));
        for (int each = 0; each < characteristics; each++)
            add_characteristic(&database, short_uuid(0x2A10 + each % 64), READ | NOTIFY);
        service->end = database.count;
    }
    return database;
}

// MARK: The server

static size_t failure(const uint8_t *request, unsigned handle, uint8_t error, uint8_t *response) {
    response[0] = 0x01;
    response[1] = request[0];
    put16(response + 2, handle);
    response[4] = error;
    return 5;
}

static bool has_type(const struct attribute *attribute, const uint8_t *type, size_t length) {
    return attribute->type_length == length && memcmp(attribute->type, type, length) == 0;
}

// Read By Type and Read By Group Type: attributes of one type, as many of one length as the response holds.
static size_t by_type(const struct database *database, const uint8_t *request, size_t length, uint8_t *response) {
    bool groups = request[0] == 0x10;
    unsigned first = get16(request + 1), last = get16(request + 3), header = groups ? 4 : 2;
    const uint8_t *type = request + 5;
    if (first == 0 || first > last) return failure(request, first, INVALID_HANDLE, response);
    if (groups && (length != 7 || get16(type) != PRIMARY_SERVICE)) return failure(request, first, UNSUPPORTED_GROUP, response);
    size_t used = 2, each = 0;
    for (unsigned handle = first; handle <= last && (int)handle <= database->count; handle++) {
        const struct attribute *attribute = &database->attributes[handle - 1];
        if (!has_type(attribute, type, length - 5)) continue;
        if (each == 0) each = header + attribute->value_length;
        if (header + attribute->value_length != each || used + each > FEEDING_MTU) break;
        put16(response + used, handle);
        if (groups) put16(response + used + 2, attribute->end);
        memcpy(response + used + header, attribute->value, attribute->value_length);
        used += each;
    }
    if (each == 0) return failure(request, first, NOT_FOUND, response);
    response[0] = request[0] + 1;
    response[1] = each;
    return used;
}

static size_t find_information(const struct database *database, const uint8_t *request, uint8_t *response) {
    unsigned first = get16(request + 1), last = get16(request + 3);
    if (first == 0 || first > last) return failure(request, first, INVALID_HANDLE, response);
    size_t used = 2, width = 0;
    for (unsigned handle = first; handle <= last && (int)handle <= database->count; handle++) {
        const struct attribute *attribute = &database->attributes[handle - 1];
        if (width == 0) width = attribute->type_length;
        if (attribute->type_length != width || used + 2 + width > FEEDING_MTU) break;
        put16(response + used, handle);
        memcpy(response + used + 2, attribute->type, width);
        used += 2 + width;
    }
    if (width == 0) return failure(request, first, NOT_FOUND, response);
    response[0] = 0x05;
    response[1] = width == 2 ? 1 : 2;
    return used;
}

static size_t find_by_value(const struct database *database, const uint8_t *request, size_t length, uint8_t *response) {
    unsigned first = get16(request + 1), last = get16(request + 3);
    size_t used = 1;
    for (unsigned handle = first; handle <= last && (int)handle <= database->count; handle++) {
        const struct attribute *attribute = &database->attributes[handle - 1];
        if (!has_type(attribute, request + 5, 2) || attribute->value_length != length - 7
            || memcmp(attribute->value, request + 7, length - 7) != 0 || used + 4 > FEEDING_MTU)
            continue;
        put16(response + used, handle);
        put16(response + used + 2, attribute->end);
        used += 4;
    }
    if (used == 1) return failure(request, first, NOT_FOUND, response);
    response[0] = 0x07;
    return used;
}

static size_t read_value(const struct database *database, const uint8_t *request, size_t offset, uint8_t *response) {
    unsigned handle = get16(request + 1);
    if (handle == 0 || (int)handle > database->count) return failure(request, handle, INVALID_HANDLE, response);
    const struct attribute *attribute = &database->attributes[handle - 1];
    if (offset > attribute->value_length) return failure(request, handle, INVALID_OFFSET, response);
    response[0] = request[0] + 1;
    memcpy(response + 1, attribute->value + offset, attribute->value_length - offset);
    return 1 + attribute->value_length - offset;
}

size_t database_answer(const struct database *database, const uint8_t *request, size_t length, uint8_t *response) {
    static const uint8_t shortest[] = {[0x02] = 3, [0x04] = 5, [0x06] = 7, [0x08] = 7, [0x0A] = 3, [0x0C] = 5, [0x10] = 7,
                                       [0x12] = 3};
    // Commands, confirmations and responses.
    if (length == 0 || request[0] & 0x40 || request[0] & 1 || request[0] == 0x1E) return 0;
    size_t needed = request[0] < sizeof shortest ? shortest[request[0]] : 0;
    if (needed == 0) return failure(request, 0, NOT_SUPPORTED, response);
    if (length < needed) return failure(request, 0, INVALID_PDU, response);
    switch (request[0]) {
    case 0x02:
        response[0] = 0x03;
        put16(response + 1, FEEDING_MTU);
        return 3;
    case 0x04: return find_information(database, request, response);
    case 0x06: return find_by_value(database, request, length, response);
    case 0x08: case 0x10: return by_type(database, request, length, response);
    case 0x0A: return read_value(database, request, 0, response);
    case 0x0C: return read_value(database, request, get16(request + 3), response);
    default:
        response[0] = 0x13;
        return 1;
    }
}

// MARK: The client

struct requests {
    uint8_t *octets;
    size_t used;
    int count;
};

static void keep(struct requests *requests, const uint8_t *request, uint8_t length) {
    requests->octets = realloc(requests->octets, requests->used + 1 + length);
    requests->octets[requests->used] = length;
    memcpy(requests->octets + requests->used + 1, request, length);
    requests->used += 1 + length;
    requests->count++;
}

// Goes on until the server has no more: Core 5.4, Vol 3, Part G, 4.4.1, 4.5.1 and 4.6.1.
static void search(const struct database *database, struct requests *requests, uint8_t opcode, unsigned type, unsigned last) {
    uint8_t response[FEEDING_MTU], request[7] = {opcode, 1, 0};
    put16(request + 3, last);
    put16(request + 5, type);
    for (unsigned first = 1; first <= last;) {
        put16(request + 1, first);
        keep(requests, request, sizeof request);
        size_t length = database_answer(database, request, sizeof request, response);
        if (response[0] == 0x01) return;
        const uint8_t *entry = response + length - response[1];
        first = (opcode == 0x10 ? get16(entry + 2) : get16(entry)) + 1;
    }
}

static bool is_short(const struct attribute *attribute) { return attribute->type_length == 2; }

int database_discovery(const struct database *database, uint8_t **octets) {
    struct requests requests = {0};
    search(database, &requests, 0x10, PRIMARY_SERVICE, 0xFFFF);
    search(database, &requests, 0x08, INCLUDE, database->count);
    search(database, &requests, 0x08, CHARACTERISTIC, database->count);
    // Descriptors: what follows a value up to the next declaration; gaps are joined while a response holds all between
    // them, in one width.
    unsigned first = 0, last = 0, most = (FEEDING_MTU - 2) / 4;
    for (unsigned handle = 1; (int)handle <= database->count + 1; handle++) {
        bool over = (int)handle > database->count;
        const struct attribute *attribute = over ? NULL : &database->attributes[handle - 1];
        bool descriptor = !over && is_short(attribute) && get16(attribute->type) == CONFIGURATION;
        bool apart = over || !is_short(attribute) || (first != 0 && descriptor && handle - first >= most);
        if (first != 0 && apart) {
            uint8_t request[5] = {0x04};
            put16(request + 1, first);
            put16(request + 3, last);
            keep(&requests, request, sizeof request);
            first = 0;
        }
        if (!descriptor) continue;
        if (first == 0) first = handle;
        last = handle;
    }
    *octets = requests.octets;
    return requests.count;
}
