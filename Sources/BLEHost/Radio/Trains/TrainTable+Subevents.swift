import BLEPackets

/// Which subevents of trains with responses the clients want.
extension TrainTable {
    /// The operations that look for certain subevents, oldest first.
    var seekersOfSubevents: [OperationID] {
        entries.filter { $0.options.subevents != nil }.map { $0.operation }
    }

    /// The operations that follow a train, oldest first.
    func followers(of handle: SynchronizationHandle) -> [OperationID] {
        entries.filter { $0.trains.contains { $0.handle == handle } }.map { $0.operation }
    }

    /// An operation that takes what a peer transfers does without one of these trains.
    /// - Returns: `nil` if it looked for this train and no other.
    mutating func drop(_ handle: SynchronizationHandle, of operation: OperationID) -> Loss? {
        guard let index = entries.firstIndex(where: { $0.operation == operation }),
            case .transfers = entries[index].wish,
            let place = entries[index].trains.firstIndex(where: { $0.handle == handle })
        else { return nil }
        return lose(place, at: index)
    }

    /// The subevents of a train that its followers want, all together; none for a train without responses.
    /// - Returns: also the operations that want none of those that the train has.
    func subevents(of handle: SynchronizationHandle) -> (chosen: [UInt8], disappointed: [OperationID]) {
        var chosen: [UInt8] = []
        var disappointed: [OperationID] = []
        for entry in entries {
            guard let train = entry.trains.first(where: { $0.handle == handle }),
                let count = train.information.subevents?.count
            else { continue }
            let wanted = (0..<count).filter { entry.options.wants($0, of: count) }
            if wanted.isEmpty { disappointed.append(entry.operation) }
            chosen += wanted.filter { !chosen.contains($0) }
        }
        return (chosen.sorted(), disappointed)
    }
}
