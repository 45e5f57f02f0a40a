import BLECapture

/// Follows the fragments of L2CAP frames by their lengths alone: nothing is copied but the first octets.
///
/// Links are told apart by adapter, handle and direction (Core 5.4, Vol 3, Part A, 7.2.1).
struct FragmentCounter {
    /// A frame that has come whole.
    struct Frame {
        var channel: UInt16
        /// How many octets the payload has; more than `first` holds.
        var payloadByteCount: Int
        /// The first eight octets of the payload, the first of them lowest; as many as were captured.
        var first: UInt64
        var capturedByteCount: Int
        /// Whether it came in fragments: then `gathered` has the payload of a signalling channel.
        var isGathered = false
    }

    enum Outcome {
        /// More fragments must come.
        case pending
        case frame(Frame)
        /// The fragments do not make up a frame.
        case malformed
    }

    fileprivate struct Link {
        /// How many octets of the frame have come.
        var received = 0
        /// Whether the capture left out octets of it.
        var isCut = false
        /// How many of its first twelve are held: its header and up to eight octets of payload.
        var gathered = 0
        var header: UInt32 = 0
        var first: UInt64 = 0
        /// The payload on a signalling channel, for what it tells of others.
        var payload: [UInt8] = []
        /// No frame of a signalling channel that opens a channel is longer.
        static let heldByteCount = 256
        var isSignalling: Bool { gathered >= 4 && (header >> 16 == 1 || header >> 16 == 5) }
    }

    /// The payload of the last frame of a signalling channel that came in fragments.
    private(set) var gathered: [UInt8] = []

    /// Per adapter: pages of 32 handles in two directions, made when one of them first sends data.
    private var tables: [[[Link]]] = []
    private static let pageSize = 64

    /// Takes an ACL packet's handle field and what follows its header.
    /// - Parameters:
    ///   - stated: how many octets of data the packet says it has; `data` holds fewer when the capture shortened it.
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

    /// Forgets what links of an ended connection had begun.
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
        // Fragments of which the capture holds a part only do not make up a frame: its octets are not known by their
        // places any more.
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
        // Behind the header, of which the first fragment may hold a part.
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
