/*
 * libjelling: a Bluetooth LE host stack as a C library.
 *
 * The library is one engine for each controller. It does no I/O, has no threads, reads no clock and draws no random
 * numbers: packets, commands and time go in, packets and events come out. The same inputs give the same bytes on every
 * processor. `jelling-posix.h` has a loop for Linux around it.
 *
 *     jelling_config config = {.size = sizeof config, .device_name = "Gateway"};
 *     jelling_engine *engine;
 *     jelling_create(&config, &engine);
 *     jelling_transport_opened(engine, now);
 *     for (;;) {
 *         jelling_drain(engine, send_to_controller, NULL);
 *         const jelling_event *event;
 *         while (jelling_next_event(engine, &event) == JELLING_OK && event) handle(event);
 *         int64_t deadline;
 *         jelling_next_deadline(engine, &deadline);
 *         ... wait for a packet: jelling_receive(), or for the deadline: jelling_advance() ...
 *     }
 *
 * Rules for every function:
 *
 * Status. What a caller can get wrong ends with a `jelling_status` below zero, never with an abort: a null pointer, a
 * size or a number out of range, an engine that was destroyed, a call from within a callback of the same engine. Such a
 * call changes nothing. A command that was accepted (`JELLING_OK`) ends exactly once, with JELLING_EVENT_COMPLETED and
 * the number that it wrote to `operation`, which may be NULL. Links, operations, channels and requests have numbers that
 * are never given twice, so a number that is out of date leads to a failure and to nothing else.
 *
 * Time. `now` is in microseconds from a beginning that the caller chooses, on a clock that never goes back, such as
 * CLOCK_MONOTONIC. A moment before that of an earlier call counts as the moment of that call.
 *
 * Memory. The library copies what it is given: a pointer has to be valid during the call only. What it lends stays
 * valid as long as the function says. Texts are UTF-8; what is not is refused.
 *
 * Structures. Those that begin with `size` can grow: set it to `sizeof` and everything that you do not use to zero,
 * which means the default. Those without, which stand in arrays, do not change.
 *
 * Threads. An engine may be used from any thread, by one at a time; a second call meanwhile ends with
 * JELLING_ERROR_BUSY. Different engines are independent.
 */
#ifndef JELLING_H
#define JELLING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; `jelling_version()` is that of the library. */
#define JELLING_VERSION_MAJOR 0
#define JELLING_VERSION_MINOR 3

/* ------------------------------------------------------------------ Values */

/* An engine: made by `jelling_create`, valid until `jelling_destroy`. */
typedef struct jelling_engine jelling_engine;

/* What a call came to. */
typedef enum jelling_status {
    JELLING_OK = 0,
    /* A pointer is null, or a size, a number or a text is not what the function accepts. */
    JELLING_ERROR_ARGUMENT = -1,
    /* There is no such engine: it was destroyed, or never made. */
    JELLING_ERROR_ENGINE = -2,
    /* The engine is in use: the call came from one of its callbacks, or from another thread. */
    JELLING_ERROR_BUSY = -3,
    /* There are as many engines as there can be (JELLING_MAXIMUM_ENGINES). */
    JELLING_ERROR_LIMIT = -4,
    /* The byte stream is not H4: the transport has to be closed and opened again. */
    JELLING_ERROR_FRAMING = -5,
    /* This library was built without the feature. */
    JELLING_ERROR_UNSUPPORTED = -6
} jelling_status;

/* Engines at one time in one process. */
#define JELLING_MAXIMUM_ENGINES 16

/* A command under way; 0 is none. */
typedef uint64_t jelling_operation;

/* A link; 0 is none. A later link never has the number of an earlier one. */
typedef uint64_t jelling_link;

/* Octets of somebody's. */
typedef struct jelling_bytes {
    const uint8_t *data;
    size_t length;
} jelling_bytes;

/* A device address with its type, which never part. */
typedef struct jelling_address {
    /* Most significant first, as printed. */
    uint8_t octets[6];
    /* 0: public, 1: random. */
    uint8_t is_random;
    uint8_t reserved;
} jelling_address;

/* A UUID. Two are the same when their octets are, whatever their widths. */
typedef struct jelling_uuid {
    /* As printed: 0000180D-0000-1000-8000-00805F9B34FB begins with 00, 00, 18, 0D. */
    uint8_t octets[16];
    /* Its octets in a packet: 2, 4 or 16; 0 counts as the shortest form of it. */
    uint8_t width;
    uint8_t reserved[3];
} jelling_uuid;

/* Parameters of a link. */
typedef struct jelling_connection_parameters {
    /* In units of 1.25 ms, 6 to 3200. */
    uint16_t interval;
    /* Connection events that the peripheral may skip, 0 to 499. */
    uint16_t latency;
    /* In units of 10 ms, 10 to 3200. */
    uint16_t supervision_timeout;
    uint16_t reserved;
} jelling_connection_parameters;

/* Parameters that are asked for. */
typedef struct jelling_connection_request {
    /* In units of 1.25 ms, 6 to 3200. */
    uint16_t minimum_interval, maximum_interval;
    /* Connection events that the peripheral may skip, 0 to 499. */
    uint16_t latency;
    /* In units of 10 ms, 10 to 3200. */
    uint16_t supervision_timeout;
} jelling_connection_request;

/* ----------------------------------------------------------- Configuration */

/* The address that the engine uses. */
enum {
    /* Public where the controller has one, else `address`. */
    JELLING_ADDRESS_AUTOMATIC = 0,
    JELLING_ADDRESS_PUBLIC = 1,
    /* `address`, which is random. */
    JELLING_ADDRESS_RANDOM = 2,
    /* Resolvable private addresses that change; the identity is public, or else `address`. They need answers to
       questions, and `identity_resolving_key`. */
    JELLING_ADDRESS_RESOLVABLE = 3
};

/* `jelling_config.flags` */
enum {
    /* Somebody answers `jelling_next_question`: without it there is no pairing, no private address and no database
       hash. */
    JELLING_CONFIG_ANSWERS_QUESTIONS = 1 << 0,
    /* The controller is shared with another stack, as on a raw HCI socket. */
    JELLING_CONFIG_SHARED_CONTROLLER = 1 << 1,
    /* Use the controller's resolving list where it has one. */
    JELLING_CONFIG_CONTROLLER_RESOLVES = 1 << 2,
    /* Services without room in the advertisement go out as hashed bits under `overflow_company`. */
    JELLING_CONFIG_EMITS_OVERFLOW = 1 << 3,
    /* Pending connections take turns of `directed_turn_ms` instead of using the filter accept list. */
    JELLING_CONFIG_DIRECTED_TURNS = 1 << 4,
    /* The radio's timing is that of an iPhone, not that of a gateway. */
    JELLING_CONFIG_TIMING_OF_IOS = 1 << 5,
    /* Enhanced attribute bearers on encrypted links: those that peers open, and `opened_bearers` that this side opens. */
    JELLING_CONFIG_ENHANCED_BEARERS = 1 << 6,
    /* Links may use a share of their connection events: `jelling_set_subrate`, and what peers ask for. */
    JELLING_CONFIG_SUBRATING = 1 << 7,
    /* The Generic Access service has Central Address Resolution: this device, as a central, resolves private addresses in
       directed advertising, so that bonded peripherals may direct theirs to a private address of it. The handles behind
       that service are others then. */
    JELLING_CONFIG_ADDRESS_RESOLUTION = 1 << 8
};

/* What this device can show and its user can enter. */
enum {
    JELLING_IO_NONE = 0,
    JELLING_IO_DISPLAY = 1,
    JELLING_IO_YES_NO = 2,
    JELLING_IO_KEYBOARD = 3,
    JELLING_IO_KEYBOARD_DISPLAY = 4
};

/* `jelling_pairing_options.flags` */
enum {
    /* The keys are for this link only. */
    JELLING_PAIRING_WITHOUT_BOND = 1 << 0,
    /* Fail where there is no protection against a man in the middle. */
    JELLING_PAIRING_REQUIRES_AUTHENTICATION = 1 << 1,
    /* Ask for that protection, but go on without. */
    JELLING_PAIRING_PREFERS_AUTHENTICATION = 1 << 2,
    /* Do not offer LE Secure Connections. */
    JELLING_PAIRING_LEGACY_ONLY = 1 << 3,
    /* Refuse a peer that only knows legacy pairing. */
    JELLING_PAIRING_REQUIRES_SECURE_CONNECTIONS = 1 << 4,
    /* Use `passkey` instead of a random one, and enter it without a question. */
    JELLING_PAIRING_HAS_PASSKEY = 1 << 5,
    /* Ask before a pairing that the peer began (JELLING_QUESTION_CONSENT). */
    JELLING_PAIRING_ASKS_CONSENT = 1 << 6,
    /* A bond may be replaced though its key has not encrypted the link: for a device that has lost its half. */
    JELLING_PAIRING_REPLACES_BOND = 1 << 7,
    /* Accept the debug key, whose private half everybody knows: for tests only. */
    JELLING_PAIRING_ACCEPTS_DEBUG_KEYS = 1 << 8,
    /* The keys to distribute are those of `initiator_keys` and `responder_keys`, also when these are 0. */
    JELLING_PAIRING_HAS_KEYS = 1 << 9
};

/* What this device can do in pairing, and what it demands. */
typedef struct jelling_pairing_options {
    uint32_t size;
    uint32_t flags;
    uint32_t io_capability;
    /* 0 to 999999. */
    uint32_t passkey;
    /* Octets, 7 to 16; 0: 16. */
    uint8_t minimum_key_size, maximum_key_size;
    /* Bits: 1 encryption, 2 identity, 4 signing; all by default. */
    uint8_t initiator_keys, responder_keys;
    uint32_t reserved;
} jelling_pairing_options;

/* `jelling_security_settings.flags` */
enum {
    /* An operation that the peer refuses because the link is not secure does not pair automatically. */
    JELLING_SECURITY_NO_PAIRING_ON_DEMAND = 1 << 0,
    /* A link to a bonded peripheral is not encrypted at once. */
    JELLING_SECURITY_NO_ENCRYPTION_AT_CONNECTION = 1 << 1,
    /* A central that connects is asked for security at once. */
    JELLING_SECURITY_REQUESTS = 1 << 2,
    /* Centrals cannot pair. */
    JELLING_SECURITY_REFUSES_PAIRING = 1 << 3,
    /* Security Requests of peripherals are ignored. */
    JELLING_SECURITY_IGNORES_REQUESTS = 1 << 4
};

