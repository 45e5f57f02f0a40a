/// Splits a stream of bytes into H4 packets, in chunks of any size (Core 5.4, Vol 4, Part A, 2).
///
/// A packet that is complete in a chunk is passed on without a copy; only an incomplete packet is stored, of at most
/// `maximumPacketByteCount`. H4 has no means of resynchronization: after an unknown packet type the stream is lost, and
/// every further call throws the same error.
public struct H4Framer: Sendable {
    /// The largest packet that a length field can state: type, handle, length, and 65,535 bytes of ACL data.
    public static let maximumPacketByteCount = 1 + 4 + 0xFFFF

    /// The beginning of an incomplete packet.
    private var unfinished: [UInt8] = []
    @usableFromInline var lost: DecodingError?

    /// A framer at the beginning of a packet.
    public init() {}

    /// The number of bytes that wait for the rest of their packet; if it is not zero at the end of a stream, the stream
    /// was cut off.
    public var unfinishedByteCount: Int { unfinished.count }

    /// Receives the next bytes of the stream and passes on each complete packet, in order.
    /// - Parameters:
    ///   - chunk: any number of bytes.
    ///   - deliver: called with one packet, type octet first; the span is valid during the call.
    /// - Throws: `DecodingError.invalidValue` with field `packetType` when the stream has lost its framing. Packets
    ///   before the error have been delivered.
    @inlinable
    public mutating func receive(_ chunk: RawSpan, deliver: (RawSpan) -> Void) throws(DecodingError) {
        if let lost { throw lost }
        do throws(DecodingError) {
            var rest = try completeUnfinished(with: chunk, deliver: deliver)
            while rest.byteCount > 0 {
                guard let length = try H4Framer.packetByteCount(of: rest), length <= rest.byteCount else {
                    store(rest)
                    return
                }
                deliver(rest.extracting(first: length))
                rest = rest.extracting(droppingFirst: length)
            }
        } catch {
            lost = error
            throw error
        }
    }

    /// The length of the packet at the front of `bytes`, type octet included; `nil` while the header is not complete.
    /// - Throws: `DecodingError.invalidValue` with field `packetType` for an unknown packet type.
    @inlinable
    public static func packetByteCount(of bytes: RawSpan) throws(DecodingError) -> Int? {
        guard let first = bytes.byte(at: 0) else { return nil }
        guard let type = H4PacketType(rawValue: first) else {
            throw .invalidValue(UInt64(first), field: .packetType)
        }
        guard let low = bytes.byte(at: type.lengthOffset) else { return nil }
        guard type.lengthMask > 0xFF else { return type.headerByteCount + Int(low) }
        guard let high = bytes.byte(at: type.lengthOffset + 1) else { return nil }
        return type.headerByteCount + ((Int(high) << 8 | Int(low)) & type.lengthMask)
    }

    /// Completes the packet of an earlier chunk, and returns the rest of this chunk.
    @usableFromInline @_lifetime(copy chunk)
    mutating func completeUnfinished(with chunk: RawSpan, deliver: (RawSpan) -> Void) throws(DecodingError) -> RawSpan {
        var rest = chunk
        while !unfinished.isEmpty, rest.byteCount > 0 {
            let length = try H4Framer.packetByteCount(of: unfinished.span.bytes)
            // A header of at most five octets is read octet by octet until the length is known.
            let taken = min(length.map { $0 - unfinished.count } ?? 1, rest.byteCount)
            store(rest.extracting(first: taken))
            rest = rest.extracting(droppingFirst: taken)
            if try H4Framer.packetByteCount(of: unfinished.span.bytes) == unfinished.count {
                deliver(unfinished.span.bytes)
                unfinished.removeAll(keepingCapacity: true)
            }
        }
        return rest
    }

    @usableFromInline
    mutating func store(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe unfinished.append(contentsOf: $0) }
    }
}

extension H4PacketType {
    /// The octets before the parameters or data, type octet included (Core 5.4, Vol 4, Part E, 5.4).
    @inlinable
    public var headerByteCount: Int {
        switch self {
        case .command: 4
        case .acl, .iso: 5
        case .sco: 4
        case .event: 3
        }
    }

    /// Where the length field begins.
    @usableFromInline
    var lengthOffset: Int {
        switch self {
        case .command, .acl, .sco, .iso: 3
        case .event: 2
        }
    }

    /// The bits of the length field; the two above the 14 of ISO data are reserved (Core 5.4, Vol 4, Part E, 5.4.5).
    @usableFromInline
    var lengthMask: Int {
        switch self {
        case .command, .sco, .event: 0xFF
        case .acl: 0xFFFF
        case .iso: 0x3FFF
        }
    }
}
