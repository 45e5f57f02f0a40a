import BLE
import Synchronization

/// The peripheral's side of a serial line: one central after the other.
///
/// A write request is answered when the local end has room for more, so a central that uses them waits; write commands
/// cannot be held back. A central that unsubscribes pauses what is sent to it.
struct SerialServer: Sendable {
    let adapter: Adapter
    let line: SerialLine
    let profile: SerialProfile
    let chunk: Int?

    /// A central gives up a request after 30 s, and with it the bearer.
    private static let patience = Duration.seconds(20)

    /// The central that has the line, and the length of its updates; `nil` while it takes none.
    private struct Owner: Sendable {
        var link: LinkID
        var address: DeviceAddress
        var updateLength: Int?
    }

    /// - Throws: an error of the library.
    func run(_ request: AdvertiseRequest) async throws {
        let events = await adapter.serverEvents()
        let published = try await adapter.publish(definition)
        guard let write = published.characteristics.first?.valueHandle,
            let notify = published.characteristics.last?.valueHandle
        else { throw Failure("the service could not be published") }
        let owners = Owners(refusal: RareNote(line.console))
        let adapter = adapter
        // Whether the whole ends with the task.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                do { try await adapter.advertise(request) } catch { if !Task.isCancelled { throw error } }
                return false
            }
            group.addTask {
                try await handle(events, owners, write, notify)
                return true
            }
            group.addTask {
                await line.hangUp()
                return !Task.isCancelled && owners.current == nil
            }
            group.addTask {
                await send(to: owners, notify)
                guard !Task.isCancelled else { return false }
                await line.waitForSilence()
                return true
            }
            defer { group.cancelAll() }
            while let hasEnded = try await group.next() { if hasEnded { return } }
        }
    }

    /// The service, and the whole name: in the scan response if both have no room in one packet.
    static func advertisement(of service: BluetoothUUID, name: String) -> AdvertiseRequest {
        if name.utf8.count <= 8 { return AdvertiseRequest(.packed(localName: name, serviceUUIDs: [service])) }
        var (data, response) = (AdvertisingDataWriter(), AdvertisingDataWriter())
        try? data.append([.leGeneralDiscoverable, .brEdrNotSupported])
        try? data.append(serviceUUIDs: [service], areComplete: true)
        if (try? response.append(localName: name)) == nil {
            try? response.append(localName: String(decoding: name.utf8.prefix(29), as: UTF8.self), isComplete: false)
        }
        return AdvertiseRequest(.raw(advertisement: data.bytes, scanResponse: response.bytes))
    }

    private var definition: GATTServiceDefinition {
        let written = GATTCharacteristicDefinition(
            uuid: profile.write, properties: [.write, .writeWithoutResponse], permissions: .writeable)
        let sent = GATTCharacteristicDefinition(uuid: profile.notify, properties: [.notify], permissions: [])
        let both = GATTCharacteristicDefinition(
            uuid: profile.write, properties: [.write, .writeWithoutResponse, .notify], permissions: .writeable)
        return GATTServiceDefinition(
            uuid: profile.service, characteristics: profile.write == profile.notify ? [both] : [written, sent])
    }

    private func handle(
        _ events: ServerEvents, _ owners: Owners, _ write: AttributeHandle, _ notify: AttributeHandle
    ) async throws {
        var addresses: [LinkID: DeviceAddress] = [:]
        var answers: [LinkID: Task<Void, Never>] = [:]
        defer { for answer in answers.values { answer.cancel() } }
        for try await event in events {
            switch event {
            case .connected(let information): addresses[information.id] = information.peer
            case .disconnected(let link, let reason):
                addresses[link] = nil
                answers.removeValue(forKey: link)?.cancel()
                guard owners.end(link) else { continue }
                line.reportLost(Failure(BLEError.linkLost(reason)).message, isConfirmed: false)
                if line.input.isFinished, line.input.count == 0 { return }
            case .gatt(.subscribed(let subscription)) where subscription.handle == notify:
                guard let address = addresses[subscription.link] else { continue }
                let length = min(subscription.maximumUpdateLength, chunk ?? 512, 512)
                take(owners, Owner(link: subscription.link, address: address, updateLength: length))
            case .gatt(.unsubscribed(let subscription)) where subscription.handle == notify:
                owners.pause(subscription.link)
            case .gatt(.write(let request)):
                guard let address = addresses[request.link] else { continue }
                let owner = Owner(link: request.link, address: address, updateLength: nil)
                guard owners.current?.link == request.link || take(owners, owner) else {
                    if request.needsAnswer { await adapter.respond(to: request.id, with: .failure(.unlikelyError)) }
                    continue
                }
                let octets = request.writes.filter { $0.handle == write }.flatMap(\.value)
                guard request.needsAnswer else {
                    line.deliver(octets)
                    continue
                }
                guard line.output.count + octets.count <= SerialLine.outputLimit else {
                    await adapter.respond(to: request.id, with: .failure(.insufficientResources))
                    continue
                }
                // Commands may follow before the answer, and belong behind it.
                line.deliver(octets)
                if line.output.count <= SerialLine.highWater {
                    await adapter.respond(to: request.id, with: .success)
                } else {
                    answers[request.link] = Task { await answer(request) }
                }
            case .gatt(.readyToUpdate): owners.room.append([0])
            default: break
            }
        }
    }

    /// Gives a central the line, unless another one has it.
    @discardableResult
    private func take(_ owners: Owners, _ owner: Owner) -> Bool {
        switch owners.take(owner) {
        case .taken:
            line.reportOpened(owner.address, chunk: owner.updateLength ?? 20, isConfirmed: false)
            return true
        case .kept: return true
        case .refused:
            owners.refusal.print("\(owner.address) was turned away: one central uses the line at a time")
            return false
        }
    }

    /// Answers a write as soon as there is room for the next, or while its sender still waits.
    private func answer(_ request: GATTWriteRequest) async {
        let line = line
        try? await withDeadline(after: Self.patience) {
            await line.output.wait { count, _ in count <= SerialLine.lowWater }
        }
        // Its link is gone.
        guard !Task.isCancelled else { return }
        await adapter.respond(to: request.id, with: .success)
    }

    /// Sends the input to whoever has the line, until the input has ended.
    private func send(to owners: Owners, _ handle: AttributeHandle) async {
        // A link that cannot be used takes nothing from the input.
        while await owners.wait(), let owner = owners.current, let length = owner.updateLength {
            guard let octets = await line.input.next(atMost: length) else { return }
            guard owners.current?.link == owner.link, owners.current?.updateLength != nil else {
                line.input.putBack(octets)
                continue
            }
            var isSent = await adapter.updateValue(octets, of: handle, to: [owner.link])
            while !isSent, owners.current?.link == owner.link {
                guard await owners.room.next(atMost: .max) != nil else { return }
                isSent = await adapter.updateValue(octets, of: handle, to: [owner.link])
            }
            guard isSent else {
                line.input.putBack(octets)
                continue
            }
            // Nothing confirms notifications.
            line.tally.willSend(octets.count)
            line.tally.sent(octets.count, isConfirmed: false)
        }
    }

    /// Who has the line.
    private final class Owners: Sendable {
        enum Answer { case taken, kept, refused }

        private let state = Mutex<Owner?>(nil)
        /// Has an octet while there is somebody to send to.
        private let ready = OctetBuffer()
        /// Gets an octet when updates have room again.
        let room = OctetBuffer()
        let refusal: RareNote

        init(refusal: RareNote) { self.refusal = refusal }

        var current: Owner? { state.withLock { $0 } }

        func take(_ owner: Owner) -> Answer {
            let answer = state.withLock { current -> Answer in
                guard let old = current else {
                    current = owner
                    return .taken
                }
                guard old.link == owner.link else { return .refused }
                if let length = owner.updateLength { current?.updateLength = length }
                return .kept
            }
            if owner.updateLength != nil, answer != .refused { ready.append([0]) }
            return answer
        }

        func pause(_ link: LinkID) {
            state.withLock { if $0?.link == link { $0?.updateLength = nil } }
        }

        /// - Returns: whether it had the line.
        func end(_ link: LinkID) -> Bool {
            let had = state.withLock { current in
                guard current?.link == link else { return false }
                current = nil
                return true
            }
            // One that waits for room finds out that there is no link.
            if had { room.append([0]) }
            return had
        }

        /// Waits until somebody takes what is sent.
        /// - Returns: `false` when the task is cancelled.
        func wait() async -> Bool {
            while !Task.isCancelled {
                if current?.updateLength != nil { return true }
                _ = await ready.next(atMost: .max)
            }
            return false
        }
    }
}
