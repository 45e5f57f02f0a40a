import BLEPackets

/// The periodic trains that clients follow, and the one attempt to find a train that a controller can make at a time.
///
///     idle ──a train is missing──▶ preparing ──created──▶ waiting ──established──▶ idle
///                                     │ refused             │ nobody wants it, or its turn is over
///                                     ▼                     ▼
///                                    idle ◀──established, cancelled── cancelling
///
/// While the radio pauses, nothing is looked for: the controller finds trains only while it scans, and changes its
/// resolving list only while it looks for none (Core 5.4, Vol 4, Part E, 7.8.38 and 7.8.67). A train that several
/// clients want is found once and followed for all of them.
///
/// Requests whose trains are missing take turns, so that an absent train does not keep the others from being found: the
/// owners of clients in turn, the clients of each, and of a client the request that has waited longest.
struct TrainTable {
    /// What a client wants.
    enum Wish: Equatable {
        /// One train.
        case follow(PeriodicSyncRequest)
        /// The trains that the peer of a link transfers.
        case transfers(LinkID, PeriodicSyncSettings)
    }

    /// A train that the controller follows.
    struct Train {
        let handle: SynchronizationHandle
        var information: PeriodicSyncInformation
        /// Data whose last part is still missing.
        var fragments = FragmentJoiner()
        /// The subevent of these data.
        var subevent: UInt8?
    }

    /// A report of the controller, whose data may be a part.
    struct Part {
        let handle: SynchronizationHandle
        let status: AdvertisingDataStatus
        let rssi: Int8
        let transmitPower: Int8
        /// Of a controller that knows trains with responses.
        var event: UInt16?
        var subevent: UInt8?
    }

    struct Entry {
        var operation: OperationID
        var client: ClientID
        /// The number of the user for whom the client works (`ClientUser`).
        var owner: UInt32 = 0
        var wish: Wish
        var trains: [Train] = []
        /// When its latest turn was, counted in turns; 0: never.
        var turn = 0
        /// Failed attempts in a row.
        var failures = 0
        /// The peer's link has ended: no further train comes.
        var isClosed = false

        /// Whether a train has to be looked for.
        var isMissing: Bool {
            if case .follow = wish { trains.isEmpty } else { false }
        }

        /// How its trains are followed.
        var options: PeriodicSyncSettings {
            switch wish {
            case .follow(let request): request.options
            case .transfers(_, let options): options
            }
        }

        /// Whether an attempt for it can have found a train with this SID.
        func wants(_ identifier: UInt8) -> Bool {
            if case .follow(let request) = wish {
                request.advertisers.contains { $0.identifier == identifier }
            } else {
                false
            }
        }
    }

    enum Attempt: Equatable {
        case idle
        /// The commands before and with LE Periodic Advertising Create Sync; `step` is in flight.
        case preparing(OperationID, step: Int)
        case waiting(OperationID, since: Instant)
        case cancelling(OperationID, since: Instant)
    }

    enum Action: Equatable {
        case none
        case setEventMask
        case clearList
        case addToList(PeriodicSyncRequest.Advertiser)
        case create(PeriodicSyncRequest)
        case cancel
        /// The controller refuses to follow the train.
        case fail(OperationID, HCIStatus, HCIOpcode)

        /// Of its command.
        var opcode: HCIOpcode? {
            switch self {
            case .none, .fail: nil
            case .setEventMask: LESetEventMask.opcode
            case .clearList: LEClearPeriodicAdvertiserList.opcode
            case .addToList: LEAddDeviceToPeriodicAdvertiserList.opcode
            case .create: LEPeriodicAdvertisingCreateSync.opcode
            case .cancel: LEPeriodicAdvertisingCreateSyncCancel.opcode
            }
        }
    }

    /// How often a train that was received and then lost at once is looked for, before the operation fails (Core 5.4,
    /// Vol 4, Part E, 7.7.65.14: 0x3E).
    static let attempts = 4

    /// How long one train is looked for while others are missing, too.
    static let turn: Microseconds = .seconds(5)

    /// How long a controller may take to report the end of a search that was cancelled.
    static let cancellationTimeout: Microseconds = .seconds(4)

    /// How many trains of a peer one operation takes: the peer decides how many it transfers.
    static let transferLimit = 32

