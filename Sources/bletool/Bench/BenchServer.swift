import BLE
import BLEJSON

/// The peripheral of the benchmark: Bumble's service, and channels on its SPSM.
struct BenchServer: Sendable {
    let adapter: Adapter
    let plan: BenchPlan
    let console: Console
    /// `nil` receives, and answers those who ping as this program does.
    let scenario: BenchScenario?
    /// Chooses the scenario for each new way to a peer, in place of `scenario`; `nil` without one.
    var chooseScenario: (@Sendable () -> BenchScenario?)?
    /// Whether one result is enough.
    let endsAfterFirst: Bool
    let spsm: UInt16

    /// How long the peer has to take the last acknowledgement.
    private static let farewell = Duration.seconds(10)

    /// How long a peer has to get ready after it has opened a channel or subscribed: Bumble loses what comes before it
    /// knows that its channel is open.
    private static let greeting = Duration.seconds(1)

    private enum Input: Sendable {
        case event(ServerEvent)
        case channel(Channel)
        /// A run ended.
        case ended(LinkID, BenchResult)
        case failed(any Error)
    }

    /// A central that uses the characteristics.
    private struct Client {
        let arrivals: AsyncThrowingStream<BenchPort.Arrival, any Error>.Continuation
        let room: AsyncStream<Void>.Continuation
    }

    /// - Throws: an error of the library.
    func run(name: String) async throws {
        let events = await adapter.serverEvents()
        let published = try await adapter.publish(Self.definition)
        let handles = published.characteristics.map(\.valueHandle)
        guard handles.count == 2 else { throw Failure("the service could not be published") }
        let incoming = try await adapter.acceptChannels(on: spsm, BenchPort.channelSettings)
        let (inputs, queue) = AsyncStream<Input>.makeStream()
        let adapter = adapter
        // Each task says whether the benchmark has ended with it.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                for try await event in events { queue.yield(.event(event)) }
                return true
            }
            group.addTask {
                for try await channel in incoming { queue.yield(.channel(channel)) }
                return false
            }
            group.addTask {
                // A longer name would be shortened, and the device not be found by it.
                let services = name.utf8.count <= 8 ? [BenchPort.service] : []
                do {
                    try await adapter.advertise(
                        AdvertiseRequest(.packed(localName: name, serviceUUIDs: services)))
                } catch { if !Task.isCancelled { throw error } }
                return false
            }
            group.addTask {
                try await handle(inputs, queue, handles[0], handles[1], name)
                return true
            }
            defer { group.cancelAll() }
            while let hasEnded = try await group.next() { if hasEnded { return } }
        }
    }

    private static var definition: GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: BenchPort.service,
            characteristics: [
                GATTCharacteristicDefinition(
                    uuid: BenchPort.toServer, properties: [.write, .writeWithoutResponse], permissions: .writeable),
                GATTCharacteristicDefinition(uuid: BenchPort.toClient, properties: [.notify], permissions: []),
            ])
    }

    private func handle(
        _ inputs: AsyncStream<Input>, _ queue: AsyncStream<Input>.Continuation, _ toServer: AttributeHandle,
        _ toClient: AttributeHandle, _ name: String
    ) async throws {
        var clients: [LinkID: Client] = [:]
        var tasks: [LinkID: [Task<Void, Never>]] = [:]
        var addresses: [LinkID: DeviceAddress] = [:]
        var last: LinkID?
        var isReady = false
        defer { for task in tasks.values.joined() { task.cancel() } }
        for await input in inputs {
            switch input {
            case .event(.advertisingStarted):
                guard !isReady else { continue }
                isReady = true
                console.print(
                    ["event": "benchReady", "name": .string(name), "spsm": JSONValue(spsm)],
                    text: "ready as “\(name)”: GATT, and channels on SPSM \(spsm)")
            case .event(.connected(let information)):
                addresses[information.id] = information.peer
                if !console.isJSON { console.note("\(information.peer) has connected") }
            case .event(.disconnected(let link, _)):
                clients.removeValue(forKey: link)?.arrivals.finish()
                for task in tasks.removeValue(forKey: link) ?? [] { task.cancel() }
                if let peer = addresses.removeValue(forKey: link), !console.isJSON {
                    console.note("\(peer) has disconnected")
                }
                if last == link { return queue.finish() }
            case .event(.gatt(.subscribed(let subscription))) where subscription.handle == toClient:
                let (arrivals, continuation) = AsyncThrowingStream<BenchPort.Arrival, any Error>.makeStream()
                let (room, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
                clients.removeValue(forKey: subscription.link)?.arrivals.finish()
                clients[subscription.link] = Client(arrivals: continuation, room: signal)
                let port = port(subscription, toClient, arrivals, room)
                tasks[subscription.link, default: []].append(start(port, subscription.link, queue))
            case .event(.gatt(.write(let request))):
                let now = ContinuousClock.now
                for write in request.writes where write.handle == toServer {
                    guard let packet = BenchPacket.read(write.value) else { continue }
                    clients[request.link]?.arrivals.yield((packet, now))
                }
                if request.needsAnswer { await adapter.respond(to: request.id, with: .success) }
            case .event(.gatt(.readyToUpdate)): for client in clients.values { client.room.yield() }
            case .event: break
            case .channel(let channel):
                let link = channel.information.id.link
                tasks[link, default: []].append(start(.channel(channel), link, queue))
            case .ended(let link, let result):
                console.print(result.object(role: "peripheral"), text: result.text)
                guard endsAfterFirst, last == nil else { continue }
                last = link
                // The peer ends the link when it has what it wants.
                tasks[link, default: []].append(
                    Task {
                        try? await Task.sleep(for: Self.farewell)
                        if !Task.isCancelled { queue.finish() }
                    })
            case .failed(let error):
                let failure = Failure(error)
                if endsAfterFirst { throw failure }
                console.note(failure.message)
            }
        }
    }

    private func port(
        _ subscription: GATTSubscription, _ handle: AttributeHandle,
        _ arrivals: AsyncThrowingStream<BenchPort.Arrival, any Error>, _ room: AsyncStream<Void>
    ) -> BenchPort {
        let (adapter, link) = (adapter, subscription.link)
        return BenchPort(
            bearer: "gatt", text: "GATT, MTU \(subscription.maximumUpdateLength + 3)",
            maximumSize: min(subscription.maximumUpdateLength, 512), overhead: 0, arrivals: arrivals
        ) { packet in
            let octets = packet.octets
            while await !adapter.updateValue(octets, of: handle, to: [link]) {
                try Task.checkCancellation()
                for await _ in room { break }
            }
        }
    }

    /// Runs the scenario on a new way to a peer.
    private func start(
        _ port: BenchPort, _ link: LinkID, _ queue: AsyncStream<Input>.Continuation
    ) -> Task<Void, Never> {
        let run = BenchRun(port: port, plan: plan, console: console)
        let scenario = chooseScenario.map { $0() } ?? scenario
        return Task {
            do {
                if let scenario, scenario.isActive {
                    try await Task.sleep(for: Self.greeting)
                    queue.yield(.ended(link, try await run.run(scenario)))
                } else {
                    try await run.answer(scenario) { result in
                        queue.yield(.ended(link, result))
                        return true
                    }
                }
            } catch {
                // A peer that received everything goes.
                if scenario?.isActive == true, !Task.isCancelled { queue.yield(.failed(error)) }
            }
        }
    }
}
