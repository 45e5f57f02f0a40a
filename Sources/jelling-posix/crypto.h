/* What pairing and private addresses compute. Each function returns 0, or not 0 where it could not be done. */
#ifndef CRYPTO_H
#define CRYPTO_H

#include <stddef.h>
#include <stdint.h>

/* AES-128 of one block. */
int crypto_encrypt(const uint8_t key[16], const uint8_t block[16], uint8_t result[16]);
/* AES-CMAC (RFC 4493). */
int crypto_authenticate(const uint8_t key[16], const uint8_t *message, size_t length, uint8_t result[16]);
/* A new key pair of the curve P-256; x and y of the public key. */
int crypto_make_pair(uint8_t private_key[32], uint8_t public_key[64]);
/* The x coordinate of the shared point. 1 where the peer's key is no point of the curve. */
int crypto_share(const uint8_t *private_key, const uint8_t *public_key, uint8_t result[32]);

#endif
