#include "CFeeding.h"
#include <time.h>

size_t acl_wrap(uint8_t *packet, uint16_t handle, size_t pdu_length, bool from_host) {
    packet[0] = 0x02;
    // The first part of a PDU: 0 from a host, 2 from a controller.
    put16(packet + 1, handle | (from_host ? 0 : 0x2000));
    put16(packet + 3, pdu_length + 4);
    put16(packet + 5, pdu_length);
    put16(packet + 7, ATT_CID);
    return FEEDING_ACL_HEADER + pdu_length;
}

ssize_t h4_length(const uint8_t *octets, size_t count) {
    if (count == 0) return 0;
    switch (octets[0]) {
    case 0x01: return count < 4 ? 0 : 4 + octets[3];
    case 0x02: return count < 5 ? 0 : 5 + (ssize_t)get16(octets + 3);
    case 0x04: return count < 3 ? 0 : 3 + octets[2];
    default: return -1;
    }
}

uint64_t monotonic_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}
