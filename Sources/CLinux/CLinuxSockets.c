// accept4 and struct ucred are GNU extensions.
#define _GNU_SOURCE
#include "CLinuxSystem.h"

#include <sys/socket.h>

// Since Linux 4.13; the C library may be older.
#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

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

int clinux_peer_groups(int descriptor, uint32_t *groups, int capacity) {
    _Static_assert(sizeof(gid_t) == sizeof(uint32_t), "groups have 32 bits");
    socklen_t length = (socklen_t)capacity * sizeof(gid_t);
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0) return -1;
    return (int)(length / sizeof(gid_t));
}
