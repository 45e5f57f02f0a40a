#include "discovery-output.h"

#include <string.h>

#include "../jelling-posix/json-lines.h"

/* Types of structures (Assigned Numbers, 2.3). */
enum {
    incomplete_16 = 0x02, complete_128 = 0x07, short_name = 0x08, complete_name = 0x09, tx_power = 0x0A,
    service_data_16 = 0x16, service_data_32 = 0x20, service_data_128 = 0x21, manufacturer_data = 0xFF
};

/* A UUID as it stands in a packet, least significant octet first. */
static jelling_uuid uuid_of(const uint8_t *octets, size_t width) {
    jelling_uuid uuid;
    jelling_parse_uuid("00000000-0000-1000-8000-00805F9B34FB", &uuid);
    uuid.width = (uint8_t)width;
    if (width == 16)
        for (size_t i = 0; i < 16; i++) uuid.octets[i] = octets[15 - i];
    else
        for (size_t i = 0; i < width; i++) uuid.octets[3 - i] = octets[i];
    return uuid;
}

typedef void (*visit)(uint8_t type, const jelling_bytes *data, void *context);

static void each(const jelling_discovery *discovery, visit visit, void *context) {
    const jelling_bytes *packets[] = {&discovery->advertisement, &discovery->scan_response};
    for (int i = 0; i < 2; i++) {
        size_t offset = 0;
        uint8_t type;
        jelling_bytes data;
        while (jelling_next_structure(packets[i]->data, packets[i]->length, &offset, &type, &data) == JELLING_OK)
            visit(type, &data, context);
    }
}

struct summary {
    jelling_bytes name;
    int has_name, is_complete, has_power;
    int8_t power;
};

static void summarize(uint8_t type, const jelling_bytes *data, void *context) {
    struct summary *summary = context;
    int is_complete = type == complete_name;
    if ((is_complete || type == short_name) && (!summary->has_name || (is_complete && !summary->is_complete))) {
        summary->name = *data;
        summary->has_name = 1;
        summary->is_complete = is_complete;
        /* Some devices begin a field of zeros where they have no name. */
        if (data->length && data->data[0] == 0) summary->name.length = 0;
    }
    if (type == tx_power && data->length && !summary->has_power) {
        summary->has_power = 1;
        summary->power = (int8_t)data->data[0];
    }
}

/* Each service once, in the order of their appearance; no packet has more than 128. */
struct services {
    jelling_uuid seen[128];
    size_t count;
};

static void print_services(uint8_t type, const jelling_bytes *data, void *context) {
    struct services *services = context;
    if (type < incomplete_16 || type > complete_128) return;
    size_t width = type < 0x04 ? 2 : type < 0x06 ? 4 : 16;
    for (size_t at = 0; at + width <= data->length; at += width) {
        jelling_uuid uuid = uuid_of(data->data + at, width);
        size_t place = 0;
        while (place < services->count && !jelling_uuids_equal(&services->seen[place], &uuid)) place++;
        if (place < services->count || place == 128) continue;
        services->seen[services->count++] = uuid;
        json_uuid(NULL, &uuid);
    }
}

static void print_manufacturer(uint8_t type, const jelling_bytes *data, void *context) {
    (void)context;
    if (type != manufacturer_data || data->length < 2) return;
    json_open(NULL, '{');
    json_number("company", data->data[0] | data->data[1] << 8);
    json_hex("data", data->data + 2, data->length - 2);
    json_close('}');
}

static void print_service_data(uint8_t type, const jelling_bytes *data, void *context) {
    (void)context;
    size_t width = type == service_data_16 ? 2 : type == service_data_32 ? 4 : type == service_data_128 ? 16 : 0;
    if (!width || data->length < width) return;
    jelling_uuid uuid = uuid_of(data->data, width);
    json_open(NULL, '{');
    json_uuid("uuid", &uuid);
    json_hex("data", data->data + width, data->length - width);
    json_close('}');
}

void discovery_print(const jelling_discovery *discovery) {
    struct summary summary = {0};
    struct services services = {.count = 0};
    each(discovery, summarize, &summary);
    json_begin("discovered");
    if (discovery->has_address) {
        json_address("address", &discovery->address);
    } else {
        json_null("address");
        json_null("addressType");
    }
    if (discovery->rssi == 127) json_null("rssi");
    else json_number("rssi", discovery->rssi);
    json_bool("connectable", discovery->is_connectable);
    if (summary.has_name) json_octets_as_text("name", summary.name.data, summary.name.length);
    else json_null("name");
    json_open("serviceUUIDs", '[');
    each(discovery, print_services, &services);
    json_close(']');
    json_open("hashedServiceUUIDs", '[');
    json_close(']');
    json_open("manufacturerData", '[');
    each(discovery, print_manufacturer, NULL);
    json_close(']');
    json_open("serviceData", '[');
    each(discovery, print_service_data, NULL);
    json_close(']');
    if (summary.has_power) json_number("txPower", summary.power);
    else if (discovery->tx_power != 127) json_number("txPower", discovery->tx_power);
    else json_null("txPower");
    json_hex("advertisement", discovery->advertisement.data, discovery->advertisement.length);
    json_hex("scanResponse", discovery->scan_response.data, discovery->scan_response.length);
    if (discovery->has_target) {
        char target[18];
        jelling_format_address(&discovery->target, target, sizeof target);
        json_string("target", target);
    }
    json_end();
}
