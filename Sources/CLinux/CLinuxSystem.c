#define _POSIX_C_SOURCE 200809L
#include "CLinuxSystem.h"

#include <stdio.h>
#include <string.h>

void clinux_describe_error(int code, char *text, size_t capacity) {
    if (strerror_r(code, text, capacity) != 0) snprintf(text, capacity, "error %d", code);
}
