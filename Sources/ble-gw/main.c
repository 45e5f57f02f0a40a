/*
 * ble-gw: a central for scripts. Commands come on standard input, a line each; JSON goes to standard output, an object
 * a line, with the keys of `bletool --json`.
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
#include "../jelling-posix/state.h"
#include "gateway.h"
#include "pairing.h"

enum { exit_failed = 1, exit_usage = 2, exit_transport = 3 };

static const char usage[] =
    "usage: ble-gw -t TRANSPORT [--state FILE] [--io none|display|yesno|keyboard|kbdisp] [--mitm] [--no-sc] [--yes]\n"
    "              [--static-address] [--address-resolution] [--eatt N] [-e]\n"
    "       ble-gw --state FILE --bonds\n"
    "\n"
    "-e: the first command that fails ends the program. TRANSPORT is user:N, unix:PATH, tcp:ADDRESS:PORT or\n"
    "uart:DEVICE@BAUD. Commands on standard input, a line each:\n"
    "  scan [SECONDS] [name=…] [service=UUID]… [address=ADDRESS/TYPE]… [rssi=MINIMUM] [count=N]\n"
    "       [passive] [duplicates] [unresolved-targets]\n"
    "  connect ADDRESS[/TYPE] | NAME [timeout=SECONDS]\n"
    "  discover · read TARGET · write TARGET [HEX] [command] · subscribe TARGET · unsubscribe TARGET\n"
    "  wait [SECONDS] [count=N] · pair [PASSKEY] · bonds · unpair ADDRESS[/random] · rssi · disconnect · quit\n"
    "TARGET is UUID, SERVICE/UUID or 0xHANDLE. Questions of a pairing are answered by: passkey NUMBER, yes, no.\n"
    "JSON objects on standard output, a line each, with the keys of bletool --json.\n";

/* ------------------------------------------------------------- Commands */

static void reset(struct gateway *gateway) {
    if (gateway->timer) jelling_loop_cancel(gateway->loop, gateway->timer);
    gateway->is_busy = 0;
    gateway->timer = 0;
    gateway->operation = gateway->scan = 0;
    gateway->next = NULL;
    gateway->count = gateway->limit = 0;
    gateway->is_searching = gateway->wants_address = 0;
}

void finish(struct gateway *gateway) { reset(gateway); }

static void failed(struct gateway *gateway) {
    gateway->has_failed = 1;
    if (gateway->stops_at_errors) {
        gateway->is_at_end = 1;
        gateway->lines_length = 0;
    }
    finish(gateway);
}

void finish_with_error(struct gateway *gateway, const char *message) { finish_with_code(gateway, "usage", message); }

void finish_with_code(struct gateway *gateway, const char *code, const char *message) {
    json_begin("error");
    json_string("code", code);
    json_string("message", message);
    json_number("line", gateway->line_number);
    json_end();
    failed(gateway);
}

void finish_with_failure(struct gateway *gateway, const char *what, const jelling_completion *completion) {
    json_failure(what, completion);
    failed(gateway);
}

void await(struct gateway *gateway, jelling_status status, step next) {
    if (status != JELLING_OK) return finish_with_code(gateway, "failed", jelling_status_text(status));
    gateway->next = next;
}

static void stop(struct gateway *gateway) {
    if (gateway->is_stopping) return;
    gateway->is_stopping = 1;
    jelling_stop(gateway->engine, jelling_loop_now(), NULL);
}

/* Words stand between spaces; what stands in double quotes is one word. 0, or -1: there are too many. */
static int split(struct gateway *gateway) {
    char *at = gateway->line;
    gateway->word_count = 0;
    for (;;) {
        while (*at == ' ' || *at == '\t' || *at == '\r') at++;
        if (!*at) return 0;
        if (gateway->word_count == maximum_words) return -1;
        char *out = at;
        gateway->words[gateway->word_count++] = at;
        for (int is_quoted = 0; *at && (is_quoted || !strchr(" \t\r", *at)); at++) {
            if (*at == '"') is_quoted = !is_quoted;
            else *out++ = *at;
        }
        if (*at) at++;
        *out = 0;
    }
}

