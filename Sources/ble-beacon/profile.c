#define _GNU_SOURCE
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json-reader.h"

/* A file of the largest size must not take long; 65,535 handles and the air allow no more services of use. */
enum { maximum_file = 1 << 20, maximum_services = 255 };

struct context {
    struct json_document document;
    char *error;
    size_t capacity;
};

__attribute__((format(printf, 2, 3))) static int wrong(struct context *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->error, c->capacity, format, arguments);
    va_end(arguments);
    return -1;
}

struct shown {
    char text[41];
};

/* Text of the file for a message: a terminal would obey some of it. */
static struct shown shown(const char *text) {
    struct shown result = {{0}};
    for (size_t i = 0; text[i] && i < sizeof result.text - 1; i++)
        result.text[i] = text[i] >= 0x20 && text[i] < 0x7F ? text[i] : '?';
    return result;
}

static const struct json_value *at(const struct context *c, size_t index) { return &c->document.values[index]; }

/* ------------------------------------------------------------------ Fields */

static const char *const service_keys[] = {"uuid", "primary", "includes", "characteristics", NULL};
static const char *const characteristic_keys[] = {"uuid",  "properties",  "permissions", "value",
                                                  "descriptors", "notifyEvery", "answerAfter", NULL};
static const char *const descriptor_keys[] = {"uuid", "value", NULL};

static int check_object(struct context *c, size_t index, const char *what, const char *const *keys) {
    if (at(c, index)->kind != json_object) return wrong(c, "%s must be an object", what);
    for (size_t member = index + 1; member < at(c, index)->end; member = at(c, member + 1)->end) {
        int is_known = 0;
        for (int i = 0; keys[i]; i++) is_known |= strcmp(at(c, member)->text, keys[i]) == 0;
        if (!is_known) return wrong(c, "%s has no key ‘%s’", what, shown(at(c, member)->text).text);
    }
    return 0;
}

static int read_uuid(struct context *c, size_t index, const char *what, jelling_uuid *uuid) {
    size_t member = json_member(&c->document, index, "uuid");
    if (!member || at(c, member)->kind != json_text || jelling_parse_uuid(at(c, member)->text, uuid))
        return wrong(c, "%s needs a uuid, such as \"180D\"", what);
    return 0;
}

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int read_octets(struct context *c, size_t index, uint8_t *octets, size_t *count) {
    size_t member = json_member(&c->document, index, "value");
    *count = 0;
    if (!member) return 0;
    const char *text = at(c, member)->kind == json_text ? at(c, member)->text : "?";
    size_t length = strlen(text);
    if (length % 2 || length / 2 > maximum_value) return wrong(c, "a value is at most 512 pairs of hexadecimal digits");
    for (size_t i = 0; i < length; i += 2) {
        int high = digit(text[i]), low = digit(text[i + 1]);
        if (high < 0 || low < 0) return wrong(c, "a value is made of hexadecimal digits");
        octets[(*count)++] = (uint8_t)(high << 4 | low);
    }
    return 0;
}

struct name {
    const char *name;
    uint32_t bits;
};

static const struct name properties[] = {
    {"broadcast", 0x01}, {"read", 0x02}, {"writeWithoutResponse", 0x04}, {"write", 0x08}, {"notify", 0x10},
    {"indicate", 0x20}, {"authenticatedSignedWrites", 0x40}, {"notifyEncryptionRequired", 0x110},
    {"indicateEncryptionRequired", 0x120},
    {NULL, 0},
};
static const struct name permissions[] = {
    {"readable", JELLING_READABLE}, {"writeable", JELLING_WRITEABLE},
    {"readEncryptionRequired", JELLING_READ_ENCRYPTED}, {"writeEncryptionRequired", JELLING_WRITE_ENCRYPTED}, {NULL, 0},
};

static int read_names(struct context *c, size_t index, const char *key, const struct name *names, uint32_t *bits) {
    size_t member = json_member(&c->document, index, key);
    if (!member) return 0;
    if (at(c, member)->kind != json_array) return wrong(c, "%s must be a list", key);
    *bits = 0;
    for (size_t item = member + 1; item < at(c, member)->end; item = at(c, item)->end) {
        const struct name *name = names;
        const char *text = at(c, item)->kind == json_text ? at(c, item)->text : "";
        while (name->name && strcmp(name->name, text)) name++;
        if (!name->name) return wrong(c, "%s: ‘%s’ is not known", key, shown(text).text);
        *bits |= name->bits;
    }
    return 0;
}

