/* AES with mbedtls 2.28 or 3. */
#include <string.h>

#include <mbedtls/aes.h>

#include "crypto.h"

int crypto_encrypt(const uint8_t key[16], const uint8_t block[16], uint8_t result[16]) {
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

int crypto_authenticate(const uint8_t key[16], const uint8_t *message, size_t length, uint8_t result[16]) {
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
    explicit_bzero(subkey, sizeof subkey);
    explicit_bzero(block, sizeof block);
    return status;
}
