/// Splits a stream of octets into frames: four octets of length, least significant first, then a message.
///
/// It stores the octets that wait, and at most as many that were already returned; it never allocates memory for a length
/// before the octets arrive.
public struct FrameReader: Sendable {
    /// The maximum length of a message, in octets.
    public let limit: Int
    private var octets: [UInt8] = []
    private var head = 0

    public init(limit: Int) { self.limit = limit }

    /// Octets that wait for the rest of their frame.
    public var waitingOctets: Int { octets.count - head }

    /// Adds what was read.
    public mutating func append(_ bytes: RawSpan) {
        // A peer that always sends the beginning of the next frame must not make the array grow for ever. Each octet
        // that moves makes room for another one, so an octet moves once on average.
        if head >= waitingOctets { dropReturned() }
        unsafe bytes.withUnsafeBytes { unsafe octets.append(contentsOf: $0) }
    }

    /// Whether `next` returns a message, or throws.
    public var hasNext: Bool {
        guard let length = nextLength else { return false }
        return length > limit || waitingOctets >= Self.headerOctets + length
    }

    /// The length that the next frame states; `nil` before its header is complete.
    private var nextLength: Int? {
        guard waitingOctets >= Self.headerOctets else { return nil }
        var length = 0
        for place in (0..<Self.headerOctets).reversed() { length = length << 8 | Int(octets[head + place]) }
        return length
    }

    /// The message of the next complete frame; `nil` if more octets are needed.
    /// - Throws: `MessageError.tooLong`; nothing after it can be decoded.
    public mutating func next() throws(MessageError) -> ArraySlice<UInt8>? {
        guard let length = nextLength else { return nil }
        guard length <= limit else { throw .tooLong(octets: length) }
        guard waitingOctets >= Self.headerOctets + length else { return nil }
        let start = head + Self.headerOctets
        head = start + length
        return octets[start..<head]
    }

    private mutating func dropReturned() {
        octets.removeFirst(head)
        head = 0
    }

    /// Octets in memory, waiting or not.
    package var heldOctets: Int { octets.count }

    /// Octets before each message.
    public static let headerOctets = 4

    /// A frame with this message.
    public static func frame(_ message: [UInt8]) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: headerOctets) + message
        setHeader(of: &frame)
        return frame
    }

    /// Writes the length of a message into the octets before it.
    /// - Parameter start: where the frame begins, which is the last one.
    @inline(__always)
    static func setHeader(of frames: inout [UInt8], at start: Int = 0) {
        let length = frames.count - start - headerOctets
        for place in 0..<headerOctets { frames[start + place] = UInt8(truncatingIfNeeded: length >> (8 * place)) }
    }
}
