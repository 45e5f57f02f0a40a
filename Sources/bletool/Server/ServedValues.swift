import BLE

/// The values that centrals read and write, by their handles.
struct ServedValues {
    struct Entry: Equatable {
        var uuid: BluetoothUUID
        var octets: [UInt8]
        /// Whether a new value is sent to subscribers, or broadcast.
        var isSent: Bool
        /// How long a central that reads the value waits for it.
        var answerAfter: Duration?
    }

    /// Octets of the longest value (Core 5.4, Vol 3, Part F, 3.2.9).
    static let maximumLength = 512

    private var entries: [AttributeHandle: Entry] = [:]

    subscript(handle: AttributeHandle) -> Entry? {
        get { entries[handle] }
        set { entries[handle] = newValue }
    }

    /// The answer to a question for a value, or for its end.
    func answer(_ handle: AttributeHandle, offset: Int) -> GATTAnswer {
        guard let octets = entries[handle]?.octets else { return .failure(.unlikelyError) }
        guard offset <= octets.count else { return .failure(.invalidOffset) }
        return .value(Array(octets[offset...]))
    }

    /// Writes all values of a central's request, or none.
    ///
    /// A write at offset zero replaces the value; one at a higher offset changes the existing value.
    /// - Returns: the handles whose values were written, each once, or the error for the central.
    mutating func write(
        _ writes: [(handle: AttributeHandle, offset: Int, octets: [UInt8])]
    ) -> (written: [AttributeHandle], answer: GATTAnswer) {
        var changed = entries
        var written: [AttributeHandle] = []
        for write in writes {
            guard var entry = changed[write.handle] else { return ([], .failure(.unlikelyError, handle: write.handle)) }
            guard write.offset <= entry.octets.count else {
                return ([], .failure(.invalidOffset, handle: write.handle))
            }
            let end = write.offset + write.octets.count
            guard end <= Self.maximumLength else {
                return ([], .failure(.invalidAttributeValueLength, handle: write.handle))
            }
            let rest = write.offset == 0 ? [] : entry.octets.dropFirst(end)
            entry.octets = entry.octets[..<write.offset] + write.octets + rest
            changed[write.handle] = entry
            if !written.contains(write.handle) { written.append(write.handle) }
        }
        entries = changed
        return (written, .success)
    }
}
