/* The commands, a word each, with their arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../jelling-posix/json-lines.h"
#include "discovery-output.h"
#include "gateway.h"
#include "pairing.h"

static const int64_t second = 1000000;

long number(const char *text, long limit) {
    char *end;
    long value = strtol(text, &end, 10);
    return end == text || *end || value < 0 || value > limit ? -1 : value;
}

/* What stands behind `KEY=` in a word, or NULL. */
static const char *value_of(const char *word, const char *key) {
    size_t length = strlen(key);
    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static int needs_link(struct gateway *gateway) {
    if (gateway->link) return 1;
    finish_with_error(gateway, "not connected: connect ADDRESS or connect NAME comes first");
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
    long seconds = 10;
    request.services = services;
    for (int i = 1; i < gateway->word_count; i++) {
        const char *word = gateway->words[i], *value;
        if ((value = value_of(word, "name"))) {
            request.name = value;
        } else if ((value = value_of(word, "service"))) {
            if (jelling_parse_uuid(value, &services[request.service_count++]))
                return finish_with_error(gateway, "service= needs a UUID, such as 180D");
        } else if ((value = value_of(word, "rssi"))) {
            request.minimum_rssi = (int32_t)strtol(value, NULL, 10);
        } else if ((value = value_of(word, "count"))) {
            gateway->limit = (unsigned)(number(value, 1000000) < 0 ? 0 : number(value, 1000000));
        } else if (strcmp(word, "passive") == 0) {
            request.flags |= JELLING_SCAN_PASSIVE;
        } else if (strcmp(word, "duplicates") == 0) {
            request.flags |= JELLING_SCAN_DUPLICATES;
        } else if ((seconds = number(word, 1000000)) < 0) {
            return finish_with_error(
                gateway, "usage: scan [SECONDS] [name=…] [service=UUID]… [rssi=MINIMUM] [count=N] [passive] [duplicates]");
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

static void mtu_known(struct gateway *gateway, const jelling_completion *completion) {
    if (!completion->failure) gateway->mtu = completion->mtu;
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
    gateway->link = completion->link;
    await(
        gateway, jelling_exchange_mtu(gateway->engine, gateway->link, 0, jelling_loop_now(), &gateway->operation),
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

/* ------------------------------------------------------ discover, targets */

static void database_known(struct gateway *gateway, const jelling_completion *completion) {
    (void)completion;
    database_print(&gateway->database, gateway->mtu);
    finish(gateway);
}

/* Goes on with `next` once the handle of `words[1]` is known. */
static void resolve(struct gateway *gateway, step next) {
    const char *target = gateway->words[1];
    gateway->has_uuid = 0;
    if (strncmp(target, "0x", 2) == 0 && strlen(target) <= 6) {
        char *end;
        unsigned long handle = strtoul(target + 2, &end, 16);
        if (!*end && handle >= 1 && handle <= 0xFFFF) {
            gateway->handle = (uint16_t)handle;
            return discover(gateway, next);
        }
    }
    gateway->handle = 0;
    discover(gateway, next);
}

static const struct characteristic *resolved(struct gateway *gateway) {
    const struct characteristic *characteristic =
        gateway->handle ? database_at(&gateway->database, gateway->handle)
                        : database_find(&gateway->database, gateway->words[1]);
    if (characteristic) {
        gateway->handle = characteristic->found.value_handle;
        gateway->uuid = characteristic->found.uuid;
        gateway->has_uuid = 1;
    } else if (!gateway->handle) {
        char message[128];
        snprintf(message, sizeof message, "the device has no characteristic %.64s", gateway->words[1]);
        finish_with_code(gateway, "attributeNotFound", message);
        return NULL;
    }
    return characteristic;
}

static void begin_event(struct gateway *gateway, const char *event) {
    json_begin(event);
    json_number("handle", gateway->handle);
    if (gateway->has_uuid) json_uuid("uuid", &gateway->uuid);
    else json_null("uuid");
}

/* ------------------------------------------------------------- read, write */

static void value_read(struct gateway *gateway, const jelling_completion *completion) {
    if (completion->failure) return finish_with_failure(gateway, "read", completion);
    begin_event(gateway, "value");
    json_hex("value", completion->value.data, completion->value.length);
    json_end();
    finish(gateway);
}

static void read_target(struct gateway *gateway, const jelling_completion *completion) {
    (void)completion;
    if (!resolved(gateway) && !gateway->handle) return;
    await(
        gateway,
        jelling_read(gateway->engine, gateway->link, gateway->handle, jelling_loop_now(), &gateway->operation),
        value_read);
}

static void value_written(struct gateway *gateway, const jelling_completion *completion) {
    if (completion->failure) return finish_with_failure(gateway, "write", completion);
    begin_event(gateway, "written");
    json_end();
    finish(gateway);
}

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void write_target(struct gateway *gateway, const jelling_completion *completion) {
    (void)completion;
    if (!resolved(gateway) && !gateway->handle) return;
    uint8_t value[512];
    const char *text = gateway->word_count > 2 && strcmp(gateway->words[2], "command") ? gateway->words[2] : "";
    size_t length = strlen(text);
    if (length % 2 || length > 1024) return finish_with_error(gateway, "write: a value is at most 512 pairs of hexadecimal digits");
    for (size_t i = 0; i < length; i += 2) {
        int high = digit(text[i]), low = digit(text[i + 1]);
        if (high < 0 || low < 0) return finish_with_error(gateway, "write: a value is made of hexadecimal digits");
        value[i / 2] = (uint8_t)(high << 4 | low);
    }
    int is_command = strcmp(gateway->words[gateway->word_count - 1], "command") == 0;
    jelling_status (*write)(jelling_engine *, jelling_link, uint16_t, const uint8_t *, size_t, int64_t,
                            jelling_operation *) = is_command ? jelling_write_command : jelling_write;
    await(
        gateway,
        write(
            gateway->engine, gateway->link, gateway->handle, value, length / 2, jelling_loop_now(), &gateway->operation),
        value_written);
}

/* --------------------------------------------------------- subscribe, wait */

static void subscribed(struct gateway *gateway, const jelling_completion *completion) {
    if (completion->failure) return finish_with_failure(gateway, "subscribe", completion);
    begin_event(gateway, "subscribed");
    json_end();
    finish(gateway);
}

static void subscribe_target(struct gateway *gateway, const jelling_completion *completion) {
    (void)completion;
    const struct characteristic *characteristic = resolved(gateway);
    if (!characteristic) {
        if (gateway->handle) finish_with_code(gateway, "attributeNotFound", "subscribe: there is no characteristic with this value handle");
        return;
    }
    uint16_t configuration = characteristic_configuration(characteristic);
    int notifies = characteristic->found.properties & 0x10, indicates = characteristic->found.properties & 0x20;
    if (!configuration || !(notifies || indicates))
        return finish_with_code(gateway, "notSubscribable", "subscribe: the characteristic neither notifies nor indicates");
    await(
        gateway,
        jelling_subscribe(
            gateway->engine, gateway->link, gateway->handle, configuration, !notifies, jelling_loop_now(),
            &gateway->operation),
        subscribed);
}

static void unsubscribed(struct gateway *gateway, const jelling_completion *completion) {
    if (completion->failure) return finish_with_failure(gateway, "unsubscribe", completion);
    begin_event(gateway, "unsubscribed");
    json_end();
    finish(gateway);
}

static void unsubscribe_target(struct gateway *gateway, const jelling_completion *completion) {
    (void)completion;
    if (!resolved(gateway) && !gateway->handle) return;
    await(
        gateway,
        jelling_unsubscribe(gateway->engine, gateway->link, gateway->handle, jelling_loop_now(), &gateway->operation),
        unsubscribed);
}

static void waited(void *context, jelling_loop *loop) {
    (void)loop;
    struct gateway *gateway = context;
    gateway->timer = 0;
    if (gateway->limit) finish_with_code(gateway, "timeout", "wait: fewer values came in time");
    else finish(gateway);
}

static void wait_for_values(struct gateway *gateway) {
    long seconds = 10, count = 0;
    for (int i = 1; i < gateway->word_count; i++) {
        const char *value = value_of(gateway->words[i], "count");
        long *place = value ? &count : &seconds;
        *place = number(value ? value : gateway->words[i], 1000000);
        if (*place < 0) return finish_with_error(gateway, "usage: wait [SECONDS] [count=N]");
    }
    gateway->limit = (unsigned)count;
    gateway->operation = 0;
    gateway->timer = jelling_loop_after(gateway->loop, seconds * second, waited, gateway);
}

static void notified(struct gateway *gateway, const jelling_event *event) {
    const struct characteristic *characteristic = database_at(&gateway->database, event->notification.handle);
    json_begin(event->notification.is_indication ? "indicated" : "notified");
    json_number("handle", event->notification.handle);
    if (characteristic) json_uuid("uuid", &characteristic->found.uuid);
    else json_null("uuid");
    json_hex("value", event->notification.value.data, event->notification.value.length);
    json_end();
    if (!gateway->is_busy || strcmp(gateway->words[0], "wait")) return;
    gateway->count++;
    if (gateway->limit && gateway->count == gateway->limit) finish(gateway);
}

/* ---------------------------------------------------------------- The table */

static void rssi_read(struct gateway *gateway, const jelling_completion *completion) {
    if (completion->failure) return finish_with_failure(gateway, "rssi", completion);
    json_begin("rssi");
    json_number("rssi", completion->rssi);
    json_end();
    finish(gateway);
}

static void discover_command(struct gateway *gateway) { discover(gateway, database_known); }
static void read_command(struct gateway *gateway) { resolve(gateway, read_target); }
static void write_command(struct gateway *gateway) { resolve(gateway, write_target); }
static void subscribe_command(struct gateway *gateway) { resolve(gateway, subscribe_target); }
static void unsubscribe_command(struct gateway *gateway) { resolve(gateway, unsubscribe_target); }

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

static const struct {
    const char *name;
    void (*run)(struct gateway *gateway);
    int needs_link, minimum_words;
    const char *usage;
} commands[] = {
    {"scan", scan, 0, 1, ""},
    {"connect", connect, 0, 1, ""},
    {"disconnect", disconnect, 1, 1, ""},
    {"discover", discover_command, 1, 1, ""},
    {"read", read_command, 1, 2, "usage: read UUID | SERVICE/UUID | 0xHANDLE"},
    {"write", write_command, 1, 2, "usage: write TARGET [HEX] [command]"},
    {"subscribe", subscribe_command, 1, 2, "usage: subscribe TARGET"},
    {"unsubscribe", unsubscribe_command, 1, 2, "usage: unsubscribe TARGET"},
    {"wait", wait_for_values, 0, 1, ""},
    {"pair", pair, 1, 1, ""},
    {"unpair", unpair, 0, 1, ""},
    {"bonds", bonds, 0, 1, ""},
    {"rssi", rssi, 1, 1, ""},
    {"quit", quit, 0, 1, ""},
};

void run_command(struct gateway *gateway) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(gateway->words[0], commands[i].name)) continue;
        if (gateway->word_count < commands[i].minimum_words) return finish_with_error(gateway, commands[i].usage);
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
    if (event->disconnected.is_released) json_null("reason");
    else json_number("reason", event->disconnected.reason);
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
