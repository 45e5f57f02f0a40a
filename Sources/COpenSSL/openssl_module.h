/* libssl-dev: Transport Layer Security. */
#include <openssl/err.h>
#include <openssl/ssl.h>
