import BLEPackets

/// Puts L2CAP frames together from the fragments of one link (Core 5.4, Vol 3, Part A, 7.2.2).
struct Reassembler {
    enum Outcome: Equatable {
        /// The fragment is a complete frame by itself: no copy was made.
        case whole
        /// The frame is complete: `removeFrame` returns it.
        case assembled
        case incomplete
        /// A continuation without a start, a frame that is too long, or a frame that a new start cut off.
        case dropped
    }

    /// Octets of the basic header: length and channel identifier.
    private static let headerSize = 4

    /// The longest frame that is accepted, in octets, header included.
    var limit = HostLimits().reassembledBytes
    private var frame: [UInt8] = []
    private var isAssembling = false
    /// Octets of a dropped frame that are yet to come.
    private var skipped = 0

    mutating func receive(_ fragment: RawSpan, isStart: Bool) -> Outcome {
        if isStart {
            let cutOff = isAssembling
            isAssembling = false
            skipped = 0
            if let length = Self.frameLength(fragment) {
                if length == fragment.byteCount { return .whole }
                guard length <= limit, fragment.byteCount < length else {
                    skipped = max(0, length - fragment.byteCount)
                    return .dropped
                }
            }
            frame.removeAll(keepingCapacity: true)
            append(fragment)
            isAssembling = true
            return cutOff ? .dropped : .incomplete
        }
        guard isAssembling else {
            guard skipped > 0 else { return .dropped }
            skipped = max(0, skipped - fragment.byteCount)
            return .incomplete
        }
        guard frame.count + fragment.byteCount <= limit else {
            isAssembling = false
            return .dropped
        }
        append(fragment)
        guard let length = Self.frameLength(frame.span.bytes) else { return .incomplete }
        guard length <= limit, frame.count <= length else {
            isAssembling = false
            skipped = max(0, length - frame.count)
            return .dropped
        }
        guard frame.count == length else { return .incomplete }
        isAssembling = false
        return .assembled
    }

    /// Moves the complete frame out, so that its owner may be changed while the frame is read.
    mutating func removeFrame() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &frame)
        return taken
    }

    /// Returns the memory of a frame for reuse.
    mutating func recycle(_ buffer: consuming [UInt8]) {
        guard frame.isEmpty else { return }
        frame = buffer
        frame.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ fragment: RawSpan) {
        unsafe fragment.withUnsafeBytes { unsafe frame.append(contentsOf: $0) }
    }

    /// The length in octets of the frame that begins here, header included; `nil` until its length field is complete.
    private static func frameLength(_ bytes: RawSpan) -> Int? {
        guard let low = bytes.byte(at: 0), let high = bytes.byte(at: 1) else { return nil }
        return headerSize + (Int(low) | Int(high) << 8)
    }
}