/* How links are made secure. */
typedef struct jelling_security_settings {
    uint32_t size;
    uint32_t flags;
    /* NULL: the defaults. */
    const jelling_pairing_options *pairing;
    /* 16 octets, most significant first, as secret as a bond; NULL: bonded peers do not receive our identity. */
    const uint8_t *identity_resolving_key;
} jelling_security_settings;

/* How the central answers a peripheral that asks for other connection parameters. */
enum {
    /* Accept all that the specification allows. */
    JELLING_PARAMETERS_ACCEPT = 0,
    /* Reject every request. */
    JELLING_PARAMETERS_REJECT = 1,
    /* Accept the part of a request that lies in the bounds; reject one without such a part. */
    JELLING_PARAMETERS_WITHIN = 2
};

typedef struct jelling_parameter_policy {
    uint32_t size;
    /* JELLING_PARAMETERS_…; the bounds count with JELLING_PARAMETERS_WITHIN only. */
    uint32_t kind;
    /* In units of 1.25 ms, 6 to 3200. */
    uint16_t minimum_interval, maximum_interval;
    /* The most connection events that the peripheral may skip, 0 to 499. */
    uint16_t maximum_latency;
    /* In units of 10 ms, 10 to 3200; both 0: every one. */
    uint16_t minimum_supervision_timeout, maximum_supervision_timeout;
    uint16_t reserved;
} jelling_parameter_policy;

/* What was learned about a controller by its behaviour: the traits that it has, and those of its family that it has
   not. */
typedef struct jelling_experience {
    uint64_t found, refuted;
} jelling_experience;

/* The configuration of an engine. Zero is the default of each number. */
typedef struct jelling_config {
    uint32_t size;
    uint32_t flags;
    /* The name in the Generic Access service, at most 248 octets; NULL: "Jelling". */
    const char *device_name;
    /* NULL: the defaults. */
    const jelling_security_settings *security;
    uint32_t own_address;
    jelling_address address;
    /* Scans in the foreground and in the background, in units of 0.625 ms. */
    uint16_t scan_interval, scan_window, background_scan_interval, background_scan_window;
    /* What is asked for when a link is made, unless `jelling_connect_request` says otherwise; all or none. */
    jelling_connection_request connection;
    /* ATT_MTU that is offered, 23 to 517. */
    uint16_t att_mtu;
    /* The first octet of the advertising flags. */
    uint8_t advertising_flags;
    uint8_t reserved;
    uint16_t overflow_company;
    uint16_t reserved2;
    uint32_t directed_turn_ms;
    /* How long a private address is used. */
    uint32_t private_address_seconds;
    /* Limits for what remote devices can make grow. */
    uint32_t links, scanned_devices, scanned_device_seconds, pending_connections, bonds, unasked_bonds,
        reassembled_octets, parked_packets;
    /* Enhanced attribute bearers that this side opens on each link, 0 to 5; with JELLING_CONFIG_ENHANCED_BEARERS. */
    uint32_t opened_bearers;
    /* For links for which `jelling_connect_request` names no other; NULL: JELLING_PARAMETERS_ACCEPT. */
    const jelling_parameter_policy *parameter_policy;
    /* The controller's identity on USB: idVendor, idProduct and bcdDevice; all 0: not known. */
    uint16_t usb_vendor, usb_product, usb_release;
    uint16_t reserved3;
    /* What JELLING_EVENT_CONTROLLER_LEARNED reported for this device. */
    jelling_experience experience;
} jelling_config;

/* --------------------------------------------------------------- Lifecycle */

/* The library's version: major << 16 | minor << 8 | patch. Any thread, any time. */
uint32_t jelling_version(void);

/*
 * Makes an engine. It does nothing before `jelling_transport_opened`.
 * `config` may be NULL: all defaults. Writes `*engine`, which the caller destroys with `jelling_destroy`.
 * JELLING_ERROR_UNSUPPORTED: JELLING_CONFIG_ENHANCED_BEARERS, in a library that was built without them.
 */
jelling_status jelling_create(const jelling_config *config, jelling_engine **engine);

/*
 * Destroys an engine, and ends what it has lent. Open operations do not end any more.
 * JELLING_ERROR_BUSY from within its own callback: then nothing happened.
 */
jelling_status jelling_destroy(jelling_engine *engine);

/* The transport can carry packets: the controller is started. */
jelling_status jelling_transport_opened(jelling_engine *engine, int64_t now);

/* The transport is gone: links, scans and pending connections end. */
jelling_status jelling_transport_closed(jelling_engine *engine, int64_t now);

/* One whole H4 packet from the controller, type octet first. A malformed packet is counted and changes nothing. */
jelling_status jelling_receive(jelling_engine *engine, const uint8_t *packet, size_t length, int64_t now);

/*
 * The next octets of an H4 byte stream, cut anywhere.
 * JELLING_ERROR_FRAMING once the stream is no H4; a new stream begins with `jelling_transport_opened`.
 */
jelling_status jelling_receive_stream(jelling_engine *engine, const uint8_t *bytes, size_t length, int64_t now);

/* Time has passed: timers that are due are served. */
jelling_status jelling_advance(jelling_engine *engine, int64_t now);

/* The moment at which `jelling_advance` must be called, if nothing comes before; -1 if there is none. */
jelling_status jelling_next_deadline(jelling_engine *engine, int64_t *deadline);

/*
 * Gives each packet for the controller to `send`, in order, and forgets them. The bytes are lent during the call of
 * `send` only. Calls for the same engine from within `send` end with JELLING_ERROR_BUSY.
 */
typedef void (*jelling_send)(void *context, const uint8_t *packet, size_t length);
jelling_status jelling_drain(jelling_engine *engine, jelling_send send, void *context);

/* The client that the following commands belong to, 0 at first. Each client has its own links and subscriptions. */
jelling_status jelling_set_client(jelling_engine *engine, uint32_t client);

/* 1 once the controller can be used, else 0. */
jelling_status jelling_is_ready(jelling_engine *engine, uint32_t *is_ready);

/* ---------------------------------------------------- Scanning, connecting */

/* `jelling_scan_request.flags` */
enum {
    /* Do not ask for scan responses. */
    JELLING_SCAN_PASSIVE = 1 << 0,
    /* Report every packet instead of every change. */
    JELLING_SCAN_DUPLICATES = 1 << 1,
    /* The lower duty cycle is enough. */
    JELLING_SCAN_BACKGROUND = 1 << 2,
    /* Also on the coded PHY, where the controller has it. */
    JELLING_SCAN_CODED = 1 << 3,
    /* Also what is directed to a private address that the controller could not resolve, if the controller reports it. */
    JELLING_SCAN_UNRESOLVED_TARGETS = 1 << 4
};

/* Which devices to report. */
typedef struct jelling_scan_request {
    uint32_t size;
    uint32_t flags;
    /* Only devices that advertise one of these; NULL: all. */
    const jelling_uuid *services;
    size_t service_count;
    /* Also devices that solicit one of these. */
    const jelling_uuid *solicited_services;
    size_t solicited_service_count;
    /* Only devices of this name; NULL: all. */
    const char *name;
    /* Only this device; NULL: all. */
    const jelling_address *address;
    /* Only packets of at least this strength, in dBm; 0: all. */
    int32_t minimum_rssi;
    uint32_t reserved;
    /*
     * Only these devices, at most 255; NULL: all. While all clients name theirs, the controller reports no others if its
     * filter accept list has room, so that they wake no program.
     */
    const jelling_address *accept_list;
    size_t accept_count;
} jelling_scan_request;

/* Scans until `jelling_cancel`; JELLING_EVENT_DISCOVERED carries the operation. `request` may be NULL: everything. */
jelling_status jelling_scan(
    jelling_engine *engine, const jelling_scan_request *request, int64_t now, jelling_operation *operation);

/* Changes the flags, services or minimum strength of a scan; devices that were reported are not reported again. */
jelling_status jelling_change_scan(
    jelling_engine *engine, jelling_operation scan, const jelling_scan_request *request, int64_t now,
    jelling_operation *operation);

/* Connection parameters that follow what runs on a link: the central asks for them. */
typedef struct jelling_pace {
    uint32_t size;
    /* How long little must be sent before the link counts as idle, in milliseconds; 0: 5 s. */
    uint32_t idle_ms;
    /* While much is sent, and at the beginning; and while the link is idle. */
    jelling_connection_request busy, idle;
} jelling_pace;

/* Whom to connect to. */
typedef struct jelling_connect_request {
    uint32_t size;
    /* How often a link that could not be established is tried again at once; 0: five times. */
    uint32_t retries;
    /* The device; its identity where that is known. */
    jelling_address peer;
    /* NULL: as configured. */
    const jelling_connection_request *parameters;
    /* NULL: the parameters stay until somebody asks for others. */
    const jelling_pace *pace;
    /* PHYs on which the device is searched and the link may begin: bits 1 for 1M, 2 for 2M, 4 for coded; 0: 1M. */
    uint8_t phys;
    /* Enhanced attribute bearers that this side opens on the link, 1 to 5, with JELLING_CONFIG_ENHANCED_BEARERS; 0:
       `opened_bearers` of the configuration. */
    uint8_t enhanced_bearers;
    uint8_t reserved[6];
    /* NULL: as configured. */
    const jelling_parameter_policy *parameter_policy;
} jelling_connect_request;

/*
 * Waits for the device without a time limit, and connects. Ends with JELLING_RESULT_CONNECTED. A link is usable after
 * JELLING_EVENT_CONNECTED, which comes before.
 */
jelling_status jelling_connect(
    jelling_engine *engine, const jelling_connect_request *request, int64_t now, jelling_operation *operation);

/* Releases a link; it is disconnected when its last client has released it. */
jelling_status jelling_disconnect(
    jelling_engine *engine, jelling_link link, int64_t now, jelling_operation *operation);

/* Ends an operation that has not ended yet: it fails with JELLING_FAILURE_CANCELLED. */
jelling_status jelling_cancel(
    jelling_engine *engine, jelling_operation target, int64_t now, jelling_operation *operation);

/* Keeps links and trains off channels, such as those of a nearby Wi-Fi network: bit 0 is channel 0, and bits 0 to 36 that
   are set may be used, two at least. In force until it is called again. Ends with JELLING_RESULT_DONE. */
jelling_status jelling_classify_channels(
    jelling_engine *engine, uint64_t channels, int64_t now, jelling_operation *operation);

