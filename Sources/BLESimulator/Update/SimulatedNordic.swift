import BLEPackets

/// Application and bootloader of a device of Nordic's: two banks of flash, of which the second takes what arrives. The
/// bootloader copies it over the first when it is whole and right; a loss of power in between costs nothing.
final class SimulatedNordic: SimulatedFirmware {
    static let secureControl = BluetoothUUID("8EC90001-F315-4F60-9FB8-838830DAEA50")!
    static let securePacket = BluetoothUUID("8EC90002-F315-4F60-9FB8-838830DAEA50")!
    static let buttonless = BluetoothUUID("8EC90003-F315-4F60-9FB8-838830DAEA50")!
    static let bondedButtonless = BluetoothUUID("8EC90004-F315-4F60-9FB8-838830DAEA50")!
    static let legacyService = BluetoothUUID("00001530-1212-EFDE-1523-785FEABCD123")!
    static let legacyControl = BluetoothUUID("00001531-1212-EFDE-1523-785FEABCD123")!
    static let legacyPacket = BluetoothUUID("00001532-1212-EFDE-1523-785FEABCD123")!
    static let legacyVersion = BluetoothUUID("00001534-1212-EFDE-1523-785FEABCD123")!

    /// What an image is.
    enum Content {
        case application
        /// SoftDevice, bootloader, or both: the application does not fit to it any more.
        case system
    }

    /// The settings page of the bootloader: each change is one write.
    struct Settings {
        /// The init packet that was executed, and how much of its image was.
        var initPacket: [UInt8] = []
        var executed = 0
        /// The image in the second bank that is to be copied, and how far that is.
        var ready: (content: Content, byteCount: Int, version: Int, copied: Int)?
        /// The application in the first bank.
        var byteCount = 0
        var checksum: UInt32 = 0
        var version = 0
        /// The version of SoftDevice and bootloader, which are kept outside the two banks.
        var systemVersion = 0
    }

    let device: SimulatedNordicDevice
    private unowned let application: SimulatedDevice
    private unowned let bootloader: SimulatedDevice
    var flash: SimulatedFlash
    var settings = Settings()
    private let bankByteCount: Int
    private var linkLosses: [Int]
    private var busyUntil: Int64 = 0
    private var life = 0
    private(set) var isInBootloader = false
    private var isRunning = false
    private var name = "DfuTarg"

    // Memory, which a restart clears.
    private var secure = SimulatedSecureTransfer()
    private var legacy = SimulatedLegacyTransfer()

    init(_ device: SimulatedNordicDevice, application: SimulatedDevice, bootloader: SimulatedDevice) {
        self.device = device
        self.application = application
        self.bootloader = bootloader
        linkLosses = device.linkLosses.sorted()
        let page = device.flash.pageByteCount
        bankByteCount = (device.bankByteCount + page - 1) / page * page
        flash = SimulatedFlash(byteCount: 2 * bankByteCount, device.flash, powerLosses: [])
        let image = [UInt8](repeating: 0xA1, count: 3000)
        for start in stride(from: 0, to: image.count, by: page) {
            // Nothing is lost while the factory writes.
            try? flash.write(image[start..<min(image.count, start + page)], at: start)
        }
        flash.leaveFactory(device.powerLosses)
        settings.byteCount = image.count
        settings.checksum = Self.crc32(image[...])
        settings.version = device.version
    }

    var bank: Range<Int> { bankByteCount..<2 * bankByteCount }
    var flashOperations: Int { flash.operations }
    var version: String? { isRunning && !isInBootloader && hasApplication ? "\(settings.version)" : nil }

    private var hasApplication: Bool {
        settings.byteCount > 0 && Self.crc32(flash.octets[..<settings.byteCount]) == settings.checksum
    }

    static func crc32(_ octets: ArraySlice<UInt8>) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for octet in octets {
            value ^= UInt32(octet)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }

    // MARK: Starting

    /// - Parameter staysInBootloader: whether the application has asked for the bootloader.
    func powerOn(staysInBootloader: Bool = false) {
        life += 1
        isRunning = false
        secure = SimulatedSecureTransfer()
        legacy = SimulatedLegacyTransfer()
        application.setAdvertising(false)
        bootloader.setAdvertising(false)
        let before = flash.microseconds
        let isPowered: Bool
        do throws(SimulatedFlash.PowerLoss) {
            try install()
            isPowered = true
        } catch { isPowered = false }
        let life = life
        application.air.after(device.startMicroseconds + flash.microseconds - before) { [weak self] in
            guard let self, life == self.life else { return }
            guard isPowered else { return powerOn(staysInBootloader: staysInBootloader) }
            isRunning = true
            busyUntil = application.air.nowMicroseconds
            isInBootloader = staysInBootloader || !hasApplication
            if isInBootloader {
                let service = device.bootloader == .legacy ? Self.legacyService : BluetoothUUID(0xFE59 as UInt16)
                bootloader.setAdvertisement(SimulatedAdvertisement(name: name, serviceUUIDs: [service]))
                bootloader.setAdvertising(true)
            } else {
                if let number = application.server?.number(of: BluetoothUUID(0x2A26 as UInt16)) {
                    application.server?.setValue(Array("\(settings.version)".utf8), of: number)
                }
                application.setAdvertising(true)
            }
        }
    }