    private(set) var entries: [Entry] = []
    private(set) var attempt = Attempt.idle
    /// The owner whose turn was the last one, the last client of each owner, and how many turns there were.
    private var lastOwner: UInt32 = 0
    private var lastClients: [(owner: UInt32, client: ClientID)] = []
    private static let rememberedOwners = 64
    private var turns = 0
    private var script: [Action] = []
    /// The choices of subevents, of trains with responses.
    var choices: [Choice] = []
    /// Whether the controller reports what it receives of trains.
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

    mutating func add(_ wish: Wish, operation: OperationID, client: ClientID, owner: UInt32 = 0) {
        entries.append(Entry(operation: operation, client: client, owner: owner, wish: wish))
    }

    /// - Returns: the entry, if there was one; its trains have to be ended.
    mutating func remove(_ operation: OperationID) -> Entry? {
        guard let index = entries.firstIndex(where: { $0.operation == operation }) else { return nil }
        return entries.remove(at: index)
    }

    /// The operations whose trains are missing, oldest first.
    var missing: [OperationID] { entries.filter { $0.isMissing }.map { $0.operation } }

    /// A train that is followed already and that a request names.
    func train(for request: PeriodicSyncRequest) -> Train? {
        for entry in entries {
            if let train = entry.trains.first(where: { request.names($0.information) }) { return train }
        }
        return nil
    }

    /// The operations that are looking for a train which has been found.
    func seekers(of train: PeriodicSyncInformation) -> [OperationID] {
        entries.filter { entry in
            if case .follow(let request) = entry.wish { entry.isMissing && request.names(train) } else { false }
        }.map { $0.operation }
    }

    /// Whether a client follows this train.
    func follows(_ handle: SynchronizationHandle) -> Bool {
        entries.contains { $0.trains.contains { $0.handle == handle } }
    }

    /// The first train that an operation follows.
    func firstTrain(of operation: OperationID) -> Train? {
        entries.first { $0.operation == operation }?.trains.first
    }

    /// The combined options for a link; `nil` if no client receives transfers on it. The controller has one setting per
    /// link, so it must satisfy every client that receives transfers on it.
    func transferOptions(on link: LinkID) -> PeriodicSyncSettings? {
        var joined: PeriodicSyncSettings?
        for entry in entries {
            guard case .transfers(link, let options) = entry.wish, !entry.isClosed else { continue }
            joined = joined?.joined(with: options) ?? options
        }
        return joined
    }

    // MARK: The attempt

    /// Looks for the next train that is missing, or gives up an attempt that no client wants any more, that keeps
    /// others waiting, or for which the radio has no time.
    mutating func converge(isPaused: Bool = false, at now: Instant) -> Action {
        switch attempt {
        case .idle:
            guard !isPaused else { return .none }
            guard let index = nextMissing, case .follow(let request) = entries[index].wish else { return .none }
            let entry = entries[index]
            recordTurn(of: entry)
            turns += 1
            entries[index].turn = turns
            script = hasEventMask ? [] : [.setEventMask]
            if request.advertisers.count > 1 {
                script.append(.clearList)
                script += request.advertisers.map { .addToList($0) }
            }
            script.append(.create(request))
            attempt = .preparing(entry.operation, step: 0)
            return script[0]
        case .waiting(let operation, let since)
        where isPaused || !isMissing(operation) || isOver(since, at: now):
            attempt = .cancelling(operation, since: now)
            return .cancel
        case .cancelling(_, let since) where since.advanced(by: Self.cancellationTimeout) <= now:
            // The radio must not wait for ever for an event that does not come.
            attempt = .idle
            return converge(isPaused: isPaused, at: now)
        case .preparing, .waiting, .cancelling: return .none
        }
    }

    /// The entry whose turn it is.
    private var nextMissing: Int? {
        var missing = entries.indices.filter { entries[$0].isMissing }
        let owners = missing.map { entries[$0].owner }
        guard let owner = owners.filter({ $0 > lastOwner }).min() ?? owners.min() else { return nil }
        missing.removeAll { entries[$0].owner != owner }
        let clients = missing.map { entries[$0].client.rawValue }
        let last = lastClients.first { $0.owner == owner }?.client.rawValue ?? 0
        guard let client = clients.filter({ $0 > last }).min() ?? clients.min() else { return nil }
        return missing.filter { entries[$0].client.rawValue == client }.min { entries[$0].turn < entries[$1].turn }
    }

