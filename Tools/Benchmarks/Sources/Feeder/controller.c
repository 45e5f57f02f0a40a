#include "controller.h"
#include <stdlib.h>
#include <string.h>

enum { REPORT_INTERVAL = 20000000 };

uint8_t *feeder_room(struct feeder *feeder, size_t count) {
    if (feeder->out_sent == feeder->out_used) feeder->out_sent = feeder->out_used = 0;
    if (feeder->out_used + count > feeder->out_room) {
        feeder->out_room = 2 * (feeder->out_used + count);
        feeder->out = realloc(feeder->out, feeder->out_room);
    }
    uint8_t *room = feeder->out + feeder->out_used;
    feeder->out_used += count;
    return room;
}

static void event(struct feeder *feeder, uint8_t code, const void *parameters, uint8_t length) {
    uint8_t *packet = feeder_room(feeder, 3 + length);
    packet[0] = 0x04;
    packet[1] = code;
    packet[2] = length;
    memcpy(packet + 3, parameters, length);
}

static void complete(struct feeder *feeder, unsigned opcode, const void *result, uint8_t length) {
    uint8_t parameters[255] = {1};
    put16(parameters + 1, opcode);
    memcpy(parameters + 3, result, length);
    event(feeder, 0x0E, parameters, 3 + length);
}

static void accept_command(struct feeder *feeder, unsigned opcode) {
    uint8_t parameters[4] = {0, 1};
    put16(parameters + 2, opcode);
    event(feeder, 0x0F, parameters, sizeof parameters);
}

static uint64_t address_at(const uint8_t *octets) {
    uint64_t address = 0;
    memcpy(&address, octets, 6);
    return address;
}

static struct link *link_of(struct feeder *feeder, unsigned handle) {
    unsigned index = (handle & 0x0FFF) - FEEDING_FIRST_HANDLE;
    return index < LINKS && feeder->links[index].is_open ? &feeder->links[index] : NULL;
}

static bool is_linked(const struct feeder *feeder, uint64_t address) {
    for (int index = 0; index < LINKS; index++)
        if (feeder->links[index].is_open && feeder->links[index].address == address) return true;
    return false;
}

static void connect_to(struct feeder *feeder, const uint8_t *command) {
    uint64_t peer = address_at(command + 6);
    if (command[4] == 1) {
        for (int index = feeder->accepted_count - 1; index >= 0; index--)
            if (!is_linked(feeder, feeder->accepted[index])) peer = feeder->accepted[index];
    }
    int index = 0;
    while (index < LINKS && feeder->links[index].is_open) index++;
    uint8_t parameters[19] = {0x01};
    if (index == LINKS) {
        parameters[1] = 0x09;
    } else {
        feeder->links[index] = (struct link){.is_open = true, .address = peer};
        feeder->open++;
        put16(parameters + 2, FEEDING_FIRST_HANDLE + index);
        parameters[5] = 1;
        memcpy(parameters + 6, &peer, 6);
        put16(parameters + 12, 6);
        put16(parameters + 16, 500);
    }
    event(feeder, 0x3E, parameters, sizeof parameters);
}

static void disconnect(struct feeder *feeder, const uint8_t *command) {
    struct link *link = link_of(feeder, get16(command));
    if (!link) return;
    link->is_open = false;
    feeder->open--;
    uint8_t parameters[4] = {0, command[0], command[1], 0x16};
    event(feeder, 0x05, parameters, sizeof parameters);
    if (feeder->log) fflush(feeder->log);
}

static void supported_commands(uint8_t *octets) {
    static const uint8_t bits[][2] = {{0, 0x20}, {2, 0x80}, {5, 0xC0}, {14, 0xA8}, {15, 0x02}, {25, 0xF7}, {26, 0xFF},
                                      {27, 0xE7}, {28, 0x08}};
    for (size_t index = 0; index < sizeof bits / sizeof *bits; index++) octets[bits[index][0]] = bits[index][1];
}

