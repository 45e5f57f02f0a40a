/// A link type of pcap and pcapng, or a datalink of btsnoop, by its number.
///
/// The numbers are those of the tcpdump group, and of BlueZ for btsnoop; the two do not meet.
public struct CaptureLinkType: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Whether the reader reads it.
    public var isRead: Bool { LinkType(rawValue: rawValue) != nil || BtsnoopDatalink(rawValue: rawValue) != nil }

    /// What a link type that is not read is.
    private enum Kind {
        /// What goes over the air between controllers: read, or not.
        case air(String, isRead: Bool)
        /// A bus or a serial line to a controller, among other devices.
        case controllerBus(String)
        /// Something else than Bluetooth.
        case other(String)
        case unknown
    }

    private var kind: Kind {
        switch rawValue {
        case 192: .air("packets behind a header of PPI, which may be those of the link layer", isRead: true)
        case 251: .air("the link layer of Bluetooth LE, as sniffers record it", isRead: true)
        case 256: .air("the link layer of Bluetooth LE with the radio's readings, as sniffers record it", isRead: true)
        case 272: .air("the link layer of Bluetooth LE, as the nRF Sniffer records it", isRead: true)
        case 255: .air("the baseband of Bluetooth BR/EDR, as sniffers record it", isRead: false)
        case 186: .controllerBus("USB, as FreeBSD records it")
        case 266: .controllerBus("USB, as macOS records it")
        case 288, 293, 294, 295: .controllerBus("USB, as a bus analyzer records it")
        case 147...162: .controllerBus("for private use")
        case 1003: .controllerBus("BCSP, a protocol of serial lines")
        case 1004: .controllerBus("three-wire UART, a protocol of serial lines")
        case 2002: .controllerBus("BlueZ's simulator")
        case 0, 101, 228, 229: .other("IP")
        case 1: .other("Ethernet")
        case 105, 119, 127, 163: .other("Wi-Fi")
        case 227: .other("CAN")
        case 270: .other("LoRa")
        case 113, 276: .other("network traffic of every interface, as Linux records it")
        case 195, 215, 230, 283: .other("IEEE 802.15.4")
        default: .unknown
        }
    }

    /// Whether records of this link type may carry HCI packets.
    public var mayCarryHCI: Bool {
        switch kind {
        case .controllerBus: true
        case .air: false
        case .other, .unknown: isRead
        }
    }

    /// What it is, and whether it carries HCI, in words.
    public var explanation: String {
        switch kind {
        case .air(let name, isRead: true): "link type \(rawValue): \(name)"
        case _ where isRead: "link type \(rawValue) carries HCI packets"
        case .air(let name, _), .other(let name): "link type \(rawValue) (\(name)) carries no HCI packets"
        case .controllerBus(let name): "link type \(rawValue) (\(name)) may carry HCI packets, but is not read"
        case .unknown: "link type \(rawValue) is not known as one that carries HCI packets"
        }
    }

    /// What to do instead, in words.
    var remedy: String {
        "record HCI on the host, with btmon, Android's snoop log or PacketLogger, or the air with a sniffer; Wireshark may "
            + "read this file"
    }
}
