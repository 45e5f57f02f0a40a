/* Answers the engine's questions with what crypto.h declares. */
#include <string.h>

#include "crypto.h"
#include "include/jelling-posix.h"

int jelling_crypto_answer(jelling_engine *engine, const jelling_question *question, int64_t now) {
    if (!question) return 1;
    uint8_t result[64], private_key[32];
    size_t length = 16;
    int status = -1;
    switch (question->kind) {
    case JELLING_CRYPTO_RANDOM:
        length = question->count;
        if (length <= sizeof result) status = jelling_random(result, length);
        break;
    case JELLING_CRYPTO_ENCRYPT:
        if (question->key.length == 16 && question->data.length == 16)
            status = crypto_encrypt(question->key.data, question->data.data, result);
        break;
    case JELLING_CRYPTO_CMAC:
        if (question->key.length == 16)
            status = crypto_authenticate(question->key.data, question->data.data, question->data.length, result);
        break;
    case JELLING_CRYPTO_KEY_PAIR:
        status = crypto_make_pair(private_key, result);
        if (!status) jelling_answer_key_pair(engine, question->id, private_key, result, now);
        explicit_bzero(private_key, sizeof private_key);
        length = 0;
        break;
    case JELLING_CRYPTO_SHARED_SECRET:
        length = 32;
        if (question->data.length == 32 && question->public_key.length == 64)
            status = crypto_share(question->data.data, question->public_key.data, result);
        break;
    default: break;
    }
    if (status) jelling_answer_failure(engine, question->id, status == 1, now);
    else if (length) jelling_answer(engine, question->id, result, length, now);
    explicit_bzero(result, sizeof result);
    return 1;
}
