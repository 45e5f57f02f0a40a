import BLE

/// The update of a device's firmware with a checked file, over any of the protocols that people's devices speak.
///
///     let file = try FirmwareFile(octets)
///     let update = FirmwareUpdate(file)
///     let outcome = try await update.run(on: peripheral) { print($0.phase, $0.done, $0.total) }
///
/// The protocol is the one that the device offers. A lost link is made again, and the upload goes on where the device was.
/// The task that runs it may be cancelled: the device keeps its earlier image then.
public struct FirmwareUpdate: Sendable {
    /// The protocols of update.
    public enum UpdateProtocol: String, Sendable {
        /// mcumgr's SMP, with MCUboot.
        case mcumgr
        /// Nordic's secure DFU.
        case secureDFU = "secure-dfu"
        /// Nordic's legacy DFU.
        case legacyDFU = "legacy-dfu"
    }

    /// How a device is updated.
    public struct Options: Sendable {
        /// Whether the new image is confirmed once it runs (mcumgr). Otherwise the device returns to its earlier image at
        /// its next restart, unless the image confirms itself.
        public var confirms = true
        /// How many requests may be in flight (mcumgr); `nil` for what the device's buffers allow.
        public var window: Int?
        /// After how many packets the device reports what it has (Nordic); `nil` for what fits to the ATT_MTU, 0 for never.
        public var receiptInterval: Int?
        /// How long the device may take to return after a restart or a lost link.
        public var patience = Duration.seconds(90)

        public init() {}
    }

    /// What was done.
    public struct Outcome: Sendable, Equatable {
        /// The protocol.
        public var updateProtocol: UpdateProtocol
        /// The octets that were sent in this update.
        public var byteCount = 0
        /// How long sending them took, in seconds.
        public var seconds = 0.0
        /// How often the link was made again.
        public var reconnections = 0
        /// Whether the device had the firmware already.
        public var wasCurrent = false
        /// Whether the new image is only on trial (mcumgr).
        public var isOnTrial = false

        init(_ updateProtocol: UpdateProtocol) { self.updateProtocol = updateProtocol }
    }

    /// The file.
    public let file: FirmwareFile
    /// How the device is updated.
    public let options: Options

    public init(_ file: FirmwareFile, options: Options = Options()) {
        self.file = file
        self.options = options
    }

    /// Updates a connected device.
    /// - Parameter progress: called often, on the task that runs the update.
    /// - Throws: `UpdateError`, `BLEError`, or `CancellationError`.
    public func run(
        on peripheral: Peripheral, progress: @escaping @Sendable (UpdateProgress) -> Void = { _ in }
    ) async throws -> Outcome {
        progress(UpdateProgress(phase: .preparing))
        let services = Set(try await peripheral.discoverServices().map(\.uuid))
        if services.contains(ManagementClient.service), case .images(let images) = file {
            var run = ManagedUpdate(images, options, peripheral, progress)
            return try await run.run()
        }
        let isSecure = services.contains(NordicDFU.secureService)
        guard isSecure || services.contains(NordicDFU.legacyService) else {
            guard services.contains(ManagementClient.service) else { throw UpdateError.noUpdateService }
            throw UpdateError.wrongFile(
                "the device speaks mcumgr's SMP, and the file is for Nordic's DFU: use the signed image or "
                    + "dfu_application.zip")
        }
        guard case .nordic(let parts) = file else {
            throw UpdateError.wrongFile(
                "the device speaks Nordic's DFU, and the file has images of MCUboot: use the zip package of nrfutil")
        }
        guard parts.first?.isSecure == isSecure else {
            throw UpdateError.wrongFile(
                "the device has \(isSecure ? "a secure" : "a legacy") bootloader, and the file is for "
                    + "\(isSecure ? "legacy" : "secure") ones")
        }
        var run = NordicUpdate(parts, options, peripheral, progress)
        return try await run.run()
    }
}

/// A link that is made again when it is lost, as long as the update goes on in between.
struct UpdateLink: Sendable {
    /// How often in a row the link may be lost without progress.
    private static let lossLimit = 8

    let adapter: Adapter
    let address: DeviceAddress
    let patience: Duration
    private(set) var peripheral: Peripheral?
    private(set) var reconnections = 0
    private var losses = 0
    /// A bootloader that may have other addresses and names than the application.
    private var bootloader: (name: String?, addresses: [DeviceAddress])?

    init(_ peripheral: Peripheral, patience: Duration) {
        adapter = peripheral.adapter
        address = peripheral.address
        self.patience = patience
        self.peripheral = peripheral
    }

    /// The link, made again if it has ended.
    mutating func connected() async throws -> Peripheral {
        if let peripheral, await peripheral.information != nil { return peripheral }
        let found: Peripheral
        do {
            found = try await reach()
        } catch BLEError.timedOut {
            throw UpdateError.deviceNotFound(bootloader == nil ? "\(address)" : "the bootloader of \(address)")
        }
        reconnections += 1
        peripheral = found
        return found
    }

    private func reach() async throws -> Peripheral {
        guard let bootloader else { return try await adapter.connect(to: address, timeout: patience) }
        let adapter = adapter
        let search = Task { () async throws -> DeviceAddress in
            for try await discovery in adapter.scan(ScanRequest()) where discovery.isConnectable {
                guard let found = discovery.address?.withoutIdentityMark else { continue }
                let isNamed = bootloader.name != nil && discovery.advertisingData.localName == bootloader.name
                if isNamed || bootloader.addresses.contains(found) { return found }
            }
            throw CancellationError()
        }
        let timer = Task { [patience] in
            try await Task.sleep(for: patience)
            search.cancel()
        }
        defer { timer.cancel() }
        let found: DeviceAddress
        do {
            found = try await withTaskCancellationHandler {
                try await search.value
            } onCancel: {
                search.cancel()
            }
        } catch is CancellationError {
            try Task.checkCancellation()
            throw BLEError.timedOut(patience)
        }
        return try await adapter.connect(to: found, timeout: patience)
    }

    /// From now on the device is looked for under the addresses and the name that its bootloader may have.
    mutating func awaitsBootloader(name: String?, hasNextAddress: Bool) {
        let own = address.withoutIdentityMark
        bootloader = (name, hasNextAddress ? [own, own.nextAddress] : [own])
    }

    /// The update has gone on.
    mutating func progressed() { losses = 0 }

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
