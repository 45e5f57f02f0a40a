/*
 * Repeats recordings through jelling.h: reads what Tools/CLibrary/recordings.py wrote, a call a line, and compares each packet
 * that the engine sends with the recorded one.
 *
 *   replay [--stack] < SCRIPT   `NAME: N packets` for each recording; exit status 1 at the first difference. --stack: the
 *                               last line has the octets of stack that the deepest call took
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jelling.h"

enum { maximum_words = 512, maximum_sent = 1 << 14 };

static jelling_engine *engine;
static char *words[maximum_words];
static int word_count;
static char name[128];
/* Expected packets, in order. */
static struct packet {
    uint8_t *octets;
    size_t length;
} expected[maximum_sent];
static size_t expected_count, sent_count, line_number;

static void die(const char *why) {
    printf("%s, line %zu: %s\n", name, line_number, why);
    exit(1);
}

static const char *word(int index) {
    if (index >= word_count) die("a word is missing");
    return words[index];
}

static int64_t number(int index) { return strtoll(word(index), NULL, 0); }

/* Octets of a word; `-` is none. Lasts for the process: a recording is small. */
static uint8_t *octets(int index, size_t *length) {
    const char *text = word(index);
    *length = strcmp(text, "-") ? strlen(text) / 2 : 0;
    uint8_t *result = malloc(*length + 1);
    for (size_t i = 0; i < *length; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], 0};
        result[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return result;
}

static char *text(int index) {
    size_t length;
    if (strcmp(word(index), "-") == 0) return NULL;
    uint8_t *result = octets(index, &length);
    result[length] = 0;
    return (char *)result;
}

static jelling_address address(int index) {
    jelling_address result;
    if (jelling_parse_address(word(index), &result)) die("no address");
    return result;
}

/* UUIDs with commas between them. */
static jelling_uuid *uuids(int index, size_t *count) {
    static jelling_uuid found[64];
    char copy[4096], *rest = NULL;
    *count = 0;
    snprintf(copy, sizeof copy, "%s", word(index));
    for (char *part = strtok_r(copy, ",", &rest); part && strcmp(part, "-"); part = strtok_r(NULL, ",", &rest))
        if (*count == 64 || jelling_parse_uuid(part, &found[(*count)++])) die("no UUID");
    return found;
}

static void sent(void *context, const uint8_t *packet, size_t length) {
    (void)context;
    if (sent_count == expected_count) die("a packet that was not recorded");
    struct packet *wanted = &expected[sent_count];
    if (wanted->length != length || memcmp(wanted->octets, packet, length)) {
        printf("%s, line %zu: packet %zu differs\n  want ", name, line_number, sent_count);
        for (size_t i = 0; i < wanted->length; i++) printf("%02x", wanted->octets[i]);
        printf("\n  got  ");
        for (size_t i = 0; i < length; i++) printf("%02x", packet[i]);
        printf("\n");
        exit(1);
    }
    sent_count++;
}

/* The six words from `at` on; NULL where there is none. */
static const jelling_parameter_policy *policy(int at) {
    static jelling_parameter_policy policy;
    policy = (jelling_parameter_policy){
        .size = sizeof policy, .kind = (uint32_t)number(at), .minimum_interval = (uint16_t)number(at + 1),
        .maximum_interval = (uint16_t)number(at + 2), .maximum_latency = (uint16_t)number(at + 3),
        .minimum_supervision_timeout = (uint16_t)number(at + 4), .maximum_supervision_timeout = (uint16_t)number(at + 5)};
    return policy.kind == 9 ? NULL : &policy;
}

static void open_engine(void) {
    size_t key_length;
    jelling_pairing_options pairing = {
        .size = sizeof pairing, .flags = (uint32_t)number(9), .io_capability = (uint32_t)number(10),
        .passkey = (uint32_t)number(11), .minimum_key_size = (uint8_t)number(12), .maximum_key_size = (uint8_t)number(13),
        .initiator_keys = (uint8_t)number(14), .responder_keys = (uint8_t)number(15)};
    jelling_security_settings security = {
        .size = sizeof security, .flags = (uint32_t)number(7), .pairing = &pairing,
        .identity_resolving_key = octets(8, &key_length)};
    if (key_length == 0) security.identity_resolving_key = NULL;
    jelling_config config = {
        .size = sizeof config, .flags = (uint32_t)number(2), .own_address = (uint32_t)number(3), .address = address(4),
        .overflow_company = (uint16_t)number(5), .private_address_seconds = (uint32_t)number(6), .security = &security,
        .opened_bearers = (uint32_t)number(16), .parameter_policy = policy(17)};
    snprintf(name, sizeof name, "%s", word(1));
    if (jelling_create(&config, &engine)) die("jelling_create");
}

