// What any host must do on a link, and nothing more: it plays packets that were computed beforehand, waits for what the
// peer has to send before the next, and throws away what comes.
//
//     NullHost SOCKET|user:ADAPTER [--services COUNT] [--characteristics COUNT]
//
// On the user channel of one of the kernel's adapters, each packet is a call of its own.
//
// Lines in: `stream OCTETS LENGTH PART` asks for so many octets in notifications of such a length, a part at a time;
// `write OCTETS LENGTH` sends as many in write commands, as the credits allow; `read COUNT` reads a value so many times;
// `discover` connects and asks for everything; `latency COUNT MICROSECONDS` takes so many notifications at such an
// interval. Each is answered by a line of JSON, with times in milliseconds, and latencies in nanoseconds.
#include "CFeeding.h"
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ROOM = 1 << 16 };

static struct database database;
static int host;
static bool is_stream = true;
static uint8_t in[ROOM];
static size_t used;
static unsigned credits;

static void fail(const char *what) {
    printf("{\"event\":\"failed\",\"what\":\"%s\"}\n", what);
    exit(1);
}

static void send_all(const uint8_t *octets, size_t count) {
    while (count > 0) {
        ssize_t sent = send(host, octets, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) fail("send");
        octets += sent;
        count -= sent;
    }
}

static size_t receive(uint8_t *octets, size_t room) {
    for (;;) {
        ssize_t count = read(host, octets, room);
        if (count > 0) return count;
        if (count == 0 || errno != EINTR) fail("read");
    }
}

// Waits for a packet that begins so, and throws away what comes before it.
static void await(const uint8_t *beginning, size_t count, size_t offset) {
    for (;;) {
        size_t start = 0;
        bool found = false;
        while (!found) {
            ssize_t length = h4_length(in + start, used - start);
            if (length < 0) fail("packet");
            if (length == 0 || start + length > used) break;
            const uint8_t *packet = in + start;
            found = (size_t)length >= offset + count && packet[0] == beginning[0]
                    && memcmp(packet + offset, beginning + offset, count) == 0;
            start += length;
        }
        memmove(in, in + start, used - start);
        used -= start;
        if (found) return;
        used += receive(in + used, ROOM - used);
    }
}

static void send_command(unsigned opcode, const void *parameters, uint8_t length, bool has_status) {
    uint8_t packet[259] = {0x01};
    put16(packet + 1, opcode);
    packet[3] = length;
    if (length) memcpy(packet + 4, parameters, length);
    send_all(packet, 4 + length);
    uint8_t answer[7] = {0x04, has_status ? 0x0F : 0x0E};
    put16(answer + (has_status ? 5 : 4), opcode);
    await(answer, 2, has_status ? 5 : 4);
}

static size_t request(uint8_t *packet, const uint8_t *pdu, size_t length) {
    memcpy(packet + FEEDING_ACL_HEADER, pdu, length);
    return acl_wrap(packet, FEEDING_FIRST_HANDLE, length, true);
}

// A request, and the data that answers it.
static void ask(const uint8_t *pdu, size_t length) {
    static const uint8_t answer[] = {0x02};
    uint8_t packet[FEEDING_ACL_HEADER + FEEDING_MTU];
    send_all(packet, request(packet, pdu, length));
    await(answer, 1, 0);
}

static void connect_link(void) {
    uint8_t parameters[25] = {0x60, 0, 0x30, 0, 0, 1, 1, 0, 0, 0xF0, 0xF1, 0xF2};
    send_command(0x200D, parameters, sizeof parameters, true);
    static const uint8_t completed[] = {0x04, 0x3E, 0, 0x01};
    await(completed, 1, 3);
    static const uint8_t mtu[] = {0x02, FEEDING_MTU & 0xFF, FEEDING_MTU >> 8};
    ask(mtu, sizeof mtu);
}

static void disconnect_link(void) {
    uint8_t parameters[3] = {FEEDING_FIRST_HANDLE, 0, 0x13};
    send_command(0x0406, parameters, sizeof parameters, true);
    static const uint8_t completed[] = {0x04, 0x05};
    await(completed, 1, 1);
}

