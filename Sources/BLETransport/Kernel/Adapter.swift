import BLEPackets

/// What the kernel knows about one of its Bluetooth adapters.
public struct Adapter: Hashable, Sendable {
    /// The number in `hci0`, `user:0` and `raw:0`; another after the adapter was unplugged and came back.
    public let index: UInt16
    /// `hci0`.
    public let name: String
    /// The public address; all zero while the kernel has not read it, or where the controller has none.
    public let address: DeviceAddress
    /// Whether the kernel's own stack uses the adapter.
    public let isUp: Bool
    public let bus: Bus
    public let kind: Kind
    /// The largest ACL packet that the controller takes, in bytes of data; 0 while it was never up.
    public let aclByteCount: UInt16
    /// How many ACL packets the controller buffers.
    public let aclPacketCount: UInt16

    /// How the controller is attached.
    public enum Bus: UInt8, Sendable, CustomStringConvertible {
        case virtual, usb, pcCard, uart, rs232, pci, sdio, spi, i2c, smd, virtio
        /// A bus that this library has no name for.
        case other = 0xFF

        /// As `bletool dev` prints it.
        public var description: String {
            switch self {
            case .virtual: "virtual"
            case .usb: "usb"
            case .pcCard: "pccard"
            case .uart: "uart"
            case .rs232: "rs232"
            case .pci: "pci"
            case .sdio: "sdio"
            case .spi: "spi"
            case .i2c: "i2c"
            case .smd: "smd"
            case .virtio: "virtio"
            case .other: "other"
            }
        }
    }

    public enum Kind: UInt8, Sendable {
        case primary = 0
        /// An alternate MAC/PHY controller, which has no LE.
        case amp = 1
        case other = 0xFF
    }
}

/// A connection that the kernel's own stack holds, as `raw:` shares it.
public struct KernelConnection: Hashable, Sendable {
    public let handle: UInt16
    /// The peer's address, most significant byte first; the kernel does not tell its type here.
    public let addressValue: UInt64
    public let link: Link
    /// Whether this side asked for the connection.
    public let isOutgoing: Bool
    public let state: State
    public let mode: Mode

    public enum Link: UInt8, Sendable, CustomStringConvertible {
        case sco = 0x00
        case acl = 0x01
        case esco = 0x02
        case le = 0x80
        case other = 0xFF

        public var description: String {
            switch self {
            case .sco: "SCO"
            case .acl: "ACL"
            case .esco: "eSCO"
            case .le: "LE"
            case .other: "other"
            }
        }
    }

    /// The kernel's socket states, as far as links use them.
    public enum State: UInt16, Sendable, CustomStringConvertible {
        case connected = 1
        case open = 2
        case connecting = 5
        case accepting = 6
        case configuring = 7
        case disconnecting = 8
        case closed = 9
        case other = 0xFFFF

        public var description: String {
            switch self {
            case .connected: "connected"
            case .open: "open"
            case .connecting: "connecting"
            case .accepting: "accepting"
            case .configuring: "configuring"
            case .disconnecting: "disconnecting"
            case .closed: "closed"
            case .other: "other"
            }
        }
    }

    /// What holds for the link: role and security.
    public struct Mode: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// This side is central; else peripheral.
        public static let central = Mode(rawValue: 0x0001)
        public static let authenticated = Mode(rawValue: 0x0002)
        public static let encrypted = Mode(rawValue: 0x0004)
        public static let trusted = Mode(rawValue: 0x0008)
        public static let reliable = Mode(rawValue: 0x0010)
        public static let secure = Mode(rawValue: 0x0020)
    }

    /// The peer's address as it is printed: `AA:BB:CC:DD:EE:FF`.
    public var addressText: String { DeviceAddress(value: addressValue, kind: .public).addressText }
}
