// A controller and its peers at once, on a Unix socket or behind one of the kernel's adapters, which never lets a host
// wait.
//
//     Feeder SOCKET|vhci [--services COUNT] [--characteristics COUNT] [--credits COUNT] [--returns COUNT] [--log FILE]
//
// It answers every command and request at once, returns credits as soon as it has read what takes them, or only so many
// at a time, and sends the notifications that a host asks its peers for as fast as the socket takes them. Its peers have
// the benchmark service of Tools/peers, and beside it so many services with so many characteristics. The log has each
// packet of the host, a line each in hexadecimal digits. It ends with its standard input. With `vhci` it says which
// adapter the kernel has made of it.
#define _GNU_SOURCE
#include "controller.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BATCH = 65536, LONGEST_PACKET = 2048, VENDOR = 0xFF };

static int listening(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(path);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4) != 0) return -1;
    return listener;
}

// Packets that are whole; what is left is moved to the front.
static bool take(struct feeder *feeder, uint8_t *in, size_t *used) {
    size_t start = 0;
    for (;;) {
        ssize_t length = h4_length(in + start, *used - start);
        if (length < 0) return false;
        if (length == 0 || start + length > *used) break;
        feeder_receive(feeder, in + start, length);
        start += length;
    }
    memmove(in, in + start, *used - start);
    *used -= start;
    feeder_return_credits(feeder, feeder->returns);
    return true;
}

static bool flush_out(struct feeder *feeder, int host) {
    while (feeder->out_sent < feeder->out_used) {
        ssize_t count = send(host, feeder->out + feeder->out_sent, feeder->out_used - feeder->out_sent, MSG_NOSIGNAL);
        if (count < 0) return errno == EAGAIN || errno == EINTR;
        feeder->out_sent += count;
    }
    return true;
}

// A packet with each write, as the kernel wants them.
static bool flush_packets(struct feeder *feeder, int host) {
    while (feeder->out_sent < feeder->out_used) {
        const uint8_t *packet = feeder->out + feeder->out_sent;
        ssize_t length = h4_length(packet, feeder->out_used - feeder->out_sent);
        // What comes while no host has the adapter is lost.
        if (write(host, packet, length) < 0 && errno != ENXIO) return errno == EAGAIN || errno == EINTR;
        feeder->out_sent += length;
    }
    return true;
}

static bool receive_stream(struct feeder *feeder, int host) {
    static uint8_t in[BATCH];
    ssize_t count = read(host, in + feeder->in_used, sizeof in - feeder->in_used);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    feeder->in_used += count;
    return count > 0 && take(feeder, in, &feeder->in_used);
}

// A packet with each read, until there is none; credits for all of them together.
static bool receive_packets(struct feeder *feeder, int host) {
    uint8_t in[LONGEST_PACKET];
    for (int number = 0; number < UINT8_MAX; number++) {
        ssize_t count = read(host, in, sizeof in);
        if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
        if (count <= 0) break;
        if (h4_length(in, count) == count) feeder_receive(feeder, in, count);
    }
    feeder_return_credits(feeder, feeder->returns);
    return true;
}

static void serve(struct feeder *feeder, int host, bool is_stream) {
    fcntl(host, F_SETFL, O_NONBLOCK);
    for (;;) {
        uint64_t next = feeder_advance(feeder);
        feeder_fill(feeder, BATCH);
        if (!(is_stream ? flush_out : flush_packets)(feeder, host)) return;
        bool waits = feeder->out_sent < feeder->out_used;
        if (!waits && feeder_is_streaming(feeder)) {
            // A host that asks for something is heard in between.
            next = monotonic_nanoseconds();
        }
        struct pollfd polled[2] = {{.fd = host, .events = POLLIN | (waits ? POLLOUT : 0)}, {.fd = 0, .events = POLLIN}};
        struct timespec limit = {0};
        uint64_t now = monotonic_nanoseconds();
        if (next > now) {
            limit.tv_sec = (next - now) / 1000000000;
            limit.tv_nsec = (next - now) % 1000000000;
        }
        if (ppoll(polled, 2, next ? &limit : NULL, NULL) < 0 && errno != EINTR) return;
        if (polled[1].revents) exit(0);
        if (polled[0].revents & (POLLIN | POLLHUP | POLLERR)) {
            if (!(is_stream ? receive_stream : receive_packets)(feeder, host)) return;
        }
    }
}

// The kernel makes an adapter of whoever writes this, and answers with its index.
static int open_adapter(unsigned *index) {
    const uint8_t kind[2] = {VENDOR, 0};
    uint8_t answer[4];
    int adapter = open("/dev/vhci", O_RDWR | O_CLOEXEC);
    if (adapter < 0 || write(adapter, kind, sizeof kind) != sizeof kind) return -1;
    if (read(adapter, answer, sizeof answer) != sizeof answer || answer[0] != VENDOR) return -1;
    *index = get16(answer + 2);
    return adapter;
}

static void say_ready(int index) {
    if (index < 0) puts("{\"event\":\"ready\"}");
    else printf("{\"event\":\"ready\",\"adapter\":%d}\n", index);
    fflush(stdout);
}

int main(int count, char **words) {
    if (count < 2) return 2;
    int services = 0, characteristics = 0;
    struct feeder feeder = {.credits = 8};
    for (int index = 2; index + 1 < count; index += 2) {
        if (strcmp(words[index], "--services") == 0) services = atoi(words[index + 1]);
        if (strcmp(words[index], "--characteristics") == 0) characteristics = atoi(words[index + 1]);
        if (strcmp(words[index], "--credits") == 0) feeder.credits = atoi(words[index + 1]);
        if (strcmp(words[index], "--returns") == 0) feeder.returns = atoi(words[index + 1]);
        if (strcmp(words[index], "--log") == 0) feeder.log = fopen(words[index + 1], "w");
    }
    signal(SIGPIPE, SIG_IGN);
    feeder.database = database_make(services, characteristics);
    if (strcmp(words[1], "vhci") == 0) {
        unsigned index;
        int adapter = open_adapter(&index);
        if (adapter < 0) {
            perror("/dev/vhci");
            return 3;
        }
        say_ready(index);
        serve(&feeder, adapter, false);
        return 0;
    }
    int listener = listening(words[1]);
    if (listener < 0) {
        perror(words[1]);
        return 3;
    }
    say_ready(-1);
    for (;;) {
        struct pollfd polled[2] = {{.fd = listener, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
        poll(polled, 2, -1);
        if (polled[1].revents) return 0;
        int host = accept(listener, NULL, NULL);
        if (host < 0) continue;
        struct feeder fresh = {.database = feeder.database, .credits = feeder.credits, .returns = feeder.returns, .log = feeder.log};
        serve(&fresh, host, true);
        free(fresh.out);
        close(host);
        if (feeder.log) fflush(feeder.log);
    }
}
