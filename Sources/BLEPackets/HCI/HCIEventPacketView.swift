/// An event packet in place, without copying its parameters (Core 5.4, Vol 4, Part E, 5.4.4).
public struct HCIEventPacketView: ~Escapable {
    /// Which event this is; also events that have no type here.
    public let code: HCIEventCode
    /// The parameters; in an LE Meta event the subevent code is the first octet.
    public let parameters: RawSpan

    /// - Parameter packet: The packet after the H4 packet type.
    /// - Throws: `DecodingError.truncated` when the header is incomplete, `DecodingError.lengthMismatch` when the
    ///   length of the parameters differs from the header.
    @inlinable @_lifetime(copy packet)
    public init(decoding packet: RawSpan) throws(DecodingError) {
        var reader = PacketReader(packet)
        code = HCIEventCode(rawValue: try reader.read())
        let length = Int(try reader.read(UInt8.self))
        guard reader.remainingCount == length else {
            throw .lengthMismatch(stated: length, actual: reader.remainingCount)
        }
        parameters = reader.readRest()
    }

    /// The subevent code of an LE Meta event; `nil` for other events, and for one without parameters.
    @inlinable public var subevent: LESubeventCode? {
        guard code == .leMeta, let octet = parameters.byte(at: 0) else { return nil }
        return LESubeventCode(rawValue: octet)
    }

    /// The parameters for the event types: those after the subevent code of an LE Meta event, and all parameters of
    /// other events.
    public var eventParameters: RawSpan {
        @inlinable @_lifetime(copy self) get {
            subevent == nil ? parameters : parameters.extracting(droppingFirst: 1)
        }
    }
}
