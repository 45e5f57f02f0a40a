/// Counts by a 16-bit number, of which few occur: memory is allocated in pages.
struct SparseCounts {
    private static let pageSize = 256
    private var pages = [[Int]](repeating: [], count: 256)

    @inline(__always)
    mutating func add(_ number: UInt16) {
        let page = Int(number >> 8)
        if pages[page].isEmpty { pages[page] = [Int](repeating: 0, count: Self.pageSize) }
        pages[page][Int(number & 0xFF)] += 1
    }

    /// Calls `body` with each number that occurred and its count, in order.
    func visit(_ body: (UInt16, Int) -> Void) {
        for (page, counts) in pages.enumerated() {
            for (index, count) in counts.enumerated() where count > 0 { body(UInt16(page << 8 | index), count) }
        }
    }
}
