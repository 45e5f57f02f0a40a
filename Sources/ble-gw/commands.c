/* The commands, a word each, with their arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../jelling-posix/json-lines.h"
#include "discovery-output.h"
#include "gateway.h"
#include "pairing.h"
#include "values.h"

const char count_usage[] = "count= needs a number, 1 to 1000000";

long number(const char *text, long limit) {
    char *end;
    long value = strtol(text, &end, 10);
    return end == text || *end || value < 0 || value > limit ? -1 : value;
}

long six_digits(const char *text) {
    return strlen(text) == 6 && strspn(text, "0123456789") == 6 ? number(text, 999999) : -1;
}

const char *value_of(const char *word, const char *key) {
    size_t length = strlen(key);
    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static int needs_link(struct gateway *gateway) {
    if (gateway->link) return 1;
    finish_with_code(
        gateway, gateway->was_connected ? "linkLost" : "usage",
        "not connected: connect ADDRESS or connect NAME comes first");
    return 0;
}

/* -------------------------------------------------------------------- scan */

static void scan_ended(struct gateway *gateway, const jelling_completion *completion) {
    if (completion->failure != JELLING_FAILURE_CANCELLED) return finish_with_failure(gateway, "scan", completion);
    json_begin("scanned");
    json_number("count", gateway->count);
    json_end();
    finish(gateway);
}

static void end_scan(void *context, jelling_loop *loop) {
    (void)loop;
    struct gateway *gateway = context;
    gateway->timer = 0;
    jelling_cancel(gateway->engine, gateway->scan, jelling_loop_now(), NULL);
}

static void scan(struct gateway *gateway) {
    jelling_scan_request request = {.size = sizeof request};
    jelling_uuid services[maximum_words];
    jelling_address devices[maximum_words];
    long seconds = 10;
    request.services = services;
    request.accept_list = devices;
    for (int i = 1; i < gateway->word_count; i++) {
        const char *word = gateway->words[i], *value;
        if ((value = value_of(word, "name"))) {
            request.name = value;
        } else if ((value = value_of(word, "service"))) {
            if (jelling_parse_uuid(value, &services[request.service_count++]))
                return finish_with_error(gateway, "service= needs a UUID, such as 180D");
        } else if ((value = value_of(word, "address"))) {
            if (!strchr(value, '/') || jelling_parse_address(value, &devices[request.accept_count++]))
                return finish_with_error(gateway, "address= needs an address with its type, such as F2:F1:F0:00:00:02/random");
        } else if ((value = value_of(word, "rssi"))) {
            long strength = *value == '-' ? number(value + 1, 127) : -1;
            if (strength < 1) return finish_with_error(gateway, "rssi= needs -127 to -1 dBm, such as rssi=-70");
            request.minimum_rssi = (int32_t)-strength;
        } else if ((value = value_of(word, "count"))) {
            long count = number(value, 1000000);
            if (count < 1) return finish_with_error(gateway, count_usage);
            gateway->limit = (unsigned)count;
        } else if (strcmp(word, "passive") == 0) {
            request.flags |= JELLING_SCAN_PASSIVE;
        } else if (strcmp(word, "duplicates") == 0) {
            request.flags |= JELLING_SCAN_DUPLICATES;
        } else if (strcmp(word, "unresolved-targets") == 0) {
            request.flags |= JELLING_SCAN_UNRESOLVED_TARGETS;
        } else if ((seconds = number(word, 1000000)) < 0) {
            return finish_with_error(
                gateway, "usage: scan [SECONDS] [name=…] [service=UUID]… [address=ADDRESS/TYPE]… [rssi=MINIMUM] [count=N] "
                         "[passive] [duplicates] [unresolved-targets]");
        }
    }
    await(gateway, jelling_scan(gateway->engine, &request, jelling_loop_now(), &gateway->operation), scan_ended);
    gateway->scan = gateway->operation;
    if (gateway->is_busy) gateway->timer = jelling_loop_after(gateway->loop, seconds * second, end_scan, gateway);
}

static void discovered(struct gateway *gateway, const jelling_event *event) {
    if (gateway->limit && gateway->count >= gateway->limit) return;
    discovery_print(&event->discovered);
    gateway->count++;
    if (gateway->limit && gateway->count == gateway->limit)
        jelling_cancel(gateway->engine, gateway->scan, jelling_loop_now(), NULL);
}

/* ----------------------------------------------------------------- connect */

static void too_late(void *context, jelling_loop *loop) {
    (void)loop;
    struct gateway *gateway = context;
    gateway->timer = 0;
    jelling_cancel(gateway->engine, gateway->operation, jelling_loop_now(), NULL);
}

/* The command lasts until the end of the link, because the next one may connect again. */
static void new_link_ended(struct gateway *gateway, const jelling_completion *completion) {
    (void)completion;
    if (gateway->failure.failure == JELLING_FAILURE_CANCELLED)
        return finish_with_code(gateway, "deviceNotReached", "connect: the device did not answer in time");
    finish_with_failure(gateway, "connect", &gateway->failure);
}

