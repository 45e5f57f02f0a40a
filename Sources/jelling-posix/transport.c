#define _GNU_SOURCE
#include "transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "include/jelling-posix.h"

static __thread char error_text[256];

int fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error_text, sizeof error_text, format, arguments);
    va_end(arguments);
    return -1;
}

const char *jelling_loop_error(void) { return error_text; }

/* ------------------------------------------------- The kernel's HCI socket */

/* From the kernel's <net/bluetooth/hci_sock.h>, which no package of headers has. */
enum { protocol_hci = 1, channel_user = 1 };
struct hci_address {
    unsigned short family, device, channel;
};

static int open_user_channel(const char *number) {
    char *end;
    unsigned long index = strtoul(number, &end, 10);
    if (end == number || *end || index > 0xFFFE) return fail("user:%s: after user: comes the adapter's number", number);
    int fd = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol_hci);
    if (fd < 0) {
        if (errno == EAFNOSUPPORT) return fail("this kernel has no Bluetooth; load the module bluetooth");
        return fail("user:%lu: %s", index, strerror(errno));
    }
    struct hci_address address = {AF_BLUETOOTH, (unsigned short)index, channel_user};
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int code = errno;
    close(fd);
    switch (code) {
    case ENODEV: return fail("there is no adapter hci%lu; look into /sys/class/bluetooth", index);
    case EPERM:
    case EACCES: return fail("no permission to open user:%lu: this needs CAP_NET_ADMIN; run as root", index);
    case EBUSY: return fail("hci%lu is in use: take it down (hciconfig hci%lu down), or stop the Bluetooth daemon", index, index);
    case ERFKILL: return fail("hci%lu is blocked: rfkill unblock bluetooth", index);
    default: return fail("user:%lu: %s", index, strerror(code));
    }
}

/* ----------------------------------------------------------------- Streams */

enum { connection_milliseconds = 5000 };

/* Nothing else runs meanwhile, so that it may not take the minutes of the kernel's own limit. */
static int connect_in_time(int fd, const struct sockaddr *address, socklen_t length) {
    if (connect(fd, address, length) == 0) return 0;
    if (errno != EINPROGRESS) return -1;
    struct pollfd ready = {fd, POLLOUT, 0};
    int count, code = 0;
    do count = poll(&ready, 1, connection_milliseconds);
    while (count < 0 && errno == EINTR);
    socklen_t size = sizeof code;
    if (count == 0) code = ETIMEDOUT;
    else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size)) return -1;
    errno = code;
    return code ? -1 : 0;
}

static int open_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return fail("unix:%s: the path is too long", path);
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect_in_time(fd, (struct sockaddr *)&address, sizeof address)) {
        int code = errno;
        if (fd >= 0) close(fd);
        return fail("unix:%s: %s; start the controller first", path, strerror(code));
    }
    return fd;
}

