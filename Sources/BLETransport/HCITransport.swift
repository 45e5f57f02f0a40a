/// A connection to one controller that carries whole H4 packets.
///
/// `Transports.open` creates it; from `start` on it is used on the loop's thread only. The loop calls `receive` and
/// `closed`, never within `start`, `send` or `close`, whose callers may be in the middle of a mutation. A started
/// transport stays alive until it is closed.
public protocol HCITransport: AnyObject {
    /// The address that was opened.
    var address: TransportAddress { get }

    /// Begins to deliver packets.
    /// - Parameters:
    ///   - receive: gets each packet of the controller, type octet first; the span ends with the call.
    ///   - closed: called once, last: with `nil` after `close()`, otherwise with the reason.
    /// - Precondition: called once, on the loop's thread or before the loop starts.
    func start(
        on loop: EventLoop,
        receive: @escaping (_ packet: RawSpan) -> Void,
        closed: @escaping (_ error: TransportError?) -> Void
    ) throws(TransportError)

    /// Whether packets cannot be exchanged yet after `start`: a link is being established, or firmware loaded.
    var isPreparing: Bool { get }
    /// Called on the loop, never within another call, when that is done. Set it before `start`.
    var prepared: () -> Void { get set }

    /// Called on the loop, never within another call, when packets of the controller have been lost and the transport
    /// goes on: the controller has to be reset, because its state is no longer known. Set it before `start`.
    var packetsLost: () -> Void { get set }

    /// Sends one packet, type octet first. Packets that the controller cannot accept now are queued in order; if too
    /// many bytes wait, the transport ends with `TransportError.sendQueueFull`. After the end, packets are dropped.
    func send(_ packet: RawSpan)

    /// Ends the transport. Packets that wait to be sent are dropped.
    func close()
}

extension HCITransport {
    /// A transport that needs no preparation is ready at once.
    public var isPreparing: Bool { false }
    public var prepared: () -> Void {
        get { {} }
        set {}
    }
    /// A transport that loses nothing has nothing to report.
    public var packetsLost: () -> Void {
        get { {} }
        set {}
    }
}
