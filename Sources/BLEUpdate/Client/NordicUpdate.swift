import BLE

/// The services and characteristics of Nordic's DFU.
enum NordicDFU {
    static let secureService: BluetoothUUID = "FE59"
    static let secureControl: BluetoothUUID = "8EC90001-F315-4F60-9FB8-838830DAEA50"
    static let securePacket: BluetoothUUID = "8EC90002-F315-4F60-9FB8-838830DAEA50"
    /// In applications: starts the bootloader under the next address.
    static let buttonless: BluetoothUUID = "8EC90003-F315-4F60-9FB8-838830DAEA50"
    /// In applications: starts the bootloader under the same address, which takes the bond over.
    static let bondedButtonless: BluetoothUUID = "8EC90004-F315-4F60-9FB8-838830DAEA50"
    static let legacyService: BluetoothUUID = "00001530-1212-EFDE-1523-785FEABCD123"
    static let legacyControl: BluetoothUUID = "00001531-1212-EFDE-1523-785FEABCD123"
    static let legacyPacket: BluetoothUUID = "00001532-1212-EFDE-1523-785FEABCD123"
    static let legacyVersion: BluetoothUUID = "00001534-1212-EFDE-1523-785FEABCD123"
}

extension DeviceAddress {
    /// The address under which a bootloader of Nordic's advertises: the last octet is one more.
    var nextAddress: DeviceAddress {
        DeviceAddress(value: value & ~0xFF | (value &+ 1) & 0xFF, kind: kind)
    }
}

/// The update of a device with a bootloader of Nordic's: each part of the package is sent to the bootloader, which the
/// application is asked to start.
struct NordicUpdate {
    private let parts: [NordicFirmware]
    private let options: FirmwareUpdate.Options
    private let progress: @Sendable (UpdateProgress) -> Void
    private let isSecure: Bool
    private var link: UpdateLink
    private var outcome: FirmwareUpdate.Outcome
    private var next = 0
    /// How often the application was asked for its bootloader without effect.
    private var jumps = 0
    /// How often the same part was refused because of what an earlier attempt left.
    private var resets = 0
    /// Whether the device had everything when the link was lost.
    private var mayBeDone = false

    init(
        _ parts: [NordicFirmware], _ options: FirmwareUpdate.Options, _ peripheral: Peripheral,
        _ progress: @escaping @Sendable (UpdateProgress) -> Void
    ) {
        self.parts = parts
        self.options = options
        self.progress = progress
        isSecure = parts.first?.isSecure ?? true
        outcome = FirmwareUpdate.Outcome(isSecure ? .secureDFU : .legacyDFU)
        link = UpdateLink(peripheral, options)
    }

    mutating func run() async throws -> FirmwareUpdate.Outcome {
        while next < parts.count {
            do {
                try await step(try await link.connected())
            } catch {
                try await link.lost(error)
                progress(UpdateProgress(phase: .reconnecting))
            }
            outcome.reconnections = link.reconnections
        }
        await link.drop()
        return outcome
    }

    private mutating func step(_ peripheral: Peripheral) async throws {
        let uuid = isSecure ? NordicDFU.secureService : NordicDFU.legacyService
        guard let service = try await peripheral.discoverServices([uuid]).first else {
            guard link.isToDeviceItself else { return try await link.leaveStranger() }
            throw UpdateError.noUpdateService
        }
        let found = try await peripheral.discoverCharacteristics(of: service)
        func characteristic(_ uuid: BluetoothUUID) -> Characteristic? { found.first { $0.uuid == uuid } }
        if isSecure, let jump = characteristic(NordicDFU.buttonless) ?? characteristic(NordicDFU.bondedButtonless) {
            guard link.isToDeviceItself else { return try await link.leaveStranger() }
            return try await startBootloader(peripheral, jump)
        }
        guard let control = characteristic(isSecure ? NordicDFU.secureControl : NordicDFU.legacyControl) else {
            throw UpdateError.noUpdateService
        }
        if !isSecure, try await isLegacyApplication(peripheral, characteristic(NordicDFU.legacyVersion)) {
            guard link.isToDeviceItself else { return try await link.leaveStranger() }
            return try await startLegacyBootloader(peripheral, control)
        }
        guard let packet = characteristic(isSecure ? NordicDFU.securePacket : NordicDFU.legacyPacket) else {
            throw UpdateError.noUpdateService
        }
        jumps = 0
        try await send(peripheral, control, packet)
    }

    // MARK: From the application to the bootloader

    private mutating func jump() throws {
        jumps += 1
        guard jumps <= 3 else { throw UpdateError.deviceNotFound("its bootloader") }
        progress(UpdateProgress(phase: .startingBootloader))
    }

