/*
 * A day of a gateway, in simulated time: a controller that is part of this program, reports of devices whose addresses
 * change, a link each minute with reads, writes and notifications, an engine that is made again each hour. Then what one
 * link and one scanned device take of the heap.
 *
 *   GLIBC_TUNABLES=glibc.malloc.tcache_count=0 endurance [HOURS]
 *
 * prints the octets of the heap at each full hour; exit status 0 when they stay the same and within the limits.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jelling.h"

enum { reported_devices = 400, reports_per_second = 20, link_limit = 8192, device_limit = 280 };

static jelling_engine *engine;
static int64_t now;
static unsigned failures, notified, values, connections, reported;
static uint16_t next_handle = 0x40;
static jelling_link link_of[64];
static unsigned link_count;
/* Operations that are still to end, and the link or the value that the last one brought. */
static unsigned open_operations;

static void check(int condition, const char *what) {
    if (condition) return;
    failures++;
    printf("failed: %s\n", what);
}

/* ------------------------------------------------------- The controller */

static struct packet {
    size_t length;
    uint8_t octets[80];
} sent[256];
static unsigned first_sent, last_sent;

static void from_controller(const uint8_t *octets, size_t length) {
    check(length <= sizeof sent[0].octets && last_sent - first_sent < 256, "room for packets of the controller");
    struct packet *packet = &sent[last_sent++ % 256];
    packet->length = length;
    memcpy(packet->octets, octets, length);
}

static void event(uint8_t code, const uint8_t *parameters, uint8_t length) {
    uint8_t octets[80] = {4, code, length};
    memcpy(octets + 3, parameters, length);
    from_controller(octets, 3u + length);
}

static void attribute(uint16_t handle, const uint8_t *pdu, uint8_t length) {
    uint8_t octets[80] = {2, (uint8_t)handle, (uint8_t)(handle >> 8 | 0x20), (uint8_t)(length + 4), 0, length, 0, 4, 0};
    memcpy(octets + 9, pdu, length);
    from_controller(octets, 9u + length);
}

static void command(uint16_t opcode, const uint8_t *parameters) {
    uint8_t answer[69] = {1, (uint8_t)opcode, (uint8_t)(opcode >> 8), 0};
    uint8_t length = 4;
    switch (opcode) {
    case 0x1001: length = 12, answer[4] = answer[7] = 9; break;
    case 0x1002: length = 68; break;
    case 0x1003: case 0x201C: case 0x2003: length = 12; break;
    case 0x1009: length = 10, memset(answer + 4, 0xC1, 6); break;
    case 0x2002: length = 7, answer[4] = 251, answer[6] = 8; break;
    case 0x200F: length = 5, answer[4] = 8; break;
    case 0x0406: case 0x200D: case 0x2016: case 0x041D: {
        uint8_t status[4] = {0, 1, (uint8_t)opcode, (uint8_t)(opcode >> 8)};
        event(0x0F, status, 4);
        if (opcode == 0x0406) {
            uint8_t gone[4] = {0, parameters[0], parameters[1], 0x16};
            event(0x05, gone, 4);
        } else if (opcode == 0x200D) {
            uint8_t made[19] = {1, 0, (uint8_t)next_handle, 0, 0, parameters[5]};
            memcpy(made + 6, parameters + 6, 6);
            made[12] = 24, made[16] = 200;
            next_handle = next_handle == 0xE0 ? 0x40 : (uint16_t)(next_handle + 1);
            event(0x3E, made, 19);
        } else if (opcode == 0x2016) {
            uint8_t features[12] = {4, 0, parameters[0], parameters[1]};
            event(0x3E, features, 12);
        }
        return;
    }
    default: break;
    }
    event(0x0E, answer, length);
}

