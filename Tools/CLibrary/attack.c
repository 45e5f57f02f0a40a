/*
 * Calls of jelling.h that are wrong: null pointers, wrong sizes, engines that are gone, calls from within a callback,
 * numbers that are out of date, and then thousands of calls at random. Each has to end with an error and change nothing.
 *
 *   attack [SEED [ROUNDS]]     the last line counts; exit status 0 when nothing failed
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jelling.h"
#include "calls.h"

static unsigned passed, failed;

static void check(int condition, const char *what) {
    if (condition) {
        passed++;
        return;
    }
    failed++;
    printf("failed: %s\n", what);
}

/* What good arguments look like. */
static jelling_uuid uuid = {{0, 0, 0x18, 0x0D, 0, 0, 0x10, 0, 0x80, 0, 0, 0x80, 0x5F, 0x9B, 0x34, 0xFB}, 2, {0}};
static jelling_address address = {{0xF2, 0xF1, 0xF0, 0, 0, 2}, 1, 0};
static jelling_connection_request parameters = {12, 24, 0, 500};
static uint16_t handles[2] = {3, 5};
static uint32_t one_channel[1] = {1};
static uint8_t octets[64] = {1, 2, 3};
static jelling_bytes bytes = {octets, 4};
static jelling_attribute_value writes[1];
static jelling_connect_request connecting = {.size = sizeof connecting};
static jelling_service_definition service = {.size = sizeof service};
static jelling_out_of_band_data out_of_band = {.size = sizeof out_of_band};
static jelling_packed_advertisement packed = {.size = sizeof packed};
static jelling_train train = {.size = sizeof train};
static jelling_set_request advertised_set = {.size = sizeof advertised_set, .train = &train};
static jelling_train_source source = {.identifier = 3};
static jelling_train_request followed = {.size = sizeof followed, .sources = &source, .source_count = 1};
static jelling_subevent_data subevent = {.subevent = 1, .response_slot_count = 1, .data = {octets, 4}};
static jelling_train_response response = {.size = sizeof response, .subevent = 1, .data = {octets, 4}};
static jelling_pace pace = {.size = sizeof pace, .busy = {12, 24, 0, 500}, .idle = {80, 120, 2, 500}};
static jelling_parameter_policy policy = {.size = sizeof policy, .kind = JELLING_PARAMETERS_WITHIN, .minimum_interval = 6,
                                          .maximum_interval = 3200, .maximum_latency = 499,
                                          .minimum_supervision_timeout = 10, .maximum_supervision_timeout = 3200};
static jelling_subrate_request subrate = {1, 5, 0, 1, 500, 0};
static jelling_path_loss_zones zones = {.size = sizeof zones, .low = 20, .low_hysteresis = 2, .high = 30, .high_hysteresis = 2};
static jelling_counters counters = {.size = sizeof counters};
static int64_t deadline;
static uint32_t is_ready;
static const jelling_event *event;
static const jelling_question *question;

static void nothing(void *context, const uint8_t *packet, size_t length) {
    (void)context;
    (void)packet;
    (void)length;
}

