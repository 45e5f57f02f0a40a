#include "CUSB.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int cusb_open_device_events(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    if (descriptor < 0) return -errno;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = 1};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        int code = errno;
        close(descriptor);
        return -code;
    }
    return descriptor;
}

// Whoever builds without libusb's header gets a program that says so when a USB device is to be opened.
#if __has_include(<libusb-1.0/libusb.h>)
#include <libusb-1.0/libusb.h>

// The value of LIBUSB_OPTION_NO_DEVICE_DISCOVERY in every version; earlier ones call it otherwise.
#define NO_DEVICE_DISCOVERY 2

static struct {
    __typeof__(&libusb_init) init;
    __typeof__(&libusb_exit) exit;
    __typeof__(&libusb_set_option) set_option;
    __typeof__(&libusb_wrap_sys_device) wrap_sys_device;
    __typeof__(&libusb_close) close;
    __typeof__(&libusb_error_name) error_name;
    __typeof__(&libusb_kernel_driver_active) kernel_driver_active;
    __typeof__(&libusb_detach_kernel_driver) detach_kernel_driver;
    __typeof__(&libusb_attach_kernel_driver) attach_kernel_driver;
    __typeof__(&libusb_get_configuration) get_configuration;
    __typeof__(&libusb_set_configuration) set_configuration;
    __typeof__(&libusb_claim_interface) claim_interface;
    __typeof__(&libusb_release_interface) release_interface;
    __typeof__(&libusb_reset_device) reset_device;
    __typeof__(&libusb_get_pollfds) get_pollfds;
    __typeof__(&libusb_free_pollfds) free_pollfds;
    __typeof__(&libusb_set_pollfd_notifiers) set_pollfd_notifiers;
    __typeof__(&libusb_handle_events_timeout_completed) handle_events_timeout_completed;
    __typeof__(&libusb_get_next_timeout) get_next_timeout;
    __typeof__(&libusb_pollfds_handle_timeouts) pollfds_handle_timeouts;
    __typeof__(&libusb_alloc_transfer) alloc_transfer;
    __typeof__(&libusb_free_transfer) free_transfer;
    __typeof__(&libusb_submit_transfer) submit_transfer;
    __typeof__(&libusb_cancel_transfer) cancel_transfer;
} usb;

static const char *problem;

static void load(void) {
    void *library = dlopen("libusb-1.0.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        problem = strdup(dlerror());
        return;
    }
    const struct {
        void *function;
        const char *name;
    } functions[] = {
#define FUNCTION(name) {&usb.name, "libusb_" #name}
        FUNCTION(init), FUNCTION(exit), FUNCTION(set_option), FUNCTION(wrap_sys_device), FUNCTION(close),
        FUNCTION(error_name), FUNCTION(kernel_driver_active), FUNCTION(detach_kernel_driver),
        FUNCTION(attach_kernel_driver), FUNCTION(get_configuration), FUNCTION(set_configuration),
        FUNCTION(claim_interface), FUNCTION(release_interface), FUNCTION(reset_device), FUNCTION(get_pollfds),
        FUNCTION(free_pollfds), FUNCTION(set_pollfd_notifiers), FUNCTION(handle_events_timeout_completed),
        FUNCTION(get_next_timeout), FUNCTION(pollfds_handle_timeouts), FUNCTION(alloc_transfer),
        FUNCTION(free_transfer), FUNCTION(submit_transfer), FUNCTION(cancel_transfer),
#undef FUNCTION
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found) {
            problem = strdup(dlerror());
            return;
        }
        memcpy(functions[i].function, &found, sizeof found);
    }
    // Without a search for devices there is no thread that waits for them. It concerns contexts that are made from now on.
    usb.set_option(NULL, NO_DEVICE_DISCOVERY);
}

const char *cusb_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return problem;
}

struct cusb_device {
    libusb_context *context;
    libusb_device_handle *handle;
};

struct cusb_transfer {
    struct libusb_transfer *transfer;
    size_t capacity;
    cusb_completion completed;
    void *user;
};

