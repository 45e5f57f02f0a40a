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
        /// What goes over the air between controllers.
        case air(String)
        /// A bus or a serial line to a controller, among other devices.
        case controllerBus(String)
        /// Something else than Bluetooth.
        case other(String)
        case unknown
    }

    private var kind: Kind {
        switch rawValue {
        case 251: .air("the link layer of Bluetooth LE, as sniffers record it")
        case 256: .air("the link layer of Bluetooth LE with the radio's readings, as sniffers record it")
        case 272: .air("the link layer of Bluetooth LE, as the nRF Sniffer records it")
        case 255: .air("the baseband of Bluetooth BR/EDR, as sniffers record it")
        case 186: .controllerBus("USB, as FreeBSD records it")
        case 249: .controllerBus("USB, as USBPcap records it on Windows")
        case 266: .controllerBus("USB, as macOS records it")
        case 288, 293, 294, 295: .controllerBus("USB, as a bus analyzer records it")
        case 147...162: .controllerBus("for private use")
        case 1003: .controllerBus("BCSP, a protocol of serial lines")
        case 1004: .controllerBus("three-wire UART, a protocol of serial lines")
        case 2002: .controllerBus("BlueZ's simulator")
        case 0, 101, 228, 229: .other("IP")
        case 1: .other("Ethernet")
        case 105, 127: .other("WLAN")
        case 113, 276: .other("network traffic of every interface, as Linux records it")
        case 195, 215, 230, 283: .other("IEEE 802.15.4")
        default: .unknown
        }
    }

    /// Whether records of this link type may carry HCI packets.
    public var mayCarryHCI: Bool { if case .controllerBus = kind { true } else { isRead } }

    /// What it is, and whether it carries HCI, in words.
    public var explanation: String {
        switch kind {
        case _ where isRead: "link type \(rawValue) carries HCI packets"
        case .air(let name), .other(let name): "link type \(rawValue) (\(name)) carries no HCI packets"
        case .controllerBus(let name): "link type \(rawValue) (\(name)) may carry HCI packets, but is not read"
        case .unknown: "link type \(rawValue) is not known as one that carries HCI packets"
        }
    }

    /// What to do instead, in words.
    var remedy: String {
        "record HCI on the host, with btmon, Android's snoop log or PacketLogger; Wireshark may read this file"
    }
}
