import BLEPackets

/// The configuration descriptors of one client that differ from their initial values.
struct ClientConfigurations {
    struct Entry {
        let handle: AttributeHandle
        var modes: SubscriptionModes
        /// The octets that were written, if they are not exactly two.
        var octets: [UInt8]?
        /// The bearer on which they were written: the values are sent on it.
        var bearer: UInt32 = 0
    }

    /// In ascending order of their handles.
    private(set) var entries: [Entry] = []

    private func place(of handle: AttributeHandle) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }

    subscript(handle: AttributeHandle) -> Entry? {
        let place = place(of: handle)
        return place < entries.count && entries[place].handle == handle ? entries[place] : nil
    }

    mutating func set(
        _ handle: AttributeHandle, _ modes: SubscriptionModes, octets: [UInt8]? = nil, bearer: UInt32 = 0
    ) {
        let place = place(of: handle)
        let entry = Entry(handle: handle, modes: modes, octets: octets, bearer: bearer)
        if place < entries.count, entries[place].handle == handle {
            entries[place] = entry
        } else {
            entries.insert(entry, at: place)
        }
    }

    mutating func remove(_ range: AttributeHandleRange) { entries.removeAll { range.contains($0.handle) } }
}
