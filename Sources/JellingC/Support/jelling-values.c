/* Functions on values: addresses, UUIDs, advertising data. They need no engine. */
#include <string.h>

#include "../include/jelling.h"

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static char character(unsigned value) { return "0123456789ABCDEF"[value & 15]; }

uint32_t jelling_version(void) { return JELLING_VERSION_MAJOR << 16 | JELLING_VERSION_MINOR << 8; }

jelling_status jelling_parse_address(const char *text, jelling_address *address) {
    if (!text || !address) return JELLING_ERROR_ARGUMENT;
    jelling_address found = {{0}, 0, 0};
    for (int i = 0; i < 6; i++) {
        int high = digit(text[3 * i]), low = high < 0 ? -1 : digit(text[3 * i + 1]);
        if (low < 0 || (i < 5 && text[3 * i + 2] != ':')) return JELLING_ERROR_ARGUMENT;
        found.octets[i] = (uint8_t)(high << 4 | low);
    }
    if (strcmp(text + 17, "/random") == 0) found.is_random = 1;
    else if (text[17] && strcmp(text + 17, "/public")) return JELLING_ERROR_ARGUMENT;
    *address = found;
    return JELLING_OK;
}

jelling_status jelling_format_address(const jelling_address *address, char *text, size_t capacity) {
    if (!address || !text || capacity < 18) return JELLING_ERROR_ARGUMENT;
    for (int i = 0; i < 6; i++) {
        text[3 * i] = character(address->octets[i] >> 4);
        text[3 * i + 1] = character(address->octets[i]);
        text[3 * i + 2] = i < 5 ? ':' : 0;
    }
    return JELLING_OK;
}

/* 00000000-0000-1000-8000-00805F9B34FB */
static const uint8_t base[16] = {0, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0x80, 0x5F, 0x9B, 0x34, 0xFB};

jelling_status jelling_parse_uuid(const char *text, jelling_uuid *uuid) {
    if (!text || !uuid) return JELLING_ERROR_ARGUMENT;
    size_t length = strnlen(text, 37);
    if ((length == 6 || length == 10) && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) text += 2, length -= 2;
    jelling_uuid found = {{0}, 0, {0}};
    memcpy(found.octets, base, 16);
    if (length == 4 || length == 8) {
        found.width = (uint8_t)(length / 2);
        for (size_t i = 0; i < length; i++) {
            int value = digit(text[i]);
            if (value < 0) return JELLING_ERROR_ARGUMENT;
            uint8_t *octet = &found.octets[(length == 4 ? 2 : 0) + i / 2];
            *octet = (uint8_t)(*octet << 4 | value);
        }
    } else if (length == 36) {
        found.width = 16;
        for (size_t i = 0, octet = 0; i < 36; i++) {
            if (i == 8 || i == 13 || i == 18 || i == 23) {
                if (text[i] != '-') return JELLING_ERROR_ARGUMENT;
                continue;
            }
            int high = digit(text[i]), low = digit(text[i + 1]);
            if (high < 0 || low < 0) return JELLING_ERROR_ARGUMENT;
            found.octets[octet++] = (uint8_t)(high << 4 | low);
            i++;
        }
    } else {
        return JELLING_ERROR_ARGUMENT;
    }
    *uuid = found;
    return JELLING_OK;
}

jelling_status jelling_format_uuid(const jelling_uuid *uuid, char *text, size_t capacity) {
    if (!uuid || !text || capacity < 37) return JELLING_ERROR_ARGUMENT;
    const uint8_t *octets = uuid->octets;
    int first = 0, last = 16;
    if (memcmp(octets + 4, base + 4, 12) == 0) first = octets[0] || octets[1] ? 0 : 2, last = 4;
    for (int i = first; i < last; i++) {
        *text++ = character(octets[i] >> 4);
        *text++ = character(octets[i]);
        if (last == 16 && (i == 3 || i == 5 || i == 7 || i == 9)) *text++ = '-';
    }
    *text = 0;
    return JELLING_OK;
}

uint32_t jelling_uuids_equal(const jelling_uuid *a, const jelling_uuid *b) {
    return a && b && memcmp(a->octets, b->octets, 16) == 0;
}

jelling_status jelling_next_structure(
    const uint8_t *bytes, size_t length, size_t *offset, uint8_t *type, jelling_bytes *data) {
    if (!offset || !type || !data || (length && !bytes)) return JELLING_ERROR_ARGUMENT;
    /* Zeros between structures are skipped: some devices fill the advertisement up before the scan response. */
    while (*offset < length && bytes[*offset] == 0) ++*offset;
    if (*offset >= length || bytes[*offset] > length - *offset - 1) return JELLING_ERROR_ARGUMENT;
    const uint8_t *structure = bytes + *offset;
    *type = structure[1];
    data->data = structure + 2;
    data->length = structure[0] - 1u;
    *offset += 1u + structure[0];
    return JELLING_OK;
}
