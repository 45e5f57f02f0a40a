/*
 * ble-beacon: a peripheral with the services of a profile file. JSON on standard output, an object a line, with the keys
 * of `bletool --json serve`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "../jelling-posix/json-lines.h"
#include "requests.h"

enum { exit_failed = 1, exit_usage = 2, exit_transport = 3 };

static const char usage[] =
    "usage: ble-beacon -t TRANSPORT [--name NAME] [--advertise UUID]… [--background] [--emit-overflow] [--interval MS]\n"
    "                  [--state FILE] [--io none|display|yesno|keyboard|kbdisp] [--passkey N | --passkey-file FILE] [--mitm]\n"
    "                  [--no-sc] [--yes] [--static-address] [--address-resolution] [--eatt] [FILE]\n"
    "\n"
    "TRANSPORT is user:N, unix:PATH, tcp:ADDRESS:PORT or uart:DEVICE@BAUD. FILE is a profile as for bletool serve:\n"
    "  {\"services\":[{\"uuid\":\"180F\",\"characteristics\":[{\"uuid\":\"2A19\",\"properties\":[\"read\",\"notify\"],\"value\":\"64\"}]}]}\n"
    "Without it, only advertises. Runs until ^C. Other users can read N until this program has started, and a shell may\n"
    "keep it; --passkey-file takes it from the first line of a file, or of standard input with -.\n";

/* ----------------------------------------------------------------- Output */

struct link *link_of(struct beacon *beacon, jelling_link id) {
    for (int i = 0; i < maximum_links; i++)
        if (beacon->links[i].id == id) return &beacon->links[i];
    return NULL;
}

void begin(struct beacon *beacon, const char *event, jelling_link id) {
    struct link *link = link_of(beacon, id);
    json_begin(event);
    if (link && id) {
        json_address("address", &link->peer);
    } else {
        json_null("address");
        json_null("addressType");
    }
}

static void fail_with(struct beacon *beacon, const char *what, const jelling_completion *completion) {
    json_failure(what, completion);
    jelling_loop_quit(beacon->loop, exit_failed);
}

/* ------------------------------------------------ Publishing, advertising */

static jelling_advertise_request request_of(struct beacon *beacon) {
    return (jelling_advertise_request){
        .size = sizeof(jelling_advertise_request), .flags = beacon->flags, .name = beacon->name,
        .services = beacon->services, .service_count = beacon->service_count, .interval = beacon->interval};
}

static void advertise(struct beacon *beacon) {
    jelling_advertise_request request = request_of(beacon);
    jelling_status status = jelling_advertise(beacon->engine, &request, jelling_loop_now(), &beacon->advertising);
    if (status == JELLING_OK) return;
    json_error("failed", jelling_status_text(status));
    jelling_loop_quit(beacon->loop, exit_failed);
}

static void publish_next(struct beacon *beacon) {
    struct served_service *service = beacon->published = profile_next(&beacon->profile);
    if (!service) return advertise(beacon);
    jelling_characteristic_definition *definitions = calloc(service->characteristic_count + 1, sizeof *definitions);
    uint16_t *included = calloc(service->include_count + 1, sizeof *included);
    if (!definitions || !included) exit(exit_failed);
    for (size_t i = 0; i < service->characteristic_count; i++) {
        struct served_characteristic *source = &service->characteristics[i];
        definitions[i] = (jelling_characteristic_definition){
            .size = sizeof *definitions, .permissions = source->permissions, .uuid = source->uuid,
            .descriptors = source->descriptors, .descriptor_count = source->descriptor_count,
            .properties = source->properties, .subscribing_needs_encryption = (uint8_t)source->needs_encryption};
    }
    for (size_t i = 0; i < service->include_count; i++)
        included[i] = beacon->profile.services[service->included[i]].handle;
    jelling_service_definition definition = {
        .size = sizeof definition, .is_secondary = (uint32_t)service->is_secondary, .uuid = service->uuid,
        .included_services = included, .included_service_count = service->include_count,
        .characteristics = definitions, .characteristic_count = service->characteristic_count};
    jelling_status status = jelling_publish(beacon->engine, &definition, jelling_loop_now(), &beacon->publishing);
    free(definitions);
    free(included);
    if (status == JELLING_OK) return;
    json_error("failed", jelling_status_text(status));
    jelling_loop_quit(beacon->loop, exit_failed);
}

