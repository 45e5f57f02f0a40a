import BLEPackets

/// Puts packets together from the pieces that arrive at one endpoint.
///
/// A packet begins at the beginning of a piece, or directly after another one in the same piece. It ends by its own
/// length and not by a short piece: a controller that sends a packet of just as many octets as fit sends no empty piece
/// behind it. What cannot be a header is dropped (Barrot's controllers add an octet to an event: Linux btusb.c,
/// bazzite#3905).
package struct USBPacketAssembler {
    /// What an endpoint carries.
    package enum Kind { case event, acl }

    private let kind: Kind
    /// The beginning of a packet: at least its header.
    private var unfinished: [UInt8] = []
    private var expectedByteCount = 0

    /// Octets that were dropped because they are not a header.
    private(set) var strayOctetCount = 0
    /// Packets that were dropped because they state a length that no controller has, or were cut off.
    private(set) var damagedPacketCount = 0

    /// Real controllers have buffers of at most 1021 octets for ACL data (Linux: 1024); some in virtual machines claim
    /// 8192.
    static let greatestDataByteCount = 8192

    package init(_ kind: Kind) { self.kind = kind }

    private var headerByteCount: Int { kind == .event ? 2 : 4 }
    private var type: H4PacketType { kind == .event ? .event : .acl }

    /// Whether the rest of a packet is still to come.
    var isUnfinished: Bool { !unfinished.isEmpty }

    /// Takes a piece and passes on each packet that it completes, type octet first.
    package mutating func receive(_ piece: RawSpan, deliver: ([UInt8]) -> Void) {
        var rest = piece
        while rest.byteCount > 0 {
            if unfinished.isEmpty {
                guard begin(rest) else { return }
            }
            let taken = min(expectedByteCount - unfinished.count, rest.byteCount)
            unsafe rest.extracting(first: taken).withUnsafeBytes { unsafe unfinished.append(contentsOf: $0) }
            rest = rest.extracting(droppingFirst: taken)
            guard unfinished.count == expectedByteCount else { return }
            deliver(unfinished)
            unfinished = []
        }
    }

    /// Forgets what has begun: a piece was lost.
    package mutating func pieceWasLost() {
        guard isUnfinished else { return }
        damagedPacketCount += 1
        unfinished = []
    }

    /// - Returns: whether the octets begin with the header of a packet, whose type octet is stored then.
    private mutating func begin(_ rest: RawSpan) -> Bool {
        let length: Int
        switch kind {
        case .event:
            guard let stated = rest.byte(at: 1) else { return drop(rest.byteCount) }
            length = Int(stated)
        case .acl:
            guard let low = rest.byte(at: 2), let high = rest.byte(at: 3) else { return drop(rest.byteCount) }
            length = Int(high) << 8 | Int(low)
            guard length <= Self.greatestDataByteCount else {
                damagedPacketCount += 1
                return false
            }
        }
        expectedByteCount = 1 + headerByteCount + length
        unfinished.reserveCapacity(expectedByteCount)
        unfinished.append(type.rawValue)
        return true
    }

    private mutating func drop(_ count: Int) -> Bool {
        strayOctetCount += count
        return false
    }
}