static void all(jelling_engine *e, int64_t t, jelling_status wanted, const char *when) {
    jelling_operation number = 4242, *o = &number;
    jelling_link l = 65578;
    char text[160];
#define WANT(call)                                                     \
    snprintf(text, sizeof text, "%s: %.90s", when, #call);             \
    check((call) == wanted, text);
    CALLS(WANT)
    check(number == 4242, "a refused call left an operation");
    if (t >= 0) {
        QUERIES(WANT)
        snprintf(text, sizeof text, "%s: jelling_destroy", when);
        check(jelling_destroy(e) == wanted, text);
    }
}

static void from_within(void *context, const uint8_t *packet, size_t length) {
    (void)packet;
    (void)length;
    static int is_done;
    if (!is_done) all(context, 5, JELLING_ERROR_BUSY, "from within a callback");
    is_done = 1;
}

/* ------------------------------------------------------------ One by one */

static jelling_engine *opened(void) {
    jelling_engine *engine = NULL;
    jelling_config config = {.size = sizeof config, .opened_bearers = 3,
                             .flags = JELLING_CONFIG_ANSWERS_QUESTIONS | JELLING_CONFIG_ENHANCED_BEARERS | JELLING_CONFIG_SUBRATING |
                                      JELLING_CONFIG_ADDRESS_RESOLUTION};
    jelling_status status = jelling_create(&config, &engine);
    if (status == JELLING_ERROR_UNSUPPORTED) {
        config.flags &= ~(uint32_t)JELLING_CONFIG_ENHANCED_BEARERS;
        status = jelling_create(&config, &engine);
    }
    check(status == JELLING_OK && engine, "jelling_create");
    check(jelling_transport_opened(engine, 1) == JELLING_OK, "jelling_transport_opened");
    return engine;
}

static void wrong_engines(void) {
    all(NULL, 1, JELLING_ERROR_ARGUMENT, "without an engine");
    all((jelling_engine *)octets, 1, JELLING_ERROR_ENGINE, "with something else");
    jelling_engine *engine = opened();
    check(jelling_destroy(engine) == JELLING_OK, "jelling_destroy");
    all(engine, 1, JELLING_ERROR_ENGINE, "after its end");
    jelling_engine *engines[JELLING_MAXIMUM_ENGINES], *more = (jelling_engine *)octets;
    for (int i = 0; i < JELLING_MAXIMUM_ENGINES; i++) check(!jelling_create(NULL, &engines[i]), "as many as there can be");
    check(jelling_create(NULL, &more) == JELLING_ERROR_LIMIT && !more, "one engine too many");
    for (int i = 0; i < JELLING_MAXIMUM_ENGINES; i++) check(!jelling_destroy(engines[i]), "jelling_destroy");
    check(jelling_create(NULL, NULL) == JELLING_ERROR_ARGUMENT, "no place for the engine");
    engine = opened();
    check(jelling_drain(engine, from_within, engine) == JELLING_OK, "jelling_drain");
    all(engine, -1, JELLING_ERROR_ARGUMENT, "before the beginning of time");
    check(jelling_destroy(engine) == JELLING_OK, "jelling_destroy");
}

/* Each structure that begins with its size, with sizes that it cannot have. */
static void wrong_sizes(void) {
    static const uint32_t more[] = {1, 0x1000, 0xFFFFFFFF};
    jelling_engine *engine = opened(), *another;
    jelling_operation o;
    jelling_config config = {.size = 0};
    jelling_scan_request scan = {.size = 0};
    jelling_connect_request connect = {.peer = address};
    jelling_advertise_request advertise = {.size = 0};
    jelling_pairing_options pairing = {.size = 0};
    jelling_security_settings security = {.size = 0};
    jelling_channel_settings channel = {.size = 0};
    jelling_service_definition definition = {.uuid = uuid};
    jelling_characteristic_definition characteristic = {.uuid = uuid};
    jelling_service_definition outer = {.size = sizeof outer, .uuid = uuid, .characteristics = &characteristic,
                                        .characteristic_count = 1};
    jelling_counters found = {.size = 0};
    for (int i = 0; i < 7; i++) {
#define SIZE(structure) structure.size = i < 4 ? (uint32_t)i : (uint32_t)sizeof structure * (i > 4 ? 0 : 1) + more[i - 4];
        SIZE(config) SIZE(scan) SIZE(connect) SIZE(advertise) SIZE(pairing) SIZE(security) SIZE(channel) SIZE(definition)
        SIZE(characteristic) SIZE(found)
        check(jelling_create(&config, &another) == JELLING_ERROR_ARGUMENT, "size of the configuration");
        check(jelling_scan(engine, &scan, 2, &o) == JELLING_ERROR_ARGUMENT, "size of a scan request");
        check(jelling_connect(engine, &connect, 2, &o) == JELLING_ERROR_ARGUMENT, "size of a connect request");
        check(jelling_advertise(engine, &advertise, 2, &o) == JELLING_ERROR_ARGUMENT, "size of an advertise request");
        check(jelling_pair(engine, 65578, &pairing, 2, &o) == JELLING_ERROR_ARGUMENT, "size of pairing options");
        check(jelling_set_security(engine, &security, 2, &o) == JELLING_ERROR_ARGUMENT, "size of security settings");
        check(jelling_listen(engine, 0, &channel, 2, &o) == JELLING_ERROR_ARGUMENT, "size of channel settings");
        check(jelling_publish(engine, &definition, 2, &o) == JELLING_ERROR_ARGUMENT, "size of a service");
        check(jelling_publish(engine, &outer, 2, &o) == JELLING_ERROR_ARGUMENT, "size of a characteristic");
        check(jelling_read_counters(engine, &found) == JELLING_ERROR_ARGUMENT, "size of the counters");
    }
    /* A program that was built with an older header has smaller structures. */
    scan.size = 8;
    check(jelling_scan(engine, &scan, 2, &o) == JELLING_OK, "an older scan request");
    found.size = 16;
    check(jelling_read_counters(engine, &found) == JELLING_OK, "older counters");
    check(jelling_destroy(engine) == JELLING_OK, "jelling_destroy");
}

/* Trains with responses, in a library with them and in one that only has trains. `usual` and `right` are what a library
   says to wrong and to right sets. */
static void wrong_subevents(jelling_engine *engine, jelling_status usual, jelling_status right, jelling_operation *o) {
    jelling_status refused = jelling_respond_in_train(engine, 77, NULL, 2, o);
    check(refused == JELLING_ERROR_ARGUMENT || refused == JELLING_ERROR_UNSUPPORTED, "no response");
    jelling_train_response longer = response;
    longer.data.length = 248;
    check(jelling_respond_in_train(engine, 77, &longer, 2, o) == refused, "a response with too much data");
    longer = response, longer.size = 3;
    check(jelling_respond_in_train(engine, 77, &longer, 2, o) == refused, "the size of a response");
    jelling_subevent_data wrong = subevent;
    wrong.data.length = 250;
    check(jelling_send_subevents(engine, 77, &wrong, 1, 2, o) == refused, "a subevent with too much data");
    check(jelling_send_subevents(engine, 77, NULL, 1, 2, o) == refused, "no subevent");
    check(jelling_send_subevents(engine, 77, &subevent, SIZE_MAX, 2, o) == refused, "too many subevents");
    jelling_status known = refused == JELLING_ERROR_ARGUMENT ? right : usual;
    jelling_train_request chosen = followed;
    chosen.subevents = octets, chosen.subevent_count = 3;
    check(jelling_follow_train(engine, &chosen, 2, o) == known, "subevents of a train");
    chosen.subevent_count = 129;
    check(jelling_follow_train(engine, &chosen, 2, o) == usual, "too many subevents of a train");
    chosen.subevents = NULL, chosen.subevent_count = 1;
    check(jelling_follow_train(engine, &chosen, 2, o) == usual, "subevents that are missing");
    train.subevent_count = 2, train.subevent_interval = 16;
    check(jelling_advertise_set(engine, &advertised_set, 2, o) == known, "a train with subevents");
    train.subevent_count = train.subevent_interval = 0;
}

/* What a library without sets and trains refuses before it looks at the arguments. */
static void wrong_sets(jelling_engine *engine, jelling_operation *o) {
    jelling_status usual = jelling_advertise_set(engine, NULL, 2, o);
    check(usual == JELLING_ERROR_ARGUMENT || usual == JELLING_ERROR_UNSUPPORTED, "no set");
    jelling_set_request wrong = advertised_set;
    jelling_train_request sources = followed;
    wrong.data.length = 1651, wrong.data.data = octets;
    sources.source_count = SIZE_MAX;
    check(jelling_advertise_set(engine, &wrong, 2, o) == usual, "a set with too much data");
    check(jelling_change_set(engine, 77, &wrong, 2, o) == usual, "such a change");
    wrong = advertised_set, wrong.size = 3;
    check(jelling_advertise_set(engine, &wrong, 2, o) == usual, "the size of a set");
    check(jelling_follow_train(engine, &sources, 2, o) == usual, "too many trains");
    check(jelling_receive_trains(engine, 65578, &followed, 2, o) == usual, "trains of a link with sources");
    /* A program that was built with an older header. */
    jelling_status right = usual == JELLING_ERROR_ARGUMENT ? JELLING_OK : usual;
    jelling_train_request older = followed;
    older.size = offsetof(jelling_train_request, subevents);
    check(jelling_follow_train(engine, &older, 2, o) == right, "an older train request");
    wrong_subevents(engine, usual, right, o);
}

/* What a library without measurements refuses before it looks at the arguments, and paces, which it ignores. */
static void wrong_measurements(jelling_engine *engine, jelling_operation *o) {
    jelling_link l = 65578;
    jelling_status usual = jelling_read_transmit_power(engine, l, 0, 2, o);
    check(usual == JELLING_ERROR_ARGUMENT || usual == JELLING_ERROR_UNSUPPORTED, "no PHY");
    check(jelling_read_remote_transmit_power(engine, l, 5, 2, o) == usual, "a PHY that is none");
    check(jelling_set_authenticated_payload_timeout(engine, l, 9, 2, o) == usual, "a short timeout");
    check(jelling_set_authenticated_payload_timeout(engine, l, UINT32_MAX, 2, o) == usual, "a long timeout");
    jelling_path_loss_zones wrong = zones;
    for (uint32_t size = 0; size < 4; size++) {
        wrong.size = size;
        check(jelling_monitor_path_loss(engine, l, &wrong, 2, o) == usual, "the size of zones");
    }
    wrong.size = sizeof wrong + 1;
    check(jelling_monitor_path_loss(engine, l, &wrong, 2, o) == usual, "zones that are too large");
    if (usual != JELLING_ERROR_ARGUMENT) return;
    jelling_connect_request request = connecting;
    jelling_pace backwards = pace;
    request.peer = address, request.pace = &backwards;
    backwards.idle.minimum_interval = 200;
    check(jelling_connect(engine, &request, 2, o) == usual, "a pace with parameters backwards");
    backwards = pace, backwards.size = 3;
    check(jelling_connect(engine, &request, 2, o) == usual, "the size of a pace");
}

static void wrong_policies(jelling_engine *engine, jelling_operation *o) {
    const jelling_parameter_policy right = policy;
    const jelling_parameter_policy wrong[] = {
        {.size = sizeof policy, .kind = 3}, {.size = sizeof policy, .kind = UINT32_MAX}, {.size = 3}, {.size = sizeof policy + 1},
        {.size = sizeof policy, .kind = JELLING_PARAMETERS_WITHIN}};
    jelling_connect_request request = {.size = sizeof request, .peer = address, .parameter_policy = &policy};
    jelling_config config = {.size = sizeof config, .parameter_policy = &policy};
    jelling_engine *none;
#define WRONG_POLICY                                                                                                     \
    check(jelling_connect(engine, &request, 2, o) == JELLING_ERROR_ARGUMENT, "a wrong policy of a link");               \
    check(jelling_create(&config, &none) == JELLING_ERROR_ARGUMENT, "a wrong policy");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        policy = wrong[i];
        WRONG_POLICY
    }
#define WRONG_BOUND(field, value) \
    policy = right;               \
    policy.field = value;         \
    WRONG_POLICY
    WRONG_BOUND(minimum_interval, 5)
    WRONG_BOUND(maximum_interval, 3201)
    WRONG_BOUND(maximum_interval, 5)
    WRONG_BOUND(maximum_latency, 500)
    WRONG_BOUND(minimum_supervision_timeout, 9)
    WRONG_BOUND(maximum_supervision_timeout, 3201)
    WRONG_BOUND(maximum_supervision_timeout, 0)
    policy = right;
}

