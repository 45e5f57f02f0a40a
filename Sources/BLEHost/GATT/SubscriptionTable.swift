import BLEPackets

/// The clients that hold subscriptions on one link, and the configuration that was written to the peer (SPEC 5.5 rule
/// 5).
///
/// A characteristic has one configuration for each link: the union of the modes that its holders want.
struct SubscriptionTable {
    struct Holder: Equatable {
        var client: ClientID
        /// Calls to `subscribe` that have not been undone.
        var count: Int
        var bits: UInt16
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
        /// Whether values are kept for a client that is about to become a holder.
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

    /// What `subscript` also tells, without a copy of the holders.
    func clients(of valueHandle: AttributeHandle) -> [ClientID] {
        index(of: valueHandle).map { entries[$0].clients } ?? []
    }

    /// A client is about to subscribe to `valueHandle`: returns the bits that the configuration then needs; `nil` if it
    /// already has them.
    mutating func claim(_ valueHandle: AttributeHandle, configuration: AttributeHandle, bits: UInt16) -> UInt16? {
        let place = place(of: valueHandle)
        if place == entries.count || entries[place].valueHandle != valueHandle {
            entries.insert(Entry(valueHandle: valueHandle, configuration: configuration), at: place)
        }
        entries[place].isClaimed = true
        entries[place].configuration = configuration
        let target = entries[place].wanted | bits
        return target == entries[place].written ? nil : target
    }

    /// The peer's configuration has been written.
    mutating func wrote(_ bits: UInt16, to valueHandle: AttributeHandle) {
        guard let index = index(of: valueHandle) else { return }
        entries[index].written = bits
    }

    mutating func add(_ client: ClientID, bits: UInt16, to valueHandle: AttributeHandle) {
        guard let index = index(of: valueHandle) else { return }
        if let holder = entries[index].holders.firstIndex(where: { $0.client == client }) {
            entries[index].holders[holder].count += 1
            entries[index].holders[holder].bits |= bits
        } else {
            let place = entries[index].holders.firstIndex { $0.client > client } ?? entries[index].holders.count
            entries[index].holders.insert(Holder(client: client, count: 1, bits: bits), at: place)
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
            if entries[index].wanted != entries[index].written { changed.append(entries[index].valueHandle) }
        }
        return changed
    }

    /// The claim on `valueHandle` has ended, whether or not it led to a holder; removes the entry if no client holds
    /// it.
    mutating func settle(_ valueHandle: AttributeHandle) {
        guard let index = index(of: valueHandle) else { return }
        entries[index].isClaimed = false
        if entries[index].holders.isEmpty, entries[index].written == 0 { entries.remove(at: index) }
    }

    /// Removes an entry that no client holds, whatever the peer's configuration contains.
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
