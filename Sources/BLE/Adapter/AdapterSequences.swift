import BLEHost

/// The sequences in which apps get what running operations report, each by its operation.
struct AdapterSequences {
    var scans: [OperationID: Scan.Source] = [:]
    var sets: [OperationID: BoundedStream<AdvertisingSetEvent>.Source] = [:]
    var trains: [OperationID: BoundedStream<PeriodicSyncEvent>.Source] = [:]

    /// An operation has ended.
    /// - Returns: whether it had a sequence.
    mutating func end(_ operation: OperationID, with error: BLEError?) -> Bool {
        if let source = scans.removeValue(forKey: operation) {
            if let error { source.finish(throwing: error) }
        } else if let source = sets.removeValue(forKey: operation) {
            source.finish(throwing: error)
        } else if let source = trains.removeValue(forKey: operation) {
            source.finish(throwing: error)
        } else {
            return false
        }
        return true
    }

    /// The adapter is gone.
    mutating func end(with error: BLEError) {
        for (_, source) in scans { source.finish(throwing: error) }
        for (_, source) in sets { source.finish(throwing: error) }
        for (_, source) in trains { source.finish(throwing: error) }
        self = AdapterSequences()
    }

    /// Removes the sequence of an operation after its iteration has ended.
    /// - Returns: whether there was one.
    mutating func forget(_ operation: OperationID) -> Bool {
        scans.removeValue(forKey: operation) != nil || sets.removeValue(forKey: operation) != nil
            || trains.removeValue(forKey: operation) != nil
    }
}