static void wrong_arguments(void) {
    jelling_engine *engine = opened();
    jelling_operation o;
    jelling_link l = 65578;
    jelling_connection_request backwards = {24, 12, 0, 500};
    char endless[4096];
    memset(endless, 'a', sizeof endless);
    endless[sizeof endless - 1] = 0;
#define REFUSED(call) check((call) == JELLING_ERROR_ARGUMENT, #call);
    REFUSED(jelling_receive(engine, NULL, 3, 2))
    REFUSED(jelling_receive(engine, octets, 0, 2))
    REFUSED(jelling_receive(engine, octets, SIZE_MAX, 2))
    REFUSED(jelling_receive_stream(engine, NULL, 3, 2))
    REFUSED(jelling_receive_stream(engine, octets, SIZE_MAX, 2))
    REFUSED(jelling_drain(engine, NULL, NULL))
    REFUSED(jelling_next_event(engine, NULL))
    REFUSED(jelling_next_question(engine, NULL))
    REFUSED(jelling_next_deadline(engine, NULL))
    jelling_address many[256] = {{{0}, 0, 0}};
    jelling_scan_request named = {.size = sizeof named, .accept_count = 1};
    REFUSED(jelling_scan(engine, &named, 2, &o))
    named.accept_list = many, named.accept_count = 256;
    REFUSED(jelling_scan(engine, &named, 2, &o))
    named.accept_count = SIZE_MAX;
    REFUSED(jelling_scan(engine, &named, 2, &o))
    REFUSED(jelling_connect(engine, NULL, 2, &o))
    wrong_policies(engine, &o);
    REFUSED(jelling_hci_command(engine, 0x1001, NULL, 3, 2, &o))
    REFUSED(jelling_hci_command(engine, 0x1001, octets, 256, 2, &o))
    REFUSED(jelling_hci_command(engine, 0x1001, octets, SIZE_MAX, 2, &o))
    REFUSED(jelling_exchange_mtu(engine, l, 22, 2, &o))
    REFUSED(jelling_exchange_mtu(engine, l, 518, 2, &o))
    REFUSED(jelling_discover_services(engine, l, NULL, 1, 2, &o))
    REFUSED(jelling_discover_services(engine, l, &uuid, SIZE_MAX, 2, &o))
    REFUSED(jelling_read_by_uuid(engine, l, NULL, 1, 2, 2, &o))
    REFUSED(jelling_read_multiple(engine, l, NULL, 2, 2, &o))
    REFUSED(jelling_write(engine, l, 3, NULL, 1, 2, &o))
    REFUSED(jelling_write(engine, l, 3, octets, 513, 2, &o))
    REFUSED(jelling_write(engine, l, 3, octets, SIZE_MAX, 2, &o))
    REFUSED(jelling_reliable_write(engine, l, NULL, 1, 2, &o))
    REFUSED(jelling_update_parameters(engine, l, NULL, 2, &o))
    REFUSED(jelling_update_parameters(engine, l, &backwards, 2, &o))
    REFUSED(jelling_set_data_length(engine, l, 26, 2120, 2, &o))
    REFUSED(jelling_set_phy(engine, l, 0, 1, 2, &o))
    REFUSED(jelling_set_subrate(engine, l, NULL, 2, &o))
    jelling_subrate_request too_many = subrate;
    too_many.maximum_factor = 501;
    REFUSED(jelling_set_subrate(engine, l, &too_many, 2, &o))
    jelling_connect_request on_what = connecting;
    on_what.phys = 8;
    REFUSED(jelling_connect(engine, &on_what, 2, &o))
    on_what = connecting, on_what.peer = address, on_what.enhanced_bearers = 6;
    REFUSED(jelling_connect(engine, &on_what, 2, &o))
    REFUSED(jelling_publish(engine, NULL, 2, &o))
    REFUSED(jelling_set_device_name(engine, NULL, 2, &o))
    REFUSED(jelling_set_device_name(engine, endless, 2, &o))
    REFUSED(jelling_respond_error(engine, 1, 0, 2, &o))
    REFUSED(jelling_update_value(engine, 3, octets, 513, NULL, 0, 2, &o))
    REFUSED(jelling_update_value(engine, 3, octets, 1, NULL, 1, 2, &o))
    REFUSED(jelling_listen(engine, 0x100, NULL, 2, &o))
    REFUSED(jelling_open_channel(engine, l, 0, NULL, 2, &o))
    REFUSED(jelling_open_enhanced_channels(engine, l, 0x80, NULL, 6, 2, &o))
    REFUSED(jelling_reconfigure_channels(engine, l, NULL, 1, 512, 256, 2, &o))
    REFUSED(jelling_reconfigure_channels(engine, l, one_channel, 1, 63, 256, 2, &o))
    REFUSED(jelling_channel_consume(engine, l, 1, 0, 2, &o))
    REFUSED(jelling_answer_passkey(engine, 1, 1000000, 2, &o))
    REFUSED(jelling_restore_bonds(engine, &bytes, 1, 2, &o))
    REFUSED(jelling_restore_bonds(engine, NULL, 1, 2, &o))
    REFUSED(jelling_name_bond(engine, NULL, "name", 2, &o))
    REFUSED(jelling_name_bond(engine, &address, endless, 2, &o))
    REFUSED(jelling_remove_bond(engine, NULL, 2, &o))
    REFUSED(jelling_answer(engine, 1, NULL, 16, 2))
    REFUSED(jelling_answer_key_pair(engine, 1, NULL, octets, 2))
    wrong_sets(engine, &o);
    wrong_measurements(engine, &o);
    REFUSED(jelling_parse_address("AA:BB", &address))
    REFUSED(jelling_parse_address(NULL, &address))
    REFUSED(jelling_parse_uuid("180", &uuid))
    REFUSED(jelling_format_uuid(&uuid, (char *)octets, 36))
    check(jelling_destroy(engine) == JELLING_OK, "jelling_destroy");
}

