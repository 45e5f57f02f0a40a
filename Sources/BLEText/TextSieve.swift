/// Tells what of a foreign text may stand before a person, one character after the other.
///
/// Names, values and messages of others may hold what moves the cursor, turns the direction of writing, cannot be seen,
/// or piles marks upon each other until nothing can be read. Such characters are to be shown by their numbers.
public struct TextSieve {
    /// Marks that may stand on one letter: what the languages of the world need.
    private static let mostMarks = 2

    private var marks = 0
    private var hasBase = false
    private var mayBePicture = false

    public init() {}

    /// Whether nothing that comes from others can be meant by a character but harm: controls, what cannot be seen, and
    /// what says how others are to be shown.
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
        // It makes a picture of a sign, and is seen in nothing else.
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
        // Each of them looks like one space, or like several, or like none.
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

    /// The number of a character has been shown in its place.
    private mutating func reset() { self = TextSieve() }
}
