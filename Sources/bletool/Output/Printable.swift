extension String {
    /// The text as it may go to a terminal: what would move the cursor, colour the screen or turn the direction of
    /// writing is shown by its number. Names come from the air.
    var printable: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default:
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