/* Stops everything, ends all links, then reports JELLING_EVENT_STOPPED. Afterwards only calls that need no controller
   are accepted: those of the database and of bonds. That lasts until the transport is closed. Without a transport, or
   while it is being reopened, the engine does not stay stopped: it is as before its first transport, accepts requests,
   and carries them out when jelling_transport_opened starts the controller. */
jelling_status jelling_stop(jelling_engine *engine, int64_t now, jelling_operation *operation);

/* Any HCI command with at most 255 octets of parameters. Ends with JELLING_RESULT_HCI. */
jelling_status jelling_hci_command(
    jelling_engine *engine, uint16_t opcode, const uint8_t *parameters, size_t length, int64_t now,
    jelling_operation *operation);

/* ------------------------------------------------------------- Advertising */

/* `jelling_advertise_request.flags` */
enum {
    JELLING_ADVERTISE_NOT_CONNECTABLE = 1 << 0,
    /* No name, and services only in the overflow area. */
    JELLING_ADVERTISE_BACKGROUND = 1 << 1,
    /* The request ends when a central has connected. */
    JELLING_ADVERTISE_ONCE = 1 << 2,
    /* `advertisement` and `scan_response` go out as they are; name and services are ignored. */
    JELLING_ADVERTISE_RAW = 1 << 3
};

/* How one device is called by directed advertising. */
enum {
    JELLING_TARGET_LOW_DUTY_CYCLE = 0,
    JELLING_TARGET_HIGH_DUTY_CYCLE = 1,
    JELLING_TARGET_EXTENDED = 2
};

/* What to advertise. */
typedef struct jelling_advertise_request {
    uint32_t size;
    uint32_t flags;
    const char *name;
    const jelling_uuid *services;
    size_t service_count;
    /* At most 31 octets each; with JELLING_ADVERTISE_RAW. */
    jelling_bytes advertisement, scan_response;
    /* In units of 0.625 ms, 0x0020 to 0x4000; 0: as configured. */
    uint16_t interval;
    uint16_t reserved;
    /* JELLING_TARGET_…, where `target` is not NULL. */
    uint32_t target_form;
    /* The one device that is called; NULL: everybody. */
    const jelling_address *target;
} jelling_advertise_request;

/* Advertises until it is cancelled, with extended commands where the controller has them. NULL: only the flags. */
jelling_status jelling_advertise(
    jelling_engine *engine, const jelling_advertise_request *request, int64_t now, jelling_operation *operation);

/* Changes what is advertised. */
jelling_status jelling_change_advertising(
    jelling_engine *engine, jelling_operation advertising, const jelling_advertise_request *request, int64_t now,
    jelling_operation *operation);

/* An advertisement and its scan response, as they go on the air. */
typedef struct jelling_packed_advertisement {
    uint32_t size;
    uint8_t advertisement_length, scan_response_length;
    uint8_t advertisement[31], scan_response[31];
} jelling_packed_advertisement;

/* What a request of this engine would say, if it is the only one. Fills `packed`, whose `size` the caller has set. */
jelling_status jelling_pack_advertisement(
    jelling_engine *engine, const jelling_advertise_request *request, jelling_packed_advertisement *packed);

/* --------------------------------------- Advertising sets, periodic trains */

/* These need a library that was built with them (`Tools/cross --features extended`); in others they are refused with
   JELLING_ERROR_UNSUPPORTED. */

/* Numbers of PHYs in sets, trains and events: 1 for 1M, 2 for 2M, 3 for coded. */

/* `jelling_train.flags` */
enum {
    /* The packets say when their data are new, as far as the controller can. */
    JELLING_TRAIN_DATA_INFORMATION = 1 << 0,
    /* The packets state the power. */
    JELLING_TRAIN_POWER = 1 << 1
};

/* Data that a set sends at exact times, which others follow without scanning. */
typedef struct jelling_train {
    uint32_t size;
    uint32_t flags;
    /* At most 1650 octets. */
    jelling_bytes data;
    /* In units of 1.25 ms, 6 to 65535; 0: 100 ms. */
    uint16_t interval;
    /* Subevents in an interval, 1 to 128, each with data of `jelling_send_subevents` in place of `data`; 0: none. And the
       time from one to the next, in units of 1.25 ms, 6 to 255; 0: 7.5 ms. */
    uint8_t subevent_count, subevent_interval;
    /* Slots in which receivers respond after each subevent: from its beginning to the first slot, in units of 1.25 ms,
       from one slot to the next, in units of 0.125 ms, and their number; all or none. */
    uint8_t response_slot_delay, response_slot_spacing, response_slot_count;
    uint8_t reserved;
} jelling_train;

/* `jelling_set_request.flags` */
enum {
    /* Packets that every scanner receives, of at most 31 octets, on 1M only. */
    JELLING_SET_LEGACY = 1 << 0,
    JELLING_SET_CONNECTABLE = 1 << 1,
    /* Scanners may ask for the scan response. With extended packets then without `data`, and not connectable. */
    JELLING_SET_SCANNABLE = 1 << 2,
    /* Extended packets without the address, neither connectable nor scannable. */
    JELLING_SET_ANONYMOUS = 1 << 3,
    /* Extended packets state the power. */
    JELLING_SET_POWER = 1 << 4,
    /* The request ends when a central has connected. */
    JELLING_SET_ONCE = 1 << 5,
    /* `identifier` and `power` are wishes, also when they are 0. */
    JELLING_SET_HAS_IDENTIFIER = 1 << 6,
    JELLING_SET_HAS_POWER = 1 << 7
};

/* An advertising set, beside the other sets and what `jelling_advertise` sends. */
typedef struct jelling_set_request {
    uint32_t size;
    uint32_t flags;
    /* At most 1650 octets each; 31 with JELLING_SET_LEGACY. */
    jelling_bytes data, scan_response;
    /* A random address for this set only; NULL: that of this device. */
    const jelling_address *address;
    /* NULL: none. Not for a set that is connectable, scannable, anonymous or legacy. */
    const jelling_train *train;
    /* In units of 0.625 ms, 0x20 to 0xFFFFFF, legacy to 0x4000; 0: 100 ms. */
    uint32_t interval;
    /* In milliseconds, 10 to 655350; 0: until it is cancelled. */
    uint32_t duration;
    /* 1 or 3, and 1 to 3; 0: 1M. */
    uint8_t primary_phy, secondary_phy;
    /* The Advertising SID, 0 to 15, with JELLING_SET_HAS_IDENTIFIER; otherwise the engine chooses. */
    uint8_t identifier;
    /* In dBm, at most 20, with JELLING_SET_HAS_POWER; otherwise the controller chooses. */
    int8_t power;
    /* Advertising events that are sent; 0: no limit. */
    uint8_t maximum_events;
    uint8_t reserved[3];
} jelling_set_request;

/*
 * Advertises a set until it is cancelled, its duration is over or, with JELLING_SET_ONCE, a central has connected.
 * Events: JELLING_EVENT_SET_STARTED, JELLING_EVENT_SET_STOPPED, JELLING_EVENT_SET_CONNECTED. Fails with
 * JELLING_FAILURE_LIMIT_REACHED where the controller has no set left, and with JELLING_FAILURE_INVALID_REQUEST (7) where
 * the request contradicts itself.
 */
jelling_status jelling_advertise_set(
    jelling_engine *engine, const jelling_set_request *request, int64_t now, jelling_operation *operation);

/* Changes a set; it goes on running if only data change, at most 251 octets each. */
jelling_status jelling_change_set(
    jelling_engine *engine, jelling_operation set, const jelling_set_request *request, int64_t now,
    jelling_operation *operation);

/* The data of one subevent of a train, which are sent once. */
typedef struct jelling_subevent_data {
    /* 0 to 127. */
    uint8_t subevent;
    /* The slots in which receivers may respond to it. */
    uint8_t first_response_slot, response_slot_count;
    uint8_t reserved[5];
    /* At most 249 octets. */
    jelling_bytes data;
} jelling_subevent_data;

/* Gives the train of a set the data that JELLING_EVENT_SUBEVENTS_REQUESTED asks for: of 1 to 15 subevents, at most 253
   octets together, where each has 4 besides its data. Trains with subevents need a library that was built with them
   (`Tools/cross --features responses`); in others, requests that name subevents are wrong arguments. */
jelling_status jelling_send_subevents(
    jelling_engine *engine, jelling_operation set, const jelling_subevent_data *subevents, size_t count, int64_t now,
    jelling_operation *operation);

/* A train of another device, as a scan reports it. */
typedef struct jelling_train_source {
    jelling_address address;
    /* 0 to 15. */
    uint8_t identifier;
    uint8_t reserved[3];
} jelling_train_source;

/* `jelling_train_request.flags` */
enum {
    /* Look for it on the coded PHY, too. */
    JELLING_FOLLOW_CODED = 1 << 0,
    /* The request ends with the loss of the train; otherwise the engine searches it again. */
    JELLING_FOLLOW_ONCE = 1 << 1,
    /* Equal data are reported once, as far as the train and the controller allow it. */
    JELLING_FOLLOW_CHANGES = 1 << 2
};

/* Which train to follow, and how. */
typedef struct jelling_train_request {
    uint32_t size;
    uint32_t flags;
    /* Of several, the first that is found. */
    const jelling_train_source *sources;
    size_t source_count;
    /* Packets that may be skipped after each received one, 0 to 499. */
    uint16_t skip;
    /* After how long without a packet it is lost, in units of 10 ms, 10 to 16384; 0: 10 s. */
    uint16_t timeout;
    uint32_t reserved;
    /* Of a train with subevents those to receive, 0 to 127, at most 128; NULL: all. */
    const uint8_t *subevents;
    size_t subevent_count;
} jelling_train_request;

/* Follows a train until it is cancelled. Events: JELLING_EVENT_TRAIN_FOUND, JELLING_EVENT_TRAIN_DATA,
   JELLING_EVENT_TRAIN_LOST. */
jelling_status jelling_follow_train(
    jelling_engine *engine, const jelling_train_request *request, int64_t now, jelling_operation *operation);

/* Follows the trains that the peer of a link passes on, until it is cancelled. `request` has no sources, or is NULL. */
jelling_status jelling_receive_trains(
    jelling_engine *engine, jelling_link link, const jelling_train_request *request, int64_t now,
    jelling_operation *operation);

