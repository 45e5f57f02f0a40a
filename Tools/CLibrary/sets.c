/*
 * Advertising sets and periodic trains through jelling.h, on a library that was built with them.
 *
 *   sets TRANSPORT advertise              two sets, the second with a train, until its standard input ends
 *   sets TRANSPORT follow ADDRESS SID     three packets of a train
 *   sets TRANSPORT ask                    a train with two subevents, until three responses are there
 *   sets TRANSPORT respond ADDRESS SID    follows its second subevent, and responds in the second slot, until its standard
 *                                         input ends
 *
 * A line for each event on standard output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../Sources/jelling-posix/include/jelling-posix.h"

static const char *role, *address_text;
static unsigned long identifier;
static jelling_operation sets[2], following;
static unsigned packets;

static int number_of(jelling_operation operation) { return operation == sets[0] ? 1 : operation == sets[1] ? 2 : 0; }

static void fail(jelling_loop *loop, const char *what, const char *why) {
    printf("failed %s: %s\n", what, why);
    jelling_loop_quit(loop, 1);
}

static void submitted(jelling_loop *loop, const char *what, jelling_status status) {
    if (status != JELLING_OK) fail(loop, what, jelling_status_text(status));
}

static void advertise(jelling_loop *loop) {
    static uint8_t data[200] = {199, 0xFF}, train_data[] = {5, 0xFF, 1, 2, 3, 4}, flags[] = {2, 1, 6};
    memset(data + 2, 2, sizeof data - 2);
    jelling_address first, second;
    jelling_parse_address("C0:DE:00:00:00:01/random", &first);
    jelling_parse_address("C0:DE:00:00:00:02/random", &second);
    jelling_train train = {.size = sizeof train, .data = {train_data, sizeof train_data}};
    jelling_set_request request = {.size = sizeof request, .flags = JELLING_SET_CONNECTABLE, .data = {data, sizeof data},
                                   .address = &first, .interval = 80};
    int64_t now = jelling_loop_now();
    submitted(loop, "set 1", jelling_advertise_set(jelling_loop_engine(loop), &request, now, &sets[0]));
    jelling_set_request periodic = {.size = sizeof periodic, .flags = JELLING_SET_HAS_IDENTIFIER, .data = {flags, 3},
                                    .address = &second, .train = &train, .identifier = 5};
    submitted(loop, "set 2", jelling_advertise_set(jelling_loop_engine(loop), &periodic, now, &sets[1]));
}

static void follow(jelling_loop *loop, int is_responding) {
    static const uint8_t second = 1;
    jelling_train_source source = {.identifier = (uint8_t)identifier};
    submitted(loop, "address", jelling_parse_address(address_text, &source.address));
    jelling_train_request request = {.size = sizeof request, .sources = &source, .source_count = 1};
    if (is_responding) request.subevents = &second, request.subevent_count = 1;
    submitted(loop, "train", jelling_follow_train(jelling_loop_engine(loop), &request, jelling_loop_now(), &following));
}

static void ask(jelling_loop *loop) {
    static uint8_t flags[] = {2, 1, 6};
    jelling_address address;
    jelling_parse_address("C0:DE:00:00:00:03/random", &address);
    jelling_train train = {.size = sizeof train, .interval = 400, .subevent_count = 2, .subevent_interval = 160,
                           .response_slot_delay = 80, .response_slot_spacing = 255, .response_slot_count = 2};
    jelling_set_request request = {.size = sizeof request, .flags = JELLING_SET_HAS_IDENTIFIER, .data = {flags, 3},
                                   .address = &address, .train = &train, .identifier = 6};
    submitted(loop, "set", jelling_advertise_set(jelling_loop_engine(loop), &request, jelling_loop_now(), &sets[0]));
}

/* Data for the subevents that are asked for: their numbers. */
static void send_subevents(jelling_loop *loop, const jelling_event *event) {
    static uint8_t numbers[2] = {0, 1};
    jelling_subevent_data data[2] = {{0}};
    for (unsigned i = 0; i < event->subevents.count && i < 2; i++) {
        uint8_t number = (event->subevents.first + i) % 2;
        data[i] = (jelling_subevent_data){.subevent = number, .response_slot_count = 2, .data = {&numbers[number], 1}};
    }
    size_t count = event->subevents.count < 2 ? event->subevents.count : 2;
    submitted(loop, "subevents", jelling_send_subevents(jelling_loop_engine(loop), sets[0], data, count, jelling_loop_now(), NULL));
}