/* Answers the open question. 1 where the line is an answer; one that cannot be is an error, and the question stays. */
static int take_answer(struct gateway *gateway, const char *line) {
    int is_passkey = strncmp(line, "passkey", 7) == 0 && (line[7] == ' ' || !line[7]);
    int is_yes = strcmp(line, "yes") == 0, is_no = strcmp(line, "no") == 0;
    if (!is_passkey && !is_yes && !is_no) return 0;
    int asks_for_passkey = gateway->question_kind == JELLING_QUESTION_PASSKEY;
    int64_t now = jelling_loop_now();
    if (asks_for_passkey && is_no) {
        jelling_answer_cancel(gateway->engine, gateway->question, now, NULL);
    } else if (asks_for_passkey) {
        long passkey = is_passkey && line[7] ? six_digits(line + 8) : -1;
        if (passkey < 0 || jelling_answer_passkey(gateway->engine, gateway->question, (uint32_t)passkey, now, NULL)) {
            json_error("usage", "the answer is passkey and a number of six digits, or no");
            return 1;
        }
    } else if (is_passkey) {
        json_error("usage", "the answer is yes or no");
        return 1;
    } else {
        jelling_answer_confirm(gateway->engine, gateway->question, (uint32_t)is_yes, now, NULL);
    }
    gateway->question = 0;
    return 1;
}

/* The first line that waits behind so many octets, without its end: how many octets it takes with its end; 0: it is not
   there as a whole. */
static size_t first_line(struct gateway *gateway, size_t skipped, char *line, size_t *length) {
    const char *start = gateway->lines + gateway->lines_start + skipped;
    size_t left = gateway->lines_length - skipped;
    const char *end = memchr(start, '\n', left);
    if (!end && !(gateway->is_at_end && left)) return 0;
    *length = end ? (size_t)(end - start) : left;
    if (*length < maximum_line) {
        memcpy(line, start, *length);
        line[*length] = 0;
        if (*length && line[*length - 1] == '\r') line[*length - 1] = 0;
    }
    return *length + (end ? 1 : 0);
}

/* Answers are taken while a command runs, and from among the commands that wait: scripts write ahead, and people mistype. Only a
   bond is not replaced by what was written ahead: it may have been meant for another question. An answer leaves an empty line, so
   that the lines behind it keep their numbers. */
static void take_answers(struct gateway *gateway) {
    size_t skipped = 0, length, taken;
    char line[maximum_line];
    while (gateway->question && (taken = first_line(gateway, skipped, line, &length))) {
        int is_too_early = gateway->question_kind == JELLING_QUESTION_REPLACE_BOND && skipped < gateway->written_ahead;
        if (is_too_early || length >= maximum_line || !take_answer(gateway, line)) {
            skipped += taken;
            continue;
        }
        char *place = gateway->lines + gateway->lines_start + skipped;
        gateway->lines_length -= length;
        memmove(place, place + length, gateway->lines_length - skipped);
        skipped += taken - length;
    }
}

static void readable(void *context, jelling_loop *loop, int fd);

static void drop(struct gateway *gateway, size_t count) {
    gateway->lines_start += count;
    gateway->lines_length -= count;
    gateway->written_ahead -= count < gateway->written_ahead ? count : gateway->written_ahead;
}

/* Reads what there is room for. */
static void read_lines(struct gateway *gateway) {
    if (gateway->lines_start) memmove(gateway->lines, gateway->lines + gateway->lines_start, gateway->lines_length);
    gateway->lines_start = 0;
    char *free_place = gateway->lines + gateway->lines_length;
    ssize_t count;
    do count = read(STDIN_FILENO, free_place, maximum_waiting - gateway->lines_length);
    while (count < 0 && errno == EINTR);
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) {
        fprintf(stderr, "ble-gw: standard input: %s\n", strerror(errno));
        gateway->has_failed = 1;
    }
    if (count <= 0) gateway->is_at_end = 1;
    else gateway->lines_length += (size_t)count;
    if (!gateway->is_skipping) return;
    char *end = memchr(gateway->lines, '\n', gateway->lines_length);
    if (end || gateway->is_at_end) gateway->is_skipping = 0;
    drop(gateway, end ? (size_t)(end - gateway->lines) + 1 : gateway->lines_length);
}