static void command(struct feeder *feeder, const uint8_t *packet) {
    unsigned opcode = get16(packet + 1);
    const uint8_t *parameters = packet + 4;
    uint8_t result[65] = {0};
    switch (opcode) {
    case 0x0406:
        accept_command(feeder, opcode);
        return disconnect(feeder, parameters);
    case 0x200D:
        accept_command(feeder, opcode);
        return connect_to(feeder, parameters);
    case 0x2013: {
        uint8_t update[10] = {0x03, 0, parameters[0], parameters[1], parameters[4], parameters[5], parameters[6],
                              parameters[7], parameters[8], parameters[9]};
        accept_command(feeder, opcode);
        return event(feeder, 0x3E, update, sizeof update);
    }
    case 0x2016: {
        uint8_t features[12] = {0x04, 0, parameters[0], parameters[1]};
        accept_command(feeder, opcode);
        return event(feeder, 0x3E, features, sizeof features);
    }
    case 0x041D: {
        uint8_t version[8] = {0, parameters[0], parameters[1], 0x09, 0xF1, 0x05, 0, 0};
        accept_command(feeder, opcode);
        return event(feeder, 0x0C, version, sizeof version);
    }
    case 0x0C03:
        // Behind an adapter of the kernel, hosts follow each other.
        memset(feeder->links, 0, sizeof feeder->links);
        feeder->open = feeder->accepted_count = 0;
        feeder->is_scanning = false;
        return complete(feeder, opcode, result, 1);
    case 0x0C01: case 0x0C63: case 0x0C6D: case 0x2001: case 0x2005: case 0x2006: case 0x2008: case 0x2009:
    case 0x200A: case 0x200B: case 0x200E:
        return complete(feeder, opcode, result, 1);
    case 0x200C:
        feeder->is_scanning = parameters[0];
        feeder->next_report = monotonic_nanoseconds();
        return complete(feeder, opcode, result, 1);
    case 0x1001:
        result[1] = result[4] = 0x09;
        put16(result + 5, 0x05F1);
        return complete(feeder, opcode, result, 9);
    case 0x1002:
        supported_commands(result + 1);
        return complete(feeder, opcode, result, 65);
    case 0x1003:
        // LE is supported, and BR/EDR is not.
        result[5] = 0x60;
        return complete(feeder, opcode, result, 9);
    case 0x1005:
        put16(result + 1, 251);
        put16(result + 4, feeder->credits);
        return complete(feeder, opcode, result, 8);
    case 0x1009:
        memcpy(result + 1, "\x01\x00\x00\xF1\xF0\xF2", 6);
        return complete(feeder, opcode, result, 7);
    case 0x2002:
        put16(result + 1, 251);
        result[3] = feeder->credits;
        return complete(feeder, opcode, result, 4);
    case 0x2003: return complete(feeder, opcode, result, 9);
    case 0x2007: return complete(feeder, opcode, result, 2);
    case 0x200F:
        result[1] = LINKS;
        return complete(feeder, opcode, result, 2);
    case 0x2010:
        feeder->accepted_count = 0;
        return complete(feeder, opcode, result, 1);
    case 0x2011:
        if (feeder->accepted_count < LINKS) feeder->accepted[feeder->accepted_count++] = address_at(parameters + 1);
        return complete(feeder, opcode, result, 1);
    case 0x2012:
        for (int index = 0; index < feeder->accepted_count; index++)
            if (feeder->accepted[index] == address_at(parameters + 1))
                feeder->accepted[index--] = feeder->accepted[--feeder->accepted_count];
        return complete(feeder, opcode, result, 1);
    case 0x2018:
        for (int index = 1; index <= 8; index++) result[index] = random();
        return complete(feeder, opcode, result, 9);
    case 0x201C:
        memcpy(result + 1, "\xFF\xFF\xFF\xFF\xFF\x03", 6);
        return complete(feeder, opcode, result, 9);
    default:
        // Unknown HCI Command.
        result[0] = 0x01;
        return complete(feeder, opcode, result, 1);
    }
}

// MARK: The peers

// As the control point of Tools/peers: `01` octets (32 bits) length (16 bits) streams; `02` count (32 bits)
// microseconds (32 bits) notifies at intervals, with the time at which it was written.
static void control(struct link *link, const uint8_t *value, size_t length) {
    if (length == 7 && value[0] == 0x01) {
        link->length = get16(value + 5);
        link->remaining = link->length ? get32(value + 1) / link->length : 0;
        link->number = 0;
    } else if (length == 9 && value[0] == 0x02) {
        link->timed = get32(value + 1);
        link->interval = get32(value + 5) * 1000ull;
        link->due = monotonic_nanoseconds() + link->interval;
    }
}

