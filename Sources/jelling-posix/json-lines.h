/* JSON objects, one a line, on standard output. */
#ifndef JSON_LINES_H
#define JSON_LINES_H

#include "include/jelling-posix.h"

/* Says which adapter is used, by its transport (`user:0` is `hci0`): `adapter` of all lines that follow. */
void json_set_adapter(const char *transport);

/* A descriptor that can be read once the program should end: a line that nobody reads then ends the program. */
void json_set_interrupt(int fd);

/* Gives descriptors 0 to 2 to the null device where they are closed, so that nothing else becomes one of them. First in main. */
void open_standard_streams(void);

/* A line begins with `json_begin` and goes out with `json_end`, which adds `time` and `adapter`. Keys are plain
   words. */
void json_begin(const char *event);
void json_end(void);

void json_string(const char *key, const char *text);
/* Octets of somebody's, as text: what is no UTF-8 becomes U+FFFD, and what a terminal could obey is escaped. */
void json_octets_as_text(const char *key, const uint8_t *octets, size_t length);
void json_hex(const char *key, const uint8_t *octets, size_t length);
void json_number(const char *key, int64_t number);
void json_bool(const char *key, int value);
void json_null(const char *key);
void json_uuid(const char *key, const jelling_uuid *uuid);
/* `KEY` and `KEYType`. */
void json_address(const char *key, const jelling_address *address);

/* Lists and objects inside; the key of an item of a list is NULL. */
void json_open(const char *key, char bracket);
void json_close(char bracket);

/* `reason` of a link that ended, in the words of `bletool --json`: a controller's code, or 0 with one of the others. */
void json_reason(uint32_t reason, int is_released, int is_controller_lost);

/* `{"event":"error","message":…}` with what a failed operation says, and on standard error. */
void json_failure(const char *what, const jelling_completion *completion);
void json_error(const char *code, const char *message);

#endif
