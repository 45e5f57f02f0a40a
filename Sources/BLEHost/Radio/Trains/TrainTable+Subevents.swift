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

    /// An operation that receives what a peer transfers does without one of these trains.
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

    /// The trains with responses that an operation follows.
    func trainsWithResponses(of operation: OperationID) -> [Train] {
        entries.first { $0.operation == operation }?.trains.filter { $0.information.subevents != nil } ?? []
    }

    // MARK: The controller's choice

    /// The subevents of a train that the controller receives.
    struct Choice {
        let handle: SynchronizationHandle
        /// The subevents of the command that it has not answered; `nil` if there is none.
        var asked: [UInt8]?
        /// The subevents that it accepted last; empty: none so far.
        var accepted: [UInt8] = []
        /// Whether the wishes have changed since that command.
        var isOutdated = false
    }

    /// Whether the controller has not answered yet.
    func isChoosing(_ handle: SynchronizationHandle) -> Bool {
        choices.contains { $0.handle == handle && $0.asked != nil }
    }

    /// Notes that these subevents are wanted. Each train has one command at a time, which bounds them however often
    /// wishes change, and none of the wishes is lost: they are read again when the controller answers.
    /// - Returns: whether a command can go to the controller now.
    mutating func beginChoice(_ subevents: [UInt8], of handle: SynchronizationHandle) -> Bool {
        choices = choices.filter { $0.asked != nil || follows($0.handle) }
        guard let index = choices.firstIndex(where: { $0.handle == handle }) else {
            choices.append(Choice(handle: handle, asked: subevents))
            return true
        }
        guard choices[index].asked == nil else {
            choices[index].isOutdated = true
            return false
        }
        choices[index].asked = subevents
        return true
    }

    /// The controller has answered.
    /// - Returns: whether the wishes have changed meanwhile, so that another command is due.
    mutating func choiceAnswered(_ handle: SynchronizationHandle, isAccepted: Bool) -> Bool {
        guard let index = choices.firstIndex(where: { $0.handle == handle }) else { return false }
        let answered = choices[index]
        if isAccepted { choices[index].accepted = answered.asked ?? [] }
        choices[index].asked = nil
        choices[index].isOutdated = false
        return answered.isOutdated
    }

    /// A train is new: what was chosen for an earlier one with its handle does not apply to it.
    mutating func forgetChoice(of handle: SynchronizationHandle) {
        guard let index = choices.firstIndex(where: { $0.handle == handle }) else { return }
        choices[index].accepted = []
        if choices[index].asked != nil { choices[index].asked = [] }
    }

    /// The operations that end when the controller refuses a choice: the newest of those that want more than it
    /// accepted last; all followers, oldest first, if it has accepted nothing.
    func refused(_ handle: SynchronizationHandle) -> [OperationID] {
        let accepted = choices.first { $0.handle == handle }?.accepted ?? []
        guard !accepted.isEmpty else { return followers(of: handle) }
        let newest = entries.last { entry in
            guard let train = entry.trains.first(where: { $0.handle == handle }),
                let count = train.information.subevents?.count
            else { return false }
            return (0..<count).contains { entry.options.wants($0, of: count) && !accepted.contains($0) }
        }
        return newest.map { [$0.operation] } ?? []
    }
}
