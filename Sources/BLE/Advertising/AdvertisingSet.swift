import BLEHost

/// An advertising set that this app has started, and what happens to it, as a sequence.
///
///     var request = AdvertisingSetRequest(data: advertisement)
///     request.primaryPHY = .leCoded
///     request.secondaryPHY = .leCoded
///     let set = try await adapter.advertiseSet(request)
///     for try await event in set { print(event) }
///
/// The set is advertised until the sequence and its iterator are gone, the task of the loop is cancelled, or its
/// duration is over; in this case the sequence ends.
public struct AdvertisingSet: AsyncSequence, Sendable {
    public typealias Element = AdvertisingSetEvent

    /// The number of events that can wait, with 1 MiB in all; beyond that the oldest are dropped.
    public static let capacity = 1024

    let adapter: Adapter
    let operation: OperationID
    let stream: BoundedStream<AdvertisingSetEvent>
    let dropped: DropCounter

    /// Events that were dropped because they were not consumed in time.
    public var droppedCount: Int { dropped.value }

    /// Changes the set. It keeps running if only data change, at most 251 octets each.
    /// - Throws: `BLEError.invalidRequest`, and `BLEError.cancelled` if the set is no longer advertised.
    public func change(to request: AdvertisingSetRequest) async throws {
        _ = try await adapter.result(of: .radio(.changeAdvertisingSet(operation, request)))
    }

    /// Stops advertising; the sequence ends.
    public func stop() async { await adapter.endSequence(operation) }

    /// Transfers to the peer of a link how to follow the periodic advertising of this set (Core 5.4, Vol 3, Part C,
    /// 9.5.5).
    /// - Parameter serviceData: a number for the peer's host.
    /// - Throws: `BLEError.notConnected`, or the controller's error.
    public func transferPeriodicSync(to link: LinkID, serviceData: UInt16 = 0) async throws {
        _ = try await adapter.result(of: .radio(.transferPeriodicSync(operation, to: link, serviceData: serviceData)))
    }

    /// Gives the data of subevents of a train with responses (Core 5.4, Vol 4, Part E, 7.8.125). Each is sent once: in
    /// the next subevent with its number.
    ///
    ///     for try await event in set {
    ///         switch event {
    ///         case .dataRequested(let first, let count):
    ///             let numbers = (0..<count).map { (first + $0) % 4 }
    ///             try await set.send(numbers.map { SubeventData(subevent: $0, responseSlotCount: 8, data: [$0]) })
    ///         case .response(let response): print(response.slot, response.data ?? [])
    ///         default: break
    ///         }
    ///     }
    /// - Throws: `BLEError.invalidRequest` for a subevent or a slot that the train does not have, or data of more than
    ///   249 octets; the controller's error. Data that come too late for their subevent are lost.
    public func send(_ subevents: [SubeventData]) async throws {
        var part: [SubeventData] = []
        var octets = 0
        for subevent in subevents {
            if part.count == SubeventData.room.subevents || octets + subevent.length > SubeventData.room.octets {
                _ = try await adapter.result(of: .radio(.sendSubevents(part, of: operation)))
                (part, octets) = ([], 0)
            }
            part.append(subevent)
            octets += subevent.length
        }
        guard !part.isEmpty else { return }
        _ = try await adapter.result(of: .radio(.sendSubevents(part, of: operation)))
    }

    /// Create only one iterator: a second one would take events from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeIterator()) }

    /// Returns the events in their order until the set is no longer advertised.
    public struct Iterator: AsyncIteratorProtocol {
        var base: BoundedStream<AdvertisingSetEvent>.Iterator

        /// - Throws: `BLEError` when the controller refuses the set or the adapter is lost.
        public nonisolated(nonsending) mutating func next() async throws(BLEError) -> AdvertisingSetEvent? {
            try await next(isolation: #isolation)
        }

        /// - Throws: `BLEError` when the controller refuses the set or the adapter is lost.
        /// - Parameter actor: where the loop runs; elements that have come are returned without leaving it.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BLEError) -> AdvertisingSetEvent?
        {
            try await base.next(isolation: actor)
        }
    }
}

/// Periodic advertising that this app follows, as a sequence of reports.
///
///     let train = try await adapter.follow(PeriodicSyncRequest([.init(address: sensor, identifier: 1)]))
///     for try await case .report(let report) in train { print(report.data) }
///
/// The train is followed until the sequence and its iterator are gone or the task of the loop is cancelled.
public struct PeriodicSync: AsyncSequence, Sendable {
    public typealias Element = PeriodicSyncEvent

    /// The number of events that can wait, with 1 MiB in all; beyond that the oldest are dropped.
    public static let capacity = 1024

    let adapter: Adapter
    let operation: OperationID
    let stream: BoundedStream<PeriodicSyncEvent>
    let dropped: DropCounter

    /// Events that were dropped because they were not consumed in time.
    public var droppedCount: Int { dropped.value }

    /// Stops following; the sequence ends.
    public func stop() async { await adapter.endSequence(operation) }

    /// Transfers to the peer of a link how to follow this train, too (Core 5.4, Vol 3, Part C, 9.5.5).
    /// - Parameter serviceData: a number for the peer's host.
    /// - Throws: `BLEError.notConnected`; `BLEError.invalidRequest` while the train is not found; the controller's
    ///   error.
    public func transfer(to link: LinkID, serviceData: UInt16 = 0) async throws {
        _ = try await adapter.result(of: .radio(.transferPeriodicSync(operation, to: link, serviceData: serviceData)))
    }

    /// Responds in a train with responses, once (Core 5.4, Vol 4, Part E, 7.8.126).
    ///
    ///     for try await case .report(let report) in train {
    ///         guard let event = report.event, let subevent = report.subevent else { continue }
    ///         try await train.respond(PeriodicResponse(toEvent: event, subevent: subevent, slot: 3, data: [1]))
    ///     }
    /// - Throws: `BLEError.invalidRequest` for a subevent that the train does not have, a train without response slots,
    ///   or data of more than 247 octets; the controller's error, `HCIStatus.tooLate` if the slot is over.
    public func respond(_ response: PeriodicResponse) async throws {
        _ = try await adapter.result(of: .radio(.respondInPeriodicAdvertising(response, in: operation)))
    }

    /// Create only one iterator: a second one would take events from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeIterator()) }

    /// Returns the events in their order until the train is no longer followed.
    public struct Iterator: AsyncIteratorProtocol {
        var base: BoundedStream<PeriodicSyncEvent>.Iterator

        /// - Throws: `BLEError` when the controller cannot follow the train or the adapter is lost.
        public nonisolated(nonsending) mutating func next() async throws(BLEError) -> PeriodicSyncEvent? {
            try await next(isolation: #isolation)
        }

        /// - Throws: `BLEError` when the controller cannot follow the train or the adapter is lost.
        /// - Parameter actor: where the loop runs; elements that have come are returned without leaving it.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BLEError) -> PeriodicSyncEvent? {
            try await base.next(isolation: actor)
        }
    }
}