static void close_engine(void) {
    if (sent_count != expected_count) die("packets are missing");
    printf("%s: %zu packets\n", name, sent_count);
    if (jelling_destroy(engine)) die("jelling_destroy");
    engine = NULL;
    for (size_t i = 0; i < expected_count; i++) free(expected[i].octets);
    expected_count = sent_count = 0;
}

static jelling_status publish(int64_t now) {
    /* publish T UUID PRIMARY INCLUDES { c UUID PROPERTIES PERMISSIONS VALUE ENCRYPT KEYSIZE | d UUID PERMISSIONS VALUE }… */
    static jelling_characteristic_definition characteristics[32];
    static jelling_descriptor_definition descriptors[64];
    static jelling_bytes values[96];
    uint16_t included[16];
    size_t included_count = 0, count = 0, descriptor_count = 0, value_count = 0;
    jelling_service_definition service = {.size = sizeof service, .is_secondary = !number(3)};
    jelling_parse_uuid(word(2), &service.uuid);
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", word(4));
    for (char *part = strtok_r(copy, ",", &rest); part && strcmp(part, "-"); part = strtok_r(NULL, ",", &rest))
        included[included_count++] = (uint16_t)strtoul(part, NULL, 0);
    for (int i = 5; i < word_count;) {
        int is_characteristic = strcmp(words[i], "c") == 0, at = is_characteristic ? i + 4 : i + 3;
        jelling_bytes *value = NULL;
        if (strcmp(word(at), "?")) {
            value = &values[value_count++];
            value->data = octets(at, &value->length);
        }
        if (is_characteristic) {
            jelling_characteristic_definition *c = &characteristics[count++];
            *c = (jelling_characteristic_definition){
                .size = sizeof *c, .permissions = (uint32_t)number(i + 3), .value = value,
                .descriptors = &descriptors[descriptor_count], .properties = (uint8_t)number(i + 2),
                .subscribing_needs_encryption = (uint8_t)number(i + 5), .minimum_key_size = (uint8_t)number(i + 6)};
            jelling_parse_uuid(word(i + 1), &c->uuid);
            i += 7;
        } else {
            jelling_descriptor_definition *d = &descriptors[descriptor_count++];
            *d = (jelling_descriptor_definition){.size = sizeof *d, .permissions = (uint32_t)number(i + 2), .value = value};
            jelling_parse_uuid(word(i + 1), &d->uuid);
            characteristics[count - 1].descriptor_count++;
            i += 4;
        }
    }
    service.included_services = included;
    service.included_service_count = included_count;
    service.characteristics = characteristics;
    service.characteristic_count = count;
    return jelling_publish(engine, &service, now, NULL);
}

static jelling_status scan(int64_t now) {
    jelling_scan_request request = {.size = sizeof request, .flags = (uint32_t)number(2), .name = text(3),
                                    .minimum_rssi = (int32_t)number(4)};
    request.services = uuids(5, &request.service_count);
    jelling_address accepted[8];
    request.accept_list = accepted;
    for (int i = 6; i < word_count; i++) {
        if (request.accept_count == 8) die("more devices than the replay has room for");
        accepted[request.accept_count++] = address(i);
    }
    return jelling_scan(engine, &request, now, NULL);
}

static jelling_status advertise(int64_t now) {
    jelling_advertise_request request = {.size = sizeof request, .flags = (uint32_t)number(2), .name = text(3)};
    request.services = uuids(4, &request.service_count);
    return jelling_advertise(engine, &request, now, NULL);
}

static jelling_connection_request parameters(int at) {
    jelling_connection_request request = {(uint16_t)number(at), (uint16_t)number(at + 1), (uint16_t)number(at + 2),
                                          (uint16_t)number(at + 3)};
    return request;
}

static jelling_status connect(int64_t now) {
    jelling_connect_request request = {.size = sizeof request, .peer = address(2), .retries = (uint32_t)number(3),
                                       .phys = (uint8_t)number(4), .parameter_policy = policy(5)};
    jelling_pace pace = {.size = sizeof pace};
    if (word_count > 11) {
        pace.idle_ms = (uint32_t)number(11);
        pace.busy = parameters(12);
        pace.idle = parameters(16);
        request.pace = &pace;
    }
    return jelling_connect(engine, &request, now, NULL);
}

