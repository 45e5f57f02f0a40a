import BLEPackets

/// What the kernel knows about one of its Bluetooth adapters.
public struct KernelAdapter: Hashable, Sendable {
    /// The number in `hci0`, `user:0` and `raw:0`; it may change when the adapter is unplugged and plugged in again.
    public let index: UInt16
    /// `hci0`.
    public let name: String
    /// The public address; all zero while the kernel has not read it, or where the controller has none.
    public let address: DeviceAddress
    /// Whether the kernel's own stack uses the adapter.
    public let isUp: Bool
    /// How the controller is attached.
    public let bus: Bus
    /// What sort of controller it is.
    public let kind: Kind
    /// The largest ACL packet that the controller accepts, in bytes of data; 0 if it was never up.
    public let aclByteCount: UInt16
    /// How many ACL packets the controller buffers.
    public let aclPacketCount: UInt16
    /// Whether the controller has LE, by its LMP features (Core 5.4, Vol 2, Part C, 3.3, bit 38); `nil` while the kernel
    /// has not read them, as for an adapter that it leaves unconfigured.
    public let hasLowEnergy: Bool?

    public init(
        index: UInt16, name: String, address: DeviceAddress, isUp: Bool = false, bus: Bus = .usb, kind: Kind = .primary,
        aclByteCount: UInt16 = 0, aclPacketCount: UInt16 = 0, hasLowEnergy: Bool? = nil
    ) {
        (self.index, self.name, self.address, self.isUp) = (index, name, address, isUp)
        (self.bus, self.kind) = (bus, kind)
        (self.aclByteCount, self.aclPacketCount) = (aclByteCount, aclPacketCount)
        self.hasLowEnergy = hasLowEnergy
    }

    /// Whether an LE host may have use of it: controllers without LE answer its first LE command with an error.
    public var mayHaveLowEnergy: Bool { kind != .amp && hasLowEnergy != false }

    /// How the controller is attached.
    public enum Bus: UInt8, Sendable, CustomStringConvertible {
        /// The kernel's numbers, from 0 on.
        case virtual, usb, pcCard, uart, rs232, pci, sdio, spi, i2c, smd, virtio
        /// A bus without a name in this library.
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

    /// What sort of controller it is.
    public enum Kind: UInt8, Sendable {
        /// An ordinary one, BR/EDR, LE or both.
        case primary = 0
        /// An alternate MAC/PHY controller, without LE.
        case amp = 1
        /// A kind without a name in this library.
        case other = 0xFF
    }
}

/// A connection of the kernel's own stack, which `raw:` shares.
public struct KernelConnection: Hashable, Sendable {
    /// The controller's handle of the connection.
    public let handle: UInt16
    /// The peer's address, most significant byte first; the kernel does not report its type here.
    public let addressValue: UInt64
    /// What kind of connection it is.
    public let link: Link
    /// Whether this side initiated the connection.
    public let isOutgoing: Bool
    /// The state of the connection.
    public let state: State
    /// Role and security.
    public let mode: Mode

    /// What kind of connection it is.
    public enum Link: UInt8, Sendable, CustomStringConvertible {
        /// Synchronous, for voice.
        case sco = 0x00
        /// BR/EDR data.
        case acl = 0x01
        /// Synchronous with repetition, for voice.
        case esco = 0x02
        /// LE data.
        case le = 0x80
        /// A kind without a name in this library.
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

    /// The kernel's socket states that links use.
    public enum State: UInt16, Sendable, CustomStringConvertible {
        /// It can be used.
        case connected = 1
        /// Created, but not used yet.
        case open = 2
        /// This side has requested the connection.
        case connecting = 5
        /// The peer has requested the connection.
        case accepting = 6
        /// The two sides are agreeing on it.
        case configuring = 7
        /// It is being ended.
        case disconnecting = 8
        /// It is gone.
        case closed = 9
        /// A state without a name in this library.
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

    /// The role and security of a link.
    public struct Mode: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// This side is central; otherwise it is peripheral.
        public static let central = Mode(rawValue: 0x0001)
        /// The link was authenticated.
        public static let authenticated = Mode(rawValue: 0x0002)
        /// The link is encrypted.
        public static let encrypted = Mode(rawValue: 0x0004)
        /// The peer was marked as trusted.
        public static let trusted = Mode(rawValue: 0x0008)
        /// A socket asked for a reliable link.
        public static let reliable = Mode(rawValue: 0x0010)
        /// A socket asked for a link of high security.
        public static let secure = Mode(rawValue: 0x0020)
    }

    /// The peer's address as it is printed: `AA:BB:CC:DD:EE:FF`.
    public var addressText: String { DeviceAddress(value: addressValue, kind: .public).addressText }
}