/* Names of hosts would need the name service, which a static program does not have. */
static int open_tcp(const char *name) {
    char host[64];
    const char *colon = strrchr(name, ':');
    char *end = NULL;
    unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (!colon || colon == name || *end || port < 1 || port > 65535 || (size_t)(colon - name) >= sizeof host)
        return fail("tcp:%s: write tcp:ADDRESS:PORT, such as tcp:127.0.0.1:9000", name);
    memcpy(host, name, (size_t)(colon - name));
    host[colon - name] = 0;
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    int is_v6 = inet_pton(AF_INET6, host, &v6.sin6_addr) == 1;
    if (!is_v6 && inet_pton(AF_INET, strcmp(host, "localhost") ? host : "127.0.0.1", &v4.sin_addr) != 1)
        return fail("tcp:%s: write the host as an address, such as 127.0.0.1", name);
    int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const struct sockaddr *address = is_v6 ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4;
    if (fd < 0 || connect_in_time(fd, address, is_v6 ? sizeof v6 : sizeof v4)) {
        int code = errno;
        if (fd >= 0) close(fd);
        return fail("tcp:%s: %s; start the controller first", name, strerror(code));
    }
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

static const struct {
    unsigned long rate;
    speed_t speed;
} speeds[] = {
    {9600, B9600}, {115200, B115200}, {230400, B230400}, {460800, B460800}, {500000, B500000}, {921600, B921600},
    {1000000, B1000000}, {1500000, B1500000}, {2000000, B2000000}, {3000000, B3000000}, {4000000, B4000000},
};

static int open_uart(const char *name) {
    char device[256];
    const char *at = strrchr(name, '@');
    unsigned long rate = at ? strtoul(at + 1, NULL, 10) : 115200;
    size_t length = at ? (size_t)(at - name) : strlen(name);
    if (length == 0 || length >= sizeof device) return fail("uart:%s: write uart:DEVICE@BAUD", name);
    memcpy(device, name, length);
    device[length] = 0;
    speed_t speed = 0;
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        if (speeds[i].rate == rate) speed = speeds[i].speed;
    if (!speed) return fail("uart:%s: no such rate; 115200 and 1000000 are common", name);
    int fd = open(device, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fail("%s: %s", device, strerror(errno));
    struct termios settings;
    if (tcgetattr(fd, &settings) == 0) {
        cfmakeraw(&settings);
        settings.c_cflag |= CLOCAL | CREAD | CRTSCTS;
        cfsetspeed(&settings, speed);
        if (tcsetattr(fd, TCSANOW, &settings) == 0) {
            tcflush(fd, TCIOFLUSH);
            return fd;
        }
    }
    int code = errno;
    close(fd);
    return fail("%s is no serial line: %s", device, strerror(code));
}

int transport_open(transport *t, const char *name) {
    memset(t, 0, sizeof *t);
    t->fd = -1;
    if (strncmp(name, "user:", 5) == 0) {
        t->fd = open_user_channel(name + 5);
        t->keeps_packets = 1;
    } else if (strncmp(name, "unix:", 5) == 0) {
        t->fd = open_unix(name + 5);
    } else if (strncmp(name, "tcp:", 4) == 0) {
        t->fd = open_tcp(name + 4);
    } else if (strncmp(name, "uart:", 5) == 0) {
        t->fd = open_uart(name + 5);
    } else {
        return fail("%s is no transport; there are user:N, unix:PATH, tcp:ADDRESS:PORT and uart:DEVICE@BAUD", name);
    }
    if (t->fd < 0) return -1;
    fcntl(t->fd, F_SETFL, fcntl(t->fd, F_GETFL) | O_NONBLOCK);
    return 0;
}

void transport_close(transport *t) {
    if (t->fd >= 0) close(t->fd);
    free(t->waiting);
    memset(t, 0, sizeof *t);
    t->fd = -1;
}

/* ----------------------------------------------------------------- Sending */

/* What may wait for a controller that takes nothing: the engine's credits allow far less. */
enum { waiting_limit = 1 << 20 };

/* Packets for the kernel have their length before them, as each is one write. */
static int keep(transport *t, const uint8_t *bytes, size_t length, size_t whole) {
    size_t head = t->keeps_packets ? sizeof whole : 0;
    size_t needed = t->waiting_length + head + length;
    if (needed > waiting_limit) return -1;
    if (needed > t->waiting_capacity) {
        size_t capacity = needed + 4096;
        uint8_t *larger = realloc(t->waiting, capacity);
        if (!larger) return -1;
        t->waiting = larger;
        t->waiting_capacity = capacity;
    }
    if (head) memcpy(t->waiting + t->waiting_length, &whole, head);
    memcpy(t->waiting + t->waiting_length + head, bytes, length);
    t->waiting_length = needed;
    return 0;
}

static ssize_t put(transport *t, const uint8_t *bytes, size_t length) {
    ssize_t sent;
    do sent = t->keeps_packets ? write(t->fd, bytes, length) : send(t->fd, bytes, length, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno == ENOTSOCK)   /* a serial line */
        do sent = write(t->fd, bytes, length);
        while (sent < 0 && errno == EINTR);
    if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? 0 : -1;
    return sent;
}

int transport_send(transport *t, const uint8_t *packet, size_t length) {
    if (t->fd < 0) return -1;
    ssize_t sent = t->waiting_length ? 0 : put(t, packet, length);
    if (sent < 0) return -1;
    return (size_t)sent == length ? 0 : keep(t, packet + sent, length - (size_t)sent, length);
}

int transport_flush(transport *t) {
    size_t done = 0;
    while (done < t->waiting_length) {
        size_t head = 0, length = t->waiting_length - done;
        if (t->keeps_packets) {
            head = sizeof length;
            memcpy(&length, t->waiting + done, head);
        }
        ssize_t sent = put(t, t->waiting + done + head, length);
        if (sent < 0) return -1;
        if (sent == 0) break;
        done += head + (size_t)sent;
    }
    if (done) memmove(t->waiting, t->waiting + done, t->waiting_length -= done);
    return 0;
}