/* A response in a train with subevents. */
typedef struct jelling_train_response {
    uint32_t size;
    /* `event` and `subevent` of the JELLING_EVENT_TRAIN_DATA to which it responds. */
    uint16_t event;
    uint8_t subevent;
    /* Where it is sent: a subevent and one of its slots, as the advertiser has given them to this device. */
    uint8_t response_subevent, slot;
    uint8_t reserved[7];
    /* At most 247 octets. */
    jelling_bytes data;
} jelling_train_response;

/* Responds in the train that the operation `train` follows. */
jelling_status jelling_respond_in_train(
    jelling_engine *engine, jelling_operation train, const jelling_train_response *response, int64_t now,
    jelling_operation *operation);

/* Tells the peer of a link how to follow the train that the operation `train` follows or sends. `service_data` goes to
   its host. */
jelling_status jelling_transfer_train(
    jelling_engine *engine, jelling_operation train, jelling_link link, uint16_t service_data, int64_t now,
    jelling_operation *operation);

/* ------------------------------------------------------------- GATT client */

/* Operations of a link are carried out in the order in which they were submitted. */

/* Agrees on the size of PDUs: `preferred` is 23 to 517, 0: as configured. Ends with JELLING_RESULT_MTU. */
jelling_status jelling_exchange_mtu(
    jelling_engine *engine, jelling_link link, uint16_t preferred, int64_t now, jelling_operation *operation);

/* Primary services: all where `count` is 0. Ends with JELLING_RESULT_SERVICES. */
jelling_status jelling_discover_services(
    jelling_engine *engine, jelling_link link, const jelling_uuid *uuids, size_t count, int64_t now,
    jelling_operation *operation);

/* Ends with JELLING_RESULT_SERVICES. */
jelling_status jelling_discover_secondary_services(
    jelling_engine *engine, jelling_link link, int64_t now, jelling_operation *operation);

/* What the service with these handles includes. Ends with JELLING_RESULT_INCLUDES. */
jelling_status jelling_discover_included_services(
    jelling_engine *engine, jelling_link link, uint16_t first, uint16_t last, int64_t now,
    jelling_operation *operation);

/* Characteristics of the service with these handles: all where `count` is 0. Ends with
   JELLING_RESULT_CHARACTERISTICS. */
jelling_status jelling_discover_characteristics(
    jelling_engine *engine, jelling_link link, uint16_t first, uint16_t last, const jelling_uuid *uuids, size_t count,
    int64_t now, jelling_operation *operation);

/* Descriptors between a characteristic's value and its end. Ends with JELLING_RESULT_DESCRIPTORS. */
jelling_status jelling_discover_descriptors(
    jelling_engine *engine, jelling_link link, uint16_t first, uint16_t last, int64_t now,
    jelling_operation *operation);

/* The whole value, however long. Ends with JELLING_RESULT_VALUE. */
jelling_status jelling_read(
    jelling_engine *engine, jelling_link link, uint16_t handle, int64_t now, jelling_operation *operation);

/* The value from `offset` on. Ends with JELLING_RESULT_VALUE. */
jelling_status jelling_read_long(
    jelling_engine *engine, jelling_link link, uint16_t handle, uint16_t offset, int64_t now,
    jelling_operation *operation);

/* The values of all attributes of a type. Ends with JELLING_RESULT_ATTRIBUTES. */
jelling_status jelling_read_by_uuid(
    jelling_engine *engine, jelling_link link, const jelling_uuid *uuid, uint16_t first, uint16_t last, int64_t now,
    jelling_operation *operation);

/* Two or more values of known lengths, one behind the other. Ends with JELLING_RESULT_VALUE. */
jelling_status jelling_read_multiple(
    jelling_engine *engine, jelling_link link, const uint16_t *handles, size_t count, int64_t now,
    jelling_operation *operation);

/* Two or more values of any length. Ends with JELLING_RESULT_VALUES. */
jelling_status jelling_read_multiple_variable(
    jelling_engine *engine, jelling_link link, const uint16_t *handles, size_t count, int64_t now,
    jelling_operation *operation);

/* Sets a value of at most 512 octets, by prepared writes where it is long. Ends with JELLING_RESULT_DONE, as the
   following do. */
jelling_status jelling_write(
    jelling_engine *engine, jelling_link link, uint16_t handle, const uint8_t *value, size_t length, int64_t now,
    jelling_operation *operation);

/* By prepared writes, however short. */
jelling_status jelling_write_long(
    jelling_engine *engine, jelling_link link, uint16_t handle, const uint8_t *value, size_t length, int64_t now,
    jelling_operation *operation);

/* One value of a reliable write. */
typedef struct jelling_attribute_value {
    uint16_t handle;
    jelling_bytes value;
} jelling_attribute_value;

/* Sets several values, all or none. */
jelling_status jelling_reliable_write(
    jelling_engine *engine, jelling_link link, const jelling_attribute_value *writes, size_t count, int64_t now,
    jelling_operation *operation);

/* Sets a value of at most MTU - 3 octets without a response. */
jelling_status jelling_write_command(
    jelling_engine *engine, jelling_link link, uint16_t handle, const uint8_t *value, size_t length, int64_t now,
    jelling_operation *operation);

/* As a write command, with a signature where the link is not encrypted. */
jelling_status jelling_write_signed(
    jelling_engine *engine, jelling_link link, uint16_t handle, const uint8_t *value, size_t length, int64_t now,
    jelling_operation *operation);

/*
 * Asks for the values of a characteristic: JELLING_EVENT_NOTIFICATION. `configuration` is the handle of its Client
 * Characteristic Configuration (2902), or 0 where there is none that can be written: what the device sends unasked then
 * arrives. `indications` not 0: with confirmation.
 */
jelling_status jelling_subscribe(
    jelling_engine *engine, jelling_link link, uint16_t handle, uint16_t configuration, uint32_t indications,
    int64_t now, jelling_operation *operation);

/* Undoes one `jelling_subscribe`. */
jelling_status jelling_unsubscribe(
    jelling_engine *engine, jelling_link link, uint16_t handle, int64_t now, jelling_operation *operation);

/* Leaves indications for this client unconfirmed (not 0), or confirms them again (0). */
jelling_status jelling_hold_indications(
    jelling_engine *engine, uint32_t is_held, int64_t now, jelling_operation *operation);

/* --------------------------------------------------------- The link itself */

/* Ends with JELLING_RESULT_RSSI. */
jelling_status jelling_read_rssi(jelling_engine *engine, jelling_link link, int64_t now, jelling_operation *operation);
/* Ends with JELLING_RESULT_VERSION. */
jelling_status jelling_read_remote_version(
    jelling_engine *engine, jelling_link link, int64_t now, jelling_operation *operation);
/* Ends with JELLING_RESULT_FEATURES. */
jelling_status jelling_read_remote_features(
    jelling_engine *engine, jelling_link link, int64_t now, jelling_operation *operation);
/* Sets the parameters (as the central) or asks for them. Ends with JELLING_RESULT_PARAMETERS. */
jelling_status jelling_update_parameters(
    jelling_engine *engine, jelling_link link, const jelling_connection_request *parameters, int64_t now,
    jelling_operation *operation);
/* Octets 27 to 251, microseconds 328 to 17040. Ends with JELLING_RESULT_DATA_LENGTH. */
jelling_status jelling_set_data_length(
    jelling_engine *engine, jelling_link link, uint16_t octets, uint16_t microseconds, int64_t now,
    jelling_operation *operation);
/* Ends with JELLING_RESULT_PHY. */
jelling_status jelling_read_phy(jelling_engine *engine, jelling_link link, int64_t now, jelling_operation *operation);
/* Bits: 1 for 1M, 2 for 2M, 4 for coded. Ends with JELLING_RESULT_PHY. */
jelling_status jelling_set_phy(
    jelling_engine *engine, jelling_link link, uint8_t transmit, uint8_t receive, int64_t now,
    jelling_operation *operation);

/* Which share of the connection events of a link is used. */
typedef struct jelling_subrate_request {
    /* One of so many events is used, 1 to 500. */
    uint16_t minimum_factor, maximum_factor;
    /* Used events that the peripheral may skip, 0 to 499. */
    uint16_t latency;
    /* Events that are used after one with data, 0 to 499. */
    uint16_t continuation_number;
    /* In units of 10 ms, 10 to 3200. */
    uint16_t supervision_timeout;
    uint16_t reserved;
} jelling_subrate_request;

/* Asks for a subrate, with JELLING_CONFIG_SUBRATING. Ends with JELLING_RESULT_SUBRATE. */
jelling_status jelling_set_subrate(
    jelling_engine *engine, jelling_link link, const jelling_subrate_request *request, int64_t now,
    jelling_operation *operation);

/* Measurements need a library that was built with them (`Tools/cross --features extended`). PHYs are 1 for 1M, 2 for 2M, 3
   for coded with eight symbols a bit, 4 with two. */

/* The power with which this side sends. Ends with JELLING_RESULT_TRANSMIT_POWER, as the next does. */
jelling_status jelling_read_transmit_power(
    jelling_engine *engine, jelling_link link, uint8_t phy, int64_t now, jelling_operation *operation);
/* The power with which the peer sends. */
jelling_status jelling_read_remote_transmit_power(
    jelling_engine *engine, jelling_link link, uint8_t phy, int64_t now, jelling_operation *operation);
/* Whether changes of either side's power are reported: JELLING_EVENT_TRANSMIT_POWER_CHANGED. Not 0 is yes. */
jelling_status jelling_report_transmit_power(
    jelling_engine *engine, jelling_link link, uint32_t local, uint32_t remote, int64_t now,
    jelling_operation *operation);

/* Zones of path loss, in dB. A zone begins and ends beyond its threshold by the hysteresis. */
typedef struct jelling_path_loss_zones {
    uint32_t size;
    /* Below `low` less `low_hysteresis` lies the low zone, above `high` plus `high_hysteresis` the high one, which is
       missing where `high` is 0. */
    uint8_t low, low_hysteresis, high, high_hysteresis;
    /* Connection events in a zone before it is reported; 0: 10. */
    uint16_t minimum_events;
    uint16_t reserved;
} jelling_path_loss_zones;

/* Reports when the path loss enters another zone: JELLING_EVENT_PATH_LOSS. NULL ends the reports. */
jelling_status jelling_monitor_path_loss(
    jelling_engine *engine, jelling_link link, const jelling_path_loss_zones *zones, int64_t now,
    jelling_operation *operation);
/* After how long without a packet that proves the peer's key an encrypted link is reported: JELLING_EVENT_UNAUTHENTICATED.
   10 to 655350 ms. */
