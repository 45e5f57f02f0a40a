#ifndef CLINUX_SYSTEM_H
#define CLINUX_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

/// Writes what an errno value means, ended by a zero byte.
void clinux_describe_error(int code, char *text, size_t capacity);

/// Unmaps the pages of the program's code and constants, and of its libraries', that were used so far. The kernel maps
/// sixteen around each that is touched, and most of what starts a program is never touched again; what is, comes back
/// from the page cache.
void clinux_release_code(void);

/// The next connection of a listening socket, non-blocking and closed on exec; negative with errno.
int clinux_accept(int listener);

/// Who connected a Unix socket (unix(7), SO_PEERCRED); negative with errno.
int clinux_peer_credentials(int descriptor, uint32_t *user, uint32_t *group, int32_t *process);

/// A descriptor of the process that connected a Unix socket, as of `clinux_open_process`; negative with errno, ESRCH if it
/// has ended.
int clinux_peer_process(int descriptor);

/// The other groups of the user at the other end of a Unix socket.
/// \return how many there are; -1 with errno otherwise.
int clinux_peer_groups(int descriptor, uint32_t *groups, int capacity);

/// As whom a process runs.
struct clinux_user {
    /// Whether to become this user; otherwise the process keeps the caller's.
    int is_set;
    uint32_t user;
    uint32_t group;
    const uint32_t *groups;
    size_t group_count;
};

/// Starts a program in a session of its own, with the caller's standard output and error and no other descriptor; the lists
/// end with NULL. `group` is the open cgroup.procs of the cgroup that it joins, or negative. `data` is the limit of the data
/// of each of its processes, in octets, or 0.
/// Its user's own file systems can hold it up for as long as they like, so what becomes of it may not be known within
/// `milliseconds`: then `answer` is a descriptor for `clinux_launch_failure`, and otherwise -1.
/// Returns its number, or -1 with errno.
int32_t clinux_launch(const char *const *arguments, const char *const *environment, const char *folder,
                      const struct clinux_user *user, int group, uint64_t data, int milliseconds, int *answer);

/// Why the program of an ended process could not be started, as an errno value; 0 if it was started. Closes `answer`.
int clinux_launch_failure(int answer);

/// Limits the data of a process and of those that it starts, in octets (setrlimit(2), RLIMIT_DATA); 0 is the caller.
/// Returns 0, or -1 with errno.
int clinux_limit_data(int32_t process, uint64_t octets);

/// A descriptor of a process, readable at its end (pidfd_open(2)); negative with errno.
int clinux_open_process(int32_t process);

/// Sends a signal to the process of such a descriptor, never to another with its number.
int clinux_signal_process(int descriptor, int number);

/// Whether a child has ended, and how, as waitpid(2) says it: its number; 0 while it runs; negative where it is no child.
int clinux_reap(int32_t process, int *status);

#endif