/* Standard input is read while there is room: before, who writes there waits. */
static void watch_lines(struct gateway *gateway) {
    int should_watch = !gateway->is_file && !gateway->is_at_end && gateway->lines_length < maximum_waiting;
    if (should_watch == gateway->is_watching) return;
    gateway->is_watching = should_watch;
    if (!should_watch) return jelling_loop_unwatch(gateway->loop, STDIN_FILENO);
    /* A file is there at once, and cannot be watched. */
    if (jelling_loop_watch(gateway->loop, STDIN_FILENO, readable, gateway) == 0) return;
    gateway->is_watching = 0;
    gateway->is_file = 1;
    go_on(gateway);
}

/* The line is longer than there is room: its rest is thrown away as it comes. */
static void skip_line(struct gateway *gateway) {
    drop(gateway, gateway->lines_length);
    gateway->is_skipping = 1;
    gateway->line_number++;
    finish_with_error(gateway, "the line is too long");
}

/* Whether a line is a command that needs no controller. */
static int needs_nothing(const char *line) {
    line += strspn(line, " \t");
    size_t length = strcspn(line, " \t");
    return (length == strlen("quit") && !strncmp(line, "quit", length))
        || (length == strlen("bonds") && !strncmp(line, "bonds", length));
}

/* Other commands wait for the controller: the time that they have would go by while it starts. */
static int can_begin(struct gateway *gateway, const char *line) {
    uint32_t is_ready = 0;
    if (gateway->is_busy) return 0;
    return needs_nothing(line) || (jelling_is_ready(gateway->engine, &is_ready) == JELLING_OK && is_ready);
}

void go_on(struct gateway *gateway) {
    while (!gateway->is_stopping) {
        char line[maximum_line];
        size_t length;
        take_answers(gateway);
        size_t taken = gateway->lines_length ? first_line(gateway, 0, line, &length) : 0;
        if (!taken) {
            if (gateway->lines_length == maximum_waiting && !gateway->is_busy) {
                skip_line(gateway);
                continue;
            }
            if (gateway->is_file && !gateway->is_at_end && gateway->lines_length < maximum_waiting) {
                read_lines(gateway);
                continue;
            }
            if (gateway->is_at_end && !gateway->is_busy && !gateway->lines_length) stop(gateway);
            break;
        }
        int is_too_long = length >= maximum_line;
        if (!can_begin(gateway, is_too_long ? "" : line)) break;
        drop(gateway, taken);
        gateway->line_number++;
        if (is_too_long) {
            finish_with_error(gateway, "the line is too long");
            continue;
        }
        strcpy(gateway->line, line);
        int has_too_many_words = split(gateway);
        if (gateway->word_count == 0 || gateway->words[0][0] == '#') continue;
        if (has_too_many_words) {
            finish_with_error(gateway, "a command has at most 32 words");
            continue;
        }
        gateway->is_busy = 1;
        run_command(gateway);
    }
    watch_lines(gateway);
}

/* ---------------------------------------------------------------- Input */

static void readable(void *context, jelling_loop *loop, int fd) {
    struct gateway *gateway = context;
    (void)loop, (void)fd;
    read_lines(gateway);
    go_on(gateway);
}

static void interrupted(void *context, jelling_loop *loop, int fd) {
    struct signalfd_siginfo signal;
    (void)loop;
    if (read(fd, &signal, sizeof signal) > 0) stop(context);
}

static int watch_signals(struct gateway *gateway) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    json_set_interrupt(fd);
    return fd < 0 ? -1 : jelling_loop_watch(gateway->loop, fd, interrupted, gateway);
}

/* --------------------------------------------------------------- Events */

