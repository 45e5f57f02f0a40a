/// The direction of a packet.
public enum PacketDirection: Sendable { case hostToController, controllerToHost }

/// Sees a packet that crosses HCI: its direction, its bytes with the type octet first, and microseconds since
/// 1970-01-01 00:00 UTC. Called on the loop's thread.
public typealias PacketTap = (_ direction: PacketDirection, _ packet: RawSpan, _ unixMicroseconds: UInt64) -> Void

/// Shows every packet of another transport to a tap before it goes on: the place for capture files.
public final class TappedTransport: HCITransport {
    private let transport: any HCITransport
    private let tap: PacketTap

    /// - Parameter transport: one that has not been started; this transport takes it over.
    public init(_ transport: any HCITransport, tap: @escaping PacketTap) {
        self.transport = transport
        self.tap = tap
    }

    /// The address of the other transport.
    public var address: TransportAddress { transport.address }

    /// Starts the other transport. The tap sees each packet of the controller before `receive` does.
    /// - Throws: what the other transport throws.
    public func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        let tap = tap
        try transport.start(
            on: loop,
            receive: { packet in
                tap(.controllerToHost, packet, EventLoop.unixMicroseconds)
                receive(packet)
            },
            closed: closed)
    }

    /// Shows the packet to the tap and sends it, in this order.
    public func send(_ packet: RawSpan) {
        tap(.hostToController, packet, EventLoop.unixMicroseconds)
        transport.send(packet)
    }

    /// Ends the other transport.
    public func close() { transport.close() }
}
