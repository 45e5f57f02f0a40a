#ifndef CLINUX_SYSTEM_H
#define CLINUX_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

/// Writes what an errno value means, ended by a zero byte.
void clinux_describe_error(int code, char *text, size_t capacity);

/// The next connection of a listening socket, non-blocking and closed on exec; negative with errno.
int clinux_accept(int listener);

/// Who connected a Unix socket (unix(7), SO_PEERCRED); negative with errno.
int clinux_peer_credentials(int descriptor, uint32_t *user, uint32_t *group, int32_t *process);

#endif
