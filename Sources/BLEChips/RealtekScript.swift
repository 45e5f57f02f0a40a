import BLEPackets

/// Loads the firmware of Realtek's chips (Linux, drivers/bluetooth/btrtl.c and hci_h5.c).
///
///     Reset, version ─▶ ROM version ─▶ files ─▶ speed ─▶ download, Reset
///         └─ firmware is there already ─▶ drop it, once
struct RealtekScript: ChipScript {
    private enum State {
        case begin, reset, version, dropped, dropPause, restarted
        case romVersion, firmware, configuration
        case rate, ratePause, newRate, pieces, downloadPause, secondReset, over
    }

    private static let readROMVersion = HCIOpcode(rawValue: 0xFC6D)
    private static let setBaudRate = HCIOpcode(rawValue: 0xFC17)
    private static let download = HCIOpcode(rawValue: 0xFC20)
    private static let dropFirmware = HCIOpcode(rawValue: 0xFC66)
    private static let pieceByteCount = 252

    private let settings: ChipSettings
    private(set) var information = ChipInformation()
    private var state = State.begin
    private var hasDropped = false
    private var chip: RealtekChip?
    private var rom: UInt8 = 0
    private var image: [UInt8] = []
    private var piece = 0
    private var index: UInt8 = 0

    init(settings: ChipSettings) { self.settings = settings }

    mutating func next(_ result: ChipResult) throws(ChipFailure) -> ChipStep {
        switch state {
        case .begin: return move(to: .reset, .command(.reset, []))
        case .reset:
            _ = try result.parameters(of: .reset)
            return move(to: .version, .command(.readLocalVersion, []))
        case .version: return try chooseChip(result)
        case .dropped: return move(to: .dropPause, .pause(microseconds: 200_000))
        case .dropPause: return move(to: .restarted, .restartLink)
        case .restarted: return move(to: .reset, .command(.reset, []))
        case .romVersion:
            rom = try result.parameters(of: Self.readROMVersion, count: 1)[0]
            return move(to: .firmware, .readFile(chip?.firmwareFiles ?? []))
        case .firmware: return try readPatch(result)
        case .configuration: return try readConfiguration(result)
        case .rate:
            _ = try result.parameters(of: Self.setBaudRate)
            // Chips need this time before they understand the new speed.
            return move(to: .ratePause, .pause(microseconds: 10_000))
        case .ratePause: return move(to: .newRate, .setBaud(settings.baud))
        case .newRate: return sendPiece()
        case .pieces: return try pieceAnswered(result)
        case .downloadPause: return move(to: .secondReset, .command(.reset, []))
        case .secondReset:
            _ = try result.parameters(of: .reset)
            return move(to: .over, .done)
        case .over: return .done
        }
    }

    private mutating func move(to state: State, _ step: ChipStep) -> ChipStep {
        self.state = state
        return step
    }

    // MARK: The chip

    private mutating func chooseChip(_ result: ChipResult) throws(ChipFailure) -> ChipStep {
        try information.read(result)
        try information.require(.realtek)
        let subversion = information.lmpSubversion
        if let chip = RealtekChip.find(
            lmpSubversion: subversion, hciRevision: information.hciRevision, hciVersion: information.hciVersion)
        {
            guard RealtekChip.code(ofBaud: settings.baud) != nil else { throw .unsupportedBaud(settings.baud) }
            self.chip = chip
            information.name = chip.name
            return move(to: .romVersion, .command(Self.readROMVersion, []))
        }
        guard !RealtekChip.isROM(lmpSubversion: subversion), !hasDropped else {
            throw .unknownChip(.realtek, subversion: subversion, revision: information.hciRevision)
        }
        hasDropped = true
        return move(to: .dropped, .announcement(Self.dropFirmware, []))
    }

    // MARK: Files

    private mutating func readPatch(_ result: ChipResult) throws(ChipFailure) -> ChipStep {
        let files = chip?.firmwareFiles ?? []
        guard case .file(let file?) = result else { throw .missingFirmware(files, package: RealtekChip.package) }
        let firmware = try RealtekFirmware(file)
        guard let chip, chip.projects.contains(firmware.project) else {
            throw .invalidFirmware(file: file.name, reason: "it is for another chip (project \(firmware.project))")
        }
        image = try firmware.patch(forROM: rom)
        information.firmware = file.name
        return move(to: .configuration, .readFile(chip.configurationFiles))
    }

    private mutating func readConfiguration(_ result: ChipResult) throws(ChipFailure) -> ChipStep {
        let files = chip?.configurationFiles ?? []
        guard case .file(let file?) = result else { throw .missingFirmware(files, package: RealtekChip.package) }
        var configuration = try RealtekConfiguration(file)
        guard let code = RealtekChip.code(ofBaud: settings.baud) else { throw .unsupportedBaud(settings.baud) }
        configuration.setSpeed(code)
        image += configuration.octets
        guard settings.baud != ChipSettings.bootBaud else { return sendPiece() }
        return move(to: .rate, .command(Self.setBaudRate, littleEndian(code)))
    }

    // MARK: Download

    /// The last piece has less than the greatest length, and may be empty.
    private var pieceCount: Int { image.count / Self.pieceByteCount + 1 }

    private mutating func sendPiece() -> ChipStep {
        let start = piece * Self.pieceByteCount
        let octets = image[start..<min(start + Self.pieceByteCount, image.count)]
        let isLast = piece == pieceCount - 1
        return move(to: .pieces, .command(Self.download, [isLast ? index | 0x80 : index] + octets))
    }

    private mutating func pieceAnswered(_ result: ChipResult) throws(ChipFailure) -> ChipStep {
        let answered = try result.parameters(of: Self.download, count: 1)[0]
        guard answered & 0x7F == index else { throw .invalidAnswer(Self.download) }
        piece += 1
        guard piece < pieceCount else { return move(to: .downloadPause, .pause(microseconds: 50_000)) }
        // 0 is the first piece only.
        index = index == 0x7F ? 1 : index + 1
        return sendPiece()
    }
}