/* Numbers that nothing has: accepted, and each ends once with a failure. */
static void out_of_date(void) {
    jelling_engine *e = opened();
    jelling_operation numbers[96], *o = numbers;
    const char *names[96];
    char text[160];
    int64_t t = 10;
    jelling_link l = 0xFFFFFFFF0EFF;
    unsigned ends[96] = {0};
#define SUBMIT(call)                            \
    *o = 0;                                     \
    (void)(call);                               \
    names[o - numbers] = #call;                 \
    if (*o) o++;
#define NOT_THESE(call) SUBMIT(call)
    CALLS(NOT_THESE)
    size_t count = (size_t)(o - numbers);
    for (int turn = 0; turn < 200; turn++) {
        while (jelling_next_question(e, &question) == JELLING_OK && question) jelling_answer_failure(e, question->id, 0, t);
        jelling_drain(e, nothing, NULL);
        while (jelling_next_event(e, &event) == JELLING_OK && event)
            for (size_t i = 0; event->kind == JELLING_EVENT_COMPLETED && i < count; i++)
                if (numbers[i] == event->operation) ends[i]++;
        t += 1000000;
        jelling_advance(e, t);
    }
    check(count > 50, "hardly a command was accepted");
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%.90s ended %u times", names[i], ends[i]);
        check(ends[i] == 1, text);
    }
    check(jelling_destroy(e) == JELLING_OK, "jelling_destroy");
}

