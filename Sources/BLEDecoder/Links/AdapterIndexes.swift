/// Small numbers for the adapters of a capture, so that tables can be arrays.
struct AdapterIndexes {
    /// The maximum number of distinct adapters; further ones share the last number.
    static let maximumCount = 16

    private var adapters: [UInt16] = []
    private var last: (adapter: UInt16, index: Int)?

    @inline(__always)
    mutating func index(of adapter: UInt16) -> Int {
        if let last, last.adapter == adapter { return last.index }
        return find(adapter)
    }

    private mutating func find(_ adapter: UInt16) -> Int {
        var index = adapters.firstIndex(of: adapter) ?? adapters.count
        if index == adapters.count {
            if index < Self.maximumCount { adapters.append(adapter) } else { index -= 1 }
        }
        last = (adapter, index)
        return index
    }
}