    private mutating func recordTurn(of entry: Entry) {
        lastOwner = entry.owner
        lastClients.removeAll { $0.owner == entry.owner }
        if lastClients.count >= Self.rememberedOwners { lastClients.removeFirst() }
        lastClients.append((entry.owner, entry.client))
    }

    private func isMissing(_ operation: OperationID) -> Bool {
        entries.contains { $0.operation == operation && $0.isMissing }
    }

    /// Whether a turn that began then is over: only if another train is missing.
    private func isOver(_ since: Instant, at now: Instant) -> Bool {
        nextDeadline != nil && since.advanced(by: Self.turn) <= now
    }

    /// When the turn of the train that is looked for is over, or a cancellation has taken too long.
    var nextDeadline: Instant? {
        switch attempt {
        case .waiting(let operation, let since)
        where entries.contains { $0.isMissing && $0.operation != operation }:
            since.advanced(by: Self.turn)
        case .cancelling(_, let since): since.advanced(by: Self.cancellationTimeout)
        case .idle, .preparing, .waiting: nil
        }
    }

    /// The controller has answered a command. The answer to a cancellation may come when the next attempt has begun,
    /// because the train was found at the last moment.
    mutating func completed(_ status: HCIStatus, _ opcode: HCIOpcode, at now: Instant) -> Action {
        switch attempt {
        case .preparing(let operation, let step):
            guard opcode == script[step].opcode else { return .none }
            guard status.isSuccess else {
                attempt = .idle
                return .fail(operation, status, opcode)
            }
            if script[step] == .setEventMask { hasEventMask = true }
            guard step + 1 == script.count else {
                guard isMissing(operation) else {
                    attempt = .idle
                    return .none
                }
                attempt = .preparing(operation, step: step + 1)
                return script[step + 1]
            }
            attempt = .waiting(operation, since: now)
            return .none
        case .cancelling where !status.isSuccess && opcode == Action.cancel.opcode:
            // It was already over; its event has come or will not.
            attempt = .idle
            return .none
        case .idle, .waiting, .cancelling: return .none
        }
    }

