/* What a run of ble-gw is. */
#ifndef GATEWAY_H
#define GATEWAY_H

#include "database.h"

enum { maximum_line = 4096, maximum_words = 32, maximum_waiting = 1 << 16 };
/* ATT_MTU until a device has answered an exchange (Core 5.4, Vol 3, Part G, 5.2.1). */
enum { default_mtu = 23 };

/* Of the time of the loop. */
static const int64_t second = 1000000;

struct gateway;

/* Goes on with a command when the operation that it waits for has ended. */
typedef void (*step)(struct gateway *gateway, const jelling_completion *completion);

struct gateway {
    jelling_loop *loop;
    jelling_engine *engine;
    jelling_pairing_options pairing;
    int confirms;

    /* Octets of lines that wait: commands run one after another. What finds no room stays with who wrote it. */
    char lines[maximum_waiting];
    size_t lines_start, lines_length;
    /* Whether standard input is watched; a file cannot be. */
    int is_watching, is_file;
    /* Within a line that was too long for `lines`. */
    int is_skipping;
    int is_at_end, is_stopping, has_failed, stops_at_errors;
    unsigned line_number;

    /* The command under way. */
    char line[maximum_line];
    char *words[maximum_words];
    int word_count;
    int is_busy;
    jelling_operation operation;
    step next;
    int timer;
    /* Its scan, its count of what was found or arrived, and its limit; 0: none. */
    jelling_operation scan;
    unsigned count, limit;
    /* A search before a connection: by name, or by an address without its type. */
    int is_searching;
    jelling_address wanted;
    int wants_address;
    /* When the command gives up, by `jelling_loop_now`. */
    int64_t deadline;
    uint16_t handle;
    jelling_uuid uuid;
    int has_uuid;

    /* The link that was reported as `connected`; 0: none. */
    jelling_link link;
    /* A link before that, while the MTU is exchanged, and why the exchange failed. */
    jelling_link new_link;
    jelling_completion failure;
    jelling_address peer;
    uint16_t mtu;
    int was_connected;
    struct database database;
    /* Where a discovery stands. */
    size_t at_service, at_characteristic;
    step after_discovery;
    int prints_database;

    /* An open question of a pairing, and how many of the octets from `lines_start` on, read or not, were written before it was
       printed. */
    uint64_t question;
    uint32_t question_kind;
    size_t written_ahead;
};

/* Waits for an operation; says what failed where it was not even accepted. */
void await(struct gateway *gateway, jelling_status status, step next);
/* Ends the command under way. The next begins when the event has been handled. */
void finish(struct gateway *gateway);
/* Begins the next command, if none is under way. What ends a command in its own time, such as a timer, calls it. */
void go_on(struct gateway *gateway);
/* The command was not what the program takes. */
void finish_with_error(struct gateway *gateway, const char *message);
/* As above, with another of the codes of `bletool --json`. */
void finish_with_code(struct gateway *gateway, const char *code, const char *message);
void finish_with_failure(struct gateway *gateway, const char *what, const jelling_completion *completion);

/* A number of at most `limit`, or -1. */
long number(const char *text, long limit);
/* What stands behind `KEY=` in a word, or NULL. */
const char *value_of(const char *word, const char *key);
/* What is said of a `count=` that is no such number. */
extern const char count_usage[];
/* A passkey with all its digits, or -1: a shorter number may be one that was cut off. */
long six_digits(const char *text);
/* Runs the command of `gateway->words`. */
void run_command(struct gateway *gateway);
/* Events that belong to the command under way, or to none. */
void handle_event(struct gateway *gateway, const jelling_event *event);
/* Finds the whole database of the link, if that was not done, and goes on. */
void discover(struct gateway *gateway, step next);

#endif
