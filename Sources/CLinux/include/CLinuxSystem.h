#ifndef CLINUX_SYSTEM_H
#define CLINUX_SYSTEM_H

#include <stddef.h>

/// Writes what an errno value means, ended by a zero byte.
void clinux_describe_error(int code, char *text, size_t capacity);

#endif
