/// A step of recovery, from the weakest to the strongest; each includes those before it.
public enum SimulatedControllerRemedy: Int, Comparable, CaseIterable, Sendable {
    /// A scan is started that did not run.
    case scanRestart
    /// The host sends Reset, or the controller loses power.
    case reset
    /// The transport is closed and opened again.
    case reopening
    /// The controller loses power, as with a USB reset.
    case powerCycle

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
