// The C functions of CLinux, declared by name. Importing that module instead would make everyone who sees a module
// above this one ask for its module map: also a package that only looks whether Core Bluetooth is there.
//
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// MARK: The loop

/// For `clinux_epoll_add` and `clinux_epoll_change`, and in what `clinux_epoll_wait` gives.
public enum EpollReadiness {
    public static let readable: UInt32 = 1
    public static let writable: UInt32 = 2
    public static let failed: UInt32 = 4
    public static let urgent: UInt32 = 8
}

@_extern(c) public func clinux_epoll_create() -> Int32

@_extern(c) public func clinux_epoll_add(
    _ epoll: Int32, _ descriptor: Int32, _ interest: UInt32, _ token: UInt64
) -> Int32

@_extern(c) public func clinux_epoll_change(
    _ epoll: Int32, _ descriptor: Int32, _ interest: UInt32, _ token: UInt64
) -> Int32

@_extern(c) public func clinux_epoll_remove(_ epoll: Int32, _ descriptor: Int32) -> Int32

/// - Parameter events: two numbers for each of `capacity`: token and readiness.
@_extern(c) public func clinux_epoll_wait(
    _ epoll: Int32, _ events: UnsafeMutablePointer<UInt64>, _ capacity: Int32, _ milliseconds: Int32
) -> Int32

@_extern(c) public func clinux_eventfd_create() -> Int32
@_extern(c) public func clinux_timerfd_create_boottime() -> Int32
@_extern(c) public func clinux_timerfd_set_microseconds(_ timer: Int32, _ microseconds: UInt64) -> Int32
@_extern(c) public func clinux_boottime_microseconds() -> UInt64
@_extern(c) public func clinux_unix_microseconds() -> UInt64

@_extern(c) public func clinux_thread_start(
    _ name: UnsafePointer<CChar>, _ body: @convention(c) (UnsafeMutableRawPointer?) -> Void,
    _ context: UnsafeMutableRawPointer?
) -> Int32

// MARK: HCI sockets

/// Of `clinux_hci_bind` (the kernel's bluetooth/hci_sock.h).
public enum HCIChannel {
    public static let raw: UInt16 = 0
    public static let user: UInt16 = 1
    public static let monitor: UInt16 = 2
    public static let control: UInt16 = 3
    /// The number of no adapter, which the monitor and control channels are bound to.
    public static let noAdapter: UInt16 = 0xFFFF
}

/// Of `clinux_hci_list_adapters` and `clinux_hci_list_connections`.
public enum HCILimit {
    public static let adapters = 64
    public static let connections = 128
}

/// Laid out as `struct clinux_adapter`.
public struct CLinuxAdapter {
    public var address: UInt64 = 0
    /// Eight characters, the first in the lowest octet; ended by a zero octet where there are fewer.
    public var name: UInt64 = 0
    public var isUp: UInt32 = 0
    public var type: UInt32 = 0
    public var aclByteCount: UInt32 = 0
    public var aclPacketCount: UInt32 = 0
    /// The first page of LMP features; zero while the kernel has not read them.
    public var features: UInt64 = 0

    public init() {}
}

/// Laid out as `struct clinux_connection`.
public struct CLinuxConnection {
    public var address: UInt64 = 0
    public var handle: UInt32 = 0
    public var type: UInt32 = 0
    public var isOutgoing: UInt32 = 0
    public var state: UInt32 = 0
    public var mode: UInt32 = 0
    private var reserved: UInt32 = 0

    public init() {}
}

@_extern(c) public func clinux_hci_socket() -> Int32
@_extern(c) public func clinux_hci_bind(_ descriptor: Int32, _ adapter: UInt16, _ channel: UInt16) -> Int32

@_extern(c) public func clinux_hci_set_filter_events_and_acl(
    _ descriptor: Int32, _ narrowed: UnsafeMutablePointer<Int32>
) -> Int32

@_extern(c) public func clinux_hci_enable_direction(_ descriptor: Int32) -> Int32

@_extern(c) public func clinux_hci_batch_make(_ capacity: Int) -> OpaquePointer?
@_extern(c) public func clinux_hci_batch_free(_ batch: OpaquePointer)
@_extern(c) public func clinux_hci_batch_receive(_ batch: OpaquePointer, _ descriptor: Int32) -> Int32

@_extern(c) public func clinux_hci_batch_packet(
    _ batch: OpaquePointer, _ index: Int32, _ length: UnsafeMutablePointer<Int>,
    _ outgoing: UnsafeMutablePointer<Int32>
) -> UnsafeRawPointer

@_extern(c) public func clinux_hci_list_adapters(
    _ descriptor: Int32, _ indexes: UnsafeMutablePointer<UInt16>
) -> Int32

