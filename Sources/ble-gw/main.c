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

enum { exit_failed = 1, exit_usage = 2, exit_transport = 3, maximum_waiting = 1 << 20 };

static const char usage[] =
    "usage: ble-gw -t TRANSPORT [--state FILE] [--io none|display|yesno|keyboard|kbdisp] [--mitm] [--no-sc] [--yes]\n"
    "              [--static-address] [--eatt N] [-e]\n"
    "       ble-gw --state FILE --bonds\n"
    "\n"
    "-e: the first command that fails ends the program. TRANSPORT is user:N, unix:PATH, tcp:ADDRESS:PORT or\n"
    "uart:DEVICE@BAUD. Commands on standard input, a line each:\n"
    "  scan [SECONDS] [name=…] [service=UUID]… [rssi=MINIMUM] [count=N] [passive] [duplicates]\n"
    "  connect ADDRESS[/TYPE] | NAME [timeout=SECONDS]\n"
    "  discover · read TARGET · write TARGET [HEX] [command] · subscribe TARGET · unsubscribe TARGET\n"
    "  wait [SECONDS] [count=N] · pair [PASSKEY] · bonds · unpair ADDRESS[/random] · rssi · disconnect · quit\n"
    "TARGET is UUID, SERVICE/UUID or 0xHANDLE. Questions of a pairing are answered by: passkey NUMBER, yes, no.\n"
    "JSON objects on standard output, a line each, with the keys of bletool --json.\n";

/* ------------------------------------------------------------- Commands */

static void next_line(struct gateway *gateway);

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

/* Words stand between spaces; what stands in double quotes is one word. */
static void split(struct gateway *gateway) {
    char *at = gateway->line;
    gateway->word_count = 0;
    for (;;) {
        while (*at == ' ' || *at == '\t' || *at == '\r') at++;
        if (!*at || gateway->word_count == maximum_words) return;
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

/* Answers to an open question are taken while a command runs. 1 where the line was one. */
static int take_answer(struct gateway *gateway, const char *line) {
    if (!gateway->question) return 0;
    int is_passkey = strncmp(line, "passkey ", 8) == 0, is_yes = strcmp(line, "yes") == 0;
    int64_t now = jelling_loop_now();
    if (is_passkey) {
        unsigned long passkey = strtoul(line + 8, NULL, 10);
        if (jelling_answer_passkey(gateway->engine, gateway->question, (uint32_t)passkey, now, NULL)) {
            json_error("usage", "a passkey is a number of six digits");
            return 1;
        }
    } else if (strcmp(line, "no") == 0 && gateway->question_kind == JELLING_QUESTION_PASSKEY) {
        jelling_answer_cancel(gateway->engine, gateway->question, now, NULL);
    } else if (is_yes || strcmp(line, "no") == 0) {
        jelling_answer_confirm(gateway->engine, gateway->question, (uint32_t)is_yes, now, NULL);
    } else {
        return 0;
    }
    gateway->question = 0;
    return 1;
}

static int take_line(struct gateway *gateway, char *line, size_t *size) {
    char *end = memchr(gateway->lines, '\n', gateway->lines_length);
    size_t length = end ? (size_t)(end - gateway->lines) : gateway->lines_length;
    if (!end && !(gateway->is_at_end && length)) return 0;
    *size = length;
    if (length < maximum_line) {
        memcpy(line, gateway->lines, length);
        line[length] = 0;
        if (length && line[length - 1] == '\r') line[length - 1] = 0;
    }
    size_t taken = length + (end ? 1 : 0);
    return (int)taken;
}

static void drop(struct gateway *gateway, size_t count) {
    gateway->lines_length -= count;
    memmove(gateway->lines, gateway->lines + count, gateway->lines_length);
}

static void next_line(struct gateway *gateway) {
    while (!gateway->is_stopping) {
        char line[maximum_line];
        size_t length;
        int taken = gateway->lines_length ? take_line(gateway, line, &length) : 0;
        if (!taken) {
            if (gateway->is_at_end && !gateway->is_busy && !gateway->lines_length) stop(gateway);
            return;
        }
        int is_too_long = length >= maximum_line;
        if (!is_too_long && take_answer(gateway, line)) {
            drop(gateway, (size_t)taken);
            continue;
        }
        if (gateway->is_busy) return;
        drop(gateway, (size_t)taken);
        gateway->line_number++;
        if (is_too_long) {
            finish_with_error(gateway, "the line is too long");
            continue;
        }
        strcpy(gateway->line, line);
        split(gateway);
        if (gateway->word_count == 0 || gateway->words[0][0] == '#') continue;
        gateway->is_busy = 1;
        run_command(gateway);
    }
}

/* ---------------------------------------------------------------- Input */

static void read_lines(struct gateway *gateway, int fd) {
    char buffer[4096];
    ssize_t count = read(fd, buffer, sizeof buffer);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count > 0 && gateway->lines_length + (size_t)count <= maximum_waiting) {
        char *larger = realloc(gateway->lines, gateway->lines_length + (size_t)count);
        if (larger) {
            gateway->lines = larger;
            memcpy(larger + gateway->lines_length, buffer, (size_t)count);
            gateway->lines_length += (size_t)count;
            return;
        }
    }
    gateway->is_at_end = 1;
}

static void readable(void *context, jelling_loop *loop, int fd) {
    struct gateway *gateway = context;
    read_lines(gateway, fd);
    if (gateway->is_at_end) jelling_loop_unwatch(loop, fd);
    next_line(gateway);
}

static void interrupted(void *context, jelling_loop *loop, int fd) {
    struct signalfd_siginfo signal;
    (void)loop;
    if (read(fd, &signal, sizeof signal) > 0) stop(context);
}

static int watch_input(struct gateway *gateway) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0 || jelling_loop_watch(gateway->loop, fd, interrupted, gateway)) return -1;
    if (jelling_loop_watch(gateway->loop, STDIN_FILENO, readable, gateway) == 0) return 0;
    /* A file is there at once, and cannot be watched. */
    while (!gateway->is_at_end) read_lines(gateway, STDIN_FILENO);
    return 0;
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
    next_line(gateway);
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
    int status = watch_input(&gateway) ? -1 : (next_line(&gateway), jelling_loop_run(gateway.loop));
    if (status < 0) {
        fprintf(stderr, "ble-gw: %s\n", jelling_loop_error());
        status = exit_failed;
    }
    jelling_loop_close(gateway.loop);
    database_clear(&gateway.database);
    free(gateway.lines);
    return status;
}
