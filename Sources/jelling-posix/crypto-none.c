/* A build without cryptography: no pairing, no private addresses, no database hash. */
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

int jelling_crypto_answer(jelling_engine *engine, const jelling_question *question, int64_t now) {
    if (engine && question) jelling_answer_failure(engine, question->id, 0, now);
    return 0;
}
