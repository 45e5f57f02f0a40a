#define _GNU_SOURCE
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport.h"

/*
 *     "JELLING1" · resolving key (16) · address (6) · for each bond its length (4, least significant first) and blob
 */
static const char magic[8] = "JELLING1";
enum { header_length = 8 + 16 + 6, maximum_length = 1 << 24 };

static int same(const jelling_address *a, const jelling_address *b) {
    return memcmp(a->octets, b->octets, 6) == 0 && !a->is_random == !b->is_random;
}

/* Keys do not stay in memory that others get. */
static void forget(uint8_t *octets, size_t length) {
    if (octets) explicit_bzero(octets, length);
    free(octets);
}

static int put_bond(state *s, const jelling_address *identity, const uint8_t *blob, size_t length) {
    size_t place = 0;
    while (place < s->count && !same(&s->bonds[place].identity, identity)) place++;
    if (place == state_maximum_bonds) return fail("there is no room for another bond");
    uint8_t *copy = malloc(length);
    if (!copy) return fail("out of memory");
    memcpy(copy, blob, length);
    if (place < s->count) forget(s->bonds[place].blob, s->bonds[place].length);
    else s->count++;
    s->bonds[place].identity = *identity;
    s->bonds[place].blob = copy;
    s->bonds[place].length = length;
    return 0;
}

static int read_bonds(state *s, const uint8_t *bytes, size_t length) {
    if (length < header_length || memcmp(bytes, magic, 8)) return -1;
    memcpy(s->resolving_key, bytes + 8, 16);
    memcpy(s->address.octets, bytes + 24, 6);
    for (size_t at = header_length; at < length;) {
        if (length - at < 4) return -1;
        size_t size = bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | (size_t)bytes[at + 3] << 24;
        at += 4;
        jelling_bond bond = {.size = sizeof bond};
        if (size > length - at || jelling_describe_bond(bytes + at, size, &bond)) return -1;
        if (put_bond(s, &bond.identity, bytes + at, size)) return -1;
        at += size;
    }
    return 0;
}

static int load(state *s, int fd) {
    struct stat found;
    if (fstat(fd, &found) || !S_ISREG(found.st_mode)) return fail("%s is no file: remove it, or name another", s->path);
    /* Another user could have put it there, or could read the keys. */
    if (found.st_uid != geteuid() || found.st_mode & 077)
        return fail("%s must belong to this user alone: chmod 600, or name another file", s->path);
    /* Replacing one of its names would leave the keys under the other. */
    if (found.st_nlink > 1) return fail("%s has other names (hard links): remove it, or name another file", s->path);
    if (found.st_size > maximum_length) return fail("%s is damaged; remove it and pair again", s->path);
    size_t length = (size_t)found.st_size, done = 0;
    uint8_t *bytes = malloc(length + 1);
    if (!bytes) return fail("out of memory");
    while (done < length) {
        ssize_t count = read(fd, bytes + done, length - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += (size_t)count;
    }
    int status = done == length ? read_bonds(s, bytes, length) : -1;
    forget(bytes, length);
    return status ? fail("%s is damaged; remove it and pair again", s->path) : 0;
}

static int write_all(int fd, const void *bytes, size_t length) {
    while (length) {
        ssize_t count = write(fd, bytes, length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return -1;
        bytes = (const uint8_t *)bytes + count;
        length -= (size_t)count;
    }
    return 0;
}

static void sync_folder(const char *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

static int save(state *s) {
    if (!s->path) return 0;
    char temporary[PATH_MAX];
    if (snprintf(temporary, sizeof temporary, "%s.new", s->path) >= (int)sizeof temporary - 7)
        return fail("the name of the state file is too long");
    unlink(temporary);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == EEXIST) {
        /* In a folder for all, another user can hold the name. */
        strcat(temporary, ".XXXXXX");
        fd = mkostemp(temporary, O_CLOEXEC);
    }
    if (fd < 0) return fail("%s: %s", temporary, strerror(errno));
    int status = write_all(fd, magic, 8) || write_all(fd, s->resolving_key, 16) || write_all(fd, s->address.octets, 6);
    for (size_t i = 0; i < s->count && !status; i++) {
        size_t length = s->bonds[i].length;
        uint8_t size[4] = {(uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(length >> 16), (uint8_t)(length >> 24)};
        status = write_all(fd, size, 4) || write_all(fd, s->bonds[i].blob, length);
    }
    status = status || fsync(fd);
    int code = errno;
    close(fd);
    if (!status && rename(temporary, s->path)) status = -1, code = errno;
    if (status) {
        unlink(temporary);
        return fail("bonds cannot be kept in %s: %s", s->path, strerror(code));
    }
    sync_folder(s->path);
    return 0;
}

int state_load(state *s, const char *path) {
    memset(s, 0, sizeof *s);
    s->path = path ? strdup(path) : NULL;
    if (path && !s->path) return fail("out of memory");
    s->address.is_random = 1;
    /* A pipe that somebody has put there must not make this wait. */
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd >= 0) {
        int status = load(s, fd);
        close(fd);
        return status;
    }
    if (path && errno != ENOENT) return fail("%s: %s", path, strerror(errno));
    if (jelling_random(s->resolving_key, 16) || jelling_random(s->address.octets, 6))
        return fail("the kernel gives no random octets");
    s->address.octets[0] |= 0xC0;
    return save(s);
}

int state_save_bond(state *s, const jelling_address *identity, const uint8_t *blob, size_t length) {
    return put_bond(s, identity, blob, length) ? -1 : save(s);
}

int state_remove_bond(state *s, const jelling_address *identity) {
    for (size_t i = 0; i < s->count; i++) {
        if (!same(&s->bonds[i].identity, identity)) continue;
        forget(s->bonds[i].blob, s->bonds[i].length);
        s->bonds[i] = s->bonds[--s->count];
        return save(s);
    }
    return 0;
}

void state_free(state *s) {
    for (size_t i = 0; i < s->count; i++) forget(s->bonds[i].blob, s->bonds[i].length);
    free(s->path);
    explicit_bzero(s, sizeof *s);
}
