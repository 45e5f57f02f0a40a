/*
 * Controllers that deviate, through jelling.h: one claims the extended commands and refuses them, one is silent until its
 * device is reset. A scan goes on each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jelling.h"

#define SECOND 1000000

static int64_t now = 1;
static jelling_engine *engine;

/* What the controller does. */
static int refuses_extended, is_silent;
/* What the engine sent and reported. */
static unsigned resets, reopened, device_resets, legacy_scans, extended_scans, reports, recoveries;
static int is_ready, is_scanning;
static jelling_experience learned;

static void check(int holds, const char *what) {
    if (holds) return;
    printf("failed: %s (Resets %u, reopened %u, device reset %u, legacy scans %u, extended scans %u, reports %u)\n", what, resets, reopened,
           device_resets, legacy_scans, extended_scans, reports);
    exit(1);
}

static void answer(uint16_t opcode, uint8_t status, const uint8_t *parameters, size_t length) {
    uint8_t packet[7 + 68] = {4, 0x0E, (uint8_t)(4 + length), 1, (uint8_t)opcode, (uint8_t)(opcode >> 8), status};
    memcpy(packet + 7, parameters, length);
    jelling_receive(engine, packet, 7 + length, now);
}

/* Commands wait here, since the engine must not be called from within `jelling_drain`. */
static uint8_t commands[64][64];
static unsigned count;

static void sent(void *context, const uint8_t *packet, size_t length) {
    (void)context;
    if (packet[0] == 1 && count < 64) memcpy(commands[count++], packet, length < 64 ? length : 64);
}

static void obey(const uint8_t *command) {
    uint16_t opcode = (uint16_t)(command[1] | command[2] << 8);
    uint8_t zeros[68] = {0}, ones[64];
    memset(ones, 0xFF, sizeof ones);
    if (opcode == 0x0C03) resets++, is_scanning = 0;
    if (opcode == 0x200C && command[4]) legacy_scans++;
    if (opcode == 0x2042 && command[4]) extended_scans++;
    if (is_silent) return;
    switch (opcode) {
    case 0x1001: answer(opcode, 0, (const uint8_t[]){0x0B, 0, 0, 0x0B, 0x34, 0x12, 0, 0}, 8); break;
    case 0x1002: answer(opcode, 0, ones, 64); break;
    /* LE is supported, and extended advertising. */
    case 0x1003: answer(opcode, 0, (const uint8_t[]){0, 0, 0, 0, 0x40, 0, 0, 0}, 8); break;
    case 0x2003: answer(opcode, 0, (const uint8_t[]){0, 0x10, 0, 0, 0, 0, 0, 0}, 8); break;
    case 0x1009: answer(opcode, 0, (const uint8_t[]){1, 2, 3, 4, 5, 0xC0}, 6); break;
    case 0x1005: answer(opcode, 0, (const uint8_t[]){0xFB, 0, 0, 8, 0, 0, 0}, 7); break;
    case 0x2002: answer(opcode, 0, (const uint8_t[]){251, 0, 8}, 3); break;
    case 0x2018: answer(opcode, 0, zeros, 8); break;
    case 0x2041: case 0x2042:
        answer(opcode, refuses_extended ? 0x01 : 0, zeros, 0);
        if (opcode == 0x2042 && !refuses_extended) is_scanning = command[4];
        break;
    case 0x200C:
        answer(opcode, 0, zeros, 0);
        is_scanning = command[4];
        break;
    default: answer(opcode, 0, zeros, 68);
    }
}

static void turn(void) {
    jelling_advance(engine, now);
    for (int more = 1; more;) {
        more = 0;
        count = 0;
        jelling_drain(engine, sent, NULL);
        unsigned commanded = count;
        for (unsigned i = 0; i < commanded; i++) obey(commands[i]), more = 1;
        const jelling_event *event;
        while (jelling_next_event(engine, &event) == JELLING_OK && event) {
            more = 1;
            switch (event->kind) {
            case JELLING_EVENT_READY: is_ready = 1; break;
            case JELLING_EVENT_RECOVERING: is_ready = 0, recoveries++; break;
            case JELLING_EVENT_CONTROLLER_LEARNED: learned = event->experience; break;
            case JELLING_EVENT_DISCOVERED: reports++; break;
            case JELLING_EVENT_REOPEN_TRANSPORT:
                reopened++;
                if (event->value == 1) device_resets++, is_silent = 0;
                jelling_transport_closed(engine, now);
                jelling_transport_opened(engine, now);
                break;
            case JELLING_EVENT_FAILED: check(0, "the engine gave the controller up"); break;
            default: break;
            }
        }
    }
}

static void pass(unsigned seconds) {
    for (unsigned i = 0; i < seconds * 10; i++) {
        now += SECOND / 10;
        turn();
        if (!is_scanning || is_silent) continue;
        static uint8_t number;
        uint8_t report[] = {4, 0x3E, 15, 2, 1, 3, 1, ++number, 2, 3, 4, 5, 0xC0, 3, 2, 1, 6, 0xC5};
        report[2] = sizeof report - 3;
        jelling_receive(engine, report, sizeof report, now);
        turn();
    }
}

static void open_engine(jelling_experience experience) {
    jelling_config config = {.size = sizeof config, .experience = experience};
    check(jelling_create(&config, &engine) == JELLING_OK, "jelling_create");
    resets = reopened = device_resets = legacy_scans = extended_scans = reports = recoveries = 0;
    is_ready = is_scanning = is_silent = 0;
    jelling_transport_opened(engine, now);
    turn();
    check(is_ready, "the engine starts");
}

static void scan(void) {
    jelling_operation operation;
    jelling_scan_request request = {.size = sizeof request, .flags = JELLING_SCAN_DUPLICATES};
    check(jelling_scan(engine, &request, now, &operation) == JELLING_OK, "jelling_scan");
    turn();
}

int main(void) {
    refuses_extended = 1;
    open_engine((jelling_experience){0});
    scan();
    pass(5);
    check(legacy_scans > 0 && reports > 0, "refused extended commands: it scans with the legacy ones");
    check(learned.found != 0, "refused extended commands: that is learned");
    jelling_destroy(engine);
    open_engine(learned);
    scan();
    pass(5);
    check(legacy_scans > 0 && extended_scans == 0 && resets == 1 && reports > 0, "what was learned: the extended ones are not tried again");
    jelling_destroy(engine);

    refuses_extended = 0;
    open_engine((jelling_experience){0});
    is_silent = 1;
    scan();
    pass(600);
    check(recoveries > 0 && resets > 1 && reopened > device_resets && device_resets > 0, "silence: Reset, the transport, the device");
    check(is_ready && reports > 0, "silence: the scan goes on once the device was reset");
    jelling_destroy(engine);
    printf("controllers that deviate: 3 passed\n");
    return 0;
}
