// pidfd_open and setgroups are no part of POSIX.
#define _GNU_SOURCE
#include "CLinuxSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// What the daemon has open must end even if exec takes long: the adapter and the connections of programs would stay open.
static void close_all_from(int first) {
#if defined(SYS_close_range)
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0) == 0) return;
#endif
    struct rlimit limit;
    rlim_t count = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? limit.rlim_cur : 65536;
    for (int descriptor = first; descriptor < (int)count; descriptor++) close(descriptor);
}

int clinux_limit_data(int32_t process, uint64_t octets) {
    struct rlimit limit = {.rlim_cur = octets, .rlim_max = octets};
    return prlimit(process, RLIMIT_DATA, &limit, NULL);
}

// What is typed at a terminal is not for other users. In a session of its own, nothing else stops a process that reads it.
static void keep_from_reading_terminals(void) {
    static const char *const paths[] = {"/proc/self/fd/1", "/proc/self/fd/2"};
    for (int output = STDOUT_FILENO; output <= STDERR_FILENO; output++) {
        if (!isatty(output)) continue;
        int writing = open(paths[output - 1], O_WRONLY | O_NOCTTY);
        if (writing < 0) writing = open("/dev/null", O_WRONLY);
        if (writing < 0 || dup2(writing, output) < 0) close(output);
        if (writing > STDERR_FILENO) close(writing);
    }
}

// Where a new process says why it failed.
enum { FAILURE = 3 };

// Returns only on failure, with errno.
static void run(const char *const *arguments, const char *const *environment, const char *folder,
                const struct clinux_user *user, int group, uint64_t data, int failure) {
    // What the daemon blocks or ignores is its own.
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    umask(022);
    setsid();
    int input = open("/dev/null", O_RDONLY);
    if (input > STDIN_FILENO) dup2(input, STDIN_FILENO);
    if (user->is_set) keep_from_reading_terminals();
    // "0" is the writing process itself.
    if (group >= 0 && write(group, "0", 1) != 1) return;
    if (failure != FAILURE && dup2(failure, FAILURE) < 0) _exit(127);
    fcntl(FAILURE, F_SETFD, FD_CLOEXEC);
    close_all_from(FAILURE + 1);
    // A service with ambient capabilities would pass them on.
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (user->is_set
        && (setgroups(user->group_count, user->groups) < 0 || setgid(user->group) < 0 || setuid(user->user) < 0))
        return;
    if (data > 0 && clinux_limit_data(0, data) < 0) return;
    if (chdir(folder) < 0) return;
    execve(arguments[0], (char *const *)arguments, (char *const *)environment);
}

int32_t clinux_launch(const char *const *arguments, const char *const *environment, const char *folder,
                      const struct clinux_user *user, int group, uint64_t data, int milliseconds, int *answer) {
    int failure[2];
    *answer = -1;
    if (pipe2(failure, O_CLOEXEC) < 0) return -1;
    pid_t process = fork();
    if (process == 0) {
        run(arguments, environment, folder, user, group, data, failure[1]);
        int code = errno;
        while (write(FAILURE, &code, sizeof code) < 0 && errno == EINTR) {}
        _exit(127);
    }
    int code = errno;
    close(failure[1]);
    if (process < 0) {
        close(failure[0]);
        errno = code;
        return -1;
    }
    struct pollfd watched = {.fd = failure[0], .events = POLLIN};
    if (poll(&watched, 1, milliseconds) <= 0) {
        fcntl(failure[0], F_SETFL, O_NONBLOCK);
        *answer = failure[0];
        return process;
    }
    code = clinux_launch_failure(failure[0]);
    if (code == 0) return process;
    waitpid(process, NULL, 0);
    errno = code;
    return -1;
}

int clinux_launch_failure(int answer) {
    int code = 0;
    ssize_t count;
    while ((count = read(answer, &code, sizeof code)) < 0 && errno == EINTR) {}
    close(answer);
    return count == (ssize_t)sizeof code ? code : 0;
}

int clinux_open_process(int32_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int clinux_signal_process(int descriptor, int number) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, number, NULL, 0);
}

int clinux_reap(int32_t process, int *status) { return waitpid(process, status, WNOHANG); }
