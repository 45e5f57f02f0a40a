/// The names that the Bluetooth SIG gives to numbers: companies, UUIDs, appearances.
///
/// Look-up is a binary search in text that lies in the program as it is: nothing is unpacked at start, and nothing
/// allocated but by who wants a `String`. `Tools/generate-assigned-numbers` makes the text.
public enum AssignedNumbers {
    /// The company with an identifier, as manufacturer data begins with (Assigned Numbers, 7).
    public static func company(_ identifier: UInt16) -> AssignedName? { find(UInt128(identifier), 4, companyLines) }

    /// A service, characteristic, descriptor or declaration by its 16-bit UUID (Assigned Numbers, 3).
    public static func uuid(_ uuid: UInt16) -> AssignedName? { find(UInt128(uuid), 4, uuid16Lines) }

    /// A vendor's service or characteristic that is widely known, by its 128-bit UUID.
    public static func uuid(high: UInt64, low: UInt64) -> AssignedName? {
        find(UInt128(high) << 64 | UInt128(low), 32, uuid128Lines)
    }

    /// What a device looks like: a category of ten bits, and six of subcategory (Assigned Numbers, 2.6).
    ///
    /// An unknown subcategory has the name of its category.
    public static func appearance(_ value: UInt16) -> AssignedName? {
        find(UInt128(value), 4, appearanceLines) ?? find(UInt128(value & 0xFFC0), 4, appearanceLines)
    }

    /// Looks for the line that begins with `key` in hexadecimal digits, among lines in order.
    private static func find(_ key: UInt128, _ digits: Int, _ lines: StaticString) -> AssignedName? {
        let text = unsafe UnsafeBufferPointer(start: lines.utf8Start, count: lines.utf8CodeUnitCount)
        var low = 0
        var high = text.count
        while low < high {
            var start = (low + high) / 2
            while start > low, unsafe text[start - 1] != UInt8(ascii: "\n") { start -= 1 }
            var end = start
            while unsafe end < high && text[end] != UInt8(ascii: "\n") { end += 1 }
            guard end - start > digits else { return nil }
            var found: UInt128 = 0
            for position in start..<(start + digits) {
                let character = unsafe text[position]
                found = found << 4 | UInt128(character <= UInt8(ascii: "9") ? character & 15 : (character & 15) + 9)
            }
            if found == key {
                return unsafe AssignedName(
                    utf8: UnsafeBufferPointer(rebasing: text[(start + digits)..<end]))
            }
            if found < key { low = end + 1 } else { high = start }
        }
        return nil
    }
}