    /// LE Periodic Advertising Sync Established.
    /// - Parameter identifier: the SID of the train, if one was found.
    /// - Returns: whose train it is, and how the attempt ended for it; `nil` if no client wants it.
    mutating func established(
        _ status: HCIStatus, identifier: UInt8
    ) -> (operation: OperationID, isToBeRetried: Bool)? {
        switch attempt {
        case .waiting(let operation, _):
            guard let index = entries.firstIndex(where: { $0.operation == operation }) else {
                attempt = .idle
                return nil
            }
            // The event of an earlier attempt: this one still runs.
            guard status.isSuccess ? entries[index].wants(identifier) : status != .operationCancelledByHost else {
                return nil
            }
            attempt = .idle
            entries[index].failures = status.isSuccess ? 0 : entries[index].failures + 1
            let isPassing = status == .connectionFailedToBeEstablished || status == .unknownAdvertisingIdentifier
            return (operation, isPassing && entries[index].failures < Self.attempts)
        case .cancelling(let operation, _):
            attempt = .idle
            guard let entry = entries.first(where: { $0.operation == operation }),
                !status.isSuccess || entry.wants(identifier)
            else { return nil }
            // Found at the last moment; or its turn is over, and another comes.
            return (operation, true)
        case .idle, .preparing: return nil
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

    /// The operations that receive the trains of a link, oldest first.
    func receivers(on handle: ConnectionHandle) -> [OperationID] {
        entries.filter { entry in
            if case .transfers(let link, _) = entry.wish { link.handle == handle && !entry.isClosed } else { false }
        }.map { $0.operation }
    }

    /// Whether a report has all of its data: no part went before, and none follows.
    func isWhole(_ part: Part) -> Bool {
        part.status != .incompleteMoreToCome
            && !entries.contains { $0.trains.contains { $0.handle == part.handle && !$0.fragments.isEmpty } }
    }

    /// LE Periodic Advertising Report: joins fragments.
    mutating func receive(_ part: Part, _ octets: [UInt8], at now: Instant, into events: inout EventQueue) {
        for index in entries.indices {
            guard let place = entries[index].place(of: part) else { continue }
            guard let data = entries[index].trains[place].join(part, octets) else { continue }
            events.append(entries[index].report(part, place, data, at: now))
        }
    }

    /// Whole data, for each operation that follows the train, and its subevent if it has any.
    func deliver(_ part: Part, _ octets: [UInt8], at now: Instant, into events: inout EventQueue) {
        guard part.status != .failedToReceive else { return }
        for entry in entries {
            guard let place = entry.place(of: part) else { continue }
            events.append(entry.report(part, place, octets, at: now))
        }
    }

    /// A request whose train was lost.
    struct Loss {
        let operation: OperationID
        let client: ClientID
        let train: PeriodicSyncInformation
        /// Whether the request has ended with it.
        let hasEnded: Bool
    }

    /// LE Periodic Advertising Sync Lost.
    /// - Returns: who followed the train.
    mutating func lost(_ handle: SynchronizationHandle) -> [Loss] {
        var losses: [Loss] = []
        for index in entries.indices.reversed() {
            guard let place = entries[index].trains.firstIndex(where: { $0.handle == handle }) else { continue }
            losses.append(lose(place, at: index))
        }
        return losses.reversed()
    }

    /// Removes one train of an entry, and the entry if that ends it.
    mutating func lose(_ place: Int, at index: Int) -> Loss {
        let train = entries[index].trains.remove(at: place)
        let entry = entries[index]
        let hasEnded =
            switch entry.wish {
            case .follow(let request): !request.resumesAfterLoss
            case .transfers: entry.isClosed && entry.trains.isEmpty
            }
        if hasEnded { entries.remove(at: index) }
        return Loss(operation: entry.operation, client: entry.client, train: train.information, hasEnded: hasEnded)
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
    /// - Returns: those that were followed, and who waits for no others.
    mutating func controllerReset() -> [Loss] {
        attempt = .idle
        script = []
        choices = []
        hasEventMask = false
        var losses: [Loss] = []
        for index in entries.indices {
            let entry = entries[index]
            for (place, train) in entry.trains.enumerated() {
                losses.append(
                    Loss(
                        operation: entry.operation, client: entry.client, train: train.information,
                        hasEnded: entry.isClosed && place + 1 == entry.trains.count))
            }
            entries[index].trains.removeAll()
        }
        entries.removeAll { $0.isClosed }
        return losses
    }
}

extension TrainTable.Entry {
    /// The place of the train to which a report belongs, if its data are wanted.
    fileprivate func place(of part: TrainTable.Part) -> Int? {
        guard let place = trains.firstIndex(where: { $0.handle == part.handle }) else { return nil }
        guard Features.responses, let subevent = part.subevent else { return place }
        return options.wants(subevent, of: trains[place].information.subevents?.count ?? 0) ? place : nil
    }

    fileprivate func report(_ part: TrainTable.Part, _ place: Int, _ data: [UInt8], at now: Instant) -> HostEvent {
        let train = trains[place].information
        let report = PeriodicSyncReport(
            advertiser: train.advertiser, identifier: train.identifier, data: data,
            isTruncated: part.status == .incompleteTruncated, rssi: part.rssi,
            txPower: part.transmitPower == 127 ? nil : part.transmitPower, event: part.event, subevent: part.subevent,
            time: now)
        return .train(operation, client, .report(report))
    }
}

extension TrainTable.Train {
    /// - Returns: the whole data, or their beginning where the controller lost the rest; `nil` while parts are missing.
    fileprivate mutating func join(_ part: TrainTable.Part, _ octets: [UInt8]) -> [UInt8]? {
        if Features.responses, part.subevent != subevent || part.status == .failedToReceive {
            // The rest of another subevent is lost.
            fragments.removeAll()
            subevent = part.subevent
            if part.status == .failedToReceive { return nil }
        }
        let isLast = part.status != .incompleteMoreToCome
        if isLast, fragments.isEmpty { return octets }
        guard fragments.add(octets.span.bytes, isLast: isLast) else { return nil }
        defer { fragments.removeAll() }
        return fragments.octets
    }
}
