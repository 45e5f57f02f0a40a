// pidfd_open and setgroups are no part of POSIX.
#define _GNU_SOURCE
#include "CLinuxSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Every descriptor but the first three ends with exec.
static void close_on_exec(void) {
#if defined(SYS_close_range)
    enum { CLOEXEC = 1 << 2 };  // CLOSE_RANGE_CLOEXEC
    if (syscall(SYS_close_range, 3U, ~0U, CLOEXEC) == 0) return;
#endif
    struct rlimit limit;
    rlim_t count = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? limit.rlim_cur : 65536;
    for (int descriptor = 3; descriptor < (int)count; descriptor++) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

int clinux_limit_data(int32_t process, uint64_t octets) {
    struct rlimit limit = {.rlim_cur = octets, .rlim_max = octets};
    return prlimit(process, RLIMIT_DATA, &limit, NULL);
}

// Returns only on failure, with errno.
static void run(const char *const *arguments, const char *const *environment, const char *folder,
                const struct clinux_user *user, int group, uint64_t data) {
    // What the daemon blocks or ignores is its own.
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    umask(022);
    setsid();
    int input = open("/dev/null", O_RDONLY);
    if (input >= 0) dup2(input, STDIN_FILENO);
    // "0" is the writing process itself.
    if (group >= 0 && write(group, "0", 1) != 1) return;
    close_on_exec();
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
                      const struct clinux_user *user, int group, uint64_t data) {
    int failure[2];
    if (pipe2(failure, O_CLOEXEC) < 0) return -1;
    pid_t process = fork();
    if (process == 0) {
        run(arguments, environment, folder, user, group, data);
        int code = errno;
        while (write(failure[1], &code, sizeof code) < 0 && errno == EINTR) {}
        _exit(127);
    }
    int code = errno;
    close(failure[1]);
    if (process > 0) {
        ssize_t count;
        code = 0;
        while ((count = read(failure[0], &code, sizeof code)) < 0 && errno == EINTR) {}
        if (count == (ssize_t)sizeof code && code != 0) {
            waitpid(process, NULL, 0);
            process = -1;
        }
    }
    close(failure[0]);
    errno = code;
    return process;
}

int clinux_open_process(int32_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int clinux_signal_process(int descriptor, int number) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, number, NULL, 0);
}

int clinux_reap(int32_t process, int *status) { return waitpid(process, status, WNOHANG); }