const char *cusb_error_name(int error) { return usb.error_name(error); }

int cusb_open(int descriptor, cusb_device **device) {
    cusb_device *made = calloc(1, sizeof *made);
    if (!made) return LIBUSB_ERROR_NO_MEM;
    int result = usb.init(&made->context);
    if (result == 0) {
        result = usb.wrap_sys_device(made->context, (intptr_t)descriptor, &made->handle);
        if (result == 0) {
            *device = made;
            return 0;
        }
        usb.exit(made->context);
    }
    free(made);
    return result;
}

void cusb_close(cusb_device *device) {
    usb.set_pollfd_notifiers(device->context, NULL, NULL, NULL);
    usb.close(device->handle);
    usb.exit(device->context);
    free(device);
}

int cusb_kernel_driver_active(cusb_device *device, int interface) {
    return usb.kernel_driver_active(device->handle, interface);
}
int cusb_detach_kernel_driver(cusb_device *device, int interface) {
    return usb.detach_kernel_driver(device->handle, interface);
}
int cusb_attach_kernel_driver(cusb_device *device, int interface) {
    return usb.attach_kernel_driver(device->handle, interface);
}
int cusb_configuration(cusb_device *device, int *value) { return usb.get_configuration(device->handle, value); }
int cusb_set_configuration(cusb_device *device, int value) { return usb.set_configuration(device->handle, value); }
int cusb_claim(cusb_device *device, int interface) { return usb.claim_interface(device->handle, interface); }
int cusb_release(cusb_device *device, int interface) { return usb.release_interface(device->handle, interface); }
int cusb_reset(cusb_device *device) { return usb.reset_device(device->handle); }

int cusb_watch(cusb_device *device, cusb_watch_added added, cusb_watch_removed removed, void *user) {
    const struct libusb_pollfd **watched = usb.get_pollfds(device->context);
    if (!watched) return LIBUSB_ERROR_NO_MEM;
    usb.set_pollfd_notifiers(device->context, added, removed, user);
    for (size_t i = 0; watched[i]; i++) added(watched[i]->fd, watched[i]->events, user);
    usb.free_pollfds(watched);
    return 0;
}

int cusb_handle_events(cusb_device *device, int wait_milliseconds) {
    struct timeval time = {.tv_sec = wait_milliseconds / 1000, .tv_usec = wait_milliseconds % 1000 * 1000};
    return usb.handle_events_timeout_completed(device->context, &time, NULL);
}

