import BLEPackets

/// Changes the speed of chips of Texas Instruments, and writes their address (Linux, drivers/bluetooth/hci_ll.c). Their
/// service packs are not loaded.
struct TexasInstrumentsScript: ChipScript {
    private enum State { case begin, reset, version, rate, newRate, settle, written, over }

    private static let updateBaudRate = HCIOpcode(rawValue: 0xFF36)
    private static let writeAddress = HCIOpcode(rawValue: 0xFC06)

    private let settings: ChipSettings
    private(set) var information = ChipInformation()
    private var state = State.begin

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
            try information.require(.texasInstruments)
            guard settings.baud != ChipSettings.bootBaud else { return writeAddress() }
            state = .rate
            return .command(Self.updateBaudRate, littleEndian(settings.baud))
        case .rate:
            _ = try result.parameters(of: Self.updateBaudRate)
            state = .newRate
            return .setBaud(settings.baud)
        case .newRate:
            state = .settle
            return .pause(microseconds: 10_000)
        case .settle: return writeAddress()
        case .written:
            _ = try result.parameters(of: Self.writeAddress)
            state = .over
            return .done
        case .over: return .done
        }
    }

    private mutating func writeAddress() -> ChipStep {
        guard let address = settings.address else {
            state = .over
            return .done
        }
        state = .written
        // The highest octet first, unlike everything else on HCI.
        return .command(Self.writeAddress, address.octets.reversed())
    }
}
