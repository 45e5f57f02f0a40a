// accept4 and struct ucred are GNU extensions.
#define _GNU_SOURCE
#include "CLinuxSystem.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// Since Linux 4.13; the C library may be older.
#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

// Since Linux 6.5.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
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

int clinux_peer_process(int descriptor) {
    int process = -1;
    socklen_t length = sizeof process;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &process, &length) < 0) {
        if (errno != ENOPROTOOPT) return -1;
        // An older kernel knows the number alone. It may be another's by now, but of no other user's.
        struct ucred peer;
        length = sizeof peer;
        if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -1;
        process = clinux_open_process(peer.pid);
        if (process < 0) return -1;
        char path[32];
        struct stat information;
        snprintf(path, sizeof path, "/proc/%d", (int)peer.pid);
        if (stat(path, &information) < 0 || information.st_uid != peer.uid) {
            close(process);
            errno = ESRCH;
            return -1;
        }
    }
    // After its end the number may be another's, and so what /proc said may have been about another.
    if (clinux_signal_process(process, 0) < 0 && errno != EPERM) {
        close(process);
        errno = ESRCH;
        return -1;
    }
    return process;
}

int clinux_peer_groups(int descriptor, uint32_t *groups, int capacity) {
    _Static_assert(sizeof(gid_t) == sizeof(uint32_t), "groups have 32 bits");
    socklen_t length = (socklen_t)capacity * sizeof(gid_t);
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0) return -1;
    return (int)(length / sizeof(gid_t));
}
