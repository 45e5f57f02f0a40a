import BLEGateway
import BLEHost
import BLEMessages
import BLEPackets

/// The Bluetooth proxy for all its clients: a machine without I/O, clock and randomness.
///
/// Inputs are octets of clients, advertisements, events of links, and the time; outputs are octets for each client and
/// actions. Each client has its own subscriptions and links. When there are too many, the one that makes the least use
/// of its place gives it up.
public struct ProxyServer: Sendable {
    public struct ID: Hashable, Comparable, Sendable {
        let number: UInt64
        public static func < (a: Self, b: Self) -> Bool { a.number < b.number }
    }

    public enum Action: Equatable, Sendable {
        /// A client has said Hello: events of links are expected for it.
        case opened(ID, ClientAddress)
        case link(LinkRequest, ID)
        /// Whether scan responses are wanted; `nil`: as the settings say.
        case scan(isActive: Bool?)
        /// The connection is over, and so is all that the client wanted; what can be written at once of `lastOctets` is.
        case close(ID, lastOctets: [UInt8])
    }

    private struct Client {
        let id: ID
        let peer: ClientAddress
        var session: ProxySession
    }

    private let description: ProxyDescription
    private let limits: ProxyLimits
    /// In the order in which they began.
    private var clients: [Client] = []
    private var actions: [Action] = []
    private var lastNumber: UInt64 = 0
    private var ended = ProxyCounters()
    private var scanner: ScannerState
    private var batch = RawAdvertisementsResponse()
    private var batchDeadline: Instant?

    public init(_ description: ProxyDescription, scanner: ScannerState, limits: ProxyLimits = ProxyLimits()) {
        self.description = description
        self.limits = limits
        self.scanner = scanner
    }

    /// The clients, in the order in which they began.
    public var open: [ID] { clients.map(\.id) }

    /// The number of clients that get advertisements.
    public var subscriberCount: Int { clients.count { $0.session.wantsAdvertisements } }

    public var counters: ProxyCounters { clients.reduce(into: ended) { $0.add($1.session.counters) } }

    /// The moment at which `advance` has something to do.
    public var nextDeadline: Instant? {
        (clients.map(\.session.nextDeadline) + (batchDeadline.map { [$0] } ?? [])).min()
    }

    public mutating func drainActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Whether octets of a client are to be read, and whether there are some to be written.
    public func interest(of id: ID) -> (reads: Bool, writes: Bool) {
        guard let session = index(of: id).map({ clients[$0].session }) else { return (false, false) }
        return (session.reads, session.waitingCount > 0)
    }

    /// What is to be written next.
    public func output(of id: ID) -> ArraySlice<UInt8> { index(of: id).map { clients[$0].session.waiting } ?? [] }

    // MARK: Connections

    /// A client has connected.
    /// - Parameter ephemeral: 32 octets of randomness for this connection.
    public mutating func accept(_ peer: ClientAddress, ephemeral: [UInt8], at now: Instant) -> ID {
        lastNumber += 1
        let id = ID(number: lastNumber)
        ended.connections += 1
        let session = ProxySession(description, limits, ephemeral: ephemeral, at: now)
        clients.append(Client(id: id, peer: peer, session: session))
        if clients.count(where: { $0.peer == peer }) > limits.clientsOfAddress {
            makeRoom(among: peer)
        } else if clients.count > limits.clients {
            makeRoom(among: nil)
        }
        return id
    }

    /// For the last client.
    /// - Parameter peer: whose client gives its place; `nil`: any.
    private mutating func makeRoom(among peer: ClientAddress?) {
        ended.refusals += 1
        let last = clients.count - 1
        func rank(_ index: Int) -> (Int, Int, Int) {
            let (worth, peer) = (clients[index].session.worth, clients[index].peer)
            // Among those of the same worth one of the address that has the most, and of these the oldest.
            return (worth, -clients.count { $0.session.worth == worth && $0.peer == peer }, index)
        }
        let candidates = clients.indices.dropLast().filter { peer == nil || clients[$0].peer == peer }
        guard let index = candidates.min(by: { rank($0) < rank($1) }) else { return }
        // A client with a subscription or a link stays: the newcomer goes.
        close(clients[index].session.worth >= 3 ? last : index)
    }

    /// Octets have come.
    public mutating func received(_ octets: some Collection<UInt8>, on id: ID, at now: Instant) {
        guard let index = index(of: id) else { return }
        clients[index].session.received(octets, at: now)
        settle(index, now)
    }