/* -------------------------------------------------------------- At random */

static uint64_t state;

static uint32_t draw(uint32_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return limit ? (uint32_t)(state >> 32) % limit : 0;
}

/* Packets as a controller might send them: completions for what the engine asked, links, data, and broken ones. */
static size_t plausible(uint8_t *packet) {
    static const uint16_t opcodes[] = {0x0C03, 0x1001, 0x1003, 0x1002, 0x1009, 0x2003, 0x2002, 0x201C, 0x200F, 0x0C01, 0x2001,
                                       0x2023, 0x202F, 0x200B, 0x200C, 0x200D, 0x2041, 0x2042, 0x2043, 0x2036, 0x2039, 0x2005,
                                       0x203A, 0x203B, 0x2037, 0x203E, 0x2044, 0x205C};
    size_t length;
    for (int i = 0; i < 260; i++) packet[i] = (uint8_t)draw(256);
    switch (draw(7)) {
    case 0: {   /* Command Complete with a good status and room for whatever is read */
        uint16_t opcode = opcodes[draw(sizeof opcodes / sizeof *opcodes)];
        length = 7 + draw(70);
        packet[0] = 4, packet[1] = 0x0E, packet[3] = 1, packet[4] = (uint8_t)opcode, packet[5] = (uint8_t)(opcode >> 8);
        packet[6] = draw(8) ? 0 : 0x0C;
        packet[2] = (uint8_t)(length - 3);
        return length;
    }
    case 1:   /* LE Connection Complete */
        length = 22;
        packet[0] = 4, packet[1] = 0x3E, packet[2] = 19, packet[3] = 1, packet[4] = 0, packet[5] = 0x40, packet[6] = 0;
        packet[7] = (uint8_t)draw(2), packet[8] = (uint8_t)draw(2);
        return length;
    case 2:   /* data on that link */
        length = 9 + draw(27);
        packet[0] = 2, packet[1] = 0x40, packet[2] = 0x20, packet[3] = (uint8_t)(length - 5), packet[4] = 0;
        packet[5] = (uint8_t)(length - 9), packet[6] = 0, packet[7] = (uint8_t)(draw(4) ? 4 + draw(3) : 0x40 + draw(6)), packet[8] = 0;
        return length;
    case 5: {   /* an encrypted link, and requests for channels of enhanced bearers */
        static const uint8_t encrypted[] = {4, 0x08, 4, 0, 0x40, 0, 1};
        static const uint8_t asked[] = {2, 0x40, 0x20, 22, 0, 18, 0, 5, 0, 0x17, 1, 14, 0, 0x27, 0, 64, 0, 64, 0, 5, 0, 0x40, 0,
                                        0x41, 0, 0x42, 0};
        int is_request = draw(2) != 0;
        length = is_request ? sizeof asked : sizeof encrypted;
        memcpy(packet, is_request ? asked : encrypted, length);
        if (is_request) packet[10] = (uint8_t)(1 + draw(255)), packet[21] = (uint8_t)(0x40 + draw(8));
        return length;
    }
    case 6: {   /* events of sets, trains, powers and subrates, whose rest is random */
        static const uint8_t subevents[] = {0x0E, 0x0F, 0x10, 0x12, 0x18, 0x20, 0x21, 0x23};
        length = 4 + draw(60);
        packet[0] = 4, packet[1] = 0x3E, packet[2] = (uint8_t)(length - 3), packet[3] = subevents[draw(8)];
        if (draw(2)) packet[4] = 0;
        if (draw(2)) packet[5] = 0x40, packet[6] = 0;
        return length;
    }
    case 3:   /* some event */
        length = 3 + draw(60);
        packet[0] = 4, packet[2] = (uint8_t)(length - 3);
        return length;
    default: return 1 + draw(40);
    }
}

