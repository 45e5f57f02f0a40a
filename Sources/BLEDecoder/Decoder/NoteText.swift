/// Texts that programs logged into a capture.
enum NoteText {
    /// The text without runs of 32 or more hexadecimal digits, also in pairs with spaces or colons: verbose programs
    /// log keys. UUIDs with dashes are kept.
    static func withoutKeys(_ bytes: RawSpan) -> [UInt8] {
        var text: [UInt8] = []
        var position = 0
        while position < bytes.byteCount {
            let end = endOfDigits(bytes, position)
            if end > position {
                text += Array("(withheld)".utf8)
                position = end
                continue
            }
            // A run that is too short contains no longer one.
            repeat {
                text.append(bytes.octet(position))
                position += 1
            } while position < bytes.byteCount && isDigit(bytes.octet(position - 1)) && isDigit(bytes.octet(position))
        }
        return text
    }

    /// The end of a run of digits that may be a key; `start` if there is none.
    private static func endOfDigits(_ bytes: RawSpan, _ start: Int) -> Int {
        var count = 0
        var position = start
        while position < bytes.byteCount {
            let octet = bytes.octet(position)
            if isDigit(octet) {
                count += 1
            } else {
                // Only between pairs.
                let separates = octet == UInt8(ascii: ":") || octet == UInt8(ascii: " ")
                guard separates, count > 0, count % 2 == 0, position + 1 < bytes.byteCount,
                    isDigit(bytes.octet(position + 1))
                else { break }
            }
            position += 1
        }
        return count >= 32 ? position : start
    }

    private static func isDigit(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
