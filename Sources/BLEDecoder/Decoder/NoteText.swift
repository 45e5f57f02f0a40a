/// What programs logged into a capture.
enum NoteText {
    /// The text, where each run of 32 hexadecimal digits and more, also in pairs behind spaces or colons, is withheld: a
    /// program that logs much logs keys. A UUID with its dashes stays.
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
            // A run that is none begins nowhere in its middle either.
            repeat {
                text.append(bytes.octet(position))
                position += 1
            } while position < bytes.byteCount && isDigit(bytes.octet(position - 1)) && isDigit(bytes.octet(position))
        }
        return text
    }

    /// Where a run of digits that may be a key ends; `start` where there is none.
    private static func endOfDigits(_ bytes: RawSpan, _ start: Int) -> Int {
        var count = 0
        var position = start
        while position < bytes.byteCount {
            let octet = bytes.octet(position)
            if isDigit(octet) {
                count += 1
            } else {
                // Between pairs alone.
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