static void mtu_known(struct gateway *gateway, const jelling_completion *completion) {
    if (!completion->failure) {
        gateway->mtu = completion->mtu;
    } else if (completion->failure != JELLING_FAILURE_ATT && completion->failure != JELLING_FAILURE_INVALID_RESPONSE) {
        /* A device may refuse to change its MTU. Otherwise the link is lost, or nothing more can be asked on it. */
        gateway->failure = *completion;
        if (gateway->timer) jelling_loop_cancel(gateway->loop, gateway->timer);
        gateway->timer = 0;
        return await(
            gateway, jelling_disconnect(gateway->engine, gateway->new_link, jelling_loop_now(), &gateway->operation),
            new_link_ended);
    }
    gateway->link = gateway->new_link;
    gateway->was_connected = 1;
    json_begin("connected");
    json_address("address", &gateway->peer);
    json_number("mtu", gateway->mtu);
    json_end();
    finish(gateway);
}

static void connect_ended(struct gateway *gateway, const jelling_completion *completion) {
    if (completion->failure == JELLING_FAILURE_CANCELLED)
        return finish_with_code(gateway, "deviceNotReached", "connect: the device was not heard in time; is it on, and in range?");
    if (completion->failure) return finish_with_failure(gateway, "connect", completion);
    gateway->new_link = completion->link;
    gateway->mtu = default_mtu;
    await(
        gateway, jelling_exchange_mtu(gateway->engine, gateway->new_link, 0, jelling_loop_now(), &gateway->operation),
        mtu_known);
}

static void connect_to(struct gateway *gateway, const jelling_address *address) {
    jelling_connect_request request = {.size = sizeof request, .peer = *address};
    gateway->peer = *address;
    await(gateway, jelling_connect(gateway->engine, &request, jelling_loop_now(), &gateway->operation), connect_ended);
}

static void search_ended(struct gateway *gateway, const jelling_completion *completion) {
    (void)completion;
    if (gateway->count > 1)
        return finish_with_code(gateway, "ambiguousName", "connect: several devices have the name; give an address");
    if (gateway->count) {
        int64_t left = gateway->deadline - jelling_loop_now();
        if (gateway->timer) jelling_loop_cancel(gateway->loop, gateway->timer);
        gateway->timer = jelling_loop_after(gateway->loop, left > second ? left : second, too_late, gateway);
        connect_to(gateway, &gateway->peer);
    } else finish_with_code(gateway, "deviceNotReached", "connect: the device was not heard in time; is it on, and in range?");
}

/* Whether there is a bond with these octets; then its type is the one that is meant, whatever is heard first. */
static int is_bonded(struct gateway *gateway, jelling_address *address) {
    jelling_bond bond;
    for (size_t index = 0; jelling_loop_bond(gateway->loop, index, &bond) == 0; index++) {
        if (memcmp(bond.identity.octets, address->octets, 6)) continue;
        *address = bond.identity;
        return 1;
    }
    return 0;
}

static void connect(struct gateway *gateway) {
    jelling_address address;
    long seconds = 30;
    const char *name = gateway->word_count > 1 ? gateway->words[1] : "";
    for (int i = 2; i < gateway->word_count; i++) {
        const char *value = value_of(gateway->words[i], "timeout");
        if (value) seconds = number(value, 1000000);
        if (!value || seconds < 0) name = "";
    }
    if (!*name) return finish_with_error(gateway, "usage: connect ADDRESS[/TYPE] | NAME [timeout=SECONDS]");
    if (gateway->link) return finish_with_error(gateway, "connected already: disconnect comes first");
    gateway->timer = jelling_loop_after(gateway->loop, seconds * second, too_late, gateway);
    gateway->deadline = jelling_loop_now() + seconds * second;
    gateway->wants_address = jelling_parse_address(name, &address) == JELLING_OK;
    if (gateway->wants_address && (strchr(name, '/') || is_bonded(gateway, &address))) return connect_to(gateway, &address);
    jelling_scan_request request = {.size = sizeof request, .name = gateway->wants_address ? NULL : name};
    gateway->wanted = address;
    gateway->is_searching = 1;
    await(gateway, jelling_scan(gateway->engine, &request, jelling_loop_now(), &gateway->operation), search_ended);
    gateway->scan = gateway->operation;
}

static void found_by_search(struct gateway *gateway, const jelling_event *event) {
    const jelling_address *address = &event->discovered.address;
    if (gateway->count > 1 || !event->discovered.has_address || !event->discovered.is_connectable) return;
    if (gateway->wants_address && memcmp(address->octets, gateway->wanted.octets, 6)) return;
    if (gateway->count && memcmp(address->octets, gateway->peer.octets, 6) == 0 &&
        !address->is_random == !gateway->peer.is_random)
        return;
    gateway->peer = *address;
    gateway->count++;
    if (gateway->count == 1 && !gateway->wants_address) {
        /* Another device may have the same name. */
        jelling_loop_cancel(gateway->loop, gateway->timer);
        gateway->timer = jelling_loop_after(gateway->loop, second, too_late, gateway);
        return;
    }
    jelling_cancel(gateway->engine, gateway->scan, jelling_loop_now(), NULL);
}