static void published(struct beacon *beacon, const jelling_completion *completion) {
    struct served_service *service = beacon->published;
    if (completion->failure) return fail_with(beacon, "publish", completion);
    service->is_published = 1;
    service->handle = completion->published.handle;
    for (size_t i = 0; i < completion->published.characteristic_count && i < service->characteristic_count; i++) {
        struct served_characteristic *characteristic = &service->characteristics[i];
        characteristic->handle = completion->published.characteristics[i].value_handle;
        characteristic->beacon = beacon;
        if (!values_begin(beacon, characteristic)) {
            json_error("usage", "too many characteristics with notifyEvery: at most 64");
            return jelling_loop_quit(beacon->loop, exit_failed);
        }
    }
    publish_next(beacon);
}

static void tell_advertising(struct beacon *beacon) {
    jelling_advertise_request request = request_of(beacon);
    jelling_packed_advertisement packed = {.size = sizeof packed};
    if (jelling_pack_advertisement(beacon->engine, &request, &packed)) return;
    json_begin("advertising");
    json_hex("advertisement", packed.advertisement, packed.advertisement_length);
    json_hex("scanResponse", packed.scan_response, packed.scan_response_length);
    json_end();
}

/* ------------------------------------------------------- Links, security */

static void connected(struct beacon *beacon, const jelling_event *event) {
    struct link *link = link_of(beacon, 0);
    if (link) *link = (struct link){event->link, event->connected.peer};
    begin(beacon, "connected", event->link);
    json_end();
}

static void disconnected(struct beacon *beacon, const jelling_event *event) {
    begin(beacon, "disconnected", event->link);
    json_reason(
        event->disconnected.reason, event->disconnected.is_released != 0, event->disconnected.is_controller_lost != 0);
    json_end();
    struct link *link = link_of(beacon, event->link);
    if (link) link->id = 0;
    forget_reads(beacon, event->link);
}

static void digits(struct beacon *beacon, const char *event, const char *key, uint32_t number, jelling_link link) {
    char text[12];
    snprintf(text, sizeof text, "%06u", number);
    struct link *found = link_of(beacon, link);
    json_begin(event);
    json_string(key, text);
    if (found) json_address("address", &found->peer);
    json_end();
}

static void asked(struct beacon *beacon, const jelling_event *event) {
    uint64_t question = event->pairing_question.id;
    int64_t now = jelling_loop_now();
    if (event->pairing_question.kind == JELLING_QUESTION_COMPARE)
        digits(beacon, "comparison", "number", event->pairing_question.number, event->link);
    if (event->pairing_question.kind == JELLING_QUESTION_PASSKEY) {
        fprintf(stderr, "ble-beacon: the other device displays a passkey; give it with --passkey-file FILE\n");
        jelling_answer_cancel(beacon->engine, question, now, NULL);
    } else {
        int is_yes = beacon->confirms && event->pairing_question.kind != JELLING_QUESTION_REPLACE_BOND;
        if (!is_yes) fprintf(stderr, "ble-beacon: a question of pairing is answered with no; --yes accepts\n");
        jelling_answer_confirm(beacon->engine, question, (uint32_t)is_yes, now, NULL);
    }
}

static void paired(struct beacon *beacon, const jelling_event *event) {
    json_begin("paired");
    json_bool("secureConnections", event->paired.is_secure_connections);
    json_bool("authenticated", event->paired.is_authenticated);
    json_number("keySize", event->paired.key_size);
    json_address("identity", &event->paired.identity);
    if (event->paired.was_bonded) json_bool("wasBonded", 1);
    json_end();
    const char *why = jelling_loop_state_error(beacon->loop);
    if (why) json_error("stateUnusable", why);
}

static void encrypted(struct beacon *beacon, const jelling_event *event) {
    if (!event->security.is_encrypted) return;
    begin(beacon, "encrypted", event->link);
    json_bool("secureConnections", event->security.is_secure_connections);
    json_bool("authenticated", event->security.is_authenticated);
    json_number("keySize", event->security.key_size);
    json_bool("bonded", event->security.is_bonded);
    json_end();
}

