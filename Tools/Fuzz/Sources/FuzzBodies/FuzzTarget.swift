/// What is fuzzed. Each accepts any octets and reports what is wrong; a trap, an endless loop and memory without bound are
/// found by who runs it.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// Every decoder of HCI, L2CAP, ATT and H4; what decodes encodes to what decodes to the same.
    case packets
    /// The reader of advertising data.
    case advertising
    /// The readers of capture files.
    case capture
    /// What a sniffer heard: the link layer, and what is on it.
    case air
    /// L2CAP and ATT on two links, one in each role, under frames of the peers.
    case bearer
    /// The whole engine as a central: packets, commands and time.
    case central
    /// The whole engine as a peripheral.
    case peripheral
    /// Pairing, bonds and encryption in both roles, over a crypto provider that answers alike every time.
    case security
    /// Credit-based channels on two links.
    case channels
    /// Enhanced attribute bearers on two encrypted links, and channels of the enhanced form.
    case bearers
    /// The sessions of a daemon: tools, an app and an operator.
    case sessions
    /// What a serial line carries: H4 that finds its way back, three-wire links that lose frames, and chips with their firmware.
    case serial
    /// What a USB device says of itself, and the pieces of its packets.
    case usb
    /// Files and protocols of firmware update: CBOR, init packets, zip files, and the machines under a device's answers.
    case update

    /// - Returns: What is wrong; `nil` when nothing is.
    public func run(_ bytes: [UInt8]) -> String? {
        switch self {
        case .packets: PacketBody.run(bytes)
        case .advertising: AdvertisingBody.run(bytes)
        case .capture: CaptureBody.run(bytes)
        case .air: AirBody.run(bytes)
        case .bearer: FuzzedHost.run(bytes, .bearer)
        case .central: FuzzedHost.run(bytes, .central)
        case .peripheral: FuzzedHost.run(bytes, .peripheral)
        case .security: FuzzedHost.run(bytes, .security)
        case .channels: FuzzedHost.run(bytes, .channels)
        case .bearers: FuzzedHost.run(bytes, .bearers)
        case .sessions: FuzzedSessions.run(bytes)
        case .serial: SerialBody.run(bytes)
        case .usb: USBBody.run(bytes)
        case .update: UpdateBody.run(bytes)
        }
    }
}