/* Commands that the controller still has to answer. */
static uint16_t unanswered[32];
static unsigned unanswered_count;

static void note_command(void *context, const uint8_t *packet, size_t length) {
    (void)context;
    if (packet[0] == 1 && length >= 4 && unanswered_count < 32) unanswered[unanswered_count++] = packet[1] | packet[2] << 8;
}

/* Answers them, most of them well, so that the engine becomes ready and goes on. */
static void answer_commands(jelling_engine *e, int64_t t) {
    unsigned count = unanswered_count;
    unanswered_count = 0;
    for (unsigned i = 0; i < count; i++) {
        uint16_t opcode = unanswered[i];
        uint8_t packet[75] = {4, 0x0E, 72, 1, (uint8_t)opcode, (uint8_t)(opcode >> 8)};
        for (int at = 7; at < 75; at++) packet[at] = draw(3) ? 0xFF : (uint8_t)draw(256);
        if (draw(40) == 0) packet[6] = (uint8_t)draw(0x45);
        int is_slow = opcode == 0x200D || opcode == 0x2043 || opcode == 0x0406 || opcode == 0x2016 || opcode == 0x041D ||
                      opcode == 0x2019 || opcode == 0x2013 || opcode == 0x2032 || opcode == 0x2044 || opcode == 0x207D;
        uint8_t status[7] = {4, 0x0F, 4, packet[6], 1, packet[4], packet[5]};
        jelling_receive(e, is_slow ? status : packet, is_slow ? sizeof status : sizeof packet, t);
        jelling_drain(e, note_command, NULL);
    }
}

