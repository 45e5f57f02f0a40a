/*
 * AES with the kernel's AF_ALG, and so with the machine's accelerator where it has one. Needs a kernel with
 * CONFIG_CRYPTO_USER_API_SKCIPHER, CONFIG_CRYPTO_USER_API_HASH and CONFIG_CRYPTO_CMAC.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crypto.h"

/* From <linux/if_alg.h>, which not every C library brings. */
struct address {
    uint16_t family;
    uint8_t type[14];
    uint32_t feature, mask;
    uint8_t name[64];
};
enum { address_family = 38, level = 279, set_key = 1, set_operation = 3, is_encryption = 1 };

/* A socket on which one operation is done; -1 with `errno`. */
static int open_operation(const char *type, const char *name, const uint8_t key[16]) {
    struct address address = {.family = address_family};
    strncpy((char *)address.type, type, sizeof address.type - 1);
    strncpy((char *)address.name, name, sizeof address.name - 1);
    int algorithm = socket(address_family, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), operation = -1;
    if (algorithm < 0) return -1;
    if (!bind(algorithm, (const struct sockaddr *)&address, sizeof address) &&
        !setsockopt(algorithm, level, set_key, key, 16))
        operation = accept4(algorithm, NULL, NULL, SOCK_CLOEXEC);
    int reason = errno;
    close(algorithm);
    errno = reason;
    return operation;
}

/* 0 where the whole result came. */
static int take(int operation, uint8_t result[16]) {
    ssize_t count;
    do count = read(operation, result, 16);
    while (count < 0 && errno == EINTR);
    return count == 16 ? 0 : -1;
}

int crypto_encrypt(const uint8_t key[16], const uint8_t block[16], uint8_t result[16]) {
    int operation = open_operation("skcipher", "ecb(aes)", key);
    if (operation < 0) return -1;
    union {
        char octets[CMSG_SPACE(sizeof(uint32_t))];
        struct cmsghdr header;
    } control = {{0}};
    struct iovec part = {(void *)block, 16};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    uint32_t kind = is_encryption;
    header->cmsg_level = level;
    header->cmsg_type = set_operation;
    header->cmsg_len = CMSG_LEN(sizeof kind);
    memcpy(CMSG_DATA(header), &kind, sizeof kind);
    ssize_t sent;
    do sent = sendmsg(operation, &message, 0);
    while (sent < 0 && errno == EINTR);
    int status = sent == 16 ? take(operation, result) : -1;
    close(operation);
    return status;
}

int crypto_authenticate(const uint8_t key[16], const uint8_t *message, size_t length, uint8_t result[16]) {
    int operation = open_operation("hash", "cmac(aes)", key);
    if (operation < 0) return -1;
    int status = 0;
    while (length && !status) {
        ssize_t sent = send(operation, message, length, MSG_MORE);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) {
            status = -1;
        } else {
            message += sent;
            length -= (size_t)sent;
        }
    }
    if (!status) status = take(operation, result);
    close(operation);
    return status;
}
