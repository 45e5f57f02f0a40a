import BLE

/// The update of a device with MCUboot: what there is to do follows each time from the images that the device has, so that
/// it goes on after a lost link, a restart, or a loss of power.
struct ManagedUpdate {
    private let images: [MCUbootImage]
    private let options: FirmwareUpdate.Options
    private let progress: @Sendable (UpdateProgress) -> Void
    private var link: UpdateLink
    private var outcome = FirmwareUpdate.Outcome(.mcumgr)
    /// How often the device was restarted to start the images.
    private var restarts = 0
    /// Whether the new images ran already, so that a loss of power has brought the old ones back.
    private var hasRun = false

    init(
        _ images: [MCUbootImage], _ options: FirmwareUpdate.Options, _ peripheral: Peripheral,
        _ progress: @escaping @Sendable (UpdateProgress) -> Void
    ) {
        self.images = images
        self.options = options
        self.progress = progress
        link = UpdateLink(peripheral, options)
    }

    mutating func run() async throws -> FirmwareUpdate.Outcome {
        while true {
            do {
                let client = try await ManagementClient(try await link.connected())
                let isDone: Bool
                do { isDone = try await step(client) } catch {
                    await client.close()
                    throw error
                }
                await client.close()
                outcome.reconnections = link.reconnections
                if isDone { return outcome }
                progress(UpdateProgress(phase: .restarting))
                try await link.awaitRestart()
            } catch {
                try await link.lost(error)
                progress(UpdateProgress(phase: .reconnecting))
            }
        }
    }

    /// - Returns: whether all is done; otherwise the device restarts.
    private mutating func step(_ client: ManagementClient) async throws -> Bool {
        let present = try await client.images()
        func isHere(_ image: MCUbootImage, _ condition: (DeviceImage) -> Bool) -> Bool {
            present.contains { $0.image == image.number && $0.hash == image.hash && condition($0) }
        }
        if images.allSatisfy({ isHere($0, \.isActive) }) {
            outcome.wasCurrent = restarts == 0 && outcome.byteCount == 0
            let isConfirmed = images.allSatisfy { isHere($0) { $0.isActive && $0.isConfirmed } }
            hasRun = true
            if isConfirmed { return true }
            outcome.isOnTrial = !options.confirms
            if options.confirms {
                progress(UpdateProgress(phase: .confirming))
                for image in images where !isHere(image, { $0.isActive && $0.isConfirmed }) {
                    // A device with one image confirms the one that runs.
                    try await client.setImage(images.count == 1 ? nil : image.hash, confirm: true)
                }
            }
            return true
        }
        let isPending = images.allSatisfy { isHere($0) { $0.isActive || $0.isPending } }
        if restarts > 0, !isPending, !hasRun { throw UpdateError.imageNotStarted }
        guard restarts < 4 else { throw UpdateError.imageNotStarted }
        hasRun = false
        // Of several images some may run already, on trial: the restart that starts the others would take them back.
        for image in images where options.confirms && isHere(image, { $0.isActive && !$0.isConfirmed }) {
            try await client.setImage(image.hash, confirm: true)
        }
        for (index, image) in images.enumerated() where !isHere(image, { $0.isActive || $0.isPending }) {
            if !isHere(image, { _ in true }) { try await upload(image, index, client) }
            do {
                try await client.setImage(image.hash, confirm: false)
            } catch UpdateError.management(let error) where error.group == 1 && error.code == 8 {
                // The device does not find what it has received: it is damaged.
                throw UpdateError.damagedTransfer
            }
        }
        progress(UpdateProgress(phase: .restarting))
        restarts += 1
        do { try await client.reset() } catch let error as BLEError where error.isLostLink {}
        return false
    }

    private mutating func upload(_ image: MCUbootImage, _ index: Int, _ client: ManagementClient) async throws {
        let meter = UploadMeter(part: index, of: images.count, total: image.octets.count, progress)
        defer {
            let sent = meter.sent
            outcome.seconds += meter.seconds
            outcome.byteCount += sent
            link.progressed(to: meter.reachedCount, of: index)
        }
        try await client.uploadImage(
            image.octets, image: image.number, hash: image.fileHash, window: options.window
        ) { done, _ in meter.reached(done) }
    }
}