/* A list of objects: its index, and how many. */
static int read_list(struct context *c, size_t index, const char *key, size_t *member, size_t *count) {
    *member = json_member(&c->document, index, key);
    *count = 0;
    if (!*member) return 0;
    if (at(c, *member)->kind != json_array) return wrong(c, "%s must be a list", key);
    *count = at(c, *member)->count;
    return 0;
}

/* ---------------------------------------------------------------- Contents */

static int read_descriptors(struct context *c, size_t index, struct served_characteristic *characteristic) {
    size_t list, count;
    if (read_list(c, index, "descriptors", &list, &count)) return -1;
    characteristic->descriptors = calloc(count + 1, sizeof *characteristic->descriptors);
    if (!characteristic->descriptors) return wrong(c, "out of memory");
    for (size_t item = list + 1, i = 0; i < count; item = at(c, item)->end, i++) {
        jelling_descriptor_definition *descriptor = &characteristic->descriptors[i];
        jelling_bytes *value = calloc(1, sizeof *value + maximum_value);
        if (!value) return wrong(c, "out of memory");
        descriptor->size = sizeof *descriptor;
        descriptor->permissions = JELLING_READABLE;
        descriptor->value = value;
        characteristic->descriptor_count++;
        value->data = (uint8_t *)(value + 1);
        if (check_object(c, item, "a descriptor", descriptor_keys) || read_uuid(c, item, "a descriptor", &descriptor->uuid) ||
            read_octets(c, item, (uint8_t *)(value + 1), &value->length))
            return -1;
    }
    return 0;
}

static int read_characteristic(struct context *c, size_t index, struct served_characteristic *characteristic) {
    uint32_t bits = 0x02, allowed = 0;
    if (check_object(c, index, "a characteristic", characteristic_keys) ||
        read_uuid(c, index, "a characteristic", &characteristic->uuid) ||
        read_names(c, index, "properties", properties, &bits) ||
        read_octets(c, index, characteristic->value, &characteristic->length))
        return -1;
    characteristic->properties = (uint8_t)bits;
    characteristic->needs_encryption = (bits & 0x100) != 0;
    /* Without a list, everybody has the access that the properties name. */
    if (bits & 0x02) allowed |= JELLING_READABLE;
    if (bits & 0x4C) allowed |= JELLING_WRITEABLE;
    if (read_names(c, index, "permissions", permissions, &allowed)) return -1;
    characteristic->permissions = allowed;
    size_t member = json_member(&c->document, index, "notifyEvery");
    if (member) {
        double seconds = at(c, member)->kind == json_number_value ? at(c, member)->number : 0;
        if (!(seconds >= 0.001 && seconds <= 86400)) return wrong(c, "notifyEvery is a number of seconds, 0.001 to 86400");
        if (!(bits & 0x30)) return wrong(c, "notifyEvery needs the property notify or indicate");
        characteristic->notify_every = (int64_t)(seconds * 1000000);
    }
    member = json_member(&c->document, index, "answerAfter");
    if (member) {
        double seconds = at(c, member)->kind == json_number_value ? at(c, member)->number : 0;
        /* Centrals give up after 30 s (Core 5.4, Vol 3, Part F, 3.3.3). */
        if (!(seconds >= 0.001 && seconds < 30)) return wrong(c, "answerAfter is a number of seconds, 0.001 to below 30");
        if (!(bits & 0x02)) return wrong(c, "answerAfter needs the property read");
        characteristic->answer_after = (int64_t)(seconds * 1000000);
    }
    return read_descriptors(c, index, characteristic);
}

static int read_service(struct context *c, size_t index, struct served_service *service) {
    size_t list, count;
    if (check_object(c, index, "a service", service_keys) || read_uuid(c, index, "a service", &service->uuid)) return -1;
    size_t primary = json_member(&c->document, index, "primary");
    service->is_secondary = primary && at(c, primary)->kind == json_false;
    if (read_list(c, index, "includes", &list, &count)) return -1;
    service->includes = calloc(count + 1, sizeof *service->includes);
    if (!service->includes) return wrong(c, "out of memory");
    for (size_t item = list + 1; service->include_count < count; item = at(c, item)->end)
        if (at(c, item)->kind != json_text || jelling_parse_uuid(at(c, item)->text, &service->includes[service->include_count++]))
            return wrong(c, "includes is a list of UUIDs");
    if (read_list(c, index, "characteristics", &list, &count)) return -1;
    service->characteristics = calloc(count + 1, sizeof *service->characteristics);
    if (!service->characteristics) return wrong(c, "out of memory");
    for (size_t item = list + 1; service->characteristic_count < count; item = at(c, item)->end)
        if (read_characteristic(c, item, &service->characteristics[service->characteristic_count++])) return -1;
    return 0;
}