    /// Copies what is ready over the application, page by page.
    private func install() throws(SimulatedFlash.PowerLoss) {
        guard let ready = settings.ready else { return }
        if ready.content == .system {
            try flash.commit()
            settings.systemVersion = ready.version
            settings.byteCount = 0
            return forgetTransfer()
        }
        let page = flash.pageByteCount
        while let state = settings.ready, state.copied < ready.byteCount {
            try flash.copy(pageAt: bank.lowerBound + state.copied, to: state.copied)
            settings.ready?.copied += page
        }
        try flash.commit()
        settings.byteCount = ready.byteCount
        settings.checksum = Self.crc32(flash.octets[..<ready.byteCount])
        settings.version = ready.version
        forgetTransfer()
    }

    private func forgetTransfer() {
        settings.ready = nil
        settings.initPacket = []
        settings.executed = 0
    }

    private func restart(staysInBootloader: Bool = false) {
        application.losePower()
        bootloader.losePower()
        powerOn(staysInBootloader: staysInBootloader)
    }

    // MARK: What arrives

    func linkEnded(on device: SimulatedDevice) {}

    func written(_ value: [UInt8], to characteristic: BluetoothUUID, on station: SimulatedDevice) {
        guard isRunning else { return }
        let before = flash.microseconds
        let reaction: SimulatedReaction
        do throws(SimulatedFlash.PowerLoss) {
            switch characteristic {
            case Self.buttonless, Self.bondedButtonless: reaction = startBootloader(value)
            case Self.secureControl: reaction = try secure.control(value, self)
            case Self.securePacket: reaction = try secure.packet(value, self)
            case Self.legacyControl where !isInBootloader:
                reaction = value == [1, 4] ? SimulatedReaction(restart: .bootloader) : SimulatedReaction()
            case Self.legacyControl: reaction = try legacy.control(value, self)
            case Self.legacyPacket where isInBootloader: reaction = try legacy.packet(value, self)
            default: return
            }
        } catch {
            // The power returns at once.
            return restart()
        }
        let air = station.air
        busyUntil = max(busyUntil, air.nowMicroseconds) + 200 + flash.microseconds - before
        react(reaction, on: station)
    }

    private func react(_ reaction: SimulatedReaction, on station: SimulatedDevice) {
        let (air, life) = (station.air, life)
        air.after(busyUntil - air.nowMicroseconds) { [weak self, unowned station] in
            guard let self, life == self.life else { return }
            for (value, characteristic) in reaction.values {
                if let number = station.server?.number(of: characteristic) { station.announce(value, from: number) }
            }
            if let restart = reaction.restart {
                // Nordic's programs end the link before they restart.
                station.setAdvertising(false)
                station.disconnect(.remoteUserTerminatedConnection)
                air.after(100_000) {
                    if life == self.life { self.restart(staysInBootloader: restart == .bootloader) }
                }
            }
            if let loss = linkLosses.first, max(secure.offset, legacy.offset) >= loss {
                linkLosses.removeFirst()
                air.abandonLinks(of: station)
                station.server?.linkEnded()
                station.setAdvertising(true)
            }
        }
    }

    private func startBootloader(_ value: [UInt8]) -> SimulatedReaction {
        let characteristic = device.bootloader == .bonded ? Self.bondedButtonless : Self.buttonless
        func answer(_ code: UInt8, _ restart: SimulatedReaction.Restart? = nil) -> SimulatedReaction {
            SimulatedReaction(values: [([0x20, value.first ?? 0, code], characteristic)], restart: restart)
        }
        switch value.first {
        case 1 where value.count == 1: return answer(1, .bootloader)
        case 2 where value.count > 2 && value.count == Int(value[1]) + 2 && device.bootloader == .secure:
            name = String(decoding: value.dropFirst(2), as: UTF8.self)
            return answer(1)
        default: return answer(2)
        }
    }
}

/// What a bootloader does about what has arrived, once its flash has time.
struct SimulatedReaction {
    enum Restart { case application, bootloader }

    var values: [(value: [UInt8], characteristic: BluetoothUUID)] = []
    var restart: Restart?
}
