/// Observes the inputs of an engine and what it sends, so that the run can be repeated. Its methods are called where
/// the engine runs and must not block.
public protocol HostInputObserver: AnyObject, Sendable {
    /// The engine was created with this configuration.
    func began(_ configuration: HostConfiguration)
    /// The engine is about to handle an input.
    func observe(_ input: HostInput, at time: Instant)
    /// - Parameter packet: type octet first; lent for the call.
    func observeSent(_ packet: RawSpan, at time: Instant)
}