static void respond(jelling_loop *loop, const jelling_event *event) {
    static const uint8_t data[] = {0xA0, 0xA1};
    if (!event->train_data.has_subevent) return fail(loop, "train", "its data are of no subevent");
    jelling_train_response response = {.size = sizeof response, .event = event->train_data.event,
                                       .subevent = event->train_data.subevent, .response_subevent = event->train_data.subevent,
                                       .slot = 1, .data = {data, sizeof data}};
    submitted(loop, "response", jelling_respond_in_train(jelling_loop_engine(loop), following, &response, jelling_loop_now(), NULL));
}

static void handle(void *context, jelling_loop *loop, const jelling_event *event) {
    (void)context;
    char text[18];
    jelling_operation stop;
    switch (event->kind) {
    case JELLING_EVENT_READY:
        if (!strcmp(role, "advertise")) advertise(loop);
        else if (!strcmp(role, "ask")) ask(loop);
        else follow(loop, !strcmp(role, "respond"));
        break;
    case JELLING_EVENT_SET_STARTED: printf("started %d\n", number_of(event->operation)); break;
    case JELLING_EVENT_SET_STOPPED: printf("stopped %d\n", number_of(event->operation)); break;
    case JELLING_EVENT_SET_CONNECTED: printf("connected %d\n", number_of(event->operation)); break;
    case JELLING_EVENT_TRAIN_FOUND:
        jelling_format_address(&event->train.address, text, sizeof text);
        printf("found %s/%u interval %u subevents %u\n", text, event->train.identifier, event->train.interval,
               event->train.subevent_count);
        break;
    case JELLING_EVENT_TRAIN_DATA:
        printf("train ");
        for (size_t i = 0; i < event->train_data.data.length; i++) printf("%02x", event->train_data.data.data[i]);
        printf("\n");
        if (!strcmp(role, "respond")) respond(loop, event);
        else if (++packets == 3) jelling_stop(jelling_loop_engine(loop), jelling_loop_now(), &stop);
        break;
    case JELLING_EVENT_SUBEVENTS_REQUESTED: send_subevents(loop, event); break;
    case JELLING_EVENT_SLOT_RESPONSE:
        if (!event->slot_response.has_data) break;
        printf("response %u/%u ", event->slot_response.subevent, event->slot_response.slot);
        for (size_t i = 0; i < event->slot_response.data.length; i++) printf("%02x", event->slot_response.data.data[i]);
        printf("\n");
        if (++packets == 3) jelling_stop(jelling_loop_engine(loop), jelling_loop_now(), &stop);
        break;
    case JELLING_EVENT_COMPLETED:
        /* On a busy machine data and responses come too late for their subevent; the next ones do not. */
        if (event->completed.failure && event->completed.failure != JELLING_FAILURE_CANCELLED &&
            (number_of(event->operation) || event->operation == following))
            fail(loop, "operation", jelling_failure_text(event->completed.failure, event->completed.code));
        break;
    case JELLING_EVENT_FAILED: fail(loop, "controller", "it does not answer"); break;
    case JELLING_EVENT_STOPPED: jelling_loop_quit(loop, 0); break;
    default: break;
    }
    fflush(stdout);
}

static void ended(void *context, jelling_loop *loop, int fd) {
    (void)context;
    char octet;
    jelling_operation stop;
    if (read(fd, &octet, 1) > 0) return;
    jelling_loop_unwatch(loop, fd);
    jelling_stop(jelling_loop_engine(loop), jelling_loop_now(), &stop);
}

int main(int count, char **arguments) {
    if (count != 3 && count != 5) return 2;
    role = arguments[2];
    address_text = count == 5 ? arguments[3] : NULL;
    identifier = count == 5 ? strtoul(arguments[4], NULL, 10) : 0;
    jelling_loop_options options = {.size = sizeof options, .transport = arguments[1], .on_event = handle};
    jelling_loop *loop;
    if (jelling_loop_open(&options, &loop)) {
        printf("failed: %s\n", jelling_loop_error());
        return 1;
    }
    if (!strcmp(role, "advertise") || !strcmp(role, "respond")) jelling_loop_watch(loop, STDIN_FILENO, ended, NULL);
    int status = jelling_loop_run(loop);
    jelling_loop_close(loop);
    return status ? 1 : 0;
}
