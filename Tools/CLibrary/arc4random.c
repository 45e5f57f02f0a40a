/* musl before 1.2.6 lacks what seeds Swift's hashes: weak, so that a libc that has it wins. */
#include <stddef.h>
#include <sys/random.h>

__attribute__((weak, visibility("default"))) void arc4random_buf(void *octets, size_t count) {
    unsigned char *place = octets;
    while (count) {
        long done = getrandom(place, count, 0);
        if (done <= 0) continue;
        place += done;
        count -= (size_t)done;
    }
}
