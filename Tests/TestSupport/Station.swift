import BLEHost
import BLESimulator

/// Anything that drives a controller in a `World`: a bare engine, or one with apps above it.
public protocol Station: AnyObject {
    /// When `advance` is to be called, if nothing comes before.
    var nextDeadline: Instant? { get }

    func advance(to now: Instant)

    /// Hands packets over in both directions.
    /// - Returns: whether there were any.
    func exchange(with air: SimulatedAir, at now: Instant) -> Bool
}
