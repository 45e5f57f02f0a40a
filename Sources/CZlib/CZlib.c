#include "CZlib.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

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

enum { Z_STREAM_END = 1, Z_BUF_ERROR = -5, Z_FINISH = 4, RAW_WINDOW = -15 };

static int (*inflate_init)(stream *, int, const char *, int);
static int (*inflate)(stream *, int);
static int (*inflate_end)(stream *);
static pthread_once_t loading = PTHREAD_ONCE_INIT;

static void load(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    *(void **)&inflate = dlsym(library, "inflate");
    *(void **)&inflate_end = dlsym(library, "inflateEnd");
    *(void **)&inflate_init = dlsym(library, "inflateInit2_");
    if (!inflate || !inflate_end) inflate_init = NULL;
}

int czlib_inflate(const uint8_t *input, size_t input_length, uint8_t *output, size_t capacity, size_t *length) {
    *length = 0;
    pthread_once(&loading, load);
    if (!inflate_init) return CZLIB_NO_LIBRARY;
    if (input_length > UINT_MAX || capacity > UINT_MAX) return CZLIB_TOO_LONG;
    stream all;
    memset(&all, 0, sizeof all);
    if (inflate_init(&all, RAW_WINDOW, "1.2", (int)sizeof all) != 0) return CZLIB_NO_LIBRARY;
    all.next_in = input;
    all.avail_in = (unsigned)input_length;
    all.next_out = output;
    all.avail_out = (unsigned)capacity;
    int result = inflate(&all, Z_FINISH);
    *length = capacity - all.avail_out;
    unsigned room = all.avail_out;
    inflate_end(&all);
    if (result == Z_STREAM_END) return CZLIB_DONE;
    return result == Z_BUF_ERROR && room == 0 ? CZLIB_TOO_LONG : CZLIB_DAMAGED;
}