static void data(const uint8_t *packet) {
    uint16_t handle = (uint16_t)(packet[1] | (packet[2] & 0x0F) << 8);
    uint8_t confirmed[5] = {1, (uint8_t)handle, (uint8_t)(handle >> 8), 1, 0}, value[22] = {0x0B, 1, 2, 3};
    event(0x13, confirmed, 5);
    switch (packet[9]) {
    case 0x02: attribute(handle, (const uint8_t[]){3, 5, 2}, 3); break;
    case 0x0A: attribute(handle, value, sizeof value); break;
    case 0x12: attribute(handle, (const uint8_t[]){0x13}, 1); break;
    default: break;
    }
}

static void to_controller(void *context, const uint8_t *packet, size_t length) {
    (void)context;
    if (packet[0] == 1) command((uint16_t)(packet[1] | packet[2] << 8), packet + 4);
    else if (packet[0] == 2 && length > 9) data(packet);
}

/* ------------------------------------------------------------- The owner */

static void take_events(void) {
    const jelling_event *found;
    while (jelling_next_event(engine, &found) == JELLING_OK && found) {
        switch (found->kind) {
        case JELLING_EVENT_COMPLETED:
            open_operations--;
            if (found->completed.result == JELLING_RESULT_CONNECTED && !found->completed.failure)
                link_of[link_count++] = found->completed.link;
            if (found->completed.result == JELLING_RESULT_VALUE && !found->completed.failure) values++;
            break;
        case JELLING_EVENT_NOTIFICATION: notified++; break;
        case JELLING_EVENT_DISCOVERED: reported++; break;
        default: break;
        }
    }
}

static void settle(void) {
    do {
        while (first_sent != last_sent) {
            struct packet packet = sent[first_sent++ % 256];
            jelling_receive(engine, packet.octets, packet.length, now);
        }
        jelling_drain(engine, to_controller, NULL);
        take_events();
    } while (first_sent != last_sent);
}

static void pass(int64_t microseconds) {
    int64_t due, end = now + microseconds;
    while (jelling_next_deadline(engine, &due) == JELLING_OK && due >= 0 && due <= end) {
        if (due > now) now = due;
        jelling_advance(engine, now);
        settle();
    }
    now = end;
}

static void begin(jelling_status status) {
    check(status == JELLING_OK, "a command is accepted");
    open_operations++;
    settle();
}

static void open_engine(uint32_t devices) {
    jelling_config config = {.size = sizeof config, .scanned_devices = devices};
    check(jelling_create(&config, &engine) == JELLING_OK, "jelling_create");
    jelling_transport_opened(engine, now);
    open_operations = link_count = 0;
    settle();
    uint32_t is_ready = 0;
    jelling_is_ready(engine, &is_ready);
    check(is_ready, "the controller is ready");
}

static void close_engine(void) {
    check(jelling_destroy(engine) == JELLING_OK, "jelling_destroy");
    engine = NULL;
}

static jelling_address address_of(unsigned device, unsigned period) {
    jelling_address address = {{0xC0, (uint8_t)(period >> 8), (uint8_t)period, 0, (uint8_t)(device >> 8), (uint8_t)device}, 1, 0};
    return address;
}

/* An advertisement with a name and a value that changes. */
static void report(unsigned device, unsigned period, unsigned value) {
    jelling_address address = address_of(device, period);
    uint8_t octets[46] = {4, 0x3E, 40, 2, 1, 0, 1};
    for (int i = 0; i < 6; i++) octets[7 + i] = address.octets[5 - i];
    octets[13] = 28;
    memcpy(octets + 14, (const uint8_t[]){2, 1, 6, 9, 9, 'D', 'e', 'v', 'i', 'c', 'e', ' ', 'X', 14, 0xFF, 0xFF, 0xFF}, 17);
    octets[31] = (uint8_t)value, octets[32] = (uint8_t)(value >> 8);
    octets[42] = 0xC5;
    octets[2] = 40;
    jelling_receive(engine, octets, 43, now);
}

static void connect(unsigned device, unsigned period) {
    jelling_connect_request request = {.size = sizeof request, .peer = address_of(device, period)};
    unsigned before = link_count;
    begin(jelling_connect(engine, &request, now, NULL));
    for (int i = 0; i < 30 && link_count == before; i++) pass(100000), settle();
    check(link_count == before + 1, "a link is made");
}

