import BLEPackets

/// Occupied handles: ranges in ascending order that do not overlap.
struct HandleSpans {
    private(set) var ranges: [AttributeHandleRange] = []

    /// The first range that does not end before `handle`.
    private func place(of handle: AttributeHandle) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].last < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func overlaps(_ range: AttributeHandleRange) -> Bool {
        let place = place(of: range.first)
        return place < ranges.count && ranges[place].first <= range.last
    }

    /// Marks a range as occupied; ranges that it overlaps are merged with it.
    mutating func insert(_ range: AttributeHandleRange) {
        let start = place(of: range.first)
        var end = start
        var joined = range
        while end < ranges.count, ranges[end].first <= range.last {
            joined = AttributeHandleRange(min(joined.first, ranges[end].first), max(joined.last, ranges[end].last))
            end += 1
        }
        ranges.replaceSubrange(start..<end, with: CollectionOfOne(joined))
    }
}
