// zlib, loaded when compressed octets are first read: a program that is linked with this starts where it is not installed.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { CZLIB_DONE = 0, CZLIB_DAMAGED = 1, CZLIB_TOO_LONG = 2, CZLIB_NO_LIBRARY = 3 };

// Decompresses raw DEFLATE (RFC 1951) into a buffer. `length` becomes the number of octets in it.
int czlib_inflate(const uint8_t *input, size_t input_length, uint8_t *output, size_t capacity, size_t *length);
