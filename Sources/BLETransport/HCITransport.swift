import BLEPackets

/// A way to one controller that carries whole H4 packets.
///
/// It is opened before (`Transports.open`), and from `start` on used only on the loop's thread. `receive` and `closed`
/// are called by the loop itself, never from within `start`, `send` or `close`: what calls those may hold its state open.
/// A started transport stays alive until it is closed.
public protocol HCITransport: AnyObject {
    /// What was opened.
    var address: TransportAddress { get }

    /// Begins to deliver packets.
    /// - Parameters:
    ///   - receive: gets each packet of the controller, type octet first; the span ends with the call.
    ///   - closed: called once, as the last thing: with `nil` after `close()`, else with the reason.
    /// - Precondition: called once, on the loop's thread or before the loop starts.
    func start(
        on loop: EventLoop,
        receive: @escaping (_ packet: RawSpan) -> Void,
        closed: @escaping (_ error: TransportError?) -> Void
    ) throws(TransportError)

    /// Sends one packet, type octet first. What the controller cannot take now is queued, in order; when too much waits,
    /// the transport ends with `TransportError.sendQueueFull`. After the end packets are dropped.
    func send(_ packet: RawSpan)

    /// Ends the transport. Packets that wait to be sent are dropped.
    func close()
}
