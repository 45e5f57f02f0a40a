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
        /// After how many packets the device reports what it has, and is waited for (Nordic); 0 for never. With `nil`, secure
        /// DFU does so only once the bootloader has lost packets, and legacy DFU every ten packets.
        public var receiptInterval: Int?
        /// The pace of links that are made again; the first one has that of its `ConnectRequest`.
        public var pace: LinkPace? = .throughput
        /// The PHYs on which links that are made again may begin; `nil`: LE 1M.
        public var phys: PHYSet?
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