jelling_status jelling_set_authenticated_payload_timeout(
    jelling_engine *engine, jelling_link link, uint32_t milliseconds, int64_t now, jelling_operation *operation);

/* ------------------------------------------------------------- GATT server */

/* Bits of `properties` are those of the specification: 0x02 read, 0x04 write command, 0x08 write, 0x10 notify, 0x20
   indicate, 0x40 signed write. */

/* `permissions` */
enum {
    JELLING_READABLE = 0x0001,
    JELLING_WRITEABLE = 0x0002,
    JELLING_COMMAND_WRITEABLE = 0x0004,
    JELLING_SIGNED_WRITEABLE = 0x0008,
    JELLING_READ_ENCRYPTED = 0x0010,
    JELLING_WRITE_ENCRYPTED = 0x0020,
    JELLING_READ_AUTHENTICATED = 0x0040,
    JELLING_WRITE_AUTHENTICATED = 0x0080
};

/* A descriptor to publish. Those that have an effect (2900, 2902) are added by the library. */
typedef struct jelling_descriptor_definition {
    uint32_t size;
    uint32_t permissions;
    jelling_uuid uuid;
    /* NULL: JELLING_EVENT_SERVER_READ asks for it. */
    const jelling_bytes *value;
} jelling_descriptor_definition;

/* A characteristic to publish. */
typedef struct jelling_characteristic_definition {
    uint32_t size;
    uint32_t permissions;
    jelling_uuid uuid;
    /* A value that never changes; NULL: reads and writes come as events. */
    const jelling_bytes *value;
    const jelling_descriptor_definition *descriptors;
    size_t descriptor_count;
    uint8_t properties;
    /* Not 0: only an encrypted link can subscribe. */
    uint8_t subscribing_needs_encryption;
    /* Octets of the smallest key, where permissions need encryption; 0: any. */
    uint8_t minimum_key_size;
    uint8_t reserved[5];
} jelling_characteristic_definition;

/* A service to publish. Array items have the same `size` each. */
typedef struct jelling_service_definition {
    uint32_t size;
    /* Not 0: a service that means something only where it is included. */
    uint32_t is_secondary;
    jelling_uuid uuid;
    /* First handles of published services. */
    const uint16_t *included_services;
    size_t included_service_count;
    const jelling_characteristic_definition *characteristics;
    size_t characteristic_count;
} jelling_service_definition;

/* Adds a service to the database. Ends with JELLING_RESULT_PUBLISHED. */
jelling_status jelling_publish(
    jelling_engine *engine, const jelling_service_definition *service, int64_t now, jelling_operation *operation);

/* Removes the service whose first handle this is. */
jelling_status jelling_remove_service(
    jelling_engine *engine, uint16_t handle, int64_t now, jelling_operation *operation);

/* The ATT error for those who read or write values of this client's services; 0: none. */
jelling_status jelling_disable_services(
    jelling_engine *engine, uint8_t att_error, int64_t now, jelling_operation *operation);

/* What the Generic Access service calls this device. */
jelling_status jelling_set_device_name(
    jelling_engine *engine, const char *name, int64_t now, jelling_operation *operation);

/* Answers JELLING_EVENT_SERVER_READ with the value from the offset on. Ends with JELLING_RESULT_ACCEPTED, as the
   following do. */
jelling_status jelling_respond_value(
    jelling_engine *engine, uint64_t request, const uint8_t *value, size_t length, int64_t now,
    jelling_operation *operation);

/* Answers JELLING_EVENT_SERVER_WRITE: all is written. */
jelling_status jelling_respond_written(
    jelling_engine *engine, uint64_t request, int64_t now, jelling_operation *operation);

/* Refuses a read or a write with an ATT error, 0x01 to 0xFF. */
jelling_status jelling_respond_error(
    jelling_engine *engine, uint64_t request, uint8_t att_error, int64_t now, jelling_operation *operation);

/*
 * Sends a value to those who subscribed to it; to these links where `link_count` is not 0. Not accepted while there is
 * no room: JELLING_EVENT_SERVER_READY_TO_UPDATE reports when there is.
 */
jelling_status jelling_update_value(
    jelling_engine *engine, uint16_t handle, const uint8_t *value, size_t length, const jelling_link *links,
    size_t link_count, int64_t now, jelling_operation *operation);

/* ------------------------------------------------- Credit-based channels */

/* What this side accepts on a channel; zero is the default of each number. */
typedef struct jelling_channel_settings {
    uint32_t size;
    /* Octets of the longest unit, 23 to 65535; 0: 2048. */
    uint32_t mtu;
    /* Octets of the longest frame, 23 to 2044; 0: 247. */
    uint32_t mps;
    /* Frames that the peer may send at first; 0: 16. */
    uint32_t credits;
    /* Not 0: only over an encrypted link (for listeners). */
    uint32_t requires_encryption;
    /* Not 0: the key has to be protected against a man in the middle (for listeners). */
    uint32_t requires_authentication;
} jelling_channel_settings;

/* Accepts channels on an SPSM, 0x0001 to 0x00FF; 0: on a free one. Ends with JELLING_RESULT_LISTENING. */
jelling_status jelling_listen(
    jelling_engine *engine, uint16_t spsm, const jelling_channel_settings *settings, int64_t now,
    jelling_operation *operation);
/* Open channels stay open. */
jelling_status jelling_stop_listening(
    jelling_engine *engine, uint16_t spsm, int64_t now, jelling_operation *operation);
/* Ends with JELLING_RESULT_CHANNEL. */
jelling_status jelling_open_channel(
    jelling_engine *engine, jelling_link link, uint16_t spsm, const jelling_channel_settings *settings, int64_t now,
    jelling_operation *operation);
/* Opens `count` channels, 1 to 5, by the enhanced form; the peer may refuse some. MTU and MPS are raised to 64. Ends with
   JELLING_RESULT_CHANNELS. */
jelling_status jelling_open_enhanced_channels(
    jelling_engine *engine, jelling_link link, uint16_t spsm, const jelling_channel_settings *settings, uint32_t count,
    int64_t now, jelling_operation *operation);
/* Asks the peer to send with other sizes, in octets, on `count` channels of the enhanced form, 1 to 5. The MTU must not
   become smaller, the MPS only for a single channel. Ends with JELLING_RESULT_DONE. */
jelling_status jelling_reconfigure_channels(
    jelling_engine *engine, jelling_link link, const uint32_t *channels, size_t count, uint16_t mtu, uint16_t mps,
    int64_t now, jelling_operation *operation);
/* Sends one unit; ends when the controller has all of it. */
jelling_status jelling_channel_send(
    jelling_engine *engine, jelling_link link, uint32_t channel, const uint8_t *data, size_t length, int64_t now,
    jelling_operation *operation);
/* So many received units were consumed: the peer may send more. */
jelling_status jelling_channel_consume(
    jelling_engine *engine, jelling_link link, uint32_t channel, uint32_t units, int64_t now,
    jelling_operation *operation);
/* Closes a channel; what was sent before still goes out. */
jelling_status jelling_close_channel(
    jelling_engine *engine, jelling_link link, uint32_t channel, int64_t now, jelling_operation *operation);

/* ------------------------------------------------------ Pairing and bonds */

/* Pairs, or asks the central to. `options` may be NULL: as configured. Ends with JELLING_RESULT_PAIRED. */
jelling_status jelling_pair(
    jelling_engine *engine, jelling_link link, const jelling_pairing_options *options, int64_t now,
    jelling_operation *operation);
/* Answers JELLING_QUESTION_PASSKEY with 0 to 999999. Ends with JELLING_RESULT_ACCEPTED, as the following two do. */
jelling_status jelling_answer_passkey(
    jelling_engine *engine, uint64_t question, uint32_t passkey, int64_t now, jelling_operation *operation);
/* Answers the other questions of pairing: not 0 is yes. */
jelling_status jelling_answer_confirm(
    jelling_engine *engine, uint64_t question, uint32_t is_confirmed, int64_t now, jelling_operation *operation);
/* The user cancels the pairing. */
jelling_status jelling_answer_cancel(
    jelling_engine *engine, uint64_t question, int64_t now, jelling_operation *operation);
/* Lets a fixed passkey be used again that was locked after too many failures. */
jelling_status jelling_unlock_passkey(jelling_engine *engine, int64_t now, jelling_operation *operation);
/* Encrypts a link with the key of its bond. */
jelling_status jelling_encrypt(jelling_engine *engine, jelling_link link, int64_t now, jelling_operation *operation);
/* How links are made secure from now on; NULL: the defaults. */
jelling_status jelling_set_security(
    jelling_engine *engine, const jelling_security_settings *settings, int64_t now, jelling_operation *operation);

/*
 * Replaces all bonds by those that JELLING_EVENT_BOND_CHANGED exported. Before the first connection. A blob that this
 * library cannot read makes it JELLING_ERROR_ARGUMENT, and no bond changes. Blobs contain keys, and are secret.
 */
jelling_status jelling_restore_bonds(
    jelling_engine *engine, const jelling_bytes *blobs, size_t count, int64_t now, jelling_operation *operation);
/* What a blob is about; no keys. */
typedef struct jelling_bond {
    uint32_t size;
    uint8_t is_secure_connections, is_authenticated, key_size, reserved;
    jelling_address identity;
} jelling_bond;
/* Fills `bond`, whose `size` the caller has set. Any thread, any time. */
jelling_status jelling_describe_bond(const uint8_t *blob, size_t length, jelling_bond *bond);
/* Keeps a name with a bond, at most 248 octets. Ends with JELLING_RESULT_ACCEPTED. */
jelling_status jelling_name_bond(
    jelling_engine *engine, const jelling_address *identity, const char *name, int64_t now,
    jelling_operation *operation);
/* Forgets a device, and ends a link to it. Ends with JELLING_RESULT_ACCEPTED. */
jelling_status jelling_remove_bond(
    jelling_engine *engine, const jelling_address *identity, int64_t now, jelling_operation *operation);

/* Out-of-band data; pointers may be NULL. All octets most significant first. */
typedef struct jelling_out_of_band_data {
    uint32_t size;
    uint32_t reserved;
    /* 16 octets: the temporary key of legacy pairing. */
    const uint8_t *temporary_key;
    /* 16 octets each: what the peer has sent; both or none. */
    const uint8_t *peer_random, *peer_confirm;
    /* What this device has sent: 16, 16, 32 and 64 (x, y) octets; all or none. */
    const uint8_t *local_random, *local_confirm, *local_private_key, *local_public_key;
} jelling_out_of_band_data;

