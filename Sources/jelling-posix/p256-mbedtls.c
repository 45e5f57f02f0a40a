/* The curve P-256 with mbedtls 2.28 or 3. Only its big numbers and elliptic curves are used. */
#include <mbedtls/ecp.h>
#include <string.h>

#include "crypto.h"
#include "include/jelling-posix.h"

static int draw(void *context, unsigned char *octets, size_t count) {
    (void)context;
    return jelling_random(octets, count);
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

int crypto_make_pair(uint8_t private_key[32], uint8_t public_key[64]) {
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

int crypto_share(const uint8_t *private_key, const uint8_t *public_key, uint8_t result[32]) {
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
    explicit_bzero(octets, sizeof octets);
    return is_invalid ? 1 : status ? -1 : 0;
}
