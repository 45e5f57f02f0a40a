import BLEPackets

/// Starts chips of Broadcom, Cypress and Infineon (Linux, drivers/bluetooth/btbcm.c and hci_bcm.c).
///
///     Reset, version, name ─▶ speed ─▶ file ─▶ minidriver, records, launch ─▶ boot speed, Reset ─▶ speed ─▶ address
struct BroadcomScript: ChipScript {
    private enum State {
        case begin, reset, version, name
        case clock(afterFirmware: Bool)
        case rate(afterFirmware: Bool)
        case newRate(afterFirmware: Bool)
        case settle(afterFirmware: Bool)
        case file, minidriver, minidriverPause, records, launchPause, bootRate, secondReset
        case address, written, over
    }

    private static let writeClock = HCIOpcode(rawValue: 0xFC45)
    private static let updateBaudRate = HCIOpcode(rawValue: 0xFC18)
    private static let downloadMinidriver = HCIOpcode(rawValue: 0xFC2E)
    private static let writeAddress = HCIOpcode(rawValue: 0xFC01)
    /// Above this speed the chip's clock has to be faster.
    private static let fastestAtUsualClock: UInt32 = 3_000_000
    /// The Debian package with `.hcd` files.
    static let package = "bluez-firmware (from non-free-firmware, or of Raspberry Pi OS)"

    private let settings: ChipSettings
    private(set) var information = ChipInformation()
    private var state = State.begin
    private var files: [String] = []
    private var patch = HCDFile(commands: [])
    private var position = 0

    init(settings: ChipSettings) { self.settings = settings }

    mutating func next(_ result: ChipResult) throws(ChipFailure) -> ChipStep {
        switch state {
        case .begin: return move(to: .reset, .command(.reset, []))
        case .reset:
            _ = try result.parameters(of: .reset)
            return move(to: .version, .command(.readLocalVersion, []))
        case .version:
            try information.read(result)
            try information.require(.broadcom)
            return move(to: .name, .command(.readLocalName, []))
        case .name:
            nameChip(result)
            return changeSpeed(afterFirmware: false)
        case .clock(let isAfter):
            _ = try result.parameters(of: Self.writeClock)
            return move(to: .rate(afterFirmware: isAfter), rateCommand)
        case .rate(let isAfter):
            // The answer has come at the old speed.
            _ = try result.parameters(of: Self.updateBaudRate)
            return move(to: .newRate(afterFirmware: isAfter), .setBaud(settings.baud))
        case .newRate(let isAfter): return move(to: .settle(afterFirmware: isAfter), .pause(microseconds: 10_000))
        case .settle(afterFirmware: false): return readFile()
        case .settle(afterFirmware: true): return move(to: .address, .command(.readAddress, []))
        case .file: return try begin(result)
        case .minidriver:
            _ = try result.parameters(of: Self.downloadMinidriver)
            return move(to: .minidriverPause, .pause(microseconds: 50_000))
        case .minidriverPause: return sendRecord()
        case .records:
            _ = try result.parameters(of: HCIOpcode(rawValue: patch.commands[position].opcode))
            position += 1
            return sendRecord()
        case .launchPause: return move(to: .bootRate, .setBaud(ChipSettings.bootBaud))
        case .bootRate: return move(to: .secondReset, .command(.reset, []))
        case .secondReset:
            _ = try result.parameters(of: .reset)
            return changeSpeed(afterFirmware: true)
        case .address: return try checkAddress(result)
        case .written:
            _ = try result.parameters(of: Self.writeAddress)
            information.hasDefaultAddress = false
            return move(to: .over, .done)
        case .over: return .done
        }
    }

    private mutating func move(to state: State, _ step: ChipStep) -> ChipStep {
        self.state = state
        return step
    }

    // MARK: Speed

    private var rateCommand: ChipStep { .command(Self.updateBaudRate, [0, 0] + littleEndian(settings.baud)) }

    private mutating func changeSpeed(afterFirmware isAfter: Bool) -> ChipStep {
        guard settings.baud != ChipSettings.bootBaud else {
            return isAfter ? move(to: .address, .command(.readAddress, [])) : readFile()
        }
        guard settings.baud > Self.fastestAtUsualClock else {
            return move(to: .rate(afterFirmware: isAfter), rateCommand)
        }
        return move(to: .clock(afterFirmware: isAfter), .command(Self.writeClock, [1]))
    }

    // MARK: Firmware

    /// The chips by LMP subversion; the ROM's name is that of a chip, too.
    private static func name(ofSubversion subversion: UInt16) -> String? {
        switch subversion {
        case 0x2122: "BCM4343A0"
        case 0x2209: "BCM43430A1"
        case 0x6119: "BCM4345C0"
        case 0x6606: "BCM4345C5"
        case 0x230F: "BCM4356A2"
        case 0x220E: "BCM20702A1"
        case 0x410C: "BCM43430B0"
        case 0x2119: "BCM4373A0"
        case 0x6106: "BCM4359C0"
        default: nil
        }
    }

    private mutating func nameChip(_ result: ChipResult) {
        var names: [String] = []
        if let name = Self.name(ofSubversion: information.lmpSubversion) { names.append(name) }
        // The name is the chip's word: it becomes part of a path only if it is letters and digits.
        if case .answer(let octets) = result, octets.first == 0 {
            let text = octets.dropFirst().prefix { $0 != 0 }
            let isPlain = text.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & ~0x20) }
            if isPlain, (4...32).contains(text.count) {
                let name = String(decoding: text, as: UTF8.self).uppercased()
                if name.hasPrefix("BCM"), !names.contains(name) { names.append(name) }
            }
        }
        information.name = names.first
        files = names.map { "brcm/\($0).hcd" }
    }

    private mutating func readFile() -> ChipStep {
        files.isEmpty ? move(to: .address, .command(.readAddress, [])) : move(to: .file, .readFile(files))
    }

    private mutating func begin(_ result: ChipResult) throws(ChipFailure) -> ChipStep {
        guard case .file(let file?) = result else {
            // The ROM works without a patch.
            information.missingFirmware = files
            return move(to: .address, .command(.readAddress, []))
        }
        patch = try HCDFile(file)
        information.firmware = file.name
        return move(to: .minidriver, .command(Self.downloadMinidriver, []))
    }

    private mutating func sendRecord() -> ChipStep {
        guard position < patch.commands.count else { return move(to: .launchPause, .pause(microseconds: 250_000)) }
        let command = patch.commands[position]
        return move(to: .records, .command(HCIOpcode(rawValue: command.opcode), command.parameters))
    }

    // MARK: Address

    private mutating func checkAddress(_ result: ChipResult) throws(ChipFailure) -> ChipStep {
        let octets = try result.parameters(of: .readAddress, count: 6)
        information.hasDefaultAddress = Self.isDefault(DeviceAddress(octets: octets[...], kind: .public))
        guard let address = settings.address else { return move(to: .over, .done) }
        return move(to: .written, .command(Self.writeAddress, address.octets))
    }

    /// The addresses of chips without one (Linux btbcm.c).
    private static func isDefault(_ address: DeviceAddress) -> Bool {
        switch address.value {
        case 0, 0x2070_02A0_0000, 0x0020_7002_A000, 0x2076_A000_5679, 0x4324_B300_0000, 0x4330_B100_0000,
            0x4334_B000_0000, 0x4345_C500_1FAC, 0x4343_A012_1FAC, 0xAAAA_AAAA_AAAA, 0x4334_1B00_1FAC:
            true
        default: false
        }
    }
}
