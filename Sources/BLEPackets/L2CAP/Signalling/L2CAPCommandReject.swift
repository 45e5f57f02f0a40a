/// Command Reject: the answer to a packet that is not understood or cannot be right
/// (Core 5.4, Vol 3, Part A, 4.1).
public struct L2CAPCommandReject: L2CAPSignallingCommand {
    /// 0x01, from both sides. Never an answer to a response.
    public static let code = L2CAPSignallingCode.commandReject

    /// Why the packet was rejected, with what belongs to each reason.
    public enum Reason: Equatable, Sendable {
        /// The code is unknown, or the data has not the form that the code demands.
        case commandNotUnderstood
        /// - Parameter actualMTU: the largest signalling packet that the sender of the reject accepts, in octets.
        case signallingMTUExceeded(actualMTU: UInt16)
        /// The rejected packet named a channel that does not exist: its two ends from the sender's view.
        case invalidChannelIdentifier(local: L2CAPChannelIdentifier, remote: L2CAPChannelIdentifier)
        /// An unnamed reason, or one with malformed data: every reject ends a request.
        case other(reason: UInt16, data: [UInt8])
    }

    /// Why the sender passed the packet over.
    public var reason: Reason

    /// Creates a reject; pass the identifier of the rejected packet to `encodePacket(identifier:into:)`.
    public init(reason: Reason) { self.reason = reason }

    /// Decodes unknown and malformed reasons as `.other`.
    /// - Throws: `DecodingError.truncated` when fewer than two octets remain.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        let value = try reader.read(UInt16.self)
        switch (value, reader.remainingCount) {
        case (0x0000, 0): reason = .commandNotUnderstood
        case (0x0001, 2): reason = .signallingMTUExceeded(actualMTU: try reader.read())
        case (0x0002, 4):
            let local = try L2CAPChannelIdentifier(decoding: &reader)
            reason = .invalidChannelIdentifier(local: local, remote: try L2CAPChannelIdentifier(decoding: &reader))
        default: reason = .other(reason: value, data: reader.readRest().copied())
        }
    }

    public func encode(into packet: inout PacketWriter) {
        switch reason {
        case .commandNotUnderstood: packet.write(UInt16(0x0000))
        case .signallingMTUExceeded(let actualMTU):
            packet.write(UInt16(0x0001))
            packet.write(actualMTU)
        case .invalidChannelIdentifier(let local, let remote):
            packet.write(UInt16(0x0002))
            packet.write(local.rawValue)
            packet.write(remote.rawValue)
        case .other(let reason, let data):
            packet.write(reason)
            packet.write(bytes: data)
        }
    }
}