static void data(struct feeder *feeder, const uint8_t *packet, size_t length) {
    struct link *link = link_of(feeder, get16(packet + 1));
    if (!link) return;
    link->completed++;
    // Every PDU fits into one packet, because the MTU does.
    if (length <= FEEDING_ACL_HEADER || get16(packet + 7) != ATT_CID) return;
    const uint8_t *pdu = packet + FEEDING_ACL_HEADER;
    size_t pdu_length = length - FEEDING_ACL_HEADER;
    uint8_t response[FEEDING_ACL_HEADER + FEEDING_MTU];
    size_t answered = database_answer(&feeder->database, pdu, pdu_length, response + FEEDING_ACL_HEADER);
    if (answered == 0) return;
    feeder_return_credits(feeder, 0);
    size_t count = acl_wrap(response, FEEDING_FIRST_HANDLE + (link - feeder->links), answered, false);
    memcpy(feeder_room(feeder, count), response, count);
    if (pdu[0] == 0x12 && get16(pdu + 1) == feeder->database.control) control(link, pdu + 3, pdu_length - 3);
}

void feeder_receive(struct feeder *feeder, const uint8_t *packet, size_t length) {
    if (feeder->log) {
        for (size_t index = 0; index < length; index++) fprintf(feeder->log, "%02x", packet[index]);
        fputc('\n', feeder->log);
    }
    if (packet[0] == 0x01) command(feeder, packet);
    if (packet[0] == 0x02) data(feeder, packet, length);
}

void feeder_return_credits(struct feeder *feeder, uint16_t least) {
    for (int index = 0; index < LINKS && feeder->open > 0; index++) {
        struct link *link = &feeder->links[index];
        if (link->completed == 0 || link->completed < least) continue;
        uint8_t parameters[5] = {1};
        put16(parameters + 1, FEEDING_FIRST_HANDLE + index);
        put16(parameters + 3, link->completed);
        link->completed = 0;
        event(feeder, 0x13, parameters, sizeof parameters);
    }
}

static uint8_t *notification(struct feeder *feeder, const struct link *link, size_t length) {
    uint8_t *packet = feeder_room(feeder, FEEDING_ACL_HEADER + 3 + length);
    packet[FEEDING_ACL_HEADER] = 0x1B;
    put16(packet + FEEDING_ACL_HEADER + 1, feeder->database.stream);
    acl_wrap(packet, FEEDING_FIRST_HANDLE + (link - feeder->links), 3 + length, false);
    return packet + FEEDING_ACL_HEADER + 3;
}

bool feeder_is_streaming(const struct feeder *feeder) {
    for (int index = 0; index < LINKS && feeder->open > 0; index++)
        if (feeder->links[index].is_open && feeder->links[index].remaining) return true;
    return false;
}

void feeder_fill(struct feeder *feeder, size_t octets) {
    for (int index = 0; index < LINKS; index++) {
        struct link *link = &feeder->links[index];
        while (link->is_open && link->remaining && feeder->out_used - feeder->out_sent < octets) {
            uint8_t *value = notification(feeder, link, link->length);
            memset(value, 0x5A, link->length);
            if (link->length >= 4) put32(value, link->number++);
            link->remaining--;
        }
    }
}

static void report(struct feeder *feeder) {
    uint8_t parameters[12 + 31] = {0x02, 1, 0x00, 1, 0x02, 0, 0, 0xF0, 0xF1, 0xF2};
    static const uint8_t advertisement[] = "\x02\x01\x06\x07\x09" "Feeder";
    uint8_t length = sizeof advertisement - 1;
    parameters[10] = length;
    memcpy(parameters + 11, advertisement, length);
    parameters[11 + length] = 0xC8;
    event(feeder, 0x3E, parameters, 12 + length);
}

uint64_t feeder_advance(struct feeder *feeder) {
    uint64_t now = monotonic_nanoseconds(), next = 0;
    if (feeder->is_scanning) {
        if (feeder->next_report <= now) {
            report(feeder);
            feeder->next_report = now + REPORT_INTERVAL;
        }
        next = feeder->next_report;
    }
    for (int index = 0; index < LINKS && feeder->open > 0; index++) {
        struct link *link = &feeder->links[index];
        if (!link->is_open || link->timed == 0) continue;
        if (link->due <= now) {
            uint8_t *value = notification(feeder, link, 20);
            memset(value, 0, 20);
            uint64_t written = monotonic_nanoseconds();
            memcpy(value, &written, 8);
            link->timed--;
            link->due += link->interval;
            if (link->due < now) link->due = now + link->interval;
        }
        if (link->timed && (next == 0 || link->due < next)) next = link->due;
    }
    return next;
}
