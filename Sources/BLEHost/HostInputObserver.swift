/// Sees the inputs of an engine and what it sends, so that the run can be repeated. Called where the engine runs; it
/// must not block.
public protocol HostInputObserver: AnyObject, Sendable {
    /// The engine was made with this configuration.
    func began(_ configuration: HostConfiguration)
    /// The engine is about to take an input.
    func observe(_ input: HostInput, at time: Instant)
    /// - Parameter packet: type octet first; lent for the call.
    func observeSent(_ packet: RawSpan, at time: Instant)
}