    /// The connection is lost, or the client sends nothing more.
    public mutating func failed(_ id: ID, at now: Instant) {
        guard let index = index(of: id) else { return }
        close(index)
        endSubscriptions(at: now)
    }

    /// So many octets of the output were written.
    public mutating func wrote(_ count: Int, on id: ID, at now: Instant) {
        guard let index = index(of: id) else { return }
        clients[index].session.wrote(count, at: now)
        settle(index, now)
    }

    /// Ends what takes too long, and sends what has waited long enough.
    public mutating func advance(to now: Instant) {
        if let deadline = batchDeadline, deadline <= now { sendBatch(now) }
        for id in open {
            guard let index = index(of: id) else { continue }
            clients[index].session.advance(to: now)
            settle(index, now)
        }
    }

    // MARK: Bluetooth

    /// A packet of a device was received.
    /// - Parameter data: advertising data, and the scan response behind it.
    public mutating func heard(_ address: DeviceAddress, rssi: Int8, data: [UInt8], at now: Instant) {
        guard subscriberCount > 0 else { return }
        let isRandom = address.kind == .random || address.kind == .randomIdentity
        batch.advertisements.append(
            RawAdvertisement(address: address.value, rssi: rssi, addressType: isRandom ? 1 : 0, data: data))
        if batch.advertisements.count >= limits.batchCount {
            sendBatch(now)
        } else if batchDeadline == nil {
            batchDeadline = now.advanced(by: limits.batchTime)
        }
    }

    private mutating func sendBatch(_ now: Instant) {
        batchDeadline = nil
        let content = try? batch.encoded()
        batch.advertisements.removeAll(keepingCapacity: true)
        guard let content else { return }
        for id in open {
            guard let index = index(of: id) else { continue }
            clients[index].session.send(advertisements: content, now)
            settle(index, now)
        }
    }

    /// The scanner has begun, failed, or changed.
    public mutating func setScanner(_ activity: ScannerState.Activity, at now: Instant) {
        guard scanner.activity != activity else { return }
        scanner.activity = activity
        reportScanner(now)
    }

    private mutating func reportScanner(_ now: Instant) {
        for index in clients.indices where clients[index].session.wantsAdvertisements {
            clients[index].session.send(.scannerStateResponse, scanner.message, now)
        }
    }

    /// The links of a client have something for it.
    public mutating func received(_ event: LinkEvent, for id: ID, at now: Instant) {
        guard let index = index(of: id) else { return }
        clients[index].session.received(event, at: now)
        settle(index, now)
    }

    // MARK: Parts

    private func index(of id: ID) -> Int? { clients.firstIndex { $0.id == id } }

    /// Does what a client wishes.
    private mutating func settle(_ index: Int, _ now: Instant) {
        let id = clients[index].id
        for wish in clients[index].session.drainWishes() {
            switch wish {
            case .opened: actions.append(.opened(id, clients[index].peer))
            case .link(let request): actions.append(.link(request, id))
            case .scan(let isActive):
                guard scanner.isActive != isActive else { continue }
                scanner.isActive = isActive
                actions.append(.scan(isActive: isActive))
                reportScanner(now)
            case .subscription:
                if clients[index].session.wantsAdvertisements {
                    clients[index].session.send(.scannerStateResponse, scanner.message, now)
                } else {
                    endSubscriptions(at: now)
                }
            }
        }
        guard clients[index].session.phase == .closed else { return }
        close(index)
        endSubscriptions(at: now)
    }

    /// Without a subscriber the scanner does what the settings say.
    private mutating func endSubscriptions(at now: Instant) {
        guard subscriberCount == 0 else { return }
        batch.advertisements = []
        batchDeadline = nil
        guard scanner.isActive != scanner.isConfiguredActive else { return }
        scanner.isActive = scanner.isConfiguredActive
        actions.append(.scan(isActive: nil))
    }

    private mutating func close(_ index: Int) {
        let client = clients.remove(at: index)
        ended.add(client.session.counters)
        actions.append(.close(client.id, lastOctets: Array(client.session.waiting.prefix(4096))))
    }
}

extension ProxyCounters {
    fileprivate mutating func add(_ other: Self) {
        connections += other.connections
        refusals += other.refusals
        violations += other.violations
        wrongKeys += other.wrongKeys
        stalls += other.stalls
        batches += other.batches
        droppedBatches += other.droppedBatches
    }
}
