/// The direction of a packet.
public enum PacketDirection: Sendable { case hostToController, controllerToHost }

/// Sees a packet that crosses HCI: its direction, its bytes with the type octet first, and microseconds since
/// 1970-01-01 00:00 UTC. Called on the loop's thread.
public typealias PacketTap = (_ direction: PacketDirection, _ packet: RawSpan, _ unixMicroseconds: UInt64) -> Void
