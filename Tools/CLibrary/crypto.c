/*
 * Compares the cryptography of libjelling-posix with published results: AES with FIPS 197, C.1; AES-CMAC with RFC 4493, 4;
 * P-256 with the debug keys and the sample data of the Bluetooth Core specification (Vol 3, Part H, 2.3.5.6.1; Vol 2, Part
 * G, 7.1.2.1).
 *
 *   crypto      exit status 1 if a result differs, 77 if the kernel computes no AES for programs
 */
#include <stdio.h>
#include <string.h>

#include "../../Sources/jelling-posix/crypto.h"
#include "../../Sources/jelling-posix/include/jelling-posix.h"

static int failures;

static size_t octets(const char *digits, uint8_t *result) {
    size_t count = 0;
    for (unsigned value; sscanf(digits + 2 * count, "%2x", &value) == 1; count++) result[count] = (uint8_t)value;
    return count;
}

static void expect(const char *what, int status, const uint8_t *found, const char *digits) {
    uint8_t wanted[64];
    size_t count = octets(digits, wanted);
    int is_good = status == 0 && memcmp(found, wanted, count) == 0;
    printf("%s: %s\n", what, is_good ? "as published" : status ? "not computed" : "differs");
    failures += !is_good;
}

int main(void) {
    static const char *message =
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
    static const struct {
        size_t length;
        const char *result;
    } codes[] = {
        {0, "bb1d6929e95937287fa37d129b756746"},
        {16, "070a16b46b4d4144f79bdd9dd04a287c"},
        {40, "dfa66747de9ae63030ca32611497c827"},
        {64, "51f0bebf7e3b9d92fc49741779363cfe"},
    };
    static const char *secret = "ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698";
    uint8_t key[16], data[64], result[64], mine[32], theirs[64];

    octets("000102030405060708090a0b0c0d0e0f", key);
    octets("00112233445566778899aabbccddeeff", data);
    int status = crypto_encrypt(key, data, result);
#ifdef OF_THE_KERNEL
    if (status) return puts("this kernel computes no AES for programs (AF_ALG)"), 77;
#endif
    expect("AES", status, result, "69c4e0d86a7b0430d8cdb78070b4c55a");

    octets("2b7e151628aed2a6abf7158809cf4f3c", key);
    octets(message, data);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char what[32];
        snprintf(what, sizeof what, "AES-CMAC of %zu octets", codes[i].length);
        status = crypto_authenticate(key, data, codes[i].length, result);
        expect(what, status, result, codes[i].result);
    }

    octets("3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd", mine);
    octets("1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190", theirs);
    octets("4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a", theirs + 32);
    status = crypto_share(mine, theirs, result);
    expect("P-256, shared secret of A", status, result, secret);
    octets("55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd", mine);
    octets("20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6", theirs);
    octets("dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b", theirs + 32);
    status = crypto_share(mine, theirs, result);
    expect("P-256, shared secret of B", status, result, secret);
    theirs[0] ^= 1;
    int is_refused = crypto_share(mine, theirs, result) == 1;
    printf("P-256, no point of the curve: %s\n", is_refused ? "refused" : "taken");
    failures += !is_refused;

    uint8_t other[32], of_mine[64], of_other[64], one[32], two[32];
    status = crypto_make_pair(mine, of_mine) || crypto_make_pair(other, of_other) || crypto_share(mine, of_other, one) ||
             crypto_share(other, of_mine, two);
    int is_same = !status && memcmp(one, two, 32) == 0 && memcmp(mine, other, 32) != 0;
    printf("P-256, new key pairs: %s\n", is_same ? "one secret" : "not one secret");
    failures += !is_same;
    return failures ? 1 : 0;
}
