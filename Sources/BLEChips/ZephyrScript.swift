import BLEPackets

/// Reads what Zephyr's and Nordic's controllers have beyond HCI (Zephyr, include/zephyr/bluetooth/hci_vs.h), and writes
/// the address.
///
/// A vendor's command is sent only once the manufacturer is known and Read Supported Commands names it: the same opcodes
/// mean other things to other chips.
struct ZephyrScript: ChipScript {
    private enum State { case begin, reset, version, supported, build, addresses, written, over }

    private static let readVersion = HCIOpcode(rawValue: 0xFC01)
    private static let readSupportedCommands = HCIOpcode(rawValue: 0xFC02)
    private static let writeAddress = HCIOpcode(rawValue: 0xFC06)
    private static let readStaticAddresses = HCIOpcode(rawValue: 0xFC09)

    private let settings: ChipSettings
    private(set) var information = ChipInformation()
    private var state = State.begin
    /// A bit for each vendor command, from 0xFC01 on.
    private var supported: UInt64 = 0

    init(settings: ChipSettings) { self.settings = settings }

    mutating func next(_ result: ChipResult) throws(ChipFailure) -> ChipStep {
        switch state {
        case .begin:
            state = .reset
            return .command(.reset, [])
        case .reset:
            _ = try result.parameters(of: .reset)
            state = .version
            return .command(.readLocalVersion, [])
        case .version:
            try information.read(result)
            try information.require(.zephyr)
            state = .supported
            return .command(Self.readSupportedCommands, [])
        case .supported:
            // A build without vendor commands refuses this one, too.
            guard result.isSuccess else { return finish() }
            let octets = try result.parameters(of: Self.readSupportedCommands, count: 8)
            for (index, octet) in octets.prefix(8).enumerated() { supported |= UInt64(octet) << (8 * index) }
            return ask(Self.readVersion, then: .build) ?? afterVersion()
        case .build:
            if result.isSuccess { read(try result.parameters(of: Self.readVersion, count: 7)) }
            return afterVersion()
        case .addresses:
            if result.isSuccess { try readAddresses(try result.parameters(of: Self.readStaticAddresses, count: 1)) }
            return afterAddresses()
        case .written:
            _ = try result.parameters(of: Self.writeAddress)
            return finish()
        case .over: return .done
        }
    }

    private mutating func ask(_ opcode: HCIOpcode, _ parameters: [UInt8] = [], then state: State) -> ChipStep? {
        let bit = UInt64(opcode.rawValue & 0x3FF) - 1
        guard supported >> bit & 1 == 1 else { return nil }
        self.state = state
        return .command(opcode, parameters)
    }

    private mutating func afterVersion() -> ChipStep {
        ask(Self.readStaticAddresses, then: .addresses) ?? afterAddresses()
    }

    private mutating func afterAddresses() -> ChipStep {
        guard let address = settings.address else { return finish() }
        return ask(Self.writeAddress, address.octets, then: .written) ?? finish()
    }

    private mutating func finish() -> ChipStep {
        state = .over
        return .done
    }

    /// Hardware platform, variant, and the firmware's version.
    private mutating func read(_ octets: [UInt8]) {
        guard octets.count >= 8 else { return }
        let platform = UInt16(octets[0]) | UInt16(octets[1]) << 8
        let revision = UInt16(octets[6]) | UInt16(octets[7]) << 8
        information.name = "platform \(platform), firmware \(octets[5]).\(revision)"
    }

    /// Each address is followed by its identity root.
    private mutating func readAddresses(_ octets: [UInt8]) throws(ChipFailure) {
        guard let count = octets.first, count > 0 else { return }
        guard octets.count >= 1 + 22 * Int(count) else { throw .invalidAnswer(Self.readStaticAddresses) }
        let address = DeviceAddress(octets: octets[1...], kind: .random)
        // A static address has both of its highest bits set (Core 5.4, Vol 6, Part B, 1.3.2.1).
        if address.value >> 46 == 0b11 { information.staticAddress = address }
    }
}
