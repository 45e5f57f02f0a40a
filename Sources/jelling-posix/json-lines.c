#define _GNU_SOURCE
#include "json-lines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *line;
static size_t length, capacity;
static int needs_comma;
static char adapter[128];
static int interrupt = -1;

static void end_with(const char *why) {
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
    exit(1);
}

static void put(const char *text, size_t count) {
    if (length + count > capacity) {
        size_t larger = (length + count) * 2 + 256;
        char *moved = realloc(line, larger);
        if (!moved) end_with("out of memory");
        line = moved;
        capacity = larger;
    }
    memcpy(line + length, text, count);
    length += count;
}

static void put_text(const char *text) { put(text, strlen(text)); }

/* Octets of one character of UTF-8, 0 where it is none (Unicode 15, table 3-7). */
static size_t character(const uint8_t *octets, size_t left) {
    static const struct {
        uint8_t first, last, low, high;
        size_t count;
    } forms[] = {
        {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
        {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
        {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    if (octets[0] < 0x80) return 1;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (octets[0] < forms[i].first || octets[0] > forms[i].last) continue;
        if (left < forms[i].count || octets[1] < forms[i].low || octets[1] > forms[i].high) return 0;
        for (size_t k = 2; k < forms[i].count; k++)
            if (octets[k] < 0x80 || octets[k] > 0xBF) return 0;
        return forms[i].count;
    }
    return 0;
}

static uint32_t code_point(const uint8_t *octets, size_t size) {
    uint32_t code = size == 1 ? octets[0] : octets[0] & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) code = code << 6 | (octets[i] & 0x3F);
    return code;
}

/* Whether a terminal could obey a character, or a person not see it or be misled by it. */
static int is_hidden(uint32_t code) {
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        {0x00, 0x1F}, {0x7F, 0x9F}, {0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x17B4, 0x17B5},
        {0x180B, 0x180F}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFE00, 0xFE0F},
        {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
        {0xE0000, 0xE0FFF},
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code >= hidden[i].first && code <= hidden[i].last) return 1;
    return 0;
}

static void put_escape(uint32_t code) {
    char escape[16];
    if (code > 0xFFFF)
        snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xD800 + ((code - 0x10000) >> 10),
                 0xDC00 + ((code - 0x10000) & 0x3FF));
    else
        snprintf(escape, sizeof escape, "\\u%04x", code);
    put_text(escape);
}

static void put_quoted(const uint8_t *octets, size_t count) {
    put_text("\"");
    for (size_t i = 0; i < count;) {
        size_t size = character(octets + i, count - i);
        if (size == 0) {
            put_text("\xEF\xBF\xBD");
            i++;
            continue;
        }
        if (octets[i] == '"' || octets[i] == '\\') put_text("\\");
        uint32_t code = code_point(octets + i, size);
        if (is_hidden(code)) put_escape(code);
        else put((const char *)octets + i, size);
        i += size;
    }
    put_text("\"");
}

static void put_key(const char *key) {
    if (needs_comma) put_text(",");
    needs_comma = 1;
    if (!key) return;
    put_quoted((const uint8_t *)key, strlen(key));
    put_text(":");
}

void json_begin(const char *event) {
    length = 0;
    put_text("{");
    needs_comma = 0;
    if (event) json_string("event", event);
}

void json_set_interrupt(int fd) { interrupt = fd; }

void open_standard_streams(void) {
    int fd;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) close(fd);
}

void json_set_adapter(const char *transport) {
    int is_kernel = strncmp(transport, "user:", 5) == 0;
    snprintf(adapter, sizeof adapter, "%s%s", is_kernel ? "hci" : "", is_kernel ? transport + 5 : transport);
}

static int is_leap_year(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

/*
 * RFC 3339, with microseconds. Not with gmtime_r and strftime: they bring time zones, whose files are read with scanf,
 * 100 kB of a static program with glibc.
 */
static void put_time(void) {
    static const uint8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    struct timespec now;
    char text[96];
    clock_gettime(CLOCK_REALTIME, &now);
    /* From 1970 to the end of 9999. */
    int64_t time = now.tv_sec;
    if (time < 0 || time >= 253402300800) return;
    int day = (int)(time / 86400), second = (int)(time % 86400), year = 1970, month = 0;
    for (; day >= 365 + is_leap_year(year); year++) day -= 365 + is_leap_year(year);
    for (;; month++) {
        int length_of_month = lengths[month] + (month == 1 && is_leap_year(year));
        if (day < length_of_month) break;
        day -= length_of_month;
    }
    snprintf(
        text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ", year, month + 1, day + 1, second / 3600,
        second / 60 % 60, second % 60, (long)(now.tv_nsec / 1000));
    json_string("time", text);
}

void json_end(void) {
    put_time();
    if (*adapter) json_string("adapter", adapter);
    else json_null("adapter");
    put_text("}\n");
    for (size_t done = 0; done < length;) {
        struct pollfd ready[] = {{STDOUT_FILENO, POLLOUT, 0}, {interrupt, POLLIN, 0}};
        if (poll(ready, 2, -1) < 0) continue;
        if (!ready[0].revents) end_with("interrupted while nobody read its standard output");
        /* A pipe that can be written takes so much without waiting. */
        size_t piece = length - done < PIPE_BUF ? length - done : PIPE_BUF;
        ssize_t count = write(STDOUT_FILENO, line + done, piece);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count < 0 && errno != EPIPE) end_with("its standard output cannot be written");
        /* Nobody reads any more: there is nobody to tell. */
        if (count <= 0) exit(1);
        done += (size_t)count;
    }
}

void json_string(const char *key, const char *text) { json_octets_as_text(key, (const uint8_t *)text, strlen(text)); }

