/* What centrals ask for: values, and being told of them. */
#include "requests.h"

#include <string.h>

#include "../jelling-posix/json-lines.h"

/* Properties of a characteristic. */
enum { broadcast = 0x01, notify_or_indicate = 0x30 };

static void begin_value(
    struct beacon *beacon, const char *event, jelling_link link, const struct served_characteristic *characteristic) {
    begin(beacon, event, link);
    json_number("handle", characteristic->handle);
    json_uuid("uuid", &characteristic->uuid);
}

static void update(struct beacon *beacon, const struct served_characteristic *characteristic) {
    updates_add(&beacon->updates, beacon->engine, characteristic->handle, characteristic->value, characteristic->length);
}

static void tick(void *context, jelling_loop *loop) {
    struct served_characteristic *characteristic = context;
    jelling_loop_after(loop, characteristic->notify_every, tick, characteristic);
    if (!updates_wait(&characteristic->beacon->updates, characteristic->handle)) update(characteristic->beacon, characteristic);
}

int values_begin(struct beacon *beacon, struct served_characteristic *characteristic) {
    if (characteristic->properties & broadcast)
        jelling_update_value(
            beacon->engine, characteristic->handle, characteristic->value, characteristic->length, NULL, 0,
            jelling_loop_now(), NULL);
    return !characteristic->notify_every ||
           jelling_loop_after(beacon->loop, characteristic->notify_every, tick, characteristic) >= 0;
}

static void answer(struct beacon *beacon, uint64_t request, const struct served_characteristic *characteristic, size_t offset) {
    int64_t now = jelling_loop_now();
    if (offset > characteristic->length)
        jelling_respond_error(beacon->engine, request, 0x07, now, NULL);
    else
        jelling_respond_value(
            beacon->engine, request, characteristic->value + offset, characteristic->length - offset, now, NULL);
}

/* Reads that are answered later; without a characteristic: free. */
static struct late_answer {
    uint64_t request;
    struct served_characteristic *characteristic;
    size_t offset;
    jelling_link link;
    int timer;
} late[32];

static void answer_late(void *context, jelling_loop *loop) {
    (void)loop;
    struct late_answer *waiting = context;
    struct served_characteristic *characteristic = waiting->characteristic;
    waiting->characteristic = NULL;
    answer(characteristic->beacon, waiting->request, characteristic, waiting->offset);
}

/* 1 where the answer waits; without room it does not. */
static int waits(
    struct beacon *beacon, const jelling_event *event, struct served_characteristic *characteristic, size_t offset) {
    size_t place = 0;
    if (!characteristic->answer_after) return 0;
    while (place < sizeof late / sizeof *late && late[place].characteristic) place++;
    if (place == sizeof late / sizeof *late) return 0;
    int timer = jelling_loop_after(beacon->loop, characteristic->answer_after, answer_late, &late[place]);
    if (timer < 0) return 0;
    late[place] = (struct late_answer){event->request.id, characteristic, offset, event->link, timer};
    return 1;
}

void forget_reads(struct beacon *beacon, jelling_link link) {
    for (size_t place = 0; place < sizeof late / sizeof *late; place++) {
        if (!late[place].characteristic || late[place].link != link) continue;
        jelling_loop_cancel(beacon->loop, late[place].timer);
        late[place].characteristic = NULL;
    }
}

void read_value(struct beacon *beacon, const jelling_event *event) {
    struct served_characteristic *characteristic = profile_at(&beacon->profile, event->request.writes[0].handle);
    size_t offset = event->request.offsets[0];
    if (!characteristic) {
        jelling_respond_error(beacon->engine, event->request.id, 0x0E, jelling_loop_now(), NULL);
        return;
    }
    if (!waits(beacon, event, characteristic, offset)) answer(beacon, event->request.id, characteristic, offset);
    begin_value(beacon, "read", event->link, characteristic);
    json_number("offset", (int64_t)offset);
    json_end();
}

/* What a central is told where it cannot write all; 0 where it can. */
static uint8_t check_writes(struct beacon *beacon, const jelling_event *event) {
    for (size_t i = 0; i < event->request.count; i++) {
        const jelling_attribute_value *write = &event->request.writes[i];
        struct served_characteristic *characteristic = profile_at(&beacon->profile, write->handle);
        if (!characteristic) return 0x0E;
        size_t offset = event->request.offsets[i], length = characteristic->length;
        for (size_t k = 0; k < i; k++)
            if (event->request.writes[k].handle == write->handle) {
                size_t end = event->request.offsets[k] + event->request.writes[k].value.length;
                length = event->request.offsets[k] == 0 || end > length ? end : length;
            }
        if (offset > length) return 0x07;
        if (offset + write->value.length > maximum_value) return 0x0D;
    }
    return 0;
}

void write_values(struct beacon *beacon, const jelling_event *event) {
    uint8_t error = check_writes(beacon, event);
    int64_t now = jelling_loop_now();
    if (error) {
        jelling_respond_error(beacon->engine, event->request.id, error, now, NULL);
        return;
    }
    for (size_t i = 0; i < event->request.count; i++) {
        const jelling_attribute_value *write = &event->request.writes[i];
        struct served_characteristic *characteristic = profile_at(&beacon->profile, write->handle);
        size_t offset = event->request.offsets[i], end = offset + write->value.length;
        if (write->value.length) memcpy(characteristic->value + offset, write->value.data, write->value.length);
        if (offset == 0 || end > characteristic->length) characteristic->length = end;
    }
    jelling_respond_written(beacon->engine, event->request.id, now, NULL);
    for (size_t i = 0; i < event->request.count; i++) {
        int is_last = 1;
        for (size_t k = i + 1; k < event->request.count; k++)
            is_last &= event->request.writes[k].handle != event->request.writes[i].handle;
        if (!is_last) continue;
        struct served_characteristic *characteristic = profile_at(&beacon->profile, event->request.writes[i].handle);
        begin_value(beacon, "written", event->link, characteristic);
        json_hex("value", characteristic->value, characteristic->length);
        json_end();
        if (characteristic->properties & (broadcast | notify_or_indicate)) update(beacon, characteristic);
    }
}

/* The server keeps Server Characteristic Configurations only: a profile's descriptors are read. */
void stored(struct beacon *beacon, const jelling_event *event) {
    struct served_characteristic descriptor = {.handle = event->request.writes[0].handle};
    jelling_parse_uuid("2903", &descriptor.uuid);
    begin_value(beacon, "written", event->link, &descriptor);
    json_hex("value", event->request.writes[0].value.data, event->request.writes[0].value.length);
    json_end();
}

void subscription(struct beacon *beacon, const jelling_event *event) {
    struct served_characteristic *characteristic = profile_at(&beacon->profile, event->subscription.handle);
    if (!characteristic) return;
    int modes = event->subscription.modes;
    begin_value(beacon, modes ? "subscribed" : "unsubscribed", event->link, characteristic);
    if (modes) {
        json_bool("notifications", modes & 1);
        json_bool("indications", modes & 2);
        json_number("maximumUpdateLength", event->subscription.maximum_length);
    }
    json_end();
}