int64_t cusb_next_timeout_microseconds(cusb_device *device) {
    struct timeval time;
    // libusb has a timer among its descriptors where the kernel has one.
    if (usb.pollfds_handle_timeouts(device->context) || usb.get_next_timeout(device->context, &time) != 1) return -1;
    return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

static void LIBUSB_CALL completed(struct libusb_transfer *transfer) {
    cusb_transfer *ours = transfer->user_data;
    ours->completed(ours, ours->user);
}

cusb_transfer *cusb_transfer_create(cusb_device *device, int kind, uint8_t endpoint, size_t capacity,
                                    unsigned timeout_milliseconds, cusb_completion completion, void *user) {
    cusb_transfer *made = calloc(1, sizeof *made);
    struct libusb_transfer *transfer = usb.alloc_transfer(0);
    uint8_t *buffer = calloc(1, capacity ? capacity : 1);
    if (!made || !transfer || !buffer) {
        free(made);
        if (transfer) usb.free_transfer(transfer);
        free(buffer);
        return NULL;
    }
    *made = (cusb_transfer){.transfer = transfer, .capacity = capacity, .completed = completion, .user = user};
    static const unsigned char types[] = {
        [CUSB_CONTROL] = LIBUSB_TRANSFER_TYPE_CONTROL,
        [CUSB_BULK] = LIBUSB_TRANSFER_TYPE_BULK,
        [CUSB_INTERRUPT] = LIBUSB_TRANSFER_TYPE_INTERRUPT,
    };
    transfer->dev_handle = device->handle;
    transfer->type = types[kind];
    transfer->endpoint = endpoint;
    transfer->timeout = timeout_milliseconds;
    transfer->buffer = buffer;
    transfer->user_data = made;
    transfer->callback = completed;
    return made;
}

void cusb_transfer_destroy(cusb_transfer *transfer) {
    free(transfer->transfer->buffer);
    usb.free_transfer(transfer->transfer);
    free(transfer);
}

uint8_t *cusb_transfer_data(cusb_transfer *transfer) { return transfer->transfer->buffer; }

int cusb_transfer_submit(cusb_transfer *transfer, size_t length) {
    if (length > transfer->capacity) return LIBUSB_ERROR_INVALID_PARAM;
    transfer->transfer->length = (int)length;
    return usb.submit_transfer(transfer->transfer);
}

int cusb_transfer_cancel(cusb_transfer *transfer) { return usb.cancel_transfer(transfer->transfer); }

int cusb_transfer_status(const cusb_transfer *transfer) {
    switch (transfer->transfer->status) {
    case LIBUSB_TRANSFER_COMPLETED: return CUSB_COMPLETED;
    case LIBUSB_TRANSFER_TIMED_OUT: return CUSB_TIMED_OUT;
    case LIBUSB_TRANSFER_CANCELLED: return CUSB_CANCELLED;
    case LIBUSB_TRANSFER_STALL: return CUSB_STALLED;
    case LIBUSB_TRANSFER_NO_DEVICE: return CUSB_NO_DEVICE;
    case LIBUSB_TRANSFER_OVERFLOW: return CUSB_OVERFLOW;
    default: return CUSB_FAILED;
    }
}

size_t cusb_transfer_length(const cusb_transfer *transfer) {
    int length = transfer->transfer->actual_length;
    return length < 0 ? 0 : (size_t)length > transfer->capacity ? transfer->capacity : (size_t)length;
}

#else

const char *cusb_load(void) { return "this program was built without libusb's header (libusb-1.0-0-dev)"; }
const char *cusb_error_name(int error) { return "LIBUSB_ERROR_NOT_SUPPORTED"; }
int cusb_open(int descriptor, cusb_device **device) { return -12; }
void cusb_close(cusb_device *device) {}
int cusb_kernel_driver_active(cusb_device *device, int interface) { return -12; }
int cusb_detach_kernel_driver(cusb_device *device, int interface) { return -12; }
int cusb_attach_kernel_driver(cusb_device *device, int interface) { return -12; }
int cusb_configuration(cusb_device *device, int *value) { return -12; }
int cusb_set_configuration(cusb_device *device, int value) { return -12; }
int cusb_claim(cusb_device *device, int interface) { return -12; }
int cusb_release(cusb_device *device, int interface) { return -12; }
int cusb_reset(cusb_device *device) { return -12; }
int cusb_watch(cusb_device *device, cusb_watch_added added, cusb_watch_removed removed, void *user) { return -12; }
int cusb_handle_events(cusb_device *device, int wait_milliseconds) { return -12; }
int64_t cusb_next_timeout_microseconds(cusb_device *device) { return -1; }
cusb_transfer *cusb_transfer_create(cusb_device *device, int kind, uint8_t endpoint, size_t capacity,
                                    unsigned timeout_milliseconds, cusb_completion completed, void *user) {
    return NULL;
}
void cusb_transfer_destroy(cusb_transfer *transfer) {}
uint8_t *cusb_transfer_data(cusb_transfer *transfer) { return NULL; }
int cusb_transfer_submit(cusb_transfer *transfer, size_t length) { return -12; }
int cusb_transfer_cancel(cusb_transfer *transfer) { return -12; }
int cusb_transfer_status(const cusb_transfer *transfer) { return CUSB_FAILED; }
size_t cusb_transfer_length(const cusb_transfer *transfer) { return 0; }

#endif
