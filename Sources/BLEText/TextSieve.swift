/// Decides which characters of a foreign text are safe to show, one after the other.
///
/// Names, values and messages from others may contain characters that move the cursor, change the writing direction,
/// are invisible, or stack marks until nothing can be read. Show such characters as numbers.
public struct TextSieve: Sendable {
    /// The maximum number of marks on one letter: enough for the languages of the world.
    private static let mostMarks = 2

    private var marks = 0
    private var hasBase = false
    private var mayBePicture = false

    public init() {}

    /// Whether a character is only harmful in a foreign text: controls, invisible characters, and those that change how
    /// others are shown.
    public static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F: return false
        case 0..<0xA0: return true
        case 0xA0..<0x300: return scalar.value == 0xAD
        // The empty pattern of Braille; annotations, and the rest of their block.
        case 0x2800, 0xFFF0..<0xFFFC: return true
        // Most of the letters and signs that people write.
        case 0x3041..<0x3100, 0x4E00..<0xA000, 0xAC00..<0xD7A4: return false
        default: break
        }
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint { return true }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse: return true
        default: return false
        }
    }

    /// Whether the next character of the text may be shown as it is.
    public mutating func passes(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20..<0x7F).contains(scalar.value) {
            marks = 0
            hasBase = scalar.value != 0x20
            mayBePicture = false
            return true
        }
        // It turns a sign into an emoji and is invisible elsewhere.
        if scalar.value == 0xFE0F, mayBePicture {
            mayBePicture = false
            return true
        }
        if Self.isHidden(scalar) {
            reset()
            return false
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark:
            marks += 1
            guard hasBase, marks <= Self.mostMarks else { return false }
        // Each of them looks like one space, several or none.
        case .spaceSeparator:
            reset()
            return false
        default:
            marks = 0
            hasBase = true
            mayBePicture = scalar.value >= 0x2000
        }
        return true
    }

    /// A character has been replaced by its number.
    private mutating func reset() { self = TextSieve() }
}
