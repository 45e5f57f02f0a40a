import BLEPackets

/// The periodic trains that clients follow, and the one attempt to find a train that a controller can make at a time.
///
///     idle ──a train is missing──▶ preparing ──created──▶ waiting ──established──▶ idle
///                                     │ refused             │ nobody wants it, or its turn is over
///                                     ▼                     ▼
///                                    idle ◀──established, cancelled── cancelling
///
/// Requests whose trains are missing take turns, so that an absent train does not keep the others from being found.
struct TrainTable {
    /// What a client wants.
    enum Wish: Equatable {
        /// One train.
        case follow(TrainRequest)
        /// The trains that the peer of a link transfers.
        case transfers(LinkID, TrainOptions)
    }

    /// A train that the controller follows.
    struct Train {
        let handle: SynchronizationHandle
        var information: TrainInformation
        /// Data whose last part is still missing.
        var fragments: [UInt8] = []
        /// Data that are too long are dropped to their end.
        var isOverlong = false
    }

    struct Entry {
        var operation: OperationID
        var client: ClientID
        var wish: Wish
        var trains: [Train] = []
        /// Attempts in sequence that found nothing.
        var failures = 0
        /// The peer's link has ended: no further train comes.
        var isClosed = false

        /// Whether a train has to be looked for.
        var isMissing: Bool {
            if case .follow = wish { trains.isEmpty } else { false }
        }
    }

    enum Attempt: Equatable {
        case idle
        /// The commands before and with LE Periodic Advertising Create Sync; `step` is in flight.
        case preparing(OperationID, step: Int)
        case waiting(OperationID, since: Instant)
        case cancelling(OperationID)
    }

    enum Action: Equatable {
        case none
        case setEventMask
        case clearList
        case addToList(TrainRequest.Advertiser)
        case create(TrainRequest)
        case cancel
        /// The controller refuses to follow the train.
        case fail(OperationID, HCIStatus, HCIOpcode)
    }

    /// How often a train that was heard and then lost at once is looked for, before the operation fails (Core 5.4, Vol 4,
    /// Part E, 7.7.65.14: 0x3E).
    static let attempts = 4

    /// How long one train is looked for while others are missing, too.
    static let turn: Microseconds = .seconds(5)

    /// How many trains of a peer one operation takes: the peer decides how many it transfers.
    static let transferLimit = 32

    private(set) var entries: [Entry] = []
    private(set) var attempt = Attempt.idle
    /// Whose turn was the last one.
    private var last = OperationID(rawValue: 0)
    private var script: [Action] = []
    /// Whether the controller reports what it hears of trains.
    private(set) var hasEventMask = false

    var isEmpty: Bool { entries.isEmpty }

    /// Whether the controller has to scan: it finds trains only then (Core 5.4, Vol 4, Part E, 7.8.67).
    var needsScan: Bool { entries.contains { $0.isMissing } }

    /// Whether a train may be on LE Coded.
    var scansCodedPHY: Bool {
        entries.contains { entry in
            if case .follow(let request) = entry.wish { entry.isMissing && request.scansCodedPHY } else { false }
        }
    }

    /// Whether no attempt is under way.
    var isIdle: Bool { attempt == .idle }

    // MARK: Wishes

    mutating func add(_ wish: Wish, operation: OperationID, client: ClientID) {
        entries.append(Entry(operation: operation, client: client, wish: wish))
    }

    /// - Returns: the entry, if there was one; its trains have to be ended.
    mutating func remove(_ operation: OperationID) -> Entry? {
        guard let index = entries.firstIndex(where: { $0.operation == operation }) else { return nil }
        return entries.remove(at: index)
    }

    /// Ends every request, oldest first.
    mutating func removeAll() -> [Entry] {
        defer { entries.removeAll() }
        return entries
    }

    /// The first train that an operation follows.
    func handle(of operation: OperationID) -> SynchronizationHandle? {
        entries.first { $0.operation == operation }?.trains.first?.handle
    }

    func wantsTransfers(on link: LinkID) -> Bool {
        entries.contains { entry in
            if case .transfers(link, _) = entry.wish { true } else { false }
        }
    }

    // MARK: The attempt

    /// Looks for the next train that is missing, or gives up an attempt that nobody wants any more or that keeps others
    /// waiting.
    mutating func converge(at now: Instant) -> Action {
        switch attempt {
        case .idle:
            // Operations are numbered in order, and so are the entries.
            guard
                let entry = entries.first(where: { $0.isMissing && $0.operation > last })
                    ?? entries.first(where: { $0.isMissing }), case .follow(let request) = entry.wish
            else { return .none }
            last = entry.operation
            script = hasEventMask ? [] : [.setEventMask]
            if request.advertisers.count > 1 {
                script.append(.clearList)
                script += request.advertisers.map { .addToList($0) }
            }
            script.append(.create(request))
            attempt = .preparing(entry.operation, step: 0)
            return script[0]
        case .waiting(let operation, let since)
        where !entries.contains { $0.operation == operation } || isOver(since, at: now):
            attempt = .cancelling(operation)
            return .cancel
        case .preparing, .waiting, .cancelling: return .none
        }
    }

    /// Whether a turn that began then is over: only if another train is missing.
    private func isOver(_ since: Instant, at now: Instant) -> Bool {
        nextDeadline != nil && since.advanced(by: Self.turn) <= now
    }

    /// When the turn of the train that is looked for is over.
    var nextDeadline: Instant? {
        guard case .waiting(let operation, let since) = attempt,
            entries.contains(where: { $0.isMissing && $0.operation != operation })
        else { return nil }
        return since.advanced(by: Self.turn)
    }

