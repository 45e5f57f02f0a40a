/* A small reader of JSON: a document becomes a list of values, each before what is in it. */
#ifndef JSON_READER_H
#define JSON_READER_H

#include <stddef.h>

enum json_kind { json_null_value, json_true, json_false, json_number_value, json_text, json_array, json_object };

struct json_value {
    enum json_kind kind;
    double number;
    /* Of texts, and of keys: behind each key comes its value. */
    char *text;
    /* Items of an array, members of an object. */
    size_t count;
    /* The index behind this value and all that is in it. */
    size_t end;
};

struct json_document {
    struct json_value *values;
    size_t count;
    /* Where it is broken, from 1; 0: nowhere. */
    size_t broken_line;
};

/* 0, or -1: out of memory, or broken at `broken_line`. Free it in any case. */
int json_read(struct json_document *document, const char *text, size_t length);
void json_free(struct json_document *document);

/* The value of a key of the object at `index`; 0 without. */
size_t json_member(const struct json_document *document, size_t index, const char *key);

#endif
