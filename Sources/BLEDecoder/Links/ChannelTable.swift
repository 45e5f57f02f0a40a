/// The dynamic channels of a link, from its signalling (Core 5.4, Vol 3, Part A, 4), in bounded memory.
struct ChannelTable {
    /// An open channel. Arrays are indexed by the raw value of `CaptureDirection`.
    struct Channel {
        /// PSM or SPSM.
        var psm: UInt16
        /// Whether it is credit-based: its frames are segments of SDUs (Core 5.4, Vol 3, Part A, 3.4.3).
        var isCreditBased: Bool
        /// The channel identifier in its frames, which is that of the receiving side.
        var identifiers: [2 of UInt16]
        /// How many frames may be sent before new credits.
        var credits: [2 of Int] = [0, 0]
        /// The length of the SDU that is being received, and how many of its octets have been received; −1 before it
        /// begins.
        var unitLengths: [2 of Int] = [-1, -1]
        var unitCounts: [2 of Int] = [0, 0]
        /// The first octets of the SDU that is being received, the first one lowest, and how many of eight are known.
        var starts: [2 of UInt64] = [0, 0]
        var startCounts: [2 of Int] = [0, 0]

        /// Whether it carries the Attribute Protocol: over BR/EDR, or enhanced.
        var isAttributeProtocol: Bool { psm == (isCreditBased ? 0x0027 : 0x001F) }
    }

    /// Channels that were requested in one command.
    private struct Request {
        var identifier: UInt8
        var way: Int
        var psm: UInt16
        var credits: Int
        var isCreditBased: Bool
        var count: Int
        var sources: [5 of UInt16]
    }

    static let maximumCount = 64

    var channels: [Channel] = []
    private var requests: [Request] = []

    /// The channel of frames with this identifier and direction; the newest one, if a capture missed an end.
    @inline(__always)
    func index(of identifier: UInt16, way: Int) -> Int? {
        guard !channels.isEmpty else { return nil }
        return channels.lastIndex { $0.identifiers[way] == identifier }
    }

    /// Handles a command of the signalling channel.
    /// - Returns: whether channels were opened or closed.
    @discardableResult
    mutating func follow(_ code: UInt8, identifier: UInt8, _ parameters: RawSpan, way: Int) -> Bool {
        let count = parameters.byteCount
        switch code {
        case 0x02 where count >= 4, 0x0C where count >= 4:
            ask(identifier, way, parameters.uint16(0), isCreditBased: false, credits: 0, parameters.part(2, 2))
        case 0x14 where count >= 10:
            ask(
                identifier, way, parameters.uint16(0), isCreditBased: true, credits: Int(parameters.uint16(8)),
                parameters.part(2, 2))
        case 0x17 where count >= 10:
            ask(
                identifier, way, parameters.uint16(0), isCreditBased: true, credits: Int(parameters.uint16(6)),
                parameters.part(8, 10))
        case 0x03 where count >= 6, 0x0D where count >= 6:
            switch parameters.uint16(4) {
            case 0: return open(identifier, way, credits: 0, parameters.part(0, 2))
            case 1: break  // pending: the response follows
            default: removeRequest(identifier, way)
            }
        case 0x15 where count >= 10:
            if parameters.uint16(8) == 0 {
                return open(identifier, way, credits: Int(parameters.uint16(6)), parameters.part(0, 2))
            }
            removeRequest(identifier, way)
        case 0x18 where count >= 8:
            if 0x0D...0x0F ~= parameters.uint16(6) { break }  // pending
            // The identifiers of refused channels are zero.
            return open(identifier, way, credits: Int(parameters.uint16(4)), parameters.part(8, 10))
        case 0x16 where count >= 4:
            // The identifier is the sender's: the other side gets the credits.
            if let index = index(of: parameters.uint16(0), way: 1 - way) {
                channels[index].credits[1 - way] += Int(parameters.uint16(2))
            }
        case 0x07 where count >= 4:
            let before = channels.count
            let (destination, source) = (parameters.uint16(0), parameters.uint16(2))
            channels.removeAll { $0.identifiers[1 - way] == destination && $0.identifiers[way] == source }
            return channels.count != before
        default: break
        }
        return false
    }

    private mutating func ask(
        _ identifier: UInt8, _ way: Int, _ psm: UInt16, isCreditBased: Bool, credits: Int, _ sources: RawSpan
    ) {
        var request = Request(
            identifier: identifier, way: way, psm: psm, credits: credits, isCreditBased: isCreditBased,
            count: min(5, sources.byteCount / 2), sources: [0, 0, 0, 0, 0])
        for index in 0..<request.count { request.sources[index] = sources.uint16(index * 2) }
        requests.removeAll { $0.identifier == identifier && $0.way == way }
        if requests.count >= Self.maximumCount { requests.removeFirst() }
        requests.append(request)
    }

    @discardableResult
    private mutating func removeRequest(_ identifier: UInt8, _ way: Int) -> Request? {
        guard let place = requests.lastIndex(where: { $0.identifier == identifier && $0.way != way }) else {
            return nil
        }
        return requests.remove(at: place)
    }

    private mutating func open(_ identifier: UInt8, _ way: Int, credits: Int, _ destinations: RawSpan) -> Bool {
        guard let request = removeRequest(identifier, way) else { return false }
        var hasOpened = false
        for index in 0..<min(request.count, destinations.byteCount / 2) {
            let (source, destination) = (request.sources[index], destinations.uint16(index * 2))
            guard source != 0, destination != 0 else { continue }
            // Frames of the requesting side have the identifier of the responding side.
            let asking = request.way
            var channel = Channel(psm: request.psm, isCreditBased: request.isCreditBased, identifiers: [0, 0])
            channel.identifiers[asking] = destination
            channel.identifiers[1 - asking] = source
            channel.credits[asking] = credits
            channel.credits[1 - asking] = request.credits
            channels.removeAll {
                $0.identifiers[0] == channel.identifiers[0] || $0.identifiers[1] == channel.identifiers[1]
            }
            if channels.count >= Self.maximumCount { channels.removeFirst() }
            channels.append(channel)
            hasOpened = true
        }
        return hasOpened
    }

    // MARK: Units

    enum Piece {
        /// A whole SDU in one frame.
        case unit
        /// The first segment of an SDU of `length` octets.
        case beginning(length: Int)
        case middle
        case end
        /// The frames do not form an SDU.
        case malformed
    }

    /// Handles a frame of a credit-based channel.
    /// - Parameters:
    ///   - length: The SDU length in the frame, if it is the first segment; `nil` if it was not captured.
    ///   - count: The length of the frame's payload.
    mutating func receive(_ index: Int, way: Int, statedLength length: Int?, count: Int) -> Piece {
        channels[index].credits[way] -= 1
        let expected = channels[index].unitLengths[way]
        if expected < 0 {
            guard count >= 2, let length, count - 2 <= length else { return .malformed }
            if count - 2 == length { return .unit }
            channels[index].unitLengths[way] = length
            channels[index].unitCounts[way] = count - 2
            return .beginning(length: length)
        }
        let received = channels[index].unitCounts[way] + count
        channels[index].unitCounts[way] = received
        if received < expected { return .middle }
        channels[index].unitLengths[way] = -1
        return received == expected ? .end : .malformed
    }
}
