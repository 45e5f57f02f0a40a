import BLEHost
import BLESimulator

/// An engine in a `World`: a bare one, or one with apps above it. The world carries packets and answers questions.
public protocol Station: AnyObject {
    var controller: SimulatedControllerID { get }
    /// When time must be given next, if nothing comes before.
    var nextDeadline: Instant? { get }

    /// Applies an input to the engine.
    func take(_ input: HostInput, at now: Instant)

    /// The oldest of the engine's questions that the station answers, with the answer.
    func nextAnswer() -> (question: UInt64, result: CryptoResult)?

    /// The H4 packets for the controller, in order.
    func takePackets() -> [[UInt8]]

    /// What the engine gets for an H4 packet of the controller.
    func received(_ packet: [UInt8]) -> [UInt8]

    /// Collects what the engine reports.
    /// - Returns: whether there was anything.
    func collect(at now: Instant) -> Bool
}

extension Station {
    public func received(_ packet: [UInt8]) -> [UInt8] { packet }
}
