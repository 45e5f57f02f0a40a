import BLEHost

/// Advertising sets and periodic advertising.
extension Adapter {
    /// Advertises a separate set, beside `advertise(_:)` and other sets: as many as the controller has.
    ///
    /// On a controller without extended advertising, one set that legacy PDUs can express is advertised.
    /// - Returns: the set; the controller may still refuse it, which the sequence throws: `BLEError.limitReached` when
    ///   it has no further set.
    /// - Throws: `BLEError` if the adapter is lost.
    public func advertiseSet(_ request: AdvertisingSetRequest) throws -> AdvertisingSet {
        let dropped = DropCounter()
        let (stream, source) = BoundedStream<AdvertisingSetEvent>.make(
            capacity: AdvertisingSet.capacity, dropped: dropped)
        let operation = try begin(.radio(.advertiseSet(request)), source) { $0.sets[$1] = source }
        return AdvertisingSet(adapter: self, operation: operation, stream: stream, dropped: dropped)
    }

    /// Follows periodic advertising. The controller scans until it has found it.
    /// - Returns: the train; the controller may still refuse it, which the sequence throws.
    /// - Throws: `BLEError` if the adapter is lost.
    public func follow(_ request: PeriodicSyncRequest) throws -> PeriodicSync {
        try follow(.radio(.followPeriodicAdvertising(request)))
    }

    /// Follows the trains that the peer of a link transfers, also after the end of the link.
    /// - Throws: `BLEError` if the adapter is lost.
    public func receivePeriodicSyncs(
        on link: LinkID, _ options: PeriodicSyncSettings = PeriodicSyncSettings()
    ) throws -> PeriodicSync {
        try follow(.radio(.receivePeriodicSyncs(link, options)))
    }

    private func follow(_ command: HostCommand) throws -> PeriodicSync {
        let dropped = DropCounter()
        let (stream, source) = BoundedStream<PeriodicSyncEvent>.make(capacity: PeriodicSync.capacity, dropped: dropped)
        let operation = try begin(command, source) { $0.trains[$1] = source }
        return PeriodicSync(adapter: self, operation: operation, stream: stream, dropped: dropped)
    }

    /// Starts an operation that ends with its sequence.
    private func begin<Element>(
        _ command: HostCommand, _ source: BoundedStream<Element>.Source,
        _ add: (inout AdapterSequences, OperationID) -> Void
    ) throws -> OperationID {
        if let ending { throw ending }
        let operation = submit(command)
        add(&sequences, operation)
        source.onTermination { Task { await self.endSequence(operation) } }
        settle()
        return operation
    }

    /// Ends an operation whose sequence is no longer iterated.
    func endSequence(_ operation: OperationID) {
        guard sequences.forget(operation) else { return }
        _ = submit(.cancel(operation))
        settle()
    }

    func handle(_ event: AdvertisingSetEvent, of operation: OperationID) {
        let octets = if case .response(let response) = event { response.data?.count ?? 0 } else { 0 }
        sequences.sets[operation]?.yield(event, octets: 32 + octets)
    }

    func handle(_ event: PeriodicSyncEvent, of operation: OperationID) {
        let octets = if case .report(let report) = event { report.data.count } else { 0 }
        sequences.trains[operation]?.yield(event, octets: 64 + octets)
    }
}
