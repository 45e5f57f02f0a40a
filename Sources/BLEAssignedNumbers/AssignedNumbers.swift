/// The names that the Bluetooth SIG gives to numbers: companies, UUIDs, appearances.
///
/// Look-up is a binary search in text that lies in the program as it is: nothing is unpacked at start, and nothing
/// allocated but by who wants a `String`. `Tools/AssignedNumbers/generate` makes the text.
public enum AssignedNumbers {
    /// The company with an identifier, as manufacturer data begins with (Assigned Numbers, 7).
    public static func company(_ identifier: UInt16) -> AssignedName? { find(identifier, companyLines) }

    /// A service, characteristic, descriptor or declaration by its 16-bit UUID (Assigned Numbers, 3).
    public static func uuid(_ uuid: UInt16) -> AssignedName? { find(uuid, uuid16Lines) }

    /// A vendor's service or characteristic that is widely known, by its 128-bit UUID.
    public static func uuid(high: UInt64, low: UInt64) -> AssignedName? {
        find(UInt128(high) << 64 | UInt128(low), 32, uuid128Lines)
    }

    /// What a device looks like: a category of ten bits, and six of subcategory (Assigned Numbers, 2.6).
    ///
    /// An unknown subcategory has the name of its category.
    public static func appearance(_ value: UInt16) -> AssignedName? {
        find(value, appearanceLines) ?? find(value & 0xFFC0, appearanceLines)
    }

    /// The services, characteristics, descriptors and declarations of a name, by their 16-bit UUIDs; case does not
    /// matter.
    public static func uuids(named name: String) -> [UInt16] {
        let wanted = Array(name.utf8)
        let text = unsafe UnsafeBufferPointer(start: uuid16Lines.utf8Start, count: uuid16Lines.utf8CodeUnitCount)
        var found: [UInt16] = []
        var start = 0
        while start + 4 <= text.count {
            var end = start + 4
            while unsafe end < text.count && text[end] != UInt8(ascii: "\n") { end += 1 }
            if end - start - 4 == wanted.count,
                (0..<wanted.count).allSatisfy({ unsafe lowercase(text[start + 4 + $0]) == lowercase(wanted[$0]) }),
                let uuid = unsafe UInt16(String(decoding: text[start..<start + 4], as: UTF8.self), radix: 16)
            {
                found.append(uuid)
            }
            start = end + 1
        }
        return found
    }

    private static func lowercase(_ character: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character) ? character | 0x20 : character
    }

    /// What follows a key in a table of the same form as those here: lines in order, each with four lower-case
    /// hexadecimal digits before its text.
    public static func line(of key: UInt16, in lines: StaticString) -> AssignedName? { find(key, lines) }

    /// Looks for the line that begins with four digits.
    ///
    /// Digits are compared as they stand: those of hexadecimal are in order as characters too.
    private static func find(_ key: UInt16, _ lines: StaticString) -> AssignedName? {
        let text = unsafe UnsafeBufferPointer(start: lines.utf8Start, count: lines.utf8CodeUnitCount)
        func digit(_ shift: UInt16) -> UInt32 {
            let value = UInt32(key >> shift & 15)
            return value < 10 ? 0x30 + value : 0x57 + value
        }
        let wanted = digit(12) << 24 | digit(8) << 16 | digit(4) << 8 | digit(0)
        var low = 0
        var high = text.count
        while low < high {
            var start = (low + high) / 2
            while start > low, unsafe text[start - 1] != UInt8(ascii: "\n") { start -= 1 }
            guard start + 4 <= high else { return nil }
            let found =
                unsafe UInt32(text[start]) << 24 | UInt32(text[start + 1]) << 16
                | UInt32(text[start + 2]) << 8 | UInt32(text[start + 3])
            if found < wanted {
                low = start + 4
                while unsafe low < high && text[low] != UInt8(ascii: "\n") { low += 1 }
                low += 1
            } else if found > wanted {
                high = start
            } else {
                var end = start + 4
                while unsafe end < high && text[end] != UInt8(ascii: "\n") { end += 1 }
                return unsafe AssignedName(utf8: UnsafeBufferPointer(rebasing: text[(start + 4)..<end]))
            }
        }
        return nil
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