/* From the word at `at` on, with the train behind it. `changed`: the set; 0 begins one. */
static jelling_status advertise_set(jelling_operation changed, int at, int64_t now) {
    jelling_set_request request = {
        .size = sizeof request, .flags = (uint32_t)number(at), .interval = (uint32_t)number(at + 4),
        .duration = (uint32_t)number(at + 5), .primary_phy = (uint8_t)number(at + 6), .secondary_phy = (uint8_t)number(at + 7),
        .identifier = (uint8_t)number(at + 8), .power = (int8_t)number(at + 9), .maximum_events = (uint8_t)number(at + 10)};
    jelling_train train = {.size = sizeof train};
    jelling_address own;
    request.data.data = octets(at + 1, &request.data.length);
    request.scan_response.data = octets(at + 2, &request.scan_response.length);
    if (strcmp(word(at + 3), "-")) {
        own = address(at + 3);
        request.address = &own;
    }
    if (word_count > at + 11) {
        train.flags = (uint32_t)number(at + 11);
        train.data.data = octets(at + 12, &train.data.length);
        train.interval = (uint16_t)number(at + 13);
        request.train = &train;
    }
    return changed ? jelling_change_set(engine, changed, &request, now, NULL)
                   : jelling_advertise_set(engine, &request, now, NULL);
}

/* FLAGS SKIP TIMEOUT { ADDRESS SID }…, from the word at `at` on. `link`: what its peer passes on; 0 follows a train. */
static jelling_status follow(jelling_link link, int at, int64_t now) {
    static jelling_train_source sources[8];
    jelling_train_request request = {.size = sizeof request, .flags = (uint32_t)number(at), .sources = sources,
                                     .skip = (uint16_t)number(at + 1), .timeout = (uint16_t)number(at + 2)};
    for (int i = at + 3; i < word_count; i += 2) {
        jelling_train_source *source = &sources[request.source_count++ % 8];
        source->address = address(i);
        source->identifier = (uint8_t)number(i + 1);
    }
    return link ? jelling_receive_trains(engine, link, &request, now, NULL)
                : jelling_follow_train(engine, &request, now, NULL);
}

static jelling_status watch_path_loss(jelling_link link, int64_t now) {
    if (word_count == 3) return jelling_monitor_path_loss(engine, link, NULL, now, NULL);
    jelling_path_loss_zones zones = {
        .size = sizeof zones, .low = (uint8_t)number(3), .low_hysteresis = (uint8_t)number(4), .high = (uint8_t)number(5),
        .high_hysteresis = (uint8_t)number(6), .minimum_events = (uint16_t)number(7)};
    return jelling_monitor_path_loss(engine, link, &zones, now, NULL);
}

static jelling_status open_enhanced(jelling_link link, int64_t now) {
    jelling_channel_settings settings = {.size = sizeof settings, .mtu = (uint32_t)number(5), .mps = (uint32_t)number(6),
                                         .credits = (uint32_t)number(7)};
    return jelling_open_enhanced_channels(engine, link, (uint16_t)number(3), &settings, (uint32_t)number(4), now, NULL);
}

static jelling_status listen_for_channels(int64_t now) {
    jelling_channel_settings settings = {.size = sizeof settings, .mtu = (uint32_t)number(3), .mps = (uint32_t)number(4),
                                         .credits = (uint32_t)number(5), .requires_encryption = (uint32_t)number(6)};
    return jelling_listen(engine, (uint16_t)number(2), &settings, now, NULL);
}

static jelling_status open_channel(jelling_link link, int64_t now) {
    jelling_channel_settings settings = {.size = sizeof settings, .mtu = (uint32_t)number(4), .mps = (uint32_t)number(5),
                                         .credits = (uint32_t)number(6)};
    return jelling_open_channel(engine, link, (uint16_t)number(3), &settings, now, NULL);
}

static jelling_status read_several(jelling_link link, int64_t now) {
    uint16_t handles[maximum_words];
    size_t count = 0;
    for (int i = 4; i < word_count; i++) handles[count++] = (uint16_t)number(i);
    return jelling_read_multiple_variable(engine, link, handles, count, now, NULL);
}

static jelling_status write_reliably(jelling_link link, int64_t now) {
    jelling_attribute_value writes[maximum_words / 2];
    size_t count = 0;
    for (int i = 4; i + 1 < word_count; i += 2, count++) {
        writes[count].handle = (uint16_t)number(i);
        writes[count].value.data = octets(i + 1, &writes[count].value.length);
    }
    return jelling_reliable_write(engine, link, writes, count, now, NULL);
}

static jelling_status restore(int64_t now) {
    jelling_bytes blobs[maximum_words];
    size_t count = 0;
    for (int i = 2; i < word_count; i++, count++) blobs[count].data = octets(i, &blobs[count].length);
    return jelling_restore_bonds(engine, blobs, count, now, NULL);
}