static void on_event(void *context, jelling_loop *loop, const jelling_event *event) {
    struct gateway *gateway = context;
    gateway->loop = loop;
    gateway->engine = jelling_loop_engine(loop);
    switch (event->kind) {
    case JELLING_EVENT_STOPPED: return jelling_loop_quit(loop, gateway->has_failed ? exit_failed : 0);
    case JELLING_EVENT_FAILED:
        json_failure("controller", &event->completed);
        return jelling_loop_quit(loop, exit_failed);
    case JELLING_EVENT_COMPLETED:
        if (gateway->is_stopping || !gateway->is_busy || event->operation != gateway->operation) return;
        gateway->next(gateway, &event->completed);
        break;
    default: handle_event(gateway, event); break;
    }
    go_on(gateway);
}

static int parse_io(const char *text, uint32_t *io) {
    static const char *names[] = {"none", "display", "yesno", "keyboard", "kbdisp"};
    for (uint32_t i = 0; i < 5; i++)
        if (strcmp(text, names[i]) == 0) {
            *io = i;
            return 0;
        }
    return -1;
}

/* Needs no controller. */
static int list_bonds(const char *path) {
    static state kept;
    if (state_load(&kept, path)) {
        fprintf(stderr, "ble-gw: %s\n", jelling_loop_error());
        return exit_failed;
    }
    for (size_t index = 0; index < kept.count; index++) {
        jelling_bond bond = {.size = sizeof bond};
        if (!jelling_describe_bond(kept.bonds[index].blob, kept.bonds[index].length, &bond)) bond_print(&bond);
    }
    state_free(&kept);
    return 0;
}

int main(int count, char **arguments) {
    int lists_bonds = 0;
    open_standard_streams();
    static struct gateway gateway;
    jelling_config config = {.size = sizeof config};
    jelling_security_settings security = {.size = sizeof security, .pairing = &gateway.pairing};
    jelling_loop_options options = {
        .size = sizeof options, .config = &config, .on_event = on_event, .context = &gateway};
    gateway.pairing.size = sizeof gateway.pairing;
    config.security = &security;
    for (int i = 1; i < count; i++) {
        const char *word = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(word, "-t") == 0 && value) options.transport = value, i++;
        else if (strcmp(word, "--state") == 0 && value) options.state_file = value, i++;
        else if (strcmp(word, "--io") == 0 && value && !parse_io(value, &gateway.pairing.io_capability)) i++;
        else if (strcmp(word, "--mitm") == 0) gateway.pairing.flags |= JELLING_PAIRING_REQUIRES_AUTHENTICATION;
        else if (strcmp(word, "--no-sc") == 0) gateway.pairing.flags |= JELLING_PAIRING_LEGACY_ONLY;
        else if (strcmp(word, "--yes") == 0) gateway.confirms = 1;
        else if (strcmp(word, "--bonds") == 0) lists_bonds = 1;
        else if (strcmp(word, "-e") == 0) gateway.stops_at_errors = 1;
        else if (strcmp(word, "--eatt") == 0 && value && strchr("12345", *value) && *value && !value[1]) {
            config.flags |= JELLING_CONFIG_ENHANCED_BEARERS;
            config.opened_bearers = (uint32_t)(*value - '0'), i++;
        } else if (strcmp(word, "--static-address") == 0) config.own_address = JELLING_ADDRESS_RANDOM;
        else if (strcmp(word, "--address-resolution") == 0) config.flags |= JELLING_CONFIG_ADDRESS_RESOLUTION;
        else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) return fputs(usage, stdout) < 0;
        else return fputs(usage, stderr), exit_usage;
    }
    if (lists_bonds && options.state_file) return list_bonds(options.state_file);
    if (!options.transport) return fputs(usage, stderr), exit_usage;
    json_set_adapter(options.transport);
    if (jelling_loop_open(&options, &gateway.loop)) {
        fprintf(stderr, "ble-gw: %s\n", jelling_loop_error());
        return exit_transport;
    }
    gateway.engine = jelling_loop_engine(gateway.loop);
    int status = watch_signals(&gateway) ? -1 : (go_on(&gateway), jelling_loop_run(gateway.loop));
    if (status < 0) {
        fprintf(stderr, "ble-gw: %s\n", jelling_loop_error());
        status = exit_failed;
    }
    jelling_loop_close(gateway.loop);
    database_clear(&gateway.database);
    return status;
}
