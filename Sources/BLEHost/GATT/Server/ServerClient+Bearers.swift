import BLEPackets

/// The bearers of a client: one is at work at a time, so that whatever handles a PDU, an answer or a timer need not
/// know how many there are.
extension ServerClient {
    /// Has the bearer with this number at work.
    /// - Returns: whether there is such a bearer.
    @inline(__always)
    @discardableResult
    mutating func turn(to number: UInt32) -> Bool {
        self.number == number || Features.enhancedBearers && exchange(number)
    }

    /// Whether there are enhanced bearers.
    @inline(__always)
    var hasOthers: Bool { Features.enhancedBearers && !others.isEmpty }

    /// Of these bearers, when the first one is due.
    ///
    /// Static, because the client would be copied for the question otherwise.
    static func firstDeadline(of others: [ServerBearer]) -> Instant? {
        var first: Instant?
        for other in others { first = earliest(first, other.nextDeadline) }
        return first
    }

    /// Whether a request on any bearer waits for the app's answer to this question.
    func waits(for question: GATTRequestID) -> Bool {
        transaction?.question == question || hasOthers && others.contains { $0.transaction?.question == question }
    }

    /// Has the bearer at work whose request waits for the app's answer to this question.
    /// - Returns: whether there is such a bearer.
    mutating func turn(toAnswer question: GATTRequestID) -> Bool {
        if transaction?.question == question { return true }
        guard hasOthers, let other = others.first(where: { $0.transaction?.question == question }) else { return false }
        return turn(to: other.number)
    }

    /// The bearer for the values of a characteristic: the one on which the client wrote this configuration, while it is
    /// open. Clients that keep separate books for each bearer expect them there.
    func updateBearer(of configuration: AttributeHandle) -> UInt32 {
        guard hasOthers, let written = configurations[configuration]?.bearer,
            number == written || others.contains(where: { $0.number == written })
        else { return 0 }
        return written
    }

    /// ATT_MTU for the values of a characteristic.
    func updateMTU(of configuration: AttributeHandle) -> Int {
        let chosen = updateBearer(of: configuration)
        if number == chosen || !hasOthers { return mtu }
        return others.first { $0.number == chosen }?.mtu ?? mtu
    }

    /// Whether no more than this many values wait on any bearer.
    func hasAtMost(_ count: Int) -> Bool {
        guard unsentNotifications <= count, indications.count <= count else { return false }
        return !hasOthers || others.allSatisfy { $0.unsentNotifications <= count && $0.indications.count <= count }
    }

    /// The table has changed, and the client does not know it.
    mutating func becomeUnaware() {
        awareness = .unaware
        wasToldOutOfSync = false
        guard hasOthers else { return }
        for index in others.indices { others[index].wasToldOutOfSync = false }
    }

    /// Drops the values of these handles that wait here.
    mutating func dropValues(where isDropped: (AttributeHandle) -> Bool) {
        indications.retain { !isDropped($0.handle) }
        let before = gathered.count
        gathered.removeAll { isDropped($0.handle) }
        unsentNotifications -= before - gathered.count
        guard hasOthers else { return }
        for index in others.indices { others[index].dropValues(where: isDropped) }
    }

    /// Drops the values of a characteristic that wait here to share a PDU.
    mutating func dropGathered(of handle: AttributeHandle) {
        let before = gathered.count
        gathered.removeAll { $0.handle == handle }
        unsentNotifications -= before - gathered.count
        guard hasOthers else { return }
        for index in others.indices { others[index].dropGathered(of: handle) }
    }

    /// Drops the indications of a value that wait here.
    mutating func dropIndications(of handle: AttributeHandle) {
        indications.retain { $0.handle != handle }
        guard hasOthers else { return }
        for index in others.indices { others[index].indications.retain { $0.handle != handle } }
    }
}

extension ServerBearer {
    fileprivate mutating func dropGathered(of handle: AttributeHandle) {
        let before = gathered.count
        gathered.removeAll { $0.handle == handle }
        unsentNotifications -= before - gathered.count
    }

    fileprivate mutating func dropValues(where isDropped: (AttributeHandle) -> Bool) {
        indications.retain { !isDropped($0.handle) }
        let before = gathered.count
        gathered.removeAll { isDropped($0.handle) }
        unsentNotifications -= before - gathered.count
    }
}