static jelling_status gatt(int64_t now) {
    const char *what = word(2);
    jelling_link link = (jelling_link)number(3);
    size_t count;
#define IS(name) (strcmp(what, name) == 0)
    if (IS("services")) {
        const jelling_uuid *found = uuids(4, &count);
        return jelling_discover_services(engine, link, found, count, now, NULL);
    }
    if (IS("several")) return read_several(link, now);
    if (IS("reliable")) return write_reliably(link, now);
    uint16_t first = (uint16_t)number(4);
    if (IS("unsubscribe")) return jelling_unsubscribe(engine, link, first, now, NULL);
    if (IS("read")) return jelling_read(engine, link, first, now, NULL);
    if (IS("mtu")) return jelling_exchange_mtu(engine, link, first, now, NULL);
    if (IS("write") || IS("command") || IS("signed")) {
        uint8_t *value = octets(5, &count);
        if (IS("write")) return jelling_write(engine, link, first, value, count, now, NULL);
        if (IS("signed")) return jelling_write_signed(engine, link, first, value, count, now, NULL);
        return jelling_write_command(engine, link, first, value, count, now, NULL);
    }
    uint16_t last = (uint16_t)number(5);
    if (IS("includes")) return jelling_discover_included_services(engine, link, first, last, now, NULL);
    if (IS("descriptors")) return jelling_discover_descriptors(engine, link, first, last, now, NULL);
    if (IS("subscribe")) return jelling_subscribe(engine, link, first, last, (uint32_t)number(6) == 2, now, NULL);
    if (IS("characteristics")) {
        const jelling_uuid *found = uuids(6, &count);
        return jelling_discover_characteristics(engine, link, first, last, found, count, now, NULL);
    }
    if (IS("values")) {
        const jelling_uuid *type = uuids(6, &count);
        return jelling_read_by_uuid(engine, link, type, first, last, now, NULL);
    }
    die("no such GATT operation");
    return JELLING_OK;
}

static jelling_status run(void) {
    const char *what = words[0];
    int64_t now = number(1);
    size_t length, more;
    uint8_t *value;
    if (IS("packet")) {
        value = octets(2, &length);
        jelling_status status = jelling_receive(engine, value, length, now);
        free(value);
        return status;
    }
    if (IS("opened")) return jelling_transport_opened(engine, now);
    if (IS("closed")) return jelling_transport_closed(engine, now);
    if (IS("advance")) return jelling_advance(engine, now);
    if (IS("answer")) {
        value = octets(3, &length);
        return jelling_answer(engine, (uint64_t)number(2), value, length, now);
    }
    if (IS("keys")) {
        value = octets(3, &length);
        uint8_t *public_key = octets(4, &more);
        return jelling_answer_key_pair(engine, (uint64_t)number(2), value, public_key, now);
    }
    if (IS("stop")) return jelling_stop(engine, now, NULL);
    if (IS("cancel")) return jelling_cancel(engine, (uint64_t)number(2), now, NULL);
    if (IS("disconnect")) return jelling_disconnect(engine, (uint64_t)number(2), now, NULL);
    if (IS("scan")) return scan(now);
    if (IS("connect")) return connect(now);
    if (IS("advertise")) return advertise(now);
    if (IS("gatt")) return gatt(now);
    if (IS("publish")) return publish(now);
    if (IS("update")) {
        value = octets(3, &length);
        return jelling_update_value(engine, (uint16_t)number(2), value, length, NULL, 0, now, NULL);
    }
    if (IS("value")) {
        value = octets(3, &length);
        return jelling_respond_value(engine, (uint64_t)number(2), value, length, now, NULL);
    }
    if (IS("written")) return jelling_respond_written(engine, (uint64_t)number(2), now, NULL);
    if (IS("refuse")) return jelling_respond_error(engine, (uint64_t)number(2), (uint8_t)number(3), now, NULL);
    if (IS("pair")) return jelling_pair(engine, (uint64_t)number(2), NULL, now, NULL);
    if (IS("confirm")) return jelling_answer_confirm(engine, (uint64_t)number(2), (uint32_t)number(3), now, NULL);
    if (IS("passkey")) return jelling_answer_passkey(engine, (uint64_t)number(2), (uint32_t)number(3), now, NULL);
    if (IS("restore")) return restore(now);
    if (IS("name")) {
        jelling_address identity = address(2);
        return jelling_name_bond(engine, &identity, text(3), now, NULL);
    }
    jelling_link link = (jelling_link)number(2);
    if (IS("set")) return advertise_set(0, 2, now);
    if (IS("changeset")) return advertise_set((jelling_operation)number(2), 3, now);
    if (IS("follow")) return follow(0, 2, now);
    if (IS("trains")) return follow(link, 3, now);
    if (IS("transfer"))
        return jelling_transfer_train(engine, (jelling_operation)number(2), (jelling_link)number(3), (uint16_t)number(4), now, NULL);
    if (IS("channels")) return jelling_classify_channels(engine, (uint64_t)number(2), now, NULL);
    if (IS("rssi")) return jelling_read_rssi(engine, link, now, NULL);
    if (IS("phy")) return jelling_read_phy(engine, link, now, NULL);
    if (IS("power"))
        return number(3) ? jelling_read_remote_transmit_power(engine, link, (uint8_t)number(4), now, NULL)
                         : jelling_read_transmit_power(engine, link, (uint8_t)number(4), now, NULL);
    if (IS("reports"))
        return jelling_report_transmit_power(engine, link, (uint32_t)number(3), (uint32_t)number(4), now, NULL);
    if (IS("subrate")) {
        jelling_subrate_request subrate = {
            .minimum_factor = (uint16_t)number(3), .maximum_factor = (uint16_t)number(4), .latency = (uint16_t)number(5),
            .continuation_number = (uint16_t)number(6), .supervision_timeout = (uint16_t)number(7)};
        return jelling_set_subrate(engine, link, &subrate, now, NULL);
    }
    if (IS("pathloss")) return watch_path_loss(link, now);
    if (IS("enhanced")) return open_enhanced(link, now);
    if (IS("unlisten")) return jelling_stop_listening(engine, (uint16_t)number(2), now, NULL);
    if (IS("listen")) return listen_for_channels(now);
    if (IS("open")) return open_channel(link, now);
    if (IS("encrypt")) return jelling_encrypt(engine, link, now, NULL);
    if (IS("payload")) return jelling_set_authenticated_payload_timeout(engine, link, (uint32_t)number(3), now, NULL);
    if (IS("send")) {
        value = octets(4, &length);
        return jelling_channel_send(engine, link, (uint32_t)number(3), value, length, now, NULL);
    }
    if (IS("consume")) return jelling_channel_consume(engine, link, (uint32_t)number(3), (uint32_t)number(4), now, NULL);
    if (IS("close")) return jelling_close_channel(engine, link, (uint32_t)number(3), now, NULL);
    die("no such call");
    return JELLING_OK;
}