/* Data for pairing with this peer, until a pairing has succeeded; NULL removes it. */
jelling_status jelling_set_out_of_band_data(
    jelling_engine *engine, const jelling_address *peer, const jelling_out_of_band_data *data, int64_t now,
    jelling_operation *operation);
/* Makes data to give a peer. Ends with JELLING_RESULT_OUT_OF_BAND. */
jelling_status jelling_create_out_of_band_data(jelling_engine *engine, int64_t now, jelling_operation *operation);

/* ------------------------------------------------------------ Cryptography */

/* `jelling_question.kind`; all octets stand most significant first. */
enum {
    /* `count` octets, good enough for keys: `jelling_answer`. */
    JELLING_CRYPTO_RANDOM = 1,
    /* One block of AES-128 with `key` over the 16 octets of `data`: `jelling_answer` with 16 octets. */
    JELLING_CRYPTO_ENCRYPT = 2,
    /* AES-CMAC with `key` over `data`: `jelling_answer` with 16 octets. */
    JELLING_CRYPTO_CMAC = 3,
    /* A new key pair on P-256: `jelling_answer_key_pair`. */
    JELLING_CRYPTO_KEY_PAIR = 4,
    /* The x-coordinate of the Diffie-Hellman point of the private key `data` (32) and `public_key` (64: x, y), which
       may be no point of the curve: `jelling_answer` with 32 octets, or `jelling_answer_failure`. */
    JELLING_CRYPTO_SHARED_SECRET = 5
};

/* Work of cryptography that the engine wants done. */
typedef struct jelling_question {
    uint32_t size;
    uint32_t kind;
    uint64_t id;
    uint32_t count;
    uint32_t reserved;
    jelling_bytes key, data, public_key;
} jelling_question;

/* The oldest question that was not read, or NULL; lent until the next call of this function for the engine. */
jelling_status jelling_next_question(jelling_engine *engine, const jelling_question **question);
/* An answer to a question that is over is ignored. */
jelling_status jelling_answer(
    jelling_engine *engine, uint64_t question, const uint8_t *octets, size_t length, int64_t now);
/* 32 octets of private key, 64 of public key: x, y. */
jelling_status jelling_answer_key_pair(
    jelling_engine *engine, uint64_t question, const uint8_t *private_key, const uint8_t *public_key, int64_t now);
/* `is_invalid_key` not 0: the peer's public key is no point of the curve; 0: it cannot be done. */
jelling_status jelling_answer_failure(
    jelling_engine *engine, uint64_t question, uint32_t is_invalid_key, int64_t now);

/* ------------------------------------------------------------------ Events */

/* `jelling_event.kind`, with what of the union belongs to it. */
typedef enum jelling_event_kind {
    /* The controller can be used: `ready`. Also after every recovery. */
    JELLING_EVENT_READY = 1,
    /* The controller is being recovered; links are lost: `value` is 0 for a reset, 1 for reopening the transport, 2 for
       a reset of the device. */
    JELLING_EVENT_RECOVERING = 2,
    /* The controller could not be brought back: `completed` says why. */
    JELLING_EVENT_FAILED = 3,
    /* Close the transport, open it again and call `jelling_transport_opened`. If `value` is 1, reset the device on its bus
       in between, or switch its power off and on, if you can. */
    JELLING_EVENT_REOPEN_TRANSPORT = 4,
    JELLING_EVENT_STOPPED = 5,
    /* A device that matches a scan: `operation`, `client`, `discovered`. */
    JELLING_EVENT_DISCOVERED = 6,
    /* `value` is 1 while the controller advertises. */
    JELLING_EVENT_ADVERTISING_CHANGED = 7,
    /* The end of `operation`: `completed`. */
    JELLING_EVENT_COMPLETED = 8,
    /* A link is usable: `link`, `client`, `connected`. */
    JELLING_EVENT_CONNECTED = 9,
    /* The link is gone for `client`: `disconnected`. */
    JELLING_EVENT_DISCONNECTED = 10,
    /* A value that a peer's server sent: `notification`. */
    JELLING_EVENT_NOTIFICATION = 11,
    /* The peer's database changed: subscriptions to `handles` have ended. */
    JELLING_EVENT_SUBSCRIPTIONS_FORGOTTEN = 12,
    /* `value` is the largest PDU from now on. */
    JELLING_EVENT_MTU_CHANGED = 13,
    JELLING_EVENT_WRITE_COMMANDS_FULL = 14,
    JELLING_EVENT_WRITE_COMMANDS_READY = 15,
    /* A central has connected: `connected`. */
    JELLING_EVENT_CENTRAL_CONNECTED = 16,
    JELLING_EVENT_CENTRAL_DISCONNECTED = 17,
    /* Answer with `jelling_respond_value` or `jelling_respond_error`: `request`, where `writes` has one item with the
       handle and no value. */
    JELLING_EVENT_SERVER_READ = 18,
    /* Answer with `jelling_respond_written` or `jelling_respond_error`: `request`. */
    JELLING_EVENT_SERVER_WRITE = 19,
    /* A client subscribed, or changed its mode: `subscription`. */
    JELLING_EVENT_SERVER_SUBSCRIBED = 20,
    JELLING_EVENT_SERVER_UNSUBSCRIBED = 21,
    JELLING_EVENT_SERVER_READY_TO_UPDATE = 22,
    /* A client wrote a value that the server stores: `request`. */
    JELLING_EVENT_SERVER_STORED = 23,
    /* A client confirmed an indication: `value` is the handle. */
    JELLING_EVENT_SERVER_CONFIRMED = 24,
    /* A client is so slow that it misses updates. */
    JELLING_EVENT_SERVER_FELL_BEHIND = 25,
    /* The time for an answer is over: `request.id`. */
    JELLING_EVENT_SERVER_REQUEST_EXPIRED = 26,
    JELLING_EVENT_PAIRING_STARTED = 27,
    /* The user enters `value`, six digits, on the other device. */
    JELLING_EVENT_PAIRING_DISPLAY_PASSKEY = 28,
    /* Answer within 25 s: `pairing_question`. */
    JELLING_EVENT_PAIRING_QUESTION = 29,
    /* `paired` */
    JELLING_EVENT_PAIRED = 30,
    /* `completed` says why. */
    JELLING_EVENT_PAIRING_FAILED = 31,
    /* The fixed passkey was tried too often. */
    JELLING_EVENT_PASSKEY_LOCKED = 32,
    /* A peripheral asks for security, and the app has to decide. */
    JELLING_EVENT_SECURITY_REQUESTED = 33,
    /* `security` */
    JELLING_EVENT_ENCRYPTION_CHANGED = 34,
    /* A peer under a bonded address sent in the clear what is only believed of the bonded device: `address`. */
    JELLING_EVENT_CLEARTEXT_REFUSED = 35,
    /* Save this bond in place of the one with the same identity: `bond`. */
    JELLING_EVENT_BOND_CHANGED = 36,
    /* Forget the bond with `address`. */
    JELLING_EVENT_BOND_REMOVED = 37,
    /* A peer opened a channel: `channel`. */
    JELLING_EVENT_CHANNEL_OPENED = 38,
    /* A whole unit: `channel_data`. */
    JELLING_EVENT_CHANNEL_RECEIVED = 39,
    /* `channel_closed` */
    JELLING_EVENT_CHANNEL_CLOSED = 40,
    /* `parameters` */
    JELLING_EVENT_PARAMETERS_CHANGED = 41,
    /* `phy` */
    JELLING_EVENT_PHY_CHANGED = 42,
    /* `data_length` */
    JELLING_EVENT_DATA_LENGTH_CHANGED = 43,
    /* A private address was resolved: `identity`. */
    JELLING_EVENT_IDENTITY_FOUND = 44,
    /* A private address fits more than one bond: `address`. */
    JELLING_EVENT_AMBIGUOUS_IDENTITY = 45,
    /* A packet could not be understood and was dropped. */
    JELLING_EVENT_MALFORMED_PACKET = 46,
    /* The peer changed what it accepts on a channel: `channel`. */
    JELLING_EVENT_CHANNEL_RECONFIGURED = 47,
    /* The controller advertises the set of `operation`: `power`. */
    JELLING_EVENT_SET_STARTED = 48,
    /* It does so no longer. */
    JELLING_EVENT_SET_STOPPED = 49,
    /* A central has connected by the set of `operation`: `link`. */
    JELLING_EVENT_SET_CONNECTED = 50,
    /* The train that `operation` follows was found: `train`. */
    JELLING_EVENT_TRAIN_FOUND = 51,
    /* Data of a train: `train_data`. */
    JELLING_EVENT_TRAIN_DATA = 52,
    /* The train was not received for too long, or the controller was reset: `train`, without interval and PHY. */
    JELLING_EVENT_TRAIN_LOST = 53,
    /* The power of one side of a link changed: `transmit_power`. */
    JELLING_EVENT_TRANSMIT_POWER_CHANGED = 54,
    /* The path loss entered another zone: `path_loss`. */
    JELLING_EVENT_PATH_LOSS = 55,
    /* Nothing has proved the peer's key for too long: the link may be with another device by now. It stays. */
    JELLING_EVENT_UNAUTHENTICATED = 56,
    /* `subrate` */
    JELLING_EVENT_SUBRATE_CHANGED = 57,
    /* The train of the set `operation` needs data for subevents: `subevents`. Answer with `jelling_send_subevents`. */
    JELLING_EVENT_SUBEVENTS_REQUESTED = 58,
    /* A slot in which a receiver could respond to the train of the set `operation` is over: `slot_response`. */
    JELLING_EVENT_SLOT_RESPONSE = 59,
    /* The engine learned something about the controller: store `experience`, and pass it to the next engine for the same
       device in `jelling_config`. */
    JELLING_EVENT_CONTROLLER_LEARNED = 60,
    /* No step of recovery has cured the fault in `completed`; the engine goes on, and requests remain. */
    JELLING_EVENT_FAULT_REMAINS = 61
} jelling_event_kind;

