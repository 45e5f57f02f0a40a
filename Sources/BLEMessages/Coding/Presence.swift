/// When a field is there.
public enum Presence: Sendable {
    /// If its value is not zero or empty; a message always.
    case plain
    /// If there is a value.
    case optional
    /// Once for each element.
    case repeated
    /// If the value is this case of a choice.
    case option
}
