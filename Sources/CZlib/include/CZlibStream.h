// A stream of zlib, which is loaded when compressed octets are first read: a program that is linked with this starts where
// zlib is not installed.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { CZLIB_STREAM_GOES_ON = 0, CZLIB_STREAM_ENDED = 1, CZLIB_STREAM_DAMAGED = 2 };

// Begins a stream. `window` is zlib's: 31 for gzip, 15 for zlib, -15 for raw DEFLATE. NULL without zlib or memory.
void *czlib_stream_open(int window);

// Decompresses from `input` into `output`. `taken` and `given` become the octets that were used of each.
int czlib_stream_read(
    void *stream, const uint8_t *input, size_t input_length, size_t *taken, uint8_t *output, size_t capacity, size_t *given);

// Ends a stream; NULL is allowed.
void czlib_stream_close(void *stream);
