import BLEPackets

/// The clients with subscriptions on one link, and the configuration that was written to the peer (SPEC 5.5 rule
/// 5).
///
/// A characteristic has one configuration for each link: the union of the modes that its holders want. A client names
/// both handles itself, so several values may have one configuration: then it is the union of what all of them need. A
/// value without a configuration has the handle zero in its place, and nothing is written for it.
struct SubscriptionTable {
    struct Holder: Equatable {
        var client: ClientID
        /// Calls to `subscribe` that have not been undone.
        var count: Int
        var bits: UInt16
        /// Whether the client says when it has taken an indication.
        var confirms = false
    }

    struct Entry: Equatable {
        let valueHandle: AttributeHandle
        var configuration: AttributeHandle
        /// In ascending order of their clients.
        var holders: [Holder] = []
        /// The same clients as an array that is shared with every reported value.
        var clients: [ClientID] = []
        /// The peer's configuration, as far as this side has written it.
        var written: UInt16 = 0
        /// Whether values are stored for a client that is about to become a holder.
        var isClaimed = false

        var wanted: UInt16 { holders.reduce(0) { $0 | $1.bits } }
    }

    /// In ascending order of their value handles.
    private(set) var entries: [Entry] = []

    /// The index of `valueHandle`, or where it would be inserted.
    private func place(of valueHandle: AttributeHandle) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].valueHandle < valueHandle { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func index(of valueHandle: AttributeHandle) -> Int? {
        let place = place(of: valueHandle)
        return place < entries.count && entries[place].valueHandle == valueHandle ? place : nil
    }

    subscript(valueHandle: AttributeHandle) -> Entry? { index(of: valueHandle).map { entries[$0] } }

    /// What `subscript` also says, without a copy of the holders.
    func clients(of valueHandle: AttributeHandle) -> [ClientID] {
        index(of: valueHandle).map { entries[$0].clients } ?? []
    }

    /// The clients that say when they have taken an indication of `valueHandle`.
    func confirmingClients(of valueHandle: AttributeHandle) -> [ClientID] {
        guard let index = index(of: valueHandle) else { return [] }
        return entries[index].holders.filter { $0.confirms }.map { $0.client }
    }

    /// A client is about to subscribe to `valueHandle`: returns the bits that the configuration then needs; `nil` if it
    /// already has them, or if there is none.
    ///
    /// Another configuration than the entry's is not taken over before it has been written: a client that names a wrong
    /// one has no effect on the holders.
    mutating func claim(_ valueHandle: AttributeHandle, configuration: AttributeHandle, bits: UInt16) -> UInt16? {
        let place = place(of: valueHandle)
        if place == entries.count || entries[place].valueHandle != valueHandle {
            var entry = Entry(valueHandle: valueHandle, configuration: configuration)
            entry.written = written(to: configuration)
            entries.insert(entry, at: place)
        }
        entries[place].isClaimed = true
        guard configuration != .none else { return nil }
        let isKnown = entries[place].configuration == configuration
        let target = wanted(of: configuration, besides: nil) | (isKnown ? 0 : entries[place].wanted) | bits
        return isKnown && target == entries[place].written ? nil : target
    }

    /// The configuration of a value has been written.
    mutating func wrote(_ bits: UInt16, to configuration: AttributeHandle, of valueHandle: AttributeHandle) {
        if let index = index(of: valueHandle) { entries[index].configuration = configuration }
        for index in entries.indices where entries[index].configuration == configuration {
            entries[index].written = bits
        }
    }

    // MARK: Configurations

    /// Whether the attribute is the configuration of a value that a client uses or is about to use.
    func isConfiguration(_ handle: AttributeHandle) -> Bool {
        guard handle != .none else { return false }
        for index in entries.indices where entries[index].configuration == handle { return true }
        return false
    }

    /// What a configuration needs.
    /// - Parameter client: a client whose own subscriptions do not count.
    func wanted(of configuration: AttributeHandle, besides client: ClientID?) -> UInt16 {
        var bits: UInt16 = 0
        for index in entries.indices where entries[index].configuration == configuration {
            for holder in entries[index].holders where holder.client != client { bits |= holder.bits }
        }
        return bits
    }

    private func written(to configuration: AttributeHandle) -> UInt16 {
        entries.first { $0.configuration == configuration }?.written ?? 0
    }

    /// Whether the peer's configuration of a value is not what its holders need, and what they need.
    func change(for valueHandle: AttributeHandle) -> (configuration: AttributeHandle, bits: UInt16)? {
        guard let entry = self[valueHandle], entry.configuration != .none else { return nil }
        let bits = wanted(of: entry.configuration, besides: nil)
        return bits == entry.written ? nil : (entry.configuration, bits)
    }

    /// A client has written a configuration itself: it has what it wrote, and nothing else of that configuration.
    /// - Parameters:
    ///   - own: the modes that the client wrote; `nil`: its subscriptions stay as they are.
    ///   - sent: what the peer was sent.
    /// - Returns: the values that have this configuration.
    mutating func wrote(
        _ own: UInt16?, sent: UInt16, to configuration: AttributeHandle, by client: ClientID
    ) -> [AttributeHandle] {
        var values: [AttributeHandle] = []
        for index in entries.indices where entries[index].configuration == configuration {
            entries[index].written = sent
            values.append(entries[index].valueHandle)
            guard let own else { continue }
            if let holder = entries[index].holders.firstIndex(where: { $0.client == client }) {
                entries[index].holders.remove(at: holder)
                entries[index].clients.remove(at: holder)
            }
            if own != 0 { add(client, bits: own, to: entries[index].valueHandle) }
        }
        return values
    }

    mutating func add(_ client: ClientID, bits: UInt16, confirms: Bool = false, to valueHandle: AttributeHandle) {
        guard let index = index(of: valueHandle) else { return }
        if let holder = entries[index].holders.firstIndex(where: { $0.client == client }) {
            entries[index].holders[holder].count += 1
            entries[index].holders[holder].bits |= bits
            if confirms { entries[index].holders[holder].confirms = true }
        } else {
            let place = entries[index].holders.firstIndex { $0.client > client } ?? entries[index].holders.count
            entries[index].holders.insert(
                Holder(client: client, count: 1, bits: bits, confirms: confirms), at: place)
            entries[index].clients.insert(client, at: place)
        }
    }

    /// Undoes one call of `client`; false if there is none.
    mutating func remove(_ client: ClientID, from valueHandle: AttributeHandle) -> Bool {
        guard let index = index(of: valueHandle),
            let holder = entries[index].holders.firstIndex(where: { $0.client == client })
        else { return false }
        entries[index].holders[holder].count -= 1
        if entries[index].holders[holder].count == 0 {
            entries[index].holders.remove(at: holder)
            entries[index].clients.remove(at: holder)
        }
        return true
    }

    /// Undoes all calls of `client`, and returns the values whose configurations must be written again.
    mutating func removeAll(of client: ClientID) -> [AttributeHandle] {
        var changed: [AttributeHandle] = []
        for index in entries.indices {
            guard let holder = entries[index].holders.firstIndex(where: { $0.client == client }) else { continue }
            entries[index].holders.remove(at: holder)
            entries[index].clients.remove(at: holder)
            changed.append(entries[index].valueHandle)
        }
        let due = changed.filter { change(for: $0) != nil }
        entries.removeAll { entry in
            entry.holders.isEmpty && !entry.isClaimed && changed.contains(entry.valueHandle)
                && !due.contains(entry.valueHandle)
        }
        return due
    }

    /// The claim on `valueHandle` has ended, whether or not it led to a holder; removes the entry if no client uses
    /// it.
    mutating func settle(_ valueHandle: AttributeHandle) {
        guard let index = index(of: valueHandle) else { return }
        entries[index].isClaimed = false
        guard entries[index].holders.isEmpty else { return }
        let (configuration, written) = (entries[index].configuration, entries[index].written)
        // What others of the same configuration need stays written.
        if written == 0 || wanted(of: configuration, besides: nil) == written { entries.remove(at: index) }
    }

    /// Removes an entry that no client uses, whatever the peer's configuration contains.
    mutating func forget(_ valueHandle: AttributeHandle) {
        guard let index = index(of: valueHandle), entries[index].holders.isEmpty else { return }
        entries.remove(at: index)
    }

    /// The peer's attributes in a range have changed: their configurations count as never written.
    /// - Parameter kept: a value whose entry stays.
    /// - Returns: the values that had an entry, in ascending order.
    mutating func forget(in range: AttributeHandleRange, but kept: AttributeHandle) -> [AttributeHandle] {
        var gone: [AttributeHandle] = []
        entries.removeAll { entry in
            guard range.contains(entry.valueHandle), entry.valueHandle != kept else { return false }
            gone.append(entry.valueHandle)
            return true
        }
        return gone
    }

    mutating func removeAll() { entries.removeAll() }
}