static void use(jelling_link link, uint16_t handle) {
    static const uint8_t value[20] = {9, 8, 7};
    begin(jelling_read(engine, link, 3, now, NULL));
    begin(jelling_subscribe(engine, link, 5, 6, 0, now, NULL));
    begin(jelling_write_command(engine, link, 3, value, sizeof value, now, NULL));
    for (uint8_t i = 0; i < 10; i++) attribute(handle, (const uint8_t[]){0x1B, 5, 0, i, 1, 2}, 6);
    settle();
}

static void disconnect(jelling_link link) { begin(jelling_disconnect(engine, link, now, NULL)); }

/* Also what malloc has mapped by itself: a large table is there until the first one of its size was freed. */
static size_t heap(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* ---------------------------------------------------------------- The day */

static size_t hour(unsigned number) {
    open_engine(1000);
    jelling_scan_request scan = {.size = sizeof scan};
    begin(jelling_scan(engine, &scan, now, NULL));
    for (unsigned second = 0; second < 3600; second++) {
        unsigned period = number * 4 + second / 900;
        for (unsigned i = 0; i < reports_per_second; i++)
            report((second * reports_per_second + i) % reported_devices, period, second);
        take_events();
        if (second % 60 == 7) {
            uint16_t handle = next_handle;
            connect(second % reported_devices, period);
            connections++;
            if (link_count) use(link_of[link_count - 1], handle);
        }
        if (second % 60 == 50 && link_count) disconnect(link_of[--link_count]);
        pass(1000000);
        settle();
    }
    /* The scan is all that still runs. */
    check(open_operations == 1 && !link_count, "each operation has ended");
    size_t octets = heap();
    close_engine();
    return octets;
}

static size_t heap_of_a_link(void) {
    open_engine(16);
    connect(0, 0);
    size_t before = heap();
    for (unsigned i = 1; i <= 20; i++) {
        uint16_t handle = next_handle;
        connect(i, 0);
        use(link_of[link_count - 1], handle);
    }
    size_t octets = (heap() - before) / 20;
    close_engine();
    return octets;
}

static size_t heap_of_a_device(void) {
    enum { count = 8000 };
    open_engine(16384);
    jelling_scan_request scan = {.size = sizeof scan};
    begin(jelling_scan(engine, &scan, now, NULL));
    size_t before = heap();
    for (unsigned i = 0; i < count; i++) {
        report(i, i >> 16, 1);
        take_events();
    }
    size_t octets = (heap() - before) / count;
    close_engine();
    return octets;
}

int main(int count, char **arguments) {
    unsigned hours = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 24;
    static char output[4096];
    setvbuf(stdout, output, _IOFBF, sizeof output);
    size_t empty = 0, least = 0, greatest = 0;
    for (unsigned i = 0; i < hours; i++) {
        size_t octets = hour(i), rest = heap();
        printf("hour %u: %zu octets with a scan, %zu without an engine\n", i + 1, octets, rest);
        /* The first engine makes constants that last as long as the program. */
        if (i == 0) least = greatest = octets, empty = rest;
        if (octets < least) least = octets;
        if (octets > greatest) greatest = octets;
        check(rest <= empty, "an engine that is gone left nothing behind");
    }
    check(greatest - least <= 16384, "the heap is flat");
    check(notified == connections * 10 && values == connections && connections == hours * 60, "each link was used");
    check(reported > hours * 3600, "devices were reported");
    unsigned all = notified + values;
    size_t link = heap_of_a_link(), device = heap_of_a_device();
    printf("%u links, %u reports, %u values; a link takes %zu octets, a scanned device %zu\n", connections,
           reported, all, link, device);
    check(link <= link_limit, "a link takes at most 8192 octets");
    check(device <= device_limit, "a scanned device takes at most 280 octets");
    printf("%u failed\n", failures);
    return failures ? 1 : 0;
}
