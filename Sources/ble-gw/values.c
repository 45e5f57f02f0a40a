/* Values of a device: reading, writing, subscribing and waiting for them. */
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../jelling-posix/json-lines.h"

/* ----------------------------------------------------------------- Targets */

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

static int is_write_command(const struct gateway *gateway) {
    return gateway->word_count > 2 && strcmp(gateway->words[gateway->word_count - 1], "command") == 0;
}

static void write_target(struct gateway *gateway, const jelling_completion *completion) {
    (void)completion;
    if (!resolved(gateway) && !gateway->handle) return;
    uint8_t value[512];
    const char *text = gateway->word_count > 2 + is_write_command(gateway) ? gateway->words[2] : "";
    size_t length = strlen(text);
    if (length % 2 || length > 1024) return finish_with_error(gateway, "write: a value is at most 512 pairs of hexadecimal digits");
    for (size_t i = 0; i < length; i += 2) {
        int high = digit(text[i]), low = digit(text[i + 1]);
        if (high < 0 || low < 0) return finish_with_error(gateway, "write: a value is made of hexadecimal digits");
        value[i / 2] = (uint8_t)(high << 4 | low);
    }
    int is_command = is_write_command(gateway);
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

void read_command(struct gateway *gateway) { resolve(gateway, read_target); }

void write_command(struct gateway *gateway) {
    if (gateway->word_count > 3 + is_write_command(gateway))
        return finish_with_error(gateway, "usage: write TARGET [HEX] [command]");
    resolve(gateway, write_target);
}

void subscribe_command(struct gateway *gateway) { resolve(gateway, subscribe_target); }

void unsubscribe_command(struct gateway *gateway) { resolve(gateway, unsubscribe_target); }

static void waited(void *context, jelling_loop *loop) {
    (void)loop;
    struct gateway *gateway = context;
    gateway->timer = 0;
    if (gateway->limit) finish_with_code(gateway, "timeout", "wait: fewer values came in time");
    else finish(gateway);
    go_on(gateway);
}

void wait_for_values(struct gateway *gateway) {
    long seconds = 10, count = 0;
    for (int i = 1; i < gateway->word_count; i++) {
        const char *value = value_of(gateway->words[i], "count");
        if (value && (count = number(value, 1000000)) < 1) return finish_with_error(gateway, count_usage);
        if (!value && (seconds = number(gateway->words[i], 1000000)) < 0)
            return finish_with_error(gateway, "usage: wait [SECONDS] [count=N]");
    }
    gateway->limit = (unsigned)count;
    gateway->operation = 0;
    gateway->timer = jelling_loop_after(gateway->loop, seconds * second, waited, gateway);
}

void notified(struct gateway *gateway, const jelling_event *event) {
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
