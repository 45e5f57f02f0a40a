// accept4 and struct ucred are GNU extensions.
#define _GNU_SOURCE
#include "CLinuxSystem.h"

#include <sys/socket.h>

int clinux_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

int clinux_peer_credentials(int descriptor, uint32_t *user, uint32_t *group, int32_t *process) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -1;
    *user = peer.uid;
    *group = peer.gid;
    *process = peer.pid;
    return 0;
}
