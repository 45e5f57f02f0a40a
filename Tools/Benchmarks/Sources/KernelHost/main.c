// The kernel's own host: an ATT client on one of its L2CAP sockets, with the requests of the null host.
//
//     KernelHost ADAPTER
//
// Lines in: `stream OCTETS LENGTH PART`, `write OCTETS LENGTH` and `read COUNT`, as `NullHost` has them, with the same
// answers. The adapter is brought up, and down at the end.
#include "CFeeding.h"
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NOTIFICATION = 0x1B };

static struct database database;
static int control, peer;

static void fail(const char *what) {
    printf("{\"event\":\"failed\",\"what\":\"%s: %s\"}\n", what, strerror(errno));
    exit(1);
}

static void send_pdu(const uint8_t *pdu, size_t length) {
    while (send(peer, pdu, length, MSG_NOSIGNAL) != (ssize_t)length)
        if (errno != EINTR) fail("send");
}

static size_t receive(uint8_t *pdu) {
    for (;;) {
        ssize_t count = recv(peer, pdu, FEEDING_MTU, 0);
        if (count > 0) return count;
        if (count == 0 || errno != EINTR) fail("recv");
    }
}

static void ask(const uint8_t *request, size_t length) {
    uint8_t pdu[FEEDING_MTU];
    send_pdu(request, length);
    do receive(pdu); while (pdu[0] == NOTIFICATION);
}

static void connect_link(void) {
    struct sockaddr_l2 ours = {.l2_family = AF_BLUETOOTH, .l2_cid = htobs(ATT_CID), .l2_bdaddr_type = BDADDR_LE_PUBLIC};
    struct sockaddr_l2 theirs = {.l2_family = AF_BLUETOOTH, .l2_bdaddr = {{0x02, 0, 0, 0xF0, 0xF1, 0xF2}},
                                 .l2_cid = htobs(ATT_CID), .l2_bdaddr_type = BDADDR_LE_RANDOM};
    peer = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC, BTPROTO_L2CAP);
    if (peer < 0) fail("socket");
    if (bind(peer, (struct sockaddr *)&ours, sizeof ours) != 0) fail("bind");
    if (connect(peer, (struct sockaddr *)&theirs, sizeof theirs) != 0) fail("connect");
    static const uint8_t mtu[] = {0x02, FEEDING_MTU & 0xFF, FEEDING_MTU >> 8};
    ask(mtu, sizeof mtu);
}

static double milliseconds(uint64_t since) { return (monotonic_nanoseconds() - since) / 1e6; }

static void stream(uint32_t octets, uint16_t length, uint32_t part) {
    uint8_t subscription[] = {0x12, 0, 0, 1, 0}, request[10] = {0x12, 0, 0, 0x01}, pdu[FEEDING_MTU];
    put16(subscription + 1, database.stream_configuration);
    put16(request + 1, database.control);
    put32(request + 4, part);
    put16(request + 8, length);
    connect_link();
    ask(subscription, sizeof subscription);
    uint64_t start = monotonic_nanoseconds(), count = 0;
    for (uint32_t asked = 0; asked < octets; asked += part) {
        ask(request, sizeof request);
        for (unsigned got = 0; got < part / length;) {
            receive(pdu);
            got += pdu[0] == NOTIFICATION;
        }
        count += part / length;
    }
    double time = milliseconds(start);
    close(peer);
    printf("{\"event\":\"streamed\",\"ms\":%f,\"notifications\":%lu,\"octets\":%lu}\n", time, count, count * length);
}

static void write_commands(uint32_t octets, uint16_t length) {
    uint8_t pdu[FEEDING_MTU] = {0x52}, request[3] = {0x0A};
    put16(pdu + 1, database.sink);
    put16(request + 1, database.reading);
    memset(pdu + 3, 0x5A, length);
    unsigned count = octets / length;
    connect_link();
    uint64_t start = monotonic_nanoseconds();
    for (unsigned index = 0; index < count; index++) send_pdu(pdu, 3 + length);
    // The answer to a request comes behind all commands before it.
    ask(request, sizeof request);
    double time = milliseconds(start);
    close(peer);
    printf("{\"event\":\"written\",\"ms\":%f,\"writes\":%u,\"octets\":%u}\n", time, count, count * length);
}

static void read_values(unsigned count) {
    uint8_t request[3] = {0x0A};
    put16(request + 1, database.reading);
    connect_link();
    uint64_t start = monotonic_nanoseconds();
    for (unsigned index = 0; index < count; index++) ask(request, sizeof request);
    double time = milliseconds(start);
    close(peer);
    printf("{\"event\":\"reads\",\"ms\":%f,\"reads\":%u}\n", time, count);
}

int main(int count, char **words) {
    if (count < 2) return 2;
    int adapter = atoi(words[1]);
    database = database_make(0, 0);
    control = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
    if (control < 0 || (ioctl(control, HCIDEVUP, adapter) != 0 && errno != EALREADY)) fail("up");
    puts("{\"event\":\"ready\"}");
    fflush(stdout);
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        unsigned a, b, c;
        if (sscanf(line, "stream %u %u %u", &a, &b, &c) == 3) stream(a, b, c);
        else if (sscanf(line, "write %u %u", &a, &b) == 2) write_commands(a, b);
        else if (sscanf(line, "read %u", &a) == 1) read_values(a);
        else fail("line");
        fflush(stdout);
    }
    ioctl(control, HCIDEVDOWN, adapter);
}
