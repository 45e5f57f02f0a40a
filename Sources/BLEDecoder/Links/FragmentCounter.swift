import BLECapture

/// Follows the fragments of L2CAP frames by their lengths: only the first octets are copied.
///
/// Links are distinguished by adapter, handle and direction (Core 5.4, Vol 3, Part A, 7.2.1).
struct FragmentCounter {
    /// A complete frame.
    struct Frame {
        var channel: UInt16
        /// The length of the payload; `first` has only its beginning.
        var payloadByteCount: Int
        /// The first eight octets of the payload, the first one lowest, as far as they were captured.
        var first: UInt64
        var capturedByteCount: Int
        /// Whether it was fragmented: then `gathered` has the payload of a signalling channel.
        var isGathered = false
    }

    enum Outcome {
        /// More fragments follow.
        case pending
        case frame(Frame)
        /// The fragments do not form a frame.
        case malformed
    }

    fileprivate struct Link {
        /// How many octets of the frame have been received.
        var received = 0
        /// Whether the capture left octets out.
        var isCut = false
        /// How many of its first twelve octets are stored: its header and up to eight octets of payload.
        var gathered = 0
        var header: UInt32 = 0
        var first: UInt64 = 0
        /// The payload on a signalling channel, which opens and closes other channels.
        var payload: [UInt8] = []
        /// Frames of a signalling channel that open a channel are not longer.
        static let heldByteCount = 256
        var isSignalling: Bool { gathered >= 4 && (header >> 16 == 1 || header >> 16 == 5) }
    }

    /// The payload of the last fragmented frame on a signalling channel.
    private(set) var gathered: [UInt8] = []

    /// Per adapter: pages of 32 handles in two directions, created with the first data.
    private var tables: [[[Link]]] = []
    private static let pageSize = 64

    /// Handles an ACL packet: its handle field and its data.
    /// - Parameters:
    ///   - stated: the data length in the packet; `data` is shorter if the capture shortened it.
    mutating func receive(
        adapter: Int, handleField: UInt16, direction: CaptureDirection, data: RawSpan, stated: Int
    ) -> Outcome {
        let isContinuation = handleField >> 12 & 3 == 1
        if !isContinuation, stated >= 4, data.byteCount >= 4 {
            let length = Int(data.uint16(0))
            if length + 4 == stated {
                let held = data.byteCount - 4
                return .frame(
                    Frame(
                        channel: data.uint16(2), payloadByteCount: length,
                        first: data.integer(4, width: min(held, length, 8)), capturedByteCount: min(held, length)))
            }
        }
        while tables.count <= adapter { tables.append([]) }
        if tables[adapter].isEmpty { tables[adapter] = [[Link]](repeating: [], count: 8192 / Self.pageSize) }
        let index = Int(handleField & 0x0FFF) << 1 | Int(direction.rawValue)
        let page = index / Self.pageSize
        if tables[adapter][page].isEmpty { tables[adapter][page] = [Link](repeating: Link(), count: Self.pageSize) }
        return tables[adapter][page][index % Self.pageSize].receive(
            isContinuation: isContinuation, data: data, stated: stated, gathered: &gathered)
    }

    /// Forgets incomplete frames of an ended connection.
    mutating func forget(adapter: Int, handle: UInt16) {
        guard adapter < tables.count, !tables[adapter].isEmpty else { return }
        let index = Int(handle & 0x0FFF) << 1
        let page = index / Self.pageSize
        guard !tables[adapter][page].isEmpty else { return }
        tables[adapter][page][index % Self.pageSize] = Link()
        tables[adapter][page][index % Self.pageSize + 1] = Link()
    }
}

extension FragmentCounter.Link {
    fileprivate mutating func receive(
        isContinuation: Bool, data: RawSpan, stated: Int, gathered whole: inout [UInt8]
    ) -> FragmentCounter.Outcome {
        if isContinuation {
            guard received > 0, !isCut else { return isCut ? .pending : .malformed }
        } else {
            self = FragmentCounter.Link()
        }
        // Shortened fragments do not form a frame: the positions of their octets are unknown.
        if data.byteCount < stated {
            self = FragmentCounter.Link()
            isCut = true
            return .pending
        }
        var position = 0
        while gathered < 12, position < data.byteCount {
            let octet = data.octet(position)
            if gathered < 4 {
                header |= UInt32(octet) << UInt32(gathered * 8)
            } else {
                first |= UInt64(octet) << UInt64((gathered - 4) * 8)
            }
            gathered += 1
            position += 1
        }
        // After the header, of which the first fragment may contain a part.
        if isSignalling {
            let room = Self.heldByteCount - payload.count
            unsafe data.rest(max(0, 4 - received)).withUnsafeBytes {
                unsafe payload.append(contentsOf: $0.prefix(room))
            }
        }
        received += stated
        let payloadByteCount = Int(header & 0xFFFF)
        guard received >= 4, received >= payloadByteCount + 4 else { return .pending }
        defer { self = FragmentCounter.Link() }
        guard received == payloadByteCount + 4, gathered >= 4 else { return .malformed }
        if isSignalling { whole = payload }
        return .frame(
            FragmentCounter.Frame(
                channel: UInt16(header >> 16), payloadByteCount: payloadByteCount, first: first,
                capturedByteCount: min(gathered - 4, payloadByteCount), isGathered: true))
    }
}
