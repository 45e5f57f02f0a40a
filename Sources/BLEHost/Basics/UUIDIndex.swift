import BLEPackets

/// A list of UUIDs in which one is found without looking at all of them: a request may name hundreds, and what is
/// compared with them may come a thousand times a second. Looking takes no memory.
struct UUIDIndex {
    private struct Entry {
        var uuid: BluetoothUUID
        var place: Int
    }

    /// In the order of the UUIDs' 128 bits, each once.
    private var entries: [Entry] = []

    init(_ uuids: [BluetoothUUID]) {
        guard !uuids.isEmpty else { return }
        entries.reserveCapacity(uuids.count)
        for place in uuids.indices { entries.append(Entry(uuid: uuids[place], place: place)) }
        entries.sort { $0.uuid == $1.uuid ? $0.place < $1.place : $0.uuid.isBefore($1.uuid) }
        // Of equal ones, the first stays.
        var last = 0
        for index in 1..<entries.count where entries[index].uuid != entries[last].uuid {
            last += 1
            entries[last] = entries[index]
        }
        entries.removeLast(entries.count - 1 - last)
    }

    /// The number of different UUIDs.
    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    /// Where a UUID is first in the list; `nil` if it is not there.
    func place(of uuid: BluetoothUUID) -> Int? {
        var first = 0
        var end = entries.count
        while first < end {
            let middle = (first + end) / 2
            if entries[middle].uuid == uuid { return entries[middle].place }
            if entries[middle].uuid.isBefore(uuid) { first = middle + 1 } else { end = middle }
        }
        return nil
    }

    func contains(_ uuid: BluetoothUUID) -> Bool { place(of: uuid) != nil }
}

extension BluetoothUUID {
    fileprivate func isBefore(_ other: BluetoothUUID) -> Bool {
        high == other.high ? low < other.low : high < other.high
    }
}