/* `jelling_completion.failure`: why an operation ended without its result. `code` and `detail` say more. */
typedef enum jelling_failure {
    JELLING_FAILURE_NONE = 0,
    JELLING_FAILURE_CANCELLED = 1,
    JELLING_FAILURE_CONTROLLER_LOST = 2,
    JELLING_FAILURE_CONTROLLER_UNRESPONSIVE = 3,
    /* The controller refused a command: `code` is its status, `detail` the opcode. */
    JELLING_FAILURE_CONTROLLER = 4,
    /* `detail` is the opcode. */
    JELLING_FAILURE_COMMAND_TIMEOUT = 5,
    /* `code` is the controller's reason; 0: released by this client. */
    JELLING_FAILURE_LINK_LOST = 6,
    JELLING_FAILURE_NOT_CONNECTED = 7,
    /* `code` is the controller's status. */
    JELLING_FAILURE_CONNECTION_FAILED = 8,
    /* The peer's server refused: `code` is the ATT error, `detail` the handle. */
    JELLING_FAILURE_ATT = 9,
    JELLING_FAILURE_INVALID_RESPONSE = 10,
    JELLING_FAILURE_TRANSACTION_TIMEOUT = 11,
    JELLING_FAILURE_BEARER_CLOSED = 12,
    /* `detail` is the limit in octets. */
    JELLING_FAILURE_VALUE_TOO_LONG = 13,
    JELLING_FAILURE_INVALID_PARAMETERS = 14,
    JELLING_FAILURE_QUEUE_FULL = 15,
    /* `detail` is the handle. */
    JELLING_FAILURE_RELIABLE_WRITE_MISMATCH = 16,
    JELLING_FAILURE_DISCOVERY_TOO_LONG = 17,
    JELLING_FAILURE_NOT_SUBSCRIBED = 18,
    /* `code` is a jelling_security_failure; `detail` a reason of SMP or HCI, or seconds to wait. */
    JELLING_FAILURE_SECURITY = 19,
    /* `code` is a jelling_channel_failure, `detail` the peer's result. */
    JELLING_FAILURE_CHANNEL = 20,
    /* `code` is a jelling_publish_failure, `detail` a handle. */
    JELLING_FAILURE_PUBLISHING = 21,
    /* `code`: 1 connection parameters, 2 parameters too long, 3 stopped, 4 shared controller, 5 advertisement too
       long, 6 not permitted, 7 advertising set, 8 train, 9 channels, 10 path loss zones, 11 subevents. */
    JELLING_FAILURE_INVALID_REQUEST = 22,
    JELLING_FAILURE_PROCEDURE_TIMEOUT = 23,
    JELLING_FAILURE_REJECTED_BY_PEER = 24,
    JELLING_FAILURE_LIMIT_REACHED = 25,
    /* The controller cannot be used. `code`: 1 it does not answer the command `detail`, 2 it refuses the command `detail`,
       3 it reports nothing any more, 4 it has no Bluetooth LE, 5 it reports itself as the sender of everything, 6 it
       acknowledges no data, 7 it reports hardware errors: `detail` is the last one's code, 8 it connects to
       nobody any more, 9 it forgets its state, 10 its packets get lost. */
    JELLING_FAILURE_CONTROLLER_FAULT = 26
} jelling_failure;

/* `code` of JELLING_FAILURE_SECURITY */
typedef enum jelling_security_failure {
    JELLING_SECURITY_REFUSED_BY_US = 1,
    JELLING_SECURITY_REFUSED_BY_PEER = 2,
    JELLING_SECURITY_TIMED_OUT = 3,
    JELLING_SECURITY_KEY_MISSING_AT_PEER = 4,
    JELLING_SECURITY_ENCRYPTION_FAILED = 5,
    JELLING_SECURITY_WOULD_REPLACE_BOND = 6,
    JELLING_SECURITY_KEY_TOO_WEAK = 7,
    JELLING_SECURITY_NO_KEY = 8,
    JELLING_SECURITY_NOT_AVAILABLE = 9,
    JELLING_SECURITY_ALREADY_PAIRING = 10,
    JELLING_SECURITY_REPEATED_ATTEMPTS = 11,
    JELLING_SECURITY_PASSKEY_IS_LOCKED = 12,
    JELLING_SECURITY_TOO_MANY_BONDS = 13,
    JELLING_SECURITY_LINK_LOST = 14,
    JELLING_SECURITY_CANCELLED = 15
} jelling_security_failure;

/* `code` of JELLING_FAILURE_CHANNEL */
typedef enum jelling_channel_failure {
    JELLING_CHANNEL_REFUSED = 1,
    JELLING_CHANNEL_INVALID_ANSWER = 2,
    JELLING_CHANNEL_NOT_OPEN = 3,
    JELLING_CHANNEL_NO_RESOURCES = 4,
    JELLING_CHANNEL_UNIT_TOO_LONG = 5,
    JELLING_CHANNEL_INVALID_SPSM = 6,
    /* `detail`: the peer's result, or 4 where the request is not allowed. */
    JELLING_CHANNEL_NOT_RECONFIGURABLE = 7
} jelling_channel_failure;

/* `code` of JELLING_FAILURE_PUBLISHING */
typedef enum jelling_publish_failure {
    JELLING_PUBLISH_UUID_NOT_ALLOWED = 1,
    JELLING_PUBLISH_PROPERTY_NOT_ALLOWED = 2,
    JELLING_PUBLISH_DESCRIPTOR_NOT_ALLOWED = 3,
    JELLING_PUBLISH_VALUE_NOT_READ_ONLY = 4,
    JELLING_PUBLISH_VALUE_TOO_LONG = 5,
    JELLING_PUBLISH_INCLUDED_SERVICE_UNKNOWN = 6,
    JELLING_PUBLISH_OUT_OF_HANDLES = 7,
    JELLING_PUBLISH_UNKNOWN_SERVICE = 8,
    JELLING_PUBLISH_IS_INCLUDED = 9,
    JELLING_PUBLISH_HANDLES_OUT_OF_ORDER = 10
} jelling_publish_failure;

/* `jelling_completion.result`: which member of the union is the result. */
typedef enum jelling_result {
    JELLING_RESULT_DONE = 0,
    JELLING_RESULT_CONNECTED = 1,
    JELLING_RESULT_MTU = 2,
    JELLING_RESULT_SERVICES = 3,
    JELLING_RESULT_INCLUDES = 4,
    JELLING_RESULT_CHARACTERISTICS = 5,
    JELLING_RESULT_DESCRIPTORS = 6,
    JELLING_RESULT_VALUE = 7,
    JELLING_RESULT_VALUES = 8,
    JELLING_RESULT_ATTRIBUTES = 9,
    JELLING_RESULT_PUBLISHED = 10,
    JELLING_RESULT_LISTENING = 11,
    JELLING_RESULT_CHANNEL = 12,
    JELLING_RESULT_ACCEPTED = 13,
    JELLING_RESULT_PAIRED = 14,
    JELLING_RESULT_OUT_OF_BAND = 15,
    JELLING_RESULT_RSSI = 16,
    JELLING_RESULT_VERSION = 17,
    JELLING_RESULT_FEATURES = 18,
    JELLING_RESULT_PARAMETERS = 19,
    JELLING_RESULT_DATA_LENGTH = 20,
    JELLING_RESULT_PHY = 21,
    JELLING_RESULT_HCI = 22,
    JELLING_RESULT_CHANNELS = 23,
    JELLING_RESULT_SUBRATE = 24,
    JELLING_RESULT_TRANSMIT_POWER = 25
} jelling_result;

/* A service of a peer. */
typedef struct jelling_service {
    jelling_uuid uuid;
    uint16_t handle, end_handle;
    uint32_t is_primary;
} jelling_service;

/* An include declaration of a peer. */
typedef struct jelling_include {
    jelling_uuid uuid;
    /* Of the declaration. */
    uint16_t handle;
    /* Of the included service. */
    uint16_t first_handle, last_handle;
    uint16_t reserved;
} jelling_include;

/* A characteristic of a peer. */
typedef struct jelling_characteristic {
    jelling_uuid uuid;
    uint16_t handle, value_handle;
    /* Where its descriptors end. */
    uint16_t end_handle;
    uint16_t properties;
} jelling_characteristic;

/* A descriptor of a peer. */
typedef struct jelling_descriptor {
    jelling_uuid uuid;
    uint16_t handle;
    uint16_t reserved;
} jelling_descriptor;

/* A characteristic of ours. */
typedef struct jelling_published_characteristic {
    jelling_uuid uuid;
    uint16_t handle, value_handle;
    /* Of the Client Characteristic Configuration; 0 where clients cannot subscribe. */
    uint16_t configuration;
    /* Of the first of the descriptors that were published with it, 0 without; `descriptor_count` of them, not always one
       behind the other. */
    uint16_t descriptor_count;
    const uint16_t *descriptors;
} jelling_published_characteristic;

/* A service of ours. */
typedef struct jelling_published_service {
    jelling_uuid uuid;
    uint16_t handle, end_handle;
    uint32_t characteristic_count;
    const jelling_published_characteristic *characteristics;
} jelling_published_service;

/* A channel that is open. */
typedef struct jelling_channel {
    jelling_link link;
    uint32_t number;
    uint16_t spsm, send_mtu, receive_mtu;
    uint16_t reserved;
} jelling_channel;

/* How pairing ended well. */
typedef struct jelling_pairing_summary {
    jelling_address identity;
    uint8_t is_secure_connections, is_authenticated, key_size, is_bonded;
    /* There was nothing to pair: the bond's key has encrypted the link. */
    uint8_t was_bonded;
    uint8_t reserved[3];
} jelling_pairing_summary;

/* What this device gives a peer out of band; most significant first. */
typedef struct jelling_local_out_of_band_data {
    uint8_t random[16], confirm[16], private_key[32], public_key[64];
} jelling_local_out_of_band_data;

/* What the controllers send in one packet. */
typedef struct jelling_data_length {
    uint16_t transmit_octets, transmit_microseconds, receive_octets, receive_microseconds;
} jelling_data_length;

/* The share of its connection events that a link uses. */
typedef struct jelling_subrate {
    /* One of so many, and how many are used after one with data. */
    uint16_t factor, continuation_number;
    uint16_t latency;
    /* In units of 10 ms. */
    uint16_t supervision_timeout;
} jelling_subrate;

/* The power with which one side of a link sends. */
typedef struct jelling_transmit_power {
    /* To which it applies. */
    uint8_t phy;
    /* In dBm; 127: unknown. `maximum` is what the side could use. */
    int8_t level, maximum;
    uint8_t is_least, is_greatest;
    /* Whether it is the peer's. */
    uint8_t is_remote;
    uint8_t reserved[2];
} jelling_transmit_power;

