#include "CZlibStream.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

// The stream as each version of zlib 1 has it (zlib.h, z_stream): declared here so that a build needs no header.
typedef struct {
    const uint8_t *next_in;
    unsigned avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *, unsigned, unsigned);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} stream;

enum { Z_OK = 0, Z_STREAM_END = 1, Z_BUF_ERROR = -5, Z_NO_FLUSH = 0 };

static int (*inflate_init)(stream *, int, const char *, int);
static int (*inflate_some)(stream *, int);
static int (*inflate_end)(stream *);
static pthread_once_t loading = PTHREAD_ONCE_INIT;

static void load(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    *(void **)&inflate_some = dlsym(library, "inflate");
    *(void **)&inflate_end = dlsym(library, "inflateEnd");
    *(void **)&inflate_init = dlsym(library, "inflateInit2_");
    if (!inflate_some || !inflate_end) inflate_init = NULL;
}

void *czlib_stream_open(int window) {
    pthread_once(&loading, load);
    if (!inflate_init) return NULL;
    stream *all = calloc(1, sizeof *all);
    if (all && inflate_init(all, window, "1.2", (int)sizeof *all) != Z_OK) {
        free(all);
        return NULL;
    }
    return all;
}

static unsigned limited(size_t length) { return length > UINT_MAX ? UINT_MAX : (unsigned)length; }

int czlib_stream_read(
    void *opened, const uint8_t *input, size_t input_length, size_t *taken, uint8_t *output, size_t capacity, size_t *given) {
    stream *all = opened;
    unsigned available = limited(input_length), room = limited(capacity);
    all->next_in = input;
    all->avail_in = available;
    all->next_out = output;
    all->avail_out = room;
    int result = inflate_some(all, Z_NO_FLUSH);
    *taken = available - all->avail_in;
    *given = room - all->avail_out;
    if (result == Z_STREAM_END) return CZLIB_STREAM_ENDED;
    return result == Z_OK || result == Z_BUF_ERROR ? CZLIB_STREAM_GOES_ON : CZLIB_STREAM_DAMAGED;
}

void czlib_stream_close(void *opened) {
    if (!opened) return;
    inflate_end(opened);
    free(opened);
}