static void completed(struct beacon *beacon, const jelling_event *event) {
    if (beacon->is_stopping) return;
    if (event->operation == beacon->publishing) published(beacon, &event->completed);
    else if (event->operation == beacon->advertising) fail_with(beacon, "advertise", &event->completed);
    else updates_ended(&beacon->updates, beacon->engine, event);
}

static void on_event(void *context, jelling_loop *loop, const jelling_event *event) {
    struct beacon *beacon = context;
    switch (event->kind) {
    case JELLING_EVENT_STOPPED: return jelling_loop_quit(loop, 0);
    case JELLING_EVENT_FAILED: return fail_with(beacon, "controller", &event->completed);
    case JELLING_EVENT_COMPLETED: return completed(beacon, event);
    case JELLING_EVENT_ADVERTISING_CHANGED:
        if (event->value) tell_advertising(beacon);
        break;
    case JELLING_EVENT_CENTRAL_CONNECTED: return connected(beacon, event);
    case JELLING_EVENT_CENTRAL_DISCONNECTED: return disconnected(beacon, event);
    case JELLING_EVENT_MTU_CHANGED:
        begin(beacon, "mtu", event->link);
        json_number("mtu", event->value);
        json_end();
        break;
    case JELLING_EVENT_SERVER_READ: return read_value(beacon, event);
    case JELLING_EVENT_SERVER_STORED: return stored(beacon, event);
    case JELLING_EVENT_SERVER_WRITE: return write_values(beacon, event);
    case JELLING_EVENT_SERVER_SUBSCRIBED:
    case JELLING_EVENT_SERVER_UNSUBSCRIBED: return subscription(beacon, event);
    case JELLING_EVENT_SERVER_READY_TO_UPDATE: return updates_ready(&beacon->updates, beacon->engine);
    case JELLING_EVENT_PAIRING_DISPLAY_PASSKEY: return digits(beacon, "passkey", "passkey", event->value, event->link);
    case JELLING_EVENT_PAIRING_QUESTION: return asked(beacon, event);
    case JELLING_EVENT_PAIRED: return paired(beacon, event);
    case JELLING_EVENT_PAIRING_FAILED:
        begin(beacon, "pairingFailed", event->link);
        json_string("message", jelling_failure_text(event->completed.failure, event->completed.code));
        json_end();
        break;
    case JELLING_EVENT_PASSKEY_LOCKED:
        begin(beacon, "passkeyLocked", event->link);
        json_end();
        break;
    case JELLING_EVENT_ENCRYPTION_CHANGED: return encrypted(beacon, event);
    default: break;
    }
}

/* ------------------------------------------------------------------ Start */

static void interrupted(void *context, jelling_loop *loop, int fd) {
    struct signalfd_siginfo signal;
    struct beacon *beacon = context;
    (void)loop;
    if (read(fd, &signal, sizeof signal) <= 0 || beacon->is_stopping) return;
    beacon->is_stopping = 1;
    jelling_stop(beacon->engine, jelling_loop_now(), NULL);
}

static int watch_signals(struct beacon *beacon) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    json_set_interrupt(fd);
    return fd < 0 ? -1 : jelling_loop_watch(beacon->loop, fd, interrupted, beacon);
}

static int parse_io(const char *text, uint32_t *io) {
    static const char *const names[] = {"none", "display", "yesno", "keyboard", "kbdisp"};
    for (uint32_t i = 0; i < 5; i++)
        if (strcmp(text, names[i]) == 0) {
            *io = i;
            return 1;
        }
    return 0;
}

static int parse_passkey(char *text, jelling_pairing_options *pairing) {
    if (strlen(text) != 6 || strspn(text, "0123456789") != 6) return 0;
    pairing->passkey = (uint32_t)strtoul(text, NULL, 10);
    pairing->flags |= JELLING_PAIRING_HAS_PASSKEY;
    /* Every user can read the command line. */
    memset(text, '*', strlen(text));
    return 1;
}

/* "-" is standard input. */
static int read_passkey(const char *path, jelling_pairing_options *pairing) {
    char line[16] = "";
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!file) {
        fprintf(stderr, "ble-beacon: ‘%s’ cannot be read: %s\n", path, strerror(errno));
        return 0;
    }
    int is_read = fgets(line, sizeof line, file) != NULL;
    if (file != stdin) fclose(file);
    line[strcspn(line, "\r\n")] = 0;
    if (is_read && parse_passkey(line, pairing)) return 1;
    fprintf(stderr, "ble-beacon: the first line of ‘%s’ is no passkey: it has six digits, leading zeros included\n", path);
    return 0;
}

