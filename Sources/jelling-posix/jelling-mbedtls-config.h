/* The parts of mbedtls that pairing needs, for a small image. */
#ifndef JELLING_MBEDTLS_CONFIG_H
#define JELLING_MBEDTLS_CONFIG_H

#define MBEDTLS_AES_C
#define MBEDTLS_AES_FEWER_TABLES
#define MBEDTLS_BIGNUM_C
#define MBEDTLS_ECP_C
#define MBEDTLS_ECP_DP_SECP256R1_ENABLED
#define MBEDTLS_ECP_NIST_OPTIM
/* Each call here brings random octets. */
#define MBEDTLS_ECP_NO_INTERNAL_RNG

#include "mbedtls/check_config.h"

#endif
