/* The engine's cryptography with mbedtls 2.28 or 3. Only its AES, big numbers and elliptic curves are used. */
#include <errno.h>
#include <mbedtls/aes.h>
#include <mbedtls/ecp.h>
#include <mbedtls/platform_util.h>
#include <string.h>
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

static int draw(void *context, unsigned char *octets, size_t count) {
    (void)context;
    return jelling_random(octets, count);
}

static int encrypt(const uint8_t key[16], const uint8_t block[16], uint8_t result[16]) {
    mbedtls_aes_context aes;
    mbedtls_aes_init(&aes);
    int status = mbedtls_aes_setkey_enc(&aes, key, 128);
    if (!status) status = mbedtls_aes_crypt_ecb(&aes, MBEDTLS_AES_ENCRYPT, block, result);
    mbedtls_aes_free(&aes);
    return status;
}

/* Doubles in GF(2^128) (RFC 4493, 2.3), in a time that does not depend on the key. */
static void twice(uint8_t block[16]) {
    uint8_t carry = (uint8_t)(0x87 & -(block[0] >> 7));
    for (int i = 0; i < 15; i++) block[i] = (uint8_t)(block[i] << 1 | block[i + 1] >> 7);
    block[15] = (uint8_t)(block[15] << 1) ^ carry;
}

static int authenticate(const uint8_t key[16], const uint8_t *message, size_t length, uint8_t result[16]) {
    mbedtls_aes_context aes;
    uint8_t subkey[16] = {0}, block[16] = {0};
    mbedtls_aes_init(&aes);
    int status = mbedtls_aes_setkey_enc(&aes, key, 128);
    if (!status) status = mbedtls_aes_crypt_ecb(&aes, MBEDTLS_AES_ENCRYPT, subkey, subkey);
    twice(subkey);
    for (; length > 16 && !status; message += 16, length -= 16) {
        for (int i = 0; i < 16; i++) block[i] ^= message[i];
        status = mbedtls_aes_crypt_ecb(&aes, MBEDTLS_AES_ENCRYPT, block, block);
    }
    for (size_t i = 0; i < length; i++) block[i] ^= message[i];
    if (length < 16) {
        block[length] ^= 0x80;
        twice(subkey);
    }
    for (int i = 0; i < 16; i++) block[i] ^= subkey[i];
    if (!status) status = mbedtls_aes_crypt_ecb(&aes, MBEDTLS_AES_ENCRYPT, block, result);
    mbedtls_aes_free(&aes);
    mbedtls_platform_zeroize(subkey, sizeof subkey);
    mbedtls_platform_zeroize(block, sizeof block);
    return status;
}

struct curve {
    mbedtls_ecp_group group;
    mbedtls_ecp_point point;
    mbedtls_mpi number;
};

static int open_curve(struct curve *c) {
    mbedtls_ecp_group_init(&c->group);
    mbedtls_ecp_point_init(&c->point);
    mbedtls_mpi_init(&c->number);
    return mbedtls_ecp_group_load(&c->group, MBEDTLS_ECP_DP_SECP256R1);
}

static void close_curve(struct curve *c) {
    mbedtls_mpi_free(&c->number);
    mbedtls_ecp_point_free(&c->point);
    mbedtls_ecp_group_free(&c->group);
}

static int make_pair(uint8_t private_key[32], uint8_t public_key[64]) {
    struct curve c;
    uint8_t octets[65];
    size_t length = 0;
    int status = open_curve(&c);
    if (!status) status = mbedtls_ecp_gen_keypair(&c.group, &c.number, &c.point, draw, NULL);
    if (!status) status = mbedtls_mpi_write_binary(&c.number, private_key, 32);
    if (!status)
        status = mbedtls_ecp_point_write_binary(
            &c.group, &c.point, MBEDTLS_ECP_PF_UNCOMPRESSED, &length, octets, sizeof octets);
    if (!status) memcpy(public_key, octets + 1, 64);
    close_curve(&c);
    return status;
}

/* 1 where the peer's key is no point of the curve. */
static int share(const uint8_t *private_key, const uint8_t *public_key, uint8_t result[32]) {
    struct curve c;
    uint8_t octets[65] = {4};
    size_t length = 0;
    memcpy(octets + 1, public_key, 64);
    int status = open_curve(&c), is_invalid = 0;
    if (!status) {
        is_invalid = mbedtls_ecp_point_read_binary(&c.group, &c.point, octets, sizeof octets) ||
                     mbedtls_ecp_check_pubkey(&c.group, &c.point);
        status = is_invalid;
    }
    if (!status) status = mbedtls_mpi_read_binary(&c.number, private_key, 32);
    if (!status) status = mbedtls_ecp_mul(&c.group, &c.point, &c.number, &c.point, draw, NULL);
    if (!status)
        status = mbedtls_ecp_point_write_binary(
            &c.group, &c.point, MBEDTLS_ECP_PF_UNCOMPRESSED, &length, octets, sizeof octets);
    if (!status) memcpy(result, octets + 1, 32);
    close_curve(&c);
    mbedtls_platform_zeroize(octets, sizeof octets);
    return is_invalid ? 1 : status ? -1 : 0;
}

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
            status = encrypt(question->key.data, question->data.data, result);
        break;
    case JELLING_CRYPTO_CMAC:
        if (question->key.length == 16)
            status = authenticate(question->key.data, question->data.data, question->data.length, result);
        break;
    case JELLING_CRYPTO_KEY_PAIR:
        status = make_pair(private_key, result);
        if (!status) jelling_answer_key_pair(engine, question->id, private_key, result, now);
        mbedtls_platform_zeroize(private_key, sizeof private_key);
        length = 0;
        break;
    case JELLING_CRYPTO_SHARED_SECRET:
        length = 32;
        if (question->data.length == 32 && question->public_key.length == 64)
            status = share(question->data.data, question->public_key.data, result);
        break;
    default: break;
    }
    if (status) jelling_answer_failure(engine, question->id, status == 1, now);
    else if (length) jelling_answer(engine, question->id, result, length, now);
    mbedtls_platform_zeroize(result, sizeof result);
    return 1;
}
