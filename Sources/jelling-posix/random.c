/* Random octets of the kernel. */
#include <errno.h>
#include <sys/random.h>

#include "include/jelling-posix.h"

int jelling_random(uint8_t *octets, size_t count) {
    while (count) {
        ssize_t done = getrandom(octets, count, 0);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return -1;
        octets += done;
        count -= (size_t)done;
    }
    return 0;
}
