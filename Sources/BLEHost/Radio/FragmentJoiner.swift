import BLEPackets

/// Joins the parts in which a controller reports data that are too long for one event.
struct FragmentJoiner {
    /// The maximum length of advertising data, in octets (Core 5.4, Vol 4, Part E, 7.8.57).
    static let longestData = 1650

    /// The parts so far; all of them once `add` has returned `true`.
    private(set) var octets: [UInt8] = []
    private var isOverlong = false

    /// Whether the next part is the first one.
    var isEmpty: Bool { octets.isEmpty && !isOverlong }

    /// Takes the next part.
    /// - Returns: whether it was the last one, and the whole has a permitted length.
    mutating func add(_ part: RawSpan, isLast: Bool) -> Bool {
        guard !isOverlong, part.byteCount <= Self.longestData - octets.count else {
            // The other parts belong to the same data.
            octets = []
            isOverlong = !isLast
            return false
        }
        unsafe part.withUnsafeBytes { unsafe octets.append(contentsOf: $0) }
        return isLast
    }

    mutating func removeAll() { self = FragmentJoiner() }
}
