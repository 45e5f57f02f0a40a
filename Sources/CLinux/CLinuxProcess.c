// pidfd_open and setgroups are no part of POSIX.
#define _GNU_SOURCE
#include "CLinuxSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(const char *const *arguments, const char *const *environment, const char *folder,
                const struct clinux_user *user, int failure) {
    // What the daemon blocks or ignores is its own.
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    int input = open("/dev/null", O_RDONLY);
    if (input >= 0) dup2(input, STDIN_FILENO);
    if (user->is_other
        && (setgroups(user->group_count, user->groups) < 0 || setgid(user->group) < 0 || setuid(user->user) < 0))
        return;
    if (chdir(folder) < 0) return;
    execve(arguments[0], (char *const *)arguments, (char *const *)environment);
    (void)failure;
}

int32_t clinux_launch(const char *const *arguments, const char *const *environment, const char *folder,
                      const struct clinux_user *user) {
    int failure[2];
    if (pipe2(failure, O_CLOEXEC) < 0) return -1;
    pid_t process = fork();
    if (process == 0) {
        run(arguments, environment, folder, user, failure[1]);
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