static int find_included(struct profile *profile, struct served_service *service) {
    service->included = calloc(service->include_count + 1, sizeof *service->included);
    if (!service->included) return 0;
    for (size_t i = 0; i < service->include_count; i++) {
        size_t place = 0;
        while (place < profile->count && !jelling_uuids_equal(&profile->services[place].uuid, &service->includes[i])) place++;
        if (place == profile->count) return 0;
        service->included[i] = place;
    }
    return 1;
}

static int can_publish_all(struct profile *profile) {
    struct served_service *service;
    for (size_t i = 0; i < profile->count; i++)
        if (!find_included(profile, &profile->services[i])) return 0;
    size_t count = 0;
    while ((service = profile_next(profile))) service->is_published = 1, count++;
    for (size_t i = 0; i < profile->count; i++) profile->services[i].is_published = 0;
    return count == profile->count;
}

static int read_profile(struct context *c, struct profile *profile) {
    /* The name is an argument here. */
    static const char *const keys[] = {"name", "services", NULL};
    size_t list, count;
    if (check_object(c, 0, "the profile", keys) || read_list(c, 0, "services", &list, &count)) return -1;
    if (count > maximum_services) return wrong(c, "a profile has at most %d services", maximum_services);
    profile->services = calloc(count + 1, sizeof *profile->services);
    if (!profile->services) return wrong(c, "out of memory");
    for (size_t item = list + 1; profile->count < count; item = at(c, item)->end)
        if (read_service(c, item, &profile->services[profile->count++])) return -1;
    return can_publish_all(profile)
               ? 0
               : wrong(c, "includes: a service can include other services of this profile, but not itself");
}

int profile_read(struct profile *profile, const char *path, char *error, size_t capacity) {
    struct context c = {.error = error, .capacity = capacity};
    memset(profile, 0, sizeof *profile);
    /* A pipe that somebody has put there must not make this wait. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return wrong(&c, "%s", strerror(errno));
    struct stat found;
    FILE *file = !fstat(fd, &found) && S_ISREG(found.st_mode) ? fdopen(fd, "r") : NULL;
    if (!file) {
        close(fd);
        return wrong(&c, "this is no file: name the file with the profile");
    }
    char *text = malloc(maximum_file + 1);
    size_t length = text ? fread(text, 1, maximum_file + 1, file) : 0;
    fclose(file);
    int status = -1;
    if (!text || length > maximum_file) wrong(&c, "the file is too large");
    else if (json_read(&c.document, text, length)) wrong(&c, "line %zu is not JSON", c.document.broken_line);
    else status = read_profile(&c, profile);
    json_free(&c.document);
    free(text);
    return status;
}

void profile_free(struct profile *profile) {
    for (size_t s = 0; s < profile->count; s++) {
        struct served_service *service = &profile->services[s];
        for (size_t i = 0; i < service->characteristic_count; i++) {
            struct served_characteristic *characteristic = &service->characteristics[i];
            for (size_t d = 0; d < characteristic->descriptor_count; d++) free((void *)characteristic->descriptors[d].value);
            free(characteristic->descriptors);
        }
        free(service->characteristics);
        free(service->includes);
        free(service->included);
    }
    free(profile->services);
    memset(profile, 0, sizeof *profile);
}

struct served_characteristic *profile_at(struct profile *profile, uint16_t handle) {
    for (size_t s = 0; s < profile->count; s++)
        for (size_t i = 0; i < profile->services[s].characteristic_count; i++)
            if (profile->services[s].characteristics[i].handle == handle) return &profile->services[s].characteristics[i];
    return NULL;
}

struct served_service *profile_next(struct profile *profile) {
    for (size_t s = 0; s < profile->count; s++) {
        struct served_service *service = &profile->services[s];
        int is_ready = !service->is_published;
        for (size_t i = 0; i < service->include_count && is_ready; i++)
            is_ready = profile->services[service->included[i]].is_published;
        if (is_ready) return service;
    }
    return NULL;
}