/// - Parameter adapter: a `CLinuxAdapter`.
@_extern(c) public func clinux_hci_adapter_info(
    _ descriptor: Int32, _ index: UInt16, _ adapter: UnsafeMutableRawPointer
) -> Int32

/// - Parameter connections: so many `CLinuxConnection` as `HCILimit` says.
@_extern(c) public func clinux_hci_list_connections(
    _ descriptor: Int32, _ index: UInt16, _ connections: UnsafeMutableRawPointer
) -> Int32

@_extern(c) public func clinux_hci_is_taken_by_user_channel(_ descriptor: Int32) -> Int32

@_extern(c) public func clinux_hci_set_power(_ descriptor: Int32, _ adapter: UInt16, _ isOn: Int32) -> Int32

// MARK: Serial ports

/// The settings of a port, as many octets as `struct clinux_serial_settings` has.
public struct CLinuxSerialSettings {
    private var octets:
        (
            UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
            UInt64,
            UInt64, UInt64
        ) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    public init() {}
}

/// - Parameter settings: a `CLinuxSerialSettings`.
@_extern(c) public func clinux_serial_read_settings(
    _ descriptor: Int32, _ settings: UnsafeMutableRawPointer
) -> Int32

/// - Parameter settings: a `CLinuxSerialSettings`.
@_extern(c) public func clinux_serial_restore_settings(_ descriptor: Int32, _ settings: UnsafeRawPointer) -> Int32

@_extern(c) public func clinux_serial_configure(
    _ descriptor: Int32, _ baud: UInt32, _ hardwareFlowControl: Int32, _ evenParity: Int32,
    _ actualBaud: UnsafeMutablePointer<UInt32>
) -> Int32

@_extern(c) public func clinux_serial_flush(_ descriptor: Int32) -> Int32
@_extern(c) public func clinux_serial_claim(_ descriptor: Int32) -> Int32
@_extern(c) public func clinux_serial_release(_ descriptor: Int32) -> Int32
@_extern(c) public func clinux_serial_is_kernel_hci(_ descriptor: Int32) -> Int32

// MARK: USB

@_extern(c) public func clinux_usb_reset(_ descriptor: Int32) -> Int32

// MARK: Errors

@_extern(c) public func clinux_describe_error(
    _ code: Int32, _ text: UnsafeMutablePointer<CChar>, _ capacity: Int)

// MARK: Unix sockets

@_extern(c) public func clinux_release_code()

@_extern(c) public func clinux_accept(_ listener: Int32) -> Int32

@_extern(c) public func clinux_peer_credentials(
    _ descriptor: Int32, _ user: UnsafeMutablePointer<UInt32>, _ group: UnsafeMutablePointer<UInt32>,
    _ process: UnsafeMutablePointer<Int32>
) -> Int32

@_extern(c) public func clinux_peer_process(_ descriptor: Int32) -> Int32

@_extern(c) public func clinux_peer_groups(
    _ descriptor: Int32, _ groups: UnsafeMutablePointer<UInt32>, _ capacity: Int32
) -> Int32

// MARK: Processes

/// Laid out as `struct clinux_user`.
@unsafe
public struct CLinuxUser {
    public var isSet: Int32
    public var user: UInt32
    public var group: UInt32
    public var groups: UnsafePointer<UInt32>?
    public var groupCount: Int

    public init(isSet: Int32, user: UInt32, group: UInt32, groups: UnsafePointer<UInt32>?, groupCount: Int) {
        unsafe self.isSet = isSet
        unsafe self.user = user
        unsafe self.group = group
        unsafe self.groups = groups
        unsafe self.groupCount = groupCount
    }
}

/// - Parameter user: a `CLinuxUser`.
@_extern(c) public func clinux_launch(
    _ arguments: UnsafePointer<UnsafePointer<CChar>?>, _ environment: UnsafePointer<UnsafePointer<CChar>?>,
    _ folder: UnsafePointer<CChar>, _ user: UnsafeRawPointer, _ group: Int32, _ data: UInt64,
    _ milliseconds: Int32, _ answer: UnsafeMutablePointer<Int32>
) -> Int32

@_extern(c) public func clinux_launch_failure(_ answer: Int32) -> Int32

@_extern(c) public func clinux_limit_data(_ process: Int32, _ octets: UInt64) -> Int32

@_extern(c) public func clinux_open_process(_ process: Int32) -> Int32
@_extern(c) public func clinux_signal_process(_ descriptor: Int32, _ number: Int32) -> Int32
@_extern(c) public func clinux_reap(_ process: Int32, _ status: UnsafeMutablePointer<Int32>) -> Int32

#if canImport(Glibc)
/// Gives memory that is free back to the system (malloc_trim(3)).
/// - Parameter rest: so many octets stay at the end of the heap.
@_extern(c) @discardableResult public func malloc_trim(_ rest: Int) -> Int32
#endif