/* ------------------------------------------------------------------ Stack */

enum { painted = 1 << 16, paint = 0xA5 };
static size_t deepest;

/* Both have their area where a call from the same function has its frames. */
static void __attribute__((noinline)) paint_stack(void) {
    uint8_t area[painted];
    memset(area, paint, sizeof area);
    __asm__ volatile("" : : "r"(area) : "memory");
}

static void __attribute__((noinline)) measure_stack(void) {
    uint8_t area[painted];
    volatile uint8_t *octets = area;
    __asm__ volatile("" : "+r"(octets) : : "memory");
    size_t untouched = 0;
    while (untouched < sizeof area && octets[untouched] == paint) untouched++;
    if (sizeof area - untouched > deepest) deepest = sizeof area - untouched;
}

static void take_outputs(void) {
    const jelling_question *question;
    const jelling_event *event;
    while (jelling_next_question(engine, &question) == JELLING_OK && question) continue;
    jelling_drain(engine, sent, NULL);
    while (jelling_next_event(engine, &event) == JELLING_OK && event) continue;
}

int main(int count, char **arguments) {
    static char line[1 << 17];
    int measures = count > 1 && strcmp(arguments[1], "--stack") == 0;
    while (fgets(line, sizeof line, stdin)) {
        char *rest = NULL;
        line_number++;
        word_count = 0;
        for (char *part = strtok_r(line, " \n", &rest); part && word_count < maximum_words; part = strtok_r(NULL, " \n", &rest))
            words[word_count++] = part;
        if (!word_count) continue;
        if (measures) paint_stack();
        if (strcmp(words[0], "engine") == 0) {
            open_engine();
        } else if (strcmp(words[0], "sent") == 0) {
            if (expected_count == maximum_sent) die("too many packets");
            expected[expected_count].octets = octets(1, &expected[expected_count].length);
            expected_count++;
        } else if (strcmp(words[0], "end") == 0) {
            close_engine();
        } else {
            if (run() != JELLING_OK) die("the call was refused");
            take_outputs();
        }
        if (measures) measure_stack();
    }
    if (measures) printf("stack: %zu\n", deepest);
    return 0;
}