static void subscribe(void) {
    uint8_t pdu[] = {0x12, 0, 0, 1, 0};
    put16(pdu + 1, database.stream_configuration);
    ask(pdu, sizeof pdu);
}

static double milliseconds(uint64_t since) { return (monotonic_nanoseconds() - since) / 1e6; }

// Packets that are whole, of which a host must at least find the ends.
static unsigned discard_packets(void) {
    unsigned count = 0;
    size_t start = 0;
    for (;; count++) {
        ssize_t length = h4_length(in + start, used - start);
        if (length < 0) fail("packet");
        if (length == 0 || start + length > used) break;
        start += length;
    }
    memmove(in, in + start, used - start);
    used -= start;
    return count;
}

static void stream(uint32_t octets, uint16_t length, uint32_t part) {
    static const uint8_t answer[] = {0x02};
    uint8_t pdu[10] = {0x12, 0, 0, 0x01}, packet[32];
    put16(pdu + 1, database.control);
    put32(pdu + 4, part);
    put16(pdu + 8, length);
    size_t packet_length = request(packet, pdu, sizeof pdu);
    connect_link();
    subscribe();
    uint64_t start = monotonic_nanoseconds(), count = 0;
    for (uint32_t asked = 0; asked < octets; asked += part) {
        send_all(packet, packet_length);
        await(answer, 1, 0);
        for (unsigned got = discard_packets(); got < part / length; got += discard_packets())
            used += receive(in + used, ROOM - used);
        count += part / length;
    }
    double time = milliseconds(start);
    disconnect_link();
    printf("{\"event\":\"streamed\",\"ms\":%f,\"notifications\":%lu,\"octets\":%lu}\n", time, count, count * length);
}

// Credits that the packets which have come give back.
static unsigned returned_credits(void) {
    unsigned returned = 0;
    size_t start = 0;
    for (;;) {
        ssize_t length = h4_length(in + start, used - start);
        if (length < 0) fail("packet");
        if (length == 0 || start + length > used) break;
        if (in[start + 1] == 0x13) returned += get16(in + start + 6);
        start += length;
    }
    memmove(in, in + start, used - start);
    used -= start;
    return returned;
}

static void write_commands(uint32_t octets, uint16_t length) {
    unsigned count = octets / length, free_credits = credits, waiting = 0;
    size_t each = FEEDING_ACL_HEADER + 3 + length;
    uint8_t *packets = malloc(credits * each);
    for (unsigned index = 0; index < credits; index++) {
        uint8_t *packet = packets + index * each;
        packet[FEEDING_ACL_HEADER] = 0x52;
        put16(packet + FEEDING_ACL_HEADER + 1, database.sink);
        memset(packet + FEEDING_ACL_HEADER + 3, 0x5A, length);
        acl_wrap(packet, FEEDING_FIRST_HANDLE, 3 + length, true);
    }
    connect_link();
    used = 0;
    uint64_t start = monotonic_nanoseconds();
    for (unsigned sent = 0; sent < count;) {
        unsigned now = free_credits < count - sent ? free_credits : count - sent;
        if (now > 0) {
            if (is_stream) send_all(packets, now * each);
            else for (unsigned index = 0; index < now; index++) send_all(packets + index * each, each);
            sent += now;
            waiting += now;
            free_credits -= now;
        }
        used += receive(in + used, ROOM - used);
        unsigned returned = returned_credits();
        if (returned > waiting) returned = waiting;
        waiting -= returned;
        free_credits += returned;
    }
    double time = milliseconds(start);
    free(packets);
    disconnect_link();
    printf("{\"event\":\"written\",\"ms\":%f,\"writes\":%u,\"octets\":%u}\n", time, count, count * length);
}

static void read_values(unsigned count) {
    uint8_t pdu[3] = {0x0A};
    put16(pdu + 1, database.reading);
    connect_link();
    uint64_t start = monotonic_nanoseconds();
    for (unsigned index = 0; index < count; index++) ask(pdu, sizeof pdu);
    double time = milliseconds(start);
    disconnect_link();
    printf("{\"event\":\"reads\",\"ms\":%f,\"reads\":%u}\n", time, count);
}