static void at_random(uint64_t seed, unsigned rounds) {
    state = seed * 0x9E3779B97F4A7C15u | 1;
    jelling_engine *e = opened();
    jelling_link l = 0x10040;
    int64_t t = 10;
    uint64_t kinds = 0;
    for (unsigned round = 0; round < rounds; round++) {
        uint8_t packet[300];
        jelling_operation number, *o = &number;
        jelling_service_definition some = {.size = sizeof some, .uuid = uuid};
        service = some;
        connecting.peer = address;
        connecting.peer.octets[5] = (uint8_t)draw(4);
        connecting.phys = (uint8_t)draw(8);
        connecting.pace = draw(2) ? &pace : NULL;
        policy.kind = draw(3);
        connecting.parameter_policy = draw(2) ? &policy : NULL;
        advertised_set.flags = draw(256), advertised_set.train = draw(2) ? &train : NULL;
        advertised_set.data.data = packet, advertised_set.data.length = draw(300);
        writes[0].value = bytes;
        size_t length = plausible(packet);
        jelling_receive(e, packet, length, t);
        t += draw(200000);
        /* Neither the end of the transport nor `stop`, or there would be little to attack. */
#define COUNT(call) +1
        uint32_t choice = draw(CALLS(COUNT) - 3), at = 0;
#define MAYBE(call)                             \
    if (at++ == choice + 1) (void)(call);
        CALLS(MAYBE)
        l = draw(4) ? l : draw(3) << 16 | 0x40;
        jelling_drain(e, note_command, NULL);
        for (int turn = 0; turn < 4; turn++) answer_commands(e, t);
        while (jelling_next_question(e, &question) == JELLING_OK && question) {
            if (draw(2)) jelling_answer(e, question->id, packet, draw(40), t);
            else if (draw(2)) jelling_answer_key_pair(e, question->id, packet, packet, t);
            else jelling_answer_failure(e, question->id, draw(2), t);
        }
        while (jelling_next_event(e, &event) == JELLING_OK && event) {
            if (event->link) l = event->link;
            kinds |= (uint64_t)1 << event->kind;
            if (event->kind == JELLING_EVENT_SERVER_READ) jelling_respond_value(e, event->request.id, octets, draw(64), t, o);
            if (event->kind == JELLING_EVENT_REOPEN_TRANSPORT) {
                jelling_transport_closed(e, t);
                jelling_transport_opened(e, t);
                break;
            }
            if (event->kind == JELLING_EVENT_FAILED || event->kind == JELLING_EVENT_STOPPED) {
                jelling_destroy(e);
                e = opened();
                break;
            }
        }
        if (draw(8) == 0) jelling_advance(e, t);
    }
    check(jelling_destroy(e) == JELLING_OK, "jelling_destroy");
    if (rounds < 1000) return;
    check(kinds >> JELLING_EVENT_READY & 1, "the engine became ready");
    check(kinds >> JELLING_EVENT_CENTRAL_CONNECTED & 1 || kinds >> JELLING_EVENT_CONNECTED & 1 || kinds >> JELLING_EVENT_DISCOVERED & 1,
          "something happened on the air");
    printf("kinds of events: %016llx\n", (unsigned long long)kinds);
}