    private mutating func startBootloader(_ peripheral: Peripheral, _ control: Characteristic) async throws {
        try jump()
        // An application that does not answer loses the link.
        let watch = Task {
            try await Task.sleep(for: .seconds(15))
            try await peripheral.disconnect()
        }
        defer { watch.cancel() }
        let isBonded = control.uuid == NordicDFU.bondedButtonless
        let values = try await peripheral.notifications(of: control)
        var answers = values.makeAsyncIterator()
        var name: String?
        if !isBonded {
            // Under a name of its own the bootloader is found among others.
            let wish = "Dfu" + String(Int.random(in: 10_000...99_999))
            try await peripheral.write([2, UInt8(wish.utf8.count)] + Array(wish.utf8), to: control)
            if try await answer(to: 2, &answers) == 1 { name = wish }
        }
        do { try await peripheral.write([1], to: control) } catch let error as BLEError where error.isLostLink {
            // Some applications restart before they answer.
        }
        let code: UInt8
        do { code = try await answer(to: 1, &answers) } catch let error as BLEError where error.isLostLink { code = 1 }
        switch code {
        case 1: break
        case 7: throw UpdateError.notBonded
        default:
            let texts: [UInt8: String] = [
                2: "it does not know the operation", 4: "the operation failed", 5: "invalid name", 6: "it is busy",
            ]
            throw UpdateError.refused(
                step: "start its bootloader", DFURefusal(code: code, text: texts[code] ?? "result \(code)"))
        }
        try await link.awaitRestart()
        link.awaitsBootloader(name: name, hasNextAddress: !isBonded)
    }

    private func answer(to operation: UInt8, _ answers: inout Notifications.Iterator) async throws -> UInt8 {
        while let value = try await answers.next() {
            let octets = value.bytes
            guard octets.count >= 3, octets[0] == 0x20, octets[1] == operation else { continue }
            return octets[2]
        }
        throw BLEError.notConnected
    }

    /// An application with the legacy service says version 0.1; bootloaders have higher ones, or none if they are old.
    private func isLegacyApplication(_ peripheral: Peripheral, _ version: Characteristic?) async throws -> Bool {
        guard let version else {
            return try await peripheral.discoverServices().count { ![0x1800, 0x1801].contains($0.uuid.shortValue) } > 1
        }
        return try await peripheral.read(version) == [1, 0]
    }

    private mutating func startLegacyBootloader(_ peripheral: Peripheral, _ control: Characteristic) async throws {
        try jump()
        let values = try await peripheral.notifications(of: control)
        do { try await peripheral.write([1, 4], to: control) } catch let error as BLEError where error.isLostLink {}
        try await link.awaitRestart()
        _ = values
        link.awaitsBootloader(name: nil, hasNextAddress: true)
    }

    // MARK: The bootloader

    private mutating func send(
        _ peripheral: Peripheral, _ control: Characteristic, _ packet: Characteristic
    ) async throws {
        let part = parts[next]
        let limit = await peripheral.maximumWriteLength(withResponse: false)
        let notifications = try await peripheral.notifications(of: control)
        let (values, source) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let reader = Task {
            do {
                for try await value in notifications { source.yield(value.bytes) }
                source.finish(throwing: BLEError.notConnected)
            } catch { source.finish(throwing: error) }
        }
        defer { reader.cancel() }
        let runner = MachineRunner(
            peripheral: peripheral, control: control.valueHandle, packet: packet.valueHandle, values: values)
        let meter = UploadMeter(part: next, of: parts.count, total: part.image.count, progress)
        defer {
            let sent = meter.sent
            outcome.byteCount += sent
            outcome.seconds += meter.seconds
            link.progressed(to: meter.reachedCount, of: next)
        }
        do {
            if isSecure {
                let machine = SecureDFU(
                    initPacket: part.initPacket, image: part.image, packetLimit: limit,
                    receiptInterval: options.receiptInterval)
                _ = try await runner.run(machine) { done, _ in meter.reached(done) }
            } else {
                let plan = LegacyDFU.Plan(
                    initPacket: part.initPacket, image: part.image, softDeviceByteCount: part.softDeviceByteCount,
                    bootloaderByteCount: part.bootloaderByteCount, applicationByteCount: part.applicationByteCount,
                    packetLimit: min(20, limit), receiptInterval: options.receiptInterval ?? 10)
                _ = try await runner.run(LegacyDFU(plan)) { done, _ in meter.reached(done) }
            }
        } catch let error as BLEError where error.isLostLink && isSecure && meter.isComplete {
            // Either the answer to the last step was lost, or the power in the middle of it: the bootloader is asked again.
            mayBeDone = true
            throw error
        } catch UpdateError.refused(_, let refusal) where refusal.extended == 5 && mayBeDone {
            // It does not take this version again: it has it.
        } catch UpdateError.refused(_, let refusal) where !isSecure && refusal.code == 2 && resets < 2 {
            // What an earlier link has begun: the bootloader forgets it by a reset.
            resets += 1
            _ = try? await peripheral.write([6], to: control)
            return try await link.awaitRestart()
        }
        progress(UpdateProgress(phase: .restarting))
        try await link.awaitRestart()
        next += 1
        (resets, mayBeDone) = (0, false)
        // The next part goes to the bootloader, which may have another address, or to an application that starts it.
        if next < parts.count {
            link.awaitsBootloader(name: nil, hasNextAddress: true)
        }
    }
}