/* The end of an operation. */
typedef struct jelling_completion {
    /* jelling_failure; 0: it succeeded. */
    uint32_t failure;
    uint32_t code, detail;
    /* jelling_result, where it succeeded. */
    uint32_t result;
    union {
        jelling_link link;
        uint16_t mtu;
        struct {
            const jelling_service *items;
            size_t count;
        } services;
        struct {
            const jelling_include *items;
            size_t count;
        } includes;
        struct {
            const jelling_characteristic *items;
            size_t count;
        } characteristics;
        struct {
            const jelling_descriptor *items;
            size_t count;
        } descriptors;
        jelling_bytes value;
        struct {
            const jelling_bytes *items;
            size_t count;
        } values;
        struct {
            const jelling_attribute_value *items;
            size_t count;
        } attributes;
        jelling_published_service published;
        uint16_t spsm;
        jelling_channel channel;
        struct {
            const jelling_channel *items;
            size_t count;
        } channels;
        uint32_t is_accepted;
        jelling_pairing_summary paired;
        const jelling_local_out_of_band_data *out_of_band;
        int32_t rssi;
        struct {
            uint16_t version, company, subversion;
        } version;
        uint64_t features;
        jelling_connection_parameters parameters;
        jelling_data_length data_length;
        struct {
            uint8_t transmit, receive;
        } phy;
        jelling_subrate subrate;
        jelling_transmit_power transmit_power;
        /* The return parameters of Command Complete, or the status octet of Command Status. */
        jelling_bytes hci;
    };
} jelling_completion;

/* What the controller said of itself. */
typedef struct jelling_controller {
    /* All octets 0 where there is none. */
    jelling_address public_address, own_address, identity_address;
    uint64_t features;
    uint16_t hci_subversion, lmp_subversion, company, acl_length, acl_count;
    uint8_t hci_version, lmp_version;
    uint8_t filter_accept_list_size, resolving_list_size;
    /* Whether the extended commands for scanning and advertising are used. */
    uint8_t is_extended;
    /* The number of the family that the controller belongs to; 0: none that is known. */
    uint8_t family;
    /* How it deviates from the specification, as far as it is known. */
    uint64_t traits;
} jelling_controller;

/* A device that a scan has found. */
typedef struct jelling_discovery {
    jelling_address address;
    /* 0 for an anonymous advertisement. */
    uint8_t has_address;
    uint8_t is_connectable, is_scannable, is_extended;
    /* In dBm; 127: unknown. */
    int8_t rssi, tx_power;
    /* The Advertising SID, 0 to 15; 255: none. */
    uint8_t identifier;
    /* Whether a train can be followed: `jelling_follow_train`. */
    uint8_t has_train;
    int64_t time;
    /* As received; the response is empty while none has been received. `jelling_next_structure` reads them. */
    jelling_bytes advertisement, scan_response;
    /* The private address that the advertisement is directed to; only with JELLING_SCAN_UNRESOLVED_TARGETS. */
    jelling_address target;
    uint8_t has_target;
    /* On which PHY the device began to advertise, and on which the rest of an extended advertisement was: 1 for 1M, 2 for
       2M, 3 for coded; `secondary_phy` is 0 where there is no such rest. */
    uint8_t primary_phy, secondary_phy;
    uint8_t reserved;
    /* The interval of the train in units of 1.25 ms; 0: there is none. */
    uint16_t train_interval;
    uint16_t reserved2;
} jelling_discovery;

/* `pairing_question.kind` */
enum {
    /* The number that the other device shows: `jelling_answer_passkey`. */
    JELLING_QUESTION_PASSKEY = 1,
    /* Whether the other device shows `number`: `jelling_answer_confirm`. */
    JELLING_QUESTION_COMPARE = 2,
    /* Whether to pair at all. */
    JELLING_QUESTION_CONSENT = 3,
    /* Whether the bond with `address` may be replaced: no, unless somebody knows that the device lost its keys. */
    JELLING_QUESTION_REPLACE_BOND = 4
};

/* Something that happened. */
typedef struct jelling_event {
    uint32_t size;
    /* jelling_event_kind */
    uint32_t kind;
    jelling_operation operation;
    jelling_link link;
    uint32_t client;
    uint32_t reserved;
    union {
        uint32_t value;
        jelling_address address;
        jelling_completion completed;
        jelling_controller ready;
        jelling_experience experience;
        jelling_discovery discovered;
        struct {
            jelling_address peer;
            jelling_connection_parameters parameters;
            /* 0: this side made the link, 1: it advertised. */
            uint32_t role;
            uint32_t mtu;
        } connected;
        struct {
            /* The controller's reason, such as 0x13; 0: this client released it, or the controller was lost. */
            uint32_t reason;
            uint32_t is_released, is_controller_lost;
        } disconnected;
        struct {
            jelling_bytes value;
            const uint32_t *clients;
            size_t client_count;
            uint16_t handle;
            uint16_t is_indication;
        } notification;
        struct {
            const uint16_t *items;
            size_t count;
        } handles;
        struct {
            uint64_t id;
            /* Write requests may have several; all are written, or none. */
            const jelling_attribute_value *writes;
            /* Where in each value the octets belong, or the answer begins. */
            const uint16_t *offsets;
            size_t count;
            /* 0 for a write command: an answer goes nowhere. */
            uint32_t needs_answer;
        } request;
        struct {
            uint16_t handle;
            /* Bits: 1 notifications, 2 indications; 0 when the subscription is over. */
            uint16_t modes;
            uint32_t maximum_length;
        } subscription;
        struct {
            uint64_t id;
            uint32_t kind;
            uint32_t number;
            jelling_address address;
        } pairing_question;
        jelling_pairing_summary paired;
        struct {
            jelling_address identity;
            uint8_t is_encrypted, is_authenticated, is_secure_connections, key_size, is_bonded;
        } security;
        struct {
            jelling_address identity;
            uint8_t is_secure_connections, is_authenticated, key_size, reserved;
            /* For `jelling_restore_bonds`. */
            jelling_bytes blob;
        } bond;
        jelling_channel channel;
        struct {
            uint32_t number;
            jelling_bytes data;
        } channel_data;
        struct {
            uint32_t number;
            /* 0: closed here, 1: by the peer, 2: the peer broke the protocol, 3: the link is gone. */
            uint32_t reason;
        } channel_closed;
        jelling_connection_parameters parameters;
        struct {
            uint8_t transmit, receive;
        } phy;
        jelling_data_length data_length;
        struct {
            jelling_address identity, address;
        } identity;
        /* In dBm. */
        int32_t power;
        jelling_transmit_power transmit_power;
        jelling_subrate subrate;
        struct {
            /* 0: low, 1: middle, 2: high. */
            uint8_t zone;
            /* In dB; 255: unknown. */
            uint8_t decibels;
        } path_loss;
        struct {
            jelling_address address;
            /* In units of 1.25 ms. */
            uint16_t interval;
            uint8_t identifier, phy;
            /* Whether a peer passed it on, with this number. */
            uint16_t was_transferred, service_data;
            /* As in `jelling_train`; 0: it has no subevents, or no slots. */
            uint8_t subevent_count, subevent_interval, response_slot_delay, response_slot_spacing;
        } train;
        struct {
            jelling_address address;
            uint8_t identifier;
            /* The controller received only the beginning. */
            uint8_t is_truncated;
            /* In dBm; 127: unknown. */
            int8_t rssi, tx_power;
            /* Of a train with subevents: where the data were. */
            uint8_t has_subevent, subevent;
            uint16_t event;
            jelling_bytes data;
            int64_t time;
        } train_data;
        struct {
            /* So many from the first one on, after the last one from 0 on. */
            uint8_t first, count;
        } subevents;
        struct {
            uint8_t subevent, slot;
            /* 0: nothing was received. */
            uint8_t has_data;
            /* The controller received only the beginning. */
            uint8_t is_truncated;
            /* The controller had sent the data of the subevent. */
            uint8_t follows_data;
            /* In dBm; 127: unknown. */
            int8_t rssi, tx_power;
            uint8_t reserved;
            jelling_bytes data;
        } slot_response;
    };
} jelling_event;

/*
 * The oldest event that was not read, or NULL. It and what it points to are lent until the next call of this function
 * for the engine, or its end; commands may be submitted meanwhile.
 */
jelling_status jelling_next_event(jelling_engine *engine, const jelling_event **event);

/* Counters since the engine was made. */
typedef struct jelling_counters {
    uint32_t size;
    uint32_t reserved;
    uint64_t malformed_packets, unexpected_events, command_timeouts, controller_resets, transport_reopenings,
        hardware_errors, desynchronisations, scan_restarts, advertising_reports, forgotten_devices, parked_packets,
        stray_packets, oversized_frames, connection_retries, flooded_links, stalled_links, refused_cleartext,
        dropped_discoveries, dropped_values, missed_updates, malformed_att_pdus, unexpected_att_responses,
        dropped_early_notifications, data_buffer_overflows;
} jelling_counters;

/* Fills `counters`, whose `size` the caller has set. */
jelling_status jelling_read_counters(jelling_engine *engine, jelling_counters *counters);

/* ----------------------------------------------------- Texts and addresses */

/* These work on values only: any thread, any time. */

/* Reads `AA:BB:CC:DD:EE:FF`, with `/public` or `/random` behind it if need be. */
jelling_status jelling_parse_address(const char *text, jelling_address *address);
/* Writes `AA:BB:CC:DD:EE:FF` and a zero octet into 18 octets or more. */
jelling_status jelling_format_address(const jelling_address *address, char *text, size_t capacity);
/* Reads 4, 8 or 36 characters, the short forms also behind `0x`. */
jelling_status jelling_parse_uuid(const char *text, jelling_uuid *uuid);
/* Writes `180D`, or upper case with dashes, and a zero octet into 37 octets or more. */
jelling_status jelling_format_uuid(const jelling_uuid *uuid, char *text, size_t capacity);
/* 1 for the same UUID, else 0. */
uint32_t jelling_uuids_equal(const jelling_uuid *a, const jelling_uuid *b);

/*
 * The next structure of advertising data: `*offset` is 0 at first. JELLING_OK with its type and data, which points into
 * `bytes`; JELLING_ERROR_ARGUMENT at the end, also where the last structure is cut off.
 */
jelling_status jelling_next_structure(
    const uint8_t *bytes, size_t length, size_t *offset, uint8_t *type, jelling_bytes *data);

/* A sentence about a failure in English, without its codes; never NULL, valid for ever. */
const char *jelling_failure_text(uint32_t failure, uint32_t code);
/* The same for a status. */
const char *jelling_status_text(int32_t status);

#ifdef __cplusplus
}
#endif

#endif
