// libusb-1.0, loaded when it is first needed: a program that is linked with this starts where libusb is not installed.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Loads libusb. Returns NULL, or why it cannot be used. Call it before everything else here; from any thread.
const char *cusb_load(void);

// An open device with a context of libusb. All functions return 0 or one of libusb's negative numbers.
typedef struct cusb_device cusb_device;

enum { CUSB_ERROR_IO = -1, CUSB_ERROR_NO_DEVICE = -4, CUSB_ERROR_NOT_FOUND = -5, CUSB_ERROR_BUSY = -6, CUSB_ERROR_INTERRUPTED = -10 };

const char *cusb_error_name(int error);

// Wraps a descriptor of /dev/bus/usb, which stays the caller's and must outlive the device. libusb looks for no devices
// and starts no thread.
int cusb_open(int descriptor, cusb_device **device);
void cusb_close(cusb_device *device);

// 1: a kernel driver has the interface; 0: none.
int cusb_kernel_driver_active(cusb_device *device, int interface);
int cusb_detach_kernel_driver(cusb_device *device, int interface);
int cusb_attach_kernel_driver(cusb_device *device, int interface);
int cusb_configuration(cusb_device *device, int *value);
int cusb_set_configuration(cusb_device *device, int value);
int cusb_claim(cusb_device *device, int interface);
int cusb_release(cusb_device *device, int interface);
int cusb_reset(cusb_device *device);

// Descriptors to wait for, now and later; `events` as poll(2) has them.
typedef void (*cusb_watch_added)(int descriptor, short events, void *user);
typedef void (*cusb_watch_removed)(int descriptor, void *user);
int cusb_watch(cusb_device *device, cusb_watch_added added, cusb_watch_removed removed, void *user);
// Handles what is ready, and returns at once; or waits so long for something.
int cusb_handle_events(cusb_device *device, int wait_milliseconds);
// When to handle events even if no descriptor is ready; -1: never.
int64_t cusb_next_timeout_microseconds(cusb_device *device);

typedef struct cusb_transfer cusb_transfer;
typedef void (*cusb_completion)(cusb_transfer *transfer, void *user);

enum { CUSB_CONTROL, CUSB_BULK, CUSB_INTERRUPT };
enum {
    CUSB_COMPLETED, CUSB_FAILED, CUSB_TIMED_OUT, CUSB_CANCELLED, CUSB_STALLED, CUSB_NO_DEVICE, CUSB_OVERFLOW
};

// A transfer with a buffer. `completed` is called by cusb_handle_events, once for each that was submitted. NULL: no memory.
cusb_transfer *cusb_transfer_create(cusb_device *device, int kind, uint8_t endpoint, size_t capacity,
                                    unsigned timeout_milliseconds, cusb_completion completed, void *user);
// Must not be in flight.
void cusb_transfer_destroy(cusb_transfer *transfer);
uint8_t *cusb_transfer_data(cusb_transfer *transfer);
int cusb_transfer_submit(cusb_transfer *transfer, size_t length);
int cusb_transfer_cancel(cusb_transfer *transfer);
int cusb_transfer_status(const cusb_transfer *transfer);
// The octets that were transferred, at most the capacity.
size_t cusb_transfer_length(const cusb_transfer *transfer);

// A socket with what the kernel says of devices that come and go (its own messages, not udev's); negative: errno's.
int cusb_open_device_events(void);
