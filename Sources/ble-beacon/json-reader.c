#include "json-reader.h"

#include <stdlib.h>
#include <string.h>

enum { maximum_depth = 32 };

struct reader {
    struct json_document *document;
    const char *at, *end;
    size_t line, capacity;
};

static int read_value(struct reader *reader, int depth);

static void skip(struct reader *reader) {
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at) {
        if (*reader->at == '\n') reader->line++;
        reader->at++;
    }
}

static struct json_value *add(struct reader *reader, enum json_kind kind) {
    struct json_document *document = reader->document;
    if (document->count == reader->capacity) {
        size_t capacity = reader->capacity * 2 + 64;
        struct json_value *larger = realloc(document->values, capacity * sizeof *larger);
        if (!larger) return NULL;
        document->values = larger;
        reader->capacity = capacity;
    }
    struct json_value *value = &document->values[document->count++];
    memset(value, 0, sizeof *value);
    value->kind = kind;
    return value;
}

static int hex(const char *text) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

static size_t encode(char *place, unsigned long c) {
    if (c < 0x80) return place[0] = (char)c, 1;
    if (c < 0x800) return place[0] = (char)(0xC0 | c >> 6), place[1] = (char)(0x80 | (c & 63)), 2;
    if (c < 0x10000)
        return place[0] = (char)(0xE0 | c >> 12), place[1] = (char)(0x80 | (c >> 6 & 63)), place[2] = (char)(0x80 | (c & 63)), 3;
    place[0] = (char)(0xF0 | c >> 18);
    place[1] = (char)(0x80 | (c >> 12 & 63));
    place[2] = (char)(0x80 | (c >> 6 & 63));
    place[3] = (char)(0x80 | (c & 63));
    return 4;
}

static int escaped(struct reader *reader, char *place, size_t *length) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (reader->at >= reader->end) return -1;
    char letter = *reader->at++;
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found) {
        *length = 1;
        *place = meanings[found - letters];
        return 0;
    }
    if (letter != 'u' || reader->end - reader->at < 4) return -1;
    int high = hex(reader->at);
    if (high <= 0) return -1;   /* no texts with zeros in them */
    reader->at += 4;
    unsigned long c = (unsigned long)high;
    if (c >= 0xD800 && c < 0xE000) {
        if (c >= 0xDC00 || reader->end - reader->at < 6 || reader->at[0] != '\\' || reader->at[1] != 'u') return -1;
        int low = hex(reader->at + 2);
        if (low < 0xDC00 || low > 0xDFFF) return -1;
        c = 0x10000 + ((c - 0xD800) << 10) + (unsigned long)(low - 0xDC00);
        reader->at += 6;
    }
    *length = encode(place, c);
    return 0;
}

static int read_text(struct reader *reader) {
    const char *start = ++reader->at;
    while (reader->at < reader->end && *reader->at != '"') reader->at += *reader->at == '\\' ? 2 : 1;
    if (reader->at >= reader->end) return -1;
    const char *quote = reader->at;
    char *text = malloc((size_t)(quote - start) + 1);
    if (!text) return -1;
    size_t count = 0;
    reader->at = start;
    while (reader->at < quote) {
        char c = *reader->at++;
        size_t length = 1;
        if (c == '\\') {
            if (escaped(reader, text + count, &length)) return free(text), -1;
        } else if ((unsigned char)c < 0x20) {
            return free(text), -1;
        } else {
            text[count] = c;
        }
        count += length;
    }
    text[count] = 0;
    reader->at = quote + 1;
    struct json_value *value = add(reader, json_text);
    if (!value) return free(text), -1;
    value->text = text;
    value->end = reader->document->count;
    return 0;
}

/* Items up to the closing bracket, with keys in objects. */
static int read_items(struct reader *reader, int depth, char closing) {
    size_t index = reader->document->count, count = 0;
    if (!add(reader, closing == '}' ? json_object : json_array)) return -1;
    reader->at++;
    skip(reader);
    if (reader->at < reader->end && *reader->at == closing) {
        reader->at++;
    } else {
        for (;; count++) {
            skip(reader);
            if (closing == '}') {
                if (reader->at >= reader->end || *reader->at != '"' || read_text(reader)) return -1;
                skip(reader);
                if (reader->at >= reader->end || *reader->at++ != ':') return -1;
            }
            if (read_value(reader, depth + 1)) return -1;
            skip(reader);
            if (reader->at >= reader->end) return -1;
            char next = *reader->at++;
            if (next == closing) break;
            if (next != ',') return -1;
        }
        count++;
    }
    reader->document->values[index].count = count;
    reader->document->values[index].end = reader->document->count;
    return 0;
}

static int read_word(struct reader *reader, const char *word, enum json_kind kind) {
    size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length)) return -1;
    reader->at += length;
    struct json_value *value = add(reader, kind);
    if (!value) return -1;
    value->end = reader->document->count;
    return 0;
}

static int read_number(struct reader *reader) {
    char text[40], *end;
    size_t length = 0;
    while (reader->at < reader->end && length + 1 < sizeof text && *reader->at && strchr("+-.0123456789eE", *reader->at))
        text[length++] = *reader->at++;
    text[length] = 0;
    double number = strtod(text, &end);
    if (!length || *end || text[0] == '+' || text[0] == '.') return -1;
    struct json_value *value = add(reader, json_number_value);
    if (!value) return -1;
    value->number = number;
    value->end = reader->document->count;
    return 0;
}

static int read_value(struct reader *reader, int depth) {
    skip(reader);
    if (depth > maximum_depth || reader->at >= reader->end) return -1;
    switch (*reader->at) {
    case '{': return read_items(reader, depth, '}');
    case '[': return read_items(reader, depth, ']');
    case '"': return read_text(reader);
    case 't': return read_word(reader, "true", json_true);
    case 'f': return read_word(reader, "false", json_false);
    case 'n': return read_word(reader, "null", json_null_value);
    default: return read_number(reader);
    }
}

int json_read(struct json_document *document, const char *text, size_t length) {
    struct reader reader = {document, text, text + length, 1, 0};
    memset(document, 0, sizeof *document);
    int status = read_value(&reader, 0);
    skip(&reader);
    if (status == 0 && reader.at == reader.end) return 0;
    document->broken_line = reader.line;
    return -1;
}

void json_free(struct json_document *document) {
    for (size_t i = 0; i < document->count; i++) free(document->values[i].text);
    free(document->values);
    memset(document, 0, sizeof *document);
}

size_t json_member(const struct json_document *document, size_t index, const char *key) {
    const struct json_value *object = &document->values[index];
    if (object->kind != json_object) return 0;
    for (size_t at = index + 1; at < object->end; at = document->values[at + 1].end)
        if (strcmp(document->values[at].text, key) == 0) return at + 1;
    return 0;
}
