/* A build without cryptography: no pairing, no private addresses, no database hash. */
#include "include/jelling-posix.h"

int jelling_crypto_answer(jelling_engine *engine, const jelling_question *question, int64_t now) {
    if (engine && question) jelling_answer_failure(engine, question->id, 0, now);
    return 0;
}
