import BLE

/// A link that is made again when it is lost, as long as the update goes on in between.
struct UpdateLink: Sendable {
    /// How often in a row the link may be lost without progress.
    private static let lossLimit = 8

    let adapter: Adapter
    let address: DeviceAddress
    private let options: FirmwareUpdate.Options
    private(set) var peripheral: Peripheral?
    private(set) var reconnections = 0
    private var losses = 0
    /// The part and the octets of it that were reached so far.
    private var reached = (part: 0, octets: 0)
    /// More links than any device needs that gets on.
    private static let reconnectionLimit = 100
    /// A bootloader that may have other addresses and names than the application.
    private var bootloader: (name: String?, addresses: [DeviceAddress])?
    /// Where another device answered, which has an application.
    private var strangers: [DeviceAddress] = []

    init(_ peripheral: Peripheral, _ options: FirmwareUpdate.Options) {
        adapter = peripheral.adapter
        address = peripheral.address
        self.options = options
        self.peripheral = peripheral
    }

    /// The link, made again if it has ended.
    mutating func connected() async throws -> Peripheral {
        if let peripheral, await peripheral.information != nil { return peripheral }
        guard reconnections < Self.reconnectionLimit else { throw UpdateError.linkLost }
        let found = try await reach()
        reconnections += 1
        peripheral = found
        return found
    }

    private func reach() async throws -> Peripheral {
        let work = Task { [self] in
            var request = ConnectRequest(peer: try await whereabouts())
            request.pace = options.pace
            request.phys = options.phys
            return try await adapter.connect(request)
        }
        let timer = Task { [options] in
            try await Task.sleep(for: options.patience)
            work.cancel()
        }
        defer { timer.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
        } catch is CancellationError {
            try Task.checkCancellation()
            throw UpdateError.deviceNotFound(bootloader == nil ? "\(address)" : "the bootloader of \(address)")
        }
    }

    /// The address of the device; that of a bootloader once it is heard.
    private func whereabouts() async throws -> DeviceAddress {
        guard let bootloader else { return address }
        for try await discovery in adapter.scan(ScanRequest()) where discovery.isConnectable {
            guard let found = discovery.address?.withoutIdentityMark, !strangers.contains(found) else { continue }
            let isNamed = bootloader.name != nil && discovery.advertisingData.localName == bootloader.name
            if isNamed || bootloader.addresses.contains(found) { return found }
        }
        throw CancellationError()
    }

    /// From now on the device is looked for under the addresses and the name that its bootloader may have.
    mutating func awaitsBootloader(name: String?, hasNextAddress: Bool) {
        let own = address.withoutIdentityMark
        bootloader = (name, hasNextAddress ? [own, own.nextAddress] : [own])
    }

    /// Whether the link is to the device that was named, and not to what was found as its bootloader.
    var isToDeviceItself: Bool { peripheral?.address.withoutIdentityMark == address.withoutIdentityMark }

    /// Leaves a device that was found in the place of the bootloader and is none: it is left alone from now on.
    mutating func leaveStranger() async throws {
        guard let peripheral, strangers.count < 8 else {
            throw UpdateError.deviceNotFound("the bootloader of \(address)")
        }
        strangers.append(peripheral.address.withoutIdentityMark)
        await drop()
    }

    /// The update has gone on, if the device has more than it ever had.
    mutating func progressed(to octets: Int, of part: Int) {
        guard (part, octets) > reached else { return }
        reached = (part, octets)
        losses = 0
    }

    /// - Throws: the error, if it is not the loss of a link, or if there were too many.
    mutating func lost(_ error: any Error) async throws {
        try Task.checkCancellation()
        guard let error = error as? BLEError, error.isLostLink else { throw error }
        losses += 1
        guard losses <= Self.lossLimit else { throw UpdateError.linkLost }
        await drop()
        // A device that does not accept connections yet is given time.
        if case .connectionFailed = error { try await Task.sleep(for: .milliseconds(250 << losses)) }
    }

    /// Ends the link, if it has not ended.
    mutating func drop() async {
        _ = try? await peripheral?.disconnect()
        peripheral = nil
    }

    /// Waits for the end of the link that a restart brings, and ends it if it stays.
    mutating func awaitRestart() async throws {
        if let peripheral {
            let wait = Task { _ = try? await peripheral.waitForDisconnection() }
            let timer = Task {
                try await Task.sleep(for: .seconds(12))
                wait.cancel()
            }
            await withTaskCancellationHandler {
                await wait.value
            } onCancel: {
                wait.cancel()
            }
            timer.cancel()
            try Task.checkCancellation()
        }
        await drop()
    }
}

extension BLEError {
    /// Whether another link may do better.
    var isLostLink: Bool {
        switch self {
        case .linkLost, .notConnected, .bearerClosed, .transactionTimeout, .connectionFailed: true
        default: false
        }
    }
}
