#ifndef CFEEDING_H
#define CFEEDING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What the feeder and the null host both know: a peer's attributes, and the packets around its PDUs.

enum {
    FEEDING_MTU = 247,
    // An ACL packet of H4 with one PDU: type, handle, length, L2CAP length, channel.
    FEEDING_ACL_HEADER = 9,
    FEEDING_FIRST_HANDLE = 0x40,
    ATT_CID = 4,
};

struct attribute {
    // Octets of the type as they are sent: 2 or 16.
    uint8_t type[16];
    uint8_t type_length;
    uint8_t value[64];
    uint8_t value_length;
    // Of a service's declaration: its last handle.
    uint16_t end;
};

// The attributes with the handles 1 to count.
struct database {
    struct attribute *attributes;
    int count;
    // Of the values that Tools/peers' benchmark service has, too.
    uint16_t control, stream, stream_configuration, sink, reading;
};

// The service that streams, and beside it so many services with so many characteristics that notify.
struct database database_make(int services, int characteristics);

// Answers a request for attributes as their server: the length of the response, which has room for FEEDING_MTU octets.
// 0 for what gets no answer.
size_t database_answer(const struct database *database, const uint8_t *request, size_t length, uint8_t *response);

// The requests of a discovery of everything, without the exchange of MTUs, as any client needs them: each begins with its
// length in an octet of its own. Returns their number; the caller frees them.
int database_discovery(const struct database *database, uint8_t **requests);

// Puts the headers of H4, HCI and L2CAP before a PDU that lies at FEEDING_ACL_HEADER; returns the length of the packet.
size_t acl_wrap(uint8_t *packet, uint16_t handle, size_t pdu_length, bool from_host);

// The length of the H4 packet at the front; 0 as long as its header is not whole, or -1 for what is no packet.
ssize_t h4_length(const uint8_t *octets, size_t count);

uint64_t monotonic_nanoseconds(void);

static inline void put16(uint8_t *octets, unsigned value) {
    octets[0] = value & 0xFF;
    octets[1] = value >> 8 & 0xFF;
}
static inline void put32(uint8_t *octets, uint32_t value) {
    put16(octets, value & 0xFFFF);
    put16(octets + 2, value >> 16);
}
static inline unsigned get16(const uint8_t *octets) { return octets[0] | octets[1] << 8; }
static inline uint32_t get32(const uint8_t *octets) { return get16(octets) | (uint32_t)get16(octets + 2) << 16; }

#endif
