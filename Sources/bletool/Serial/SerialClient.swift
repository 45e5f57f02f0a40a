import BLE
import Synchronization

/// The central's side of a serial line: connects, and connects again when a link is lost.
///
/// Where the device takes writes of both kinds, most are commands, paced by the controller's credits; each window and
/// each burst ends with a request. ATT is sequential, so its response confirms everything before it, and a device that
/// delays it stops this side. What a lost link leaves unconfirmed is told and never sent again: it may have arrived.
struct SerialClient: Sendable {
    let line: SerialLine
    let profile: SerialProfile
    /// The longest value to send; `nil`: what the link allows.
    let chunk: Int?
    let reconnects: Bool

    /// A device that has no room for a write is asked again after this.
    private static let retry = Duration.milliseconds(200)

    /// - Parameter connect: connects, at first within the user's limit, later without one.
    func run(_ connect: @escaping @Sendable (_ isFirst: Bool) async throws -> Peripheral) async throws {
        var isFirst = true
        let isConfirmed = Confirmation()
        while !Task.isCancelled {
            guard let peripheral = try await connecting({ [isFirst] in try await connect(isFirst) })
            else { return }
            isFirst = false
            do {
                try await carry(peripheral, isConfirmed)
                return
            } catch let error as BLEError where error.isEndOfLink {
                if Task.isCancelled { return }
                let isSent = line.input.isFinished && line.input.count == 0
                // A device that ends the link after the last answer has what it was sent.
                if isSent, line.tally.figures.waiting == 0 { return }
                line.reportLost(Failure(error).message, isConfirmed: isConfirmed.value)
                guard reconnects, !isSent else { throw error }
            }
        }
    }

    /// - Returns: `nil` if the program on this side has gone meanwhile.
    private func connecting(_ connect: @escaping @Sendable () async throws -> Peripheral) async throws -> Peripheral? {
        try await withThrowingTaskGroup(of: Peripheral?.self) { group in
            group.addTask { try await connect() }
            group.addTask {
                await line.hangUp()
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Carries octets over one link until the input has ended.
    private func carry(_ peripheral: Peripheral, _ isConfirmed: Confirmation) async throws {
        let target = try await peripheral.findCharacteristic(profile.write, inService: profile.service)
        let source =
            profile.notify == profile.write
            ? target : try await peripheral.findCharacteristic(profile.notify, inService: profile.service)
        guard !target.properties.isDisjoint(with: [.write, .writeWithoutResponse]) else {
            throw Failure("\(profile.write) of the device cannot be written", code: .attributeNotFound)
        }
        let configuration = try await peripheral.discoverDescriptors(of: source)
            .first { $0.uuid == BluetoothUUID(UInt16(0x2902)) }?.handle
        guard let mode = source.properties.subscriptionMode else { throw BLEError.notSubscribable(source.uuid) }
        let notifications = try await peripheral.notifications(
            of: source.valueHandle, configuration: configuration ?? .none, mode: mode)
        let room = await peripheral.maximumWriteLength(withResponse: false)
        let size = min(room, chunk ?? room)
        isConfirmed.value = target.properties.contains(.write)
        line.reportOpened(peripheral.address, chunk: size, isConfirmed: isConfirmed.value)
        let line = line
        // Whether the link is not needed any more when the task has ended.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                for try await value in notifications { line.deliver(value.bytes) }
                if notifications.droppedCount > 0 {
                    line.console.note("\(notifications.droppedCount) notifications are lost")
                }
                throw BLEError.notConnected
            }
            if let configuration {
                group.addTask {
                    try await pauses(peripheral, configuration, mode)
                    return false
                }
            }
            group.addTask {
                try await send(to: target, of: peripheral, size: size)
                guard !Task.isCancelled else { return false }
                await line.waitForSilence()
                return true
            }
            defer { group.cancelAll() }
            while let hasEnded = try await group.next() { if hasEnded { return } }
        }
    }

    /// Asks the device to pause while too much waits here: nothing else in ATT holds notifications back.
    private func pauses(
        _ peripheral: Peripheral, _ configuration: AttributeHandle, _ mode: SubscriptionMode
    ) async throws {
        while !Task.isCancelled {
            await line.output.wait { count, _ in count > SerialLine.highWater }
            guard !Task.isCancelled else { return }
            try await peripheral.write([0, 0], to: configuration)
            await line.output.wait { count, _ in count < SerialLine.lowWater }
            guard !Task.isCancelled else { return }
            try await peripheral.write([mode == .indications ? 2 : 1, 0], to: configuration)
        }
    }

    private func send(to target: Characteristic, of peripheral: Peripheral, size: Int) async throws {
        let takesCommands = target.properties.contains(.writeWithoutResponse)
        let takesRequests = target.properties.contains(.write)
        var sinceRequest = 0
        while let octets = await line.input.next(atMost: size) {
            let isRequest =
                takesRequests
                && (!takesCommands || sinceRequest + octets.count >= SerialLine.window || line.input.count == 0)
            line.tally.willSend(octets.count)
            do {
                if isRequest {
                    try await request(octets, target.valueHandle, peripheral)
                } else {
                    try await peripheral.writeWithoutResponse(octets, to: target.valueHandle)
                }
            } catch BLEError.notConnected {
                // There was no link to send them on.
                line.tally.didNotSend(octets.count)
                line.input.putBack(octets)
                throw BLEError.notConnected
            }
            line.tally.sent(octets.count, isConfirmed: isRequest)
            sinceRequest = isRequest ? 0 : sinceRequest + octets.count
        }
    }

    /// Whether the device confirms what is sent.
    private final class Confirmation: Sendable {
        private let state = Mutex(false)
        var value: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    /// Writes with a response; what the device had no room for has gone nowhere.
    private func request(_ octets: [UInt8], _ handle: AttributeHandle, _ peripheral: Peripheral) async throws {
        while true {
            do { return try await peripheral.write(octets, to: handle) } catch BLEError.att(let error, _)
                where error == .insufficientResources
            {
                try await Task.sleep(for: Self.retry)
            }
        }
    }
}

extension BLEError {
    /// Whether the link is gone, and another one may be made.
    fileprivate var isEndOfLink: Bool {
        switch self {
        case .linkLost(.controllerLost), .linkLost(.releasedByClient): false
        case .linkLost, .notConnected: true
        default: false
        }
    }
}