    /// The controller has answered the last action.
    mutating func completed(_ status: HCIStatus, _ opcode: HCIOpcode, at now: Instant) -> Action {
        switch attempt {
        case .preparing(let operation, let step):
            guard status.isSuccess else {
                attempt = .idle
                return .fail(operation, status, opcode)
            }
            if script[step] == .setEventMask { hasEventMask = true }
            guard step + 1 == script.count else {
                guard entries.contains(where: { $0.operation == operation }) else {
                    attempt = .idle
                    return converge(at: now)
                }
                attempt = .preparing(operation, step: step + 1)
                return script[step + 1]
            }
            attempt = .waiting(operation, since: now)
            return converge(at: now)
        case .cancelling where !status.isSuccess:
            // It was already over; its event has come or will not.
            attempt = .idle
            return converge(at: now)
        case .idle, .waiting, .cancelling: return .none
        }
    }

    /// LE Periodic Advertising Sync Established.
    /// - Returns: whose train it is, and how the attempt ended for it; `nil` if nobody wants it.
    mutating func established(_ status: HCIStatus) -> (operation: OperationID, isToBeRetried: Bool)? {
        switch attempt {
        case .waiting(let operation, _), .preparing(let operation, _):
            attempt = .idle
            guard let index = entries.firstIndex(where: { $0.operation == operation }) else { return nil }
            entries[index].failures = status.isSuccess ? 0 : entries[index].failures + 1
            let isPassing = status == .connectionFailedToBeEstablished || status == .unknownAdvertisingIdentifier
            return (operation, isPassing && entries[index].failures < Self.attempts)
        case .cancelling(let operation):
            attempt = .idle
            guard entries.contains(where: { $0.operation == operation }) else { return nil }
            // Found at the last moment; or its turn is over, and another comes.
            return (operation, true)
        case .idle: return nil
        }
    }

    // MARK: Trains

    mutating func add(_ train: Train, to operation: OperationID) -> ClientID? {
        guard let index = entries.firstIndex(where: { $0.operation == operation }) else { return nil }
        entries[index].trains.removeAll { $0.handle == train.handle }
        guard entries[index].trains.count < Self.transferLimit else { return nil }
        entries[index].trains.append(train)
        return entries[index].client
    }

    /// The operation that takes the trains of a link.
    func receiver(on handle: ConnectionHandle) -> OperationID? {
        entries.first { entry in
            if case .transfers(let link, _) = entry.wish { link.handle == handle && !entry.isClosed } else { false }
        }?.operation
    }

    /// LE Periodic Advertising Report: joins fragments.
    /// - Returns: whole data with the operation and client that get them.
    mutating func receive(
        _ report: LEPeriodicAdvertisingReport, at now: Instant
    ) -> (OperationID, ClientID, TrainReport)? {
        for index in entries.indices {
            guard let place = entries[index].trains.firstIndex(where: { $0.handle == report.synchronizationHandle })
            else { continue }
            guard let data = entries[index].trains[place].join(report) else { return nil }
            let information = entries[index].trains[place].information
            return (
                entries[index].operation, entries[index].client,
                TrainReport(
                    advertiser: information.advertiser, identifier: information.identifier, data: data,
                    isTruncated: report.dataStatus == .incompleteTruncated, rssi: report.rssi,
                    txPower: report.transmitPower == 127 ? nil : report.transmitPower, time: now)
            )
        }
        return nil
    }

    /// LE Periodic Advertising Sync Lost.
    /// - Returns: the train and who followed it, and whether the request has ended with it.
    mutating func lost(
        _ handle: SynchronizationHandle
    ) -> (operation: OperationID, client: ClientID, train: TrainInformation, hasEnded: Bool)? {
        for index in entries.indices {
            guard let place = entries[index].trains.firstIndex(where: { $0.handle == handle }) else { continue }
            let train = entries[index].trains.remove(at: place)
            let entry = entries[index]
            let hasEnded =
                switch entry.wish {
                case .follow(let request): !request.resumesAfterLoss
                case .transfers: entry.isClosed && entry.trains.isEmpty
                }
            if hasEnded { entries.remove(at: index) }
            return (entry.operation, entry.client, train.information, hasEnded)
        }
        return nil
    }

    /// A link has ended: no further trains are transferred on it.
    /// - Returns: the operations that end with it, because they follow no train.
    mutating func linkEnded(_ link: LinkID) -> [OperationID] {
        var ended: [OperationID] = []
        for index in entries.indices {
            guard case .transfers(link, _) = entries[index].wish else { continue }
            entries[index].isClosed = true
            if entries[index].trains.isEmpty { ended.append(entries[index].operation) }
        }
        entries.removeAll { ended.contains($0.operation) }
        return ended
    }

    /// The controller forgot all trains.
    /// - Returns: those that were followed.
    mutating func controllerReset() -> [(OperationID, ClientID, TrainInformation)] {
        attempt = .idle
        script = []
        hasEventMask = false
        var lost: [(OperationID, ClientID, TrainInformation)] = []
        for index in entries.indices {
            for train in entries[index].trains {
                lost.append((entries[index].operation, entries[index].client, train.information))
            }
            entries[index].trains.removeAll()
        }
        return lost
    }
}

extension TrainTable.Train {
    /// - Returns: the whole data, or their beginning where the controller lost the rest; `nil` while parts are missing.
    fileprivate mutating func join(_ report: LEPeriodicAdvertisingReport) -> [UInt8]? {
        let isLast = report.dataStatus != .incompleteMoreToCome
        guard !isOverlong, fragments.count + report.data.count <= AdvertisingSetRequest.longestData else {
            fragments = []
            isOverlong = !isLast
            return nil
        }
        guard isLast else {
            fragments += report.data
            return nil
        }
        defer { fragments = [] }
        return fragments.isEmpty ? report.data : fragments + report.data
    }
}
