/// Which device addresses were seen: a hash table of bounded size.
struct AddressSet {
    /// The most addresses that are told apart: 8 MB.
    static let maximumCount = 700_000

    private(set) var count = 0
    /// Whether there were more than `maximumCount`.
    private(set) var isFull = false
    /// Open addressing; zero is an empty slot, so each address has a bit above it set.
    private var slots = [UInt64](repeating: 0, count: 256)

    /// - Parameter address: 48 bits.
    mutating func insert(_ address: UInt64) {
        let key = address | 1 << 63
        let mask = slots.count - 1
        var index = Self.place(key, mask)
        while slots[index] != 0 {
            if slots[index] == key { return }
            index = (index + 1) & mask
        }
        guard count < Self.maximumCount else {
            isFull = true
            return
        }
        slots[index] = key
        count += 1
        if count * 3 > slots.count * 2 { grow() }
    }

    private mutating func grow() {
        let old = slots
        slots = [UInt64](repeating: 0, count: old.count * 2)
        let mask = slots.count - 1
        for key in old where key != 0 {
            var index = Self.place(key, mask)
            while slots[index] != 0 { index = (index + 1) & mask }
            slots[index] = key
        }
    }

    @inline(__always)
    private static func place(_ key: UInt64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    }
}