/* A bond of `address` with two keys of zeros; a capability of 5 is left out, as by earlier versions. */
static size_t bond_blob(uint8_t blob[80], uint8_t capability, uint16_t other_flags) {
    uint16_t flags = (uint16_t)(1u << 4 | 1u << 5 | (capability != 5 ? 1u << 10 : 0) | other_flags);
    size_t length = 0;
    memset(blob, 0, 80);
    blob[length++] = 'J';
    blob[length++] = 'B';
    blob[length++] = 1;
    blob[length++] = (uint8_t)flags;
    blob[length++] = (uint8_t)(flags >> 8);
    for (int i = 5; i >= 0; i--) blob[length++] = address.octets[i];
    blob[length++] = 1;
    blob[length++] = 16;
    length += 2 * 26;
    blob[length++] = 7;
    length += 7;
    if (capability != 5) blob[length++] = capability;
    uint32_t hash = 0x811C9DC5;
    for (size_t i = 0; i < length; i++) hash = (hash ^ blob[i]) * 0x01000193;
    for (int i = 0; i < 4; i++) blob[length++] = (uint8_t)(hash >> (8 * i));
    return length;
}

/* Bonds of earlier versions are read, what is added comes back, and what is unknown is refused. */
static void bonds_in_octets(void) {
    uint8_t blob[80];
    jelling_bond bond = {.size = sizeof bond};
    size_t length = bond_blob(blob, 5, 0);
    if (jelling_describe_bond(blob, length, &bond) == JELLING_ERROR_UNSUPPORTED) return;
    check(jelling_describe_bond(blob, length, &bond) == JELLING_OK && bond.key_size == 16, "a bond of an earlier version");
    for (size_t cut = 0; cut < length; cut++)
        check(jelling_describe_bond(blob, cut, &bond) == JELLING_ERROR_ARGUMENT, "a bond that is cut");
    length = bond_blob(blob, 6, 0);
    check(jelling_describe_bond(blob, length, &bond) == JELLING_ERROR_ARGUMENT, "a capability that is none");
    length = bond_blob(blob, 5, 1 << 11);
    check(jelling_describe_bond(blob, length, &bond) == JELLING_ERROR_ARGUMENT, "a flag of a later version");
    for (uint8_t capability = 0; capability <= 5; capability++) {
        jelling_engine *engine = opened();
        jelling_operation operation = 0;
        length = bond_blob(blob, capability, 0);
        jelling_bytes kept = {blob, length};
        int found = 0;
        check(jelling_restore_bonds(engine, &kept, 1, 2, &operation) == JELLING_OK, "jelling_restore_bonds");
        check(jelling_name_bond(engine, &address, "x", 3, &operation) == JELLING_OK, "jelling_name_bond");
        while (jelling_next_event(engine, &event) == JELLING_OK && event) {
            if (event->kind != JELLING_EVENT_BOND_CHANGED) continue;
            const jelling_bytes *told = &event->bond.blob;
            /* The capability stands before the check. */
            found = told->length == length + 2 && (capability == 5 || told->data[told->length - 5] == capability);
        }
        check(found, "a bond that is told as it was restored");
        check(jelling_destroy(engine) == JELLING_OK, "jelling_destroy");
    }
}

int main(int count, char **arguments) {
    uint64_t seed = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    unsigned rounds = count > 2 ? (unsigned)strtoul(arguments[2], NULL, 10) : 20000;
    connecting.peer = address;
    source.address = address;
    writes[0].handle = 3;
    writes[0].value = bytes;
    service.uuid = uuid;
    wrong_engines();
    wrong_sizes();
    wrong_arguments();
    bonds_in_octets();
    out_of_date();
    at_random(seed, rounds);
    printf("%u passed, %u failed\n", passed, failed);
    return failed ? 1 : 0;
}