static void let_go(struct gateway *gateway, const jelling_completion *completion) {
    /* The event has told of the end. */
    if (completion->failure && gateway->link) return finish_with_failure(gateway, "disconnect", completion);
    finish(gateway);
}

/* ------------------------------------------- discover, rssi, disconnect, quit */

static void database_known(struct gateway *gateway, const jelling_completion *completion) {
    (void)completion;
    database_print(&gateway->database, gateway->mtu);
    finish(gateway);
}

static void rssi_read(struct gateway *gateway, const jelling_completion *completion) {
    if (completion->failure) return finish_with_failure(gateway, "rssi", completion);
    json_begin("rssi");
    json_number("rssi", completion->rssi);
    json_end();
    finish(gateway);
}

static void discover_command(struct gateway *gateway) { discover(gateway, database_known); }

static void rssi(struct gateway *gateway) {
    await(gateway, jelling_read_rssi(gateway->engine, gateway->link, jelling_loop_now(), &gateway->operation), rssi_read);
}

static void disconnect(struct gateway *gateway) {
    await(gateway, jelling_disconnect(gateway->engine, gateway->link, jelling_loop_now(), &gateway->operation), let_go);
}

static void quit(struct gateway *gateway) {
    gateway->is_at_end = 1;
    gateway->lines_length = 0;
    finish(gateway);
}

/* ---------------------------------------------------------------- The table */

static const struct {
    const char *name;
    void (*run)(struct gateway *gateway);
    int needs_link, minimum_words, maximum_words;
    const char *usage;
} commands[] = {
    {"scan", scan, 0, 1, maximum_words, ""},
    {"connect", connect, 0, 1, maximum_words, ""},
    {"disconnect", disconnect, 1, 1, 1, "usage: disconnect"},
    {"discover", discover_command, 1, 1, 1, "usage: discover"},
    {"read", read_command, 1, 2, 2, "usage: read UUID | SERVICE/UUID | 0xHANDLE"},
    {"write", write_command, 1, 2, 4, "usage: write TARGET [HEX] [command]"},
    {"subscribe", subscribe_command, 1, 2, 2, "usage: subscribe TARGET"},
    {"unsubscribe", unsubscribe_command, 1, 2, 2, "usage: unsubscribe TARGET"},
    {"wait", wait_for_values, 0, 1, 3, "usage: wait [SECONDS] [count=N]"},
    {"pair", pair, 1, 1, 2, "usage: pair [PASSKEY], a number of six digits"},
    {"unpair", unpair, 0, 1, maximum_words, ""},
    {"bonds", bonds, 0, 1, 1, "usage: bonds"},
    {"rssi", rssi, 1, 1, 1, "usage: rssi"},
    {"quit", quit, 0, 1, 1, "usage: quit"},
};

void run_command(struct gateway *gateway) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(gateway->words[0], commands[i].name)) continue;
        if (gateway->word_count < commands[i].minimum_words || gateway->word_count > commands[i].maximum_words)
            return finish_with_error(gateway, commands[i].usage);
        if (!commands[i].needs_link || needs_link(gateway)) commands[i].run(gateway);
        return;
    }
    finish_with_error(
        gateway, "no such command: there are scan, connect, disconnect, discover, read, write, subscribe, unsubscribe, "
                 "wait, pair, bonds, unpair, rssi and quit");
}

static void disconnected(struct gateway *gateway, const jelling_event *event) {
    if (event->link != gateway->link) return;
    json_begin("disconnected");
    json_address("address", &gateway->peer);
    json_reason(
        event->disconnected.reason, event->disconnected.is_released != 0, event->disconnected.is_controller_lost != 0);
    json_end();
    gateway->link = 0;
    gateway->question = 0;
    database_clear(&gateway->database);
}

void handle_event(struct gateway *gateway, const jelling_event *event) {
    switch (event->kind) {
    case JELLING_EVENT_DISCOVERED:
        if (event->operation != gateway->scan) return;
        if (gateway->is_searching) found_by_search(gateway, event);
        else discovered(gateway, event);
        break;
    case JELLING_EVENT_DISCONNECTED: disconnected(gateway, event); break;
    case JELLING_EVENT_NOTIFICATION: notified(gateway, event); break;
    case JELLING_EVENT_MTU_CHANGED: gateway->mtu = (uint16_t)event->value; break;
    case JELLING_EVENT_SUBSCRIPTIONS_FORGOTTEN:
        /* The device changed its services: they are sought again when they are needed. */
        gateway->database.is_complete = 0;
        break;
    case JELLING_EVENT_PAIRING_DISPLAY_PASSKEY: pairing_shows_passkey(gateway, event); break;
    case JELLING_EVENT_PAIRING_QUESTION: pairing_asked(gateway, event); break;
    case JELLING_EVENT_PAIRED:
    case JELLING_EVENT_PAIRING_FAILED: gateway->question = 0; break;
    default: break;
    }
}