void json_octets_as_text(const char *key, const uint8_t *octets, size_t count) {
    put_key(key);
    put_quoted(octets, count);
}

void json_hex(const char *key, const uint8_t *octets, size_t count) {
    put_key(key);
    put_text("\"");
    for (size_t i = 0; i < count; i++) {
        const char *digits = "0123456789abcdef";
        char pair[2] = {digits[octets[i] >> 4], digits[octets[i] & 15]};
        put(pair, 2);
    }
    put_text("\"");
}

void json_number(const char *key, int64_t number) {
    char text[24];
    put_key(key);
    snprintf(text, sizeof text, "%lld", (long long)number);
    put_text(text);
}

void json_bool(const char *key, int value) {
    put_key(key);
    put_text(value ? "true" : "false");
}

void json_null(const char *key) {
    put_key(key);
    put_text("null");
}

void json_uuid(const char *key, const jelling_uuid *uuid) {
    char text[40];
    jelling_format_uuid(uuid, text, sizeof text);
    json_string(key, text);
}

void json_address(const char *key, const jelling_address *address) {
    char text[20], type[40];
    jelling_format_address(address, text, sizeof text);
    json_string(key, text);
    snprintf(type, sizeof type, "%sType", key);
    json_string(type, address->is_random ? "random" : "public");
}

/* Of the codes of Core 5.4, Vol 1, Part F, 1.3 those that end links. */
static const char *meaning_of(uint32_t reason) {
    switch (reason) {
    case 0x05: return "authentication failure";
    case 0x06: return "PIN or key missing";
    case 0x08: return "connection timeout";
    case 0x13: return "remote user terminated the connection";
    case 0x14: return "remote device is low on resources";
    case 0x15: return "remote device powers off";
    case 0x16: return "connection terminated by the local host";
    case 0x1A: return "unsupported remote feature";
    case 0x1F: return "unspecified error";
    case 0x22: return "link layer response timeout";
    case 0x28: return "instant passed";
    case 0x29: return "pairing with unit key not supported";
    case 0x2A: return "different transaction collision";
    case 0x3B: return "unacceptable connection parameters";
    case 0x3D: return "connection terminated due to MIC failure";
    case 0x3E: return "connection failed to be established";
    default: return NULL;
    }
}

void json_reason(uint32_t reason, int is_released, int is_controller_lost) {
    char text[64];
    const char *meaning = meaning_of(reason);
    unsigned code = reason & 0xFF;
    if (is_released) return json_string("reason", "closed by this side");
    if (is_controller_lost) return json_string("reason", "the controller was reset or lost");
    if (meaning) snprintf(text, sizeof text, "%s (0x%02X)", meaning, code);
    else snprintf(text, sizeof text, "0x%02X", code);
    json_string("reason", text);
}

void json_open(const char *key, char bracket) {
    put_key(key);
    put(&bracket, 1);
    needs_comma = 0;
}

void json_close(char bracket) {
    put(&bracket, 1);
    needs_comma = 1;
}

void json_error(const char *code, const char *message) {
    json_begin("error");
    json_string("code", code);
    json_string("message", message);
    json_end();
}

/* As `bletool --json` names it: the codes of Documentation/JSON.md. */
static const char *name_of(uint32_t failure) {
    switch (failure) {
    case JELLING_FAILURE_CANCELLED: return "interrupted";
    case JELLING_FAILURE_CONTROLLER_LOST: return "transportLost";
    case JELLING_FAILURE_CONTROLLER_UNRESPONSIVE:
    case JELLING_FAILURE_CONTROLLER_FAULT:
    case JELLING_FAILURE_COMMAND_TIMEOUT: return "controllerSilent";
    case JELLING_FAILURE_CONTROLLER: return "controllerRefused";
    case JELLING_FAILURE_LINK_LOST:
    case JELLING_FAILURE_NOT_CONNECTED:
    case JELLING_FAILURE_BEARER_CLOSED: return "linkLost";
    case JELLING_FAILURE_CONNECTION_FAILED: return "connectionFailed";
    case JELLING_FAILURE_ATT: return "attError";
    case JELLING_FAILURE_INVALID_RESPONSE:
    case JELLING_FAILURE_TRANSACTION_TIMEOUT:
    case JELLING_FAILURE_DISCOVERY_TOO_LONG:
    case JELLING_FAILURE_PROCEDURE_TIMEOUT:
    case JELLING_FAILURE_REJECTED_BY_PEER: return "protocolError";
    case JELLING_FAILURE_SECURITY: return "pairingFailed";
    case JELLING_FAILURE_VALUE_TOO_LONG:
    case JELLING_FAILURE_INVALID_PARAMETERS:
    case JELLING_FAILURE_INVALID_REQUEST: return "usage";
    default: return "failed";
    }
}

void json_failure(const char *what, const jelling_completion *completion) {
    char message[256], code[8];
    const char *why = jelling_failure_text(completion->failure, completion->code);
    int is_att = completion->failure == JELLING_FAILURE_ATT;
    snprintf(code, sizeof code, "0x%02x", completion->code & 0xFF);
    int has_code = is_att || completion->failure == JELLING_FAILURE_CONTROLLER ||
                   completion->failure == JELLING_FAILURE_LINK_LOST || completion->failure == JELLING_FAILURE_CONNECTION_FAILED;
    snprintf(message, sizeof message, "%s: %s%s%s%s", what, why, has_code ? " (" : "", has_code ? code : "",
             has_code ? ")" : "");
    json_begin("error");
    json_string("code", name_of(completion->failure));
    json_string("message", message);
    if (is_att) {
        json_string("attError", code);
        json_number("handle", completion->detail);
    }
    json_end();
}