static void discover(void) {
    uint8_t *requests;
    int count = database_discovery(&database, &requests);
    uint64_t start = monotonic_nanoseconds();
    connect_link();
    const uint8_t *next = requests;
    for (int index = 0; index < count; index++) {
        ask(next + 1, next[0]);
        next += 1 + next[0];
    }
    double time = milliseconds(start);
    disconnect_link();
    printf("{\"event\":\"discovered\",\"ms\":%f,\"requests\":[", time);
    next = requests;
    for (int index = 0; index < count; index++) {
        printf(index ? ",\"" : "\"");
        for (int octet = 1; octet <= next[0]; octet++) printf("%02x", next[octet]);
        printf("\"");
        next += 1 + next[0];
    }
    printf("]}\n");
    free(requests);
}

static int ascending(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void latency(unsigned count, unsigned interval) {
    uint8_t pdu[12] = {0x12, 0, 0, 0x02};
    put16(pdu + 1, database.control);
    put32(pdu + 4, count);
    put32(pdu + 8, interval);
    uint64_t *latencies = calloc(count, sizeof *latencies);
    connect_link();
    subscribe();
    ask(pdu, sizeof pdu);
    for (unsigned index = 0; index < count; index++) {
        // A read brings one notification, which is of a known length.
        uint8_t packet[FEEDING_ACL_HEADER + 3 + 20];
        for (size_t got = 0; got < sizeof packet;) got += receive(packet + got, sizeof packet - got);
        uint64_t written;
        memcpy(&written, packet + FEEDING_ACL_HEADER + 3, 8);
        latencies[index] = monotonic_nanoseconds() - written;
    }
    disconnect_link();
    qsort(latencies, count, sizeof *latencies, ascending);
    printf("{\"event\":\"latencies\",\"median\":%lu,\"most\":%lu}\n", latencies[count / 2], latencies[count * 99 / 100]);
    free(latencies);
}

static void connect_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail("path");
    strcpy(address.sun_path, path);
    host = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(host, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
}

static void open_user_channel(int index) {
    struct sockaddr_hci address = {.hci_family = AF_BLUETOOTH, .hci_dev = index, .hci_channel = HCI_CHANNEL_USER};
    host = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
    if (bind(host, (struct sockaddr *)&address, sizeof address) != 0) fail("bind");
    is_stream = false;
}

int main(int count, char **words) {
    if (count < 2) return 2;
    int services = 0, characteristics = 0;
    for (int index = 2; index + 1 < count; index += 2) {
        if (strcmp(words[index], "--services") == 0) services = atoi(words[index + 1]);
        if (strcmp(words[index], "--characteristics") == 0) characteristics = atoi(words[index + 1]);
    }
    database = database_make(services, characteristics);
    int adapter;
    if (sscanf(words[1], "user:%d", &adapter) == 1) open_user_channel(adapter);
    else connect_socket(words[1]);
    send_command(0x0C03, NULL, 0, false);
    static const uint8_t mask[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F};
    send_command(0x0C01, mask, sizeof mask, false);
    send_command(0x2001, mask, sizeof mask, false);
    static const uint8_t buffers[] = {0x01, 0x02, 0x20, 0};
    send_all(buffers, sizeof buffers);
    while (used < 10) used += receive(in + used, ROOM - used);
    credits = in[9];
    used = 0;
    puts("{\"event\":\"ready\"}");
    fflush(stdout);
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        unsigned a, b, c;
        if (sscanf(line, "stream %u %u %u", &a, &b, &c) == 3) stream(a, b, c);
        else if (sscanf(line, "write %u %u", &a, &b) == 2) write_commands(a, b);
        else if (sscanf(line, "read %u", &a) == 1) read_values(a);
        else if (sscanf(line, "latency %u %u", &a, &b) == 2) latency(a, b);
        else if (strcmp(line, "discover\n") == 0) discover();
        else fail("line");
        fflush(stdout);
    }
}
