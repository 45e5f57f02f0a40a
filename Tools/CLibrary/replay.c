/*
 * Repeats recordings through the library: reads what `bletool replay --octets` printed of them, and compares each packet that the
 * engine sends with the recorded one. The inputs go in by jelling_apply, which only a library for tests has; what the engine sends
 * and reports comes out through jelling.h.
 *
 *   replay [--stack] < LINES    `NAME: N packets` for each recording; exit status 1 at the first difference. --stack: the
 *                               last line has the octets of stack that the deepest call took
 *
 * Lines: `recording NAME CONFIGURATION`, `sent PACKET` for each, `input TIME INPUT` for each, `end`. Octets are hexadecimal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jelling.h"

jelling_status jelling_apply(jelling_engine **engine, const uint8_t *octets, size_t length, int64_t now);

enum { maximum_sent = 1 << 14 };

static jelling_engine *engine;
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

static uint8_t *octets(const char *text, size_t *length) {
    if (!text) die("octets are missing");
    *length = strlen(text) / 2;
    uint8_t *result = malloc(*length + 1);
    for (size_t i = 0; i < *length; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], 0};
        result[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return result;
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

static void apply(const char *text, int64_t now) {
    size_t length;
    uint8_t *input = octets(text, &length);
    if (jelling_apply(&engine, input, length, now)) die("the input was refused");
    free(input);
}

static void take_outputs(void) {
    const jelling_question *question;
    const jelling_event *event;
    while (jelling_next_question(engine, &question) == JELLING_OK && question) continue;
    jelling_drain(engine, sent, NULL);
    while (jelling_next_event(engine, &event) == JELLING_OK && event) continue;
}

static void end(void) {
    if (sent_count != expected_count) die("packets are missing");
    printf("%s: %zu packets\n", name, sent_count);
    if (jelling_destroy(engine)) die("jelling_destroy");
    engine = NULL;
    for (size_t i = 0; i < expected_count; i++) free(expected[i].octets);
    expected_count = sent_count = 0;
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

int main(int count, char **arguments) {
    static char line[1 << 17];
    int measures = count > 1 && strcmp(arguments[1], "--stack") == 0;
    while (fgets(line, sizeof line, stdin)) {
        char *rest = NULL, *word = strtok_r(line, " \n", &rest);
        line_number++;
        if (!word) continue;
        if (measures) paint_stack();
        if (strcmp(word, "recording") == 0) {
            snprintf(name, sizeof name, "%s", strtok_r(NULL, " \n", &rest));
            apply(strtok_r(NULL, " \n", &rest), 0);
        } else if (strcmp(word, "sent") == 0) {
            if (expected_count == maximum_sent) die("too many packets");
            struct packet *next = &expected[expected_count++];
            next->octets = octets(strtok_r(NULL, " \n", &rest), &next->length);
        } else if (strcmp(word, "input") == 0) {
            int64_t now = strtoll(strtok_r(NULL, " \n", &rest), NULL, 10);
            apply(strtok_r(NULL, " \n", &rest), now);
            take_outputs();
        } else if (strcmp(word, "end") == 0) {
            end();
        } else {
            die("no such line");
        }
        if (measures) measure_stack();
    }
    if (measures) printf("stack: %zu\n", deepest);
    return 0;
}
