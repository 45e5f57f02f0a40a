import BLEPackets

/// The prepared writes of one client (Core 5.4, Vol 3, Part F, 3.4.6).
struct PreparedWriteQueue {
    private(set) var writes: [GATTWrite] = []
    private var octets = 0

    var isEmpty: Bool { writes.isEmpty }

    /// Adds a write; false if there is no room for it.
    mutating func append(_ write: GATTWrite, _ settings: GATTServerSettings) -> Bool {
        guard writes.count < settings.preparedWriteLimit,
            octets + write.value.count <= settings.preparedOctetLimit
        else { return false }
        octets += write.value.count
        writes.append(write)
        return true
    }

    mutating func removeAll() {
        writes.removeAll()
        octets = 0
    }
}

/// Prepared writes that are being executed: all of them or none (SPEC PER-19).
struct PreparedExecution {
    /// The future content of a value that the server stores.
    struct Staged {
        var handle: AttributeHandle
        var value: [UInt8]
        /// The end of the octets that were written from offset zero without a gap; `nil` if the first part began at
        /// another offset or a part lies behind a gap.
        var wholeEnd: Int?
    }

    /// The writes for one app.
    struct Part {
        var owner: ClientID
        var writes: [GATTWrite]
    }

    /// In the order of their first writes.
    private(set) var staged: [Staged] = []
    /// In the order of their first writes.
    private(set) var parts: [Part] = []
    /// How many of the parts have been answered by their apps.
    var answered = 0

    mutating func add(_ write: GATTWrite, for owner: ClientID) {
        if let index = parts.firstIndex(where: { $0.owner == owner }) {
            parts[index].writes.append(write)
        } else {
            parts.append(Part(owner: owner, writes: [write]))
        }
    }

    /// Writes octets into a value that the server stores: they replace the octets at their offset (Core 5.4, Vol 3,
    /// Part F, 3.4.6.3).
    mutating func stage(_ write: GATTWrite, over present: [UInt8]) -> ATTError? {
        let index = staged.firstIndex { $0.handle == write.handle }
        let base = index.map { staged[$0].value } ?? present
        guard write.offset <= base.count else { return .invalidOffset }
        let end = write.offset + write.value.count
        guard end <= maximumAttributeLength else { return .invalidAttributeValueLength }
        var value = Array(base[..<write.offset])
        value.append(contentsOf: write.value)
        if value.count < base.count { value.append(contentsOf: base[value.count...]) }
        if let index {
            staged[index].value = value
            if let whole = staged[index].wholeEnd {
                staged[index].wholeEnd = write.offset <= whole ? max(whole, end) : nil
            }
        } else {
            staged.append(Staged(handle: write.handle, value: value, wholeEnd: write.offset == 0 ? end : nil))
        }
        return nil
    }

    /// Cuts values that were written from their beginning without a gap: a long write sets the whole value, so it can
    /// make the value shorter (Core 5.4, Vol 3, Part G, 4.9.4).
    mutating func cutWholeValues() {
        for index in staged.indices {
            if let end = staged[index].wholeEnd { staged[index].value.removeLast(staged[index].value.count - end) }
        }
    }
}