static int parse_interval(const char *text, uint16_t *interval) {
    char *end;
    double milliseconds = strtod(text, &end);
    if (end == text || *end || !(milliseconds >= 20 && milliseconds <= 10240)) return 0;
    *interval = (uint16_t)(milliseconds / 0.625 + 0.5);
    return 1;
}

int main(int count, char **arguments) {
    open_standard_streams();
    static struct beacon beacon;
    jelling_config config = {.size = sizeof config};
    jelling_pairing_options pairing = {.size = sizeof pairing};
    jelling_security_settings security = {.size = sizeof security, .pairing = &pairing};
    jelling_loop_options options = {.size = sizeof options, .config = &config, .on_event = on_event, .context = &beacon};
    const char *file = NULL;
    config.security = &security;
    for (int i = 1; i < count; i++) {
        char *word = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(word, "-t") == 0 && value) options.transport = value, i++;
        else if (strcmp(word, "--name") == 0 && value) beacon.name = config.device_name = value, i++;
        else if (strcmp(word, "--advertise") == 0 && value && beacon.service_count < maximum_services &&
                 !jelling_parse_uuid(value, &beacon.services[beacon.service_count]))
            beacon.service_count++, i++;
        else if (strcmp(word, "--background") == 0) beacon.flags |= JELLING_ADVERTISE_BACKGROUND;
        else if (strcmp(word, "--emit-overflow") == 0)
            config.flags |= JELLING_CONFIG_EMITS_OVERFLOW, config.overflow_company = 0x004C;
        else if (strcmp(word, "--interval") == 0 && value && parse_interval(value, &beacon.interval)) i++;
        else if (strcmp(word, "--state") == 0 && value) options.state_file = value, i++;
        else if (strcmp(word, "--io") == 0 && value && parse_io(value, &pairing.io_capability)) i++;
        else if (strcmp(word, "--passkey") == 0 && value && parse_passkey(value, &pairing)) i++;
        else if (strcmp(word, "--passkey-file") == 0 && value) {
            if (!read_passkey(value, &pairing)) return exit_usage;
            i++;
        }
        else if (strcmp(word, "--mitm") == 0) pairing.flags |= JELLING_PAIRING_REQUIRES_AUTHENTICATION;
        else if (strcmp(word, "--no-sc") == 0) pairing.flags |= JELLING_PAIRING_LEGACY_ONLY;
        else if (strcmp(word, "--yes") == 0) beacon.confirms = 1;
        else if (strcmp(word, "--eatt") == 0) config.flags |= JELLING_CONFIG_ENHANCED_BEARERS;
        else if (strcmp(word, "--static-address") == 0) config.own_address = JELLING_ADDRESS_RANDOM;
        else if (strcmp(word, "--address-resolution") == 0) config.flags |= JELLING_CONFIG_ADDRESS_RESOLUTION;
        else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) return fputs(usage, stdout) < 0;
        else if (*word != '-' && !file) file = word;
        else return fputs(usage, stderr), exit_usage;
    }
    if (!options.transport) return fputs(usage, stderr), exit_usage;
    json_set_adapter(options.transport);
    char error[256];
    if (file && profile_read(&beacon.profile, file, error, sizeof error)) {
        fprintf(stderr, "ble-beacon: ‘%s’: %s\n", file, error);
        return profile_free(&beacon.profile), exit_usage;
    }
    signal(SIGPIPE, SIG_IGN);
    if (jelling_loop_open(&options, &beacon.loop)) {
        fprintf(stderr, "ble-beacon: %s\n", jelling_loop_error());
        return profile_free(&beacon.profile), exit_transport;
    }
    beacon.engine = jelling_loop_engine(beacon.loop);
    int status = -1;
    if (watch_signals(&beacon) == 0) {
        publish_next(&beacon);
        status = jelling_loop_run(beacon.loop);
    }
    if (status < 0) {
        fprintf(stderr, "ble-beacon: %s\n", jelling_loop_error());
        status = exit_failed;
    }
    jelling_loop_close(beacon.loop);
    profile_free(&beacon.profile);
    return status;
}
