import BLEHost
import BLEMessages

/// What the three kinds of session share.
extension FrameReader {
    /// The next message of a program, and its cost, see `TurnLine`; `nil` if more octets are needed, or nothing of the
    /// allowance is left.
    mutating func nextMessage(_ allowance: inout Int) throws(MessageError) -> FromClient? {
        guard let octets = try nextOctets(&allowance) else { return nil }
        return try FromClient(octets: octets)
    }

    /// The same without decoding it.
    mutating func nextOctets(_ allowance: inout Int) throws(MessageError) -> ArraySlice<UInt8>? {
        guard allowance > 0, let octets = try next() else { return nil }
        allowance -= TurnLine.cost(of: octets)
        return octets
    }
}

extension MessageError {
    /// The reason that a client gets for its mistake.
    var refusalReason: RefusalReason { if case .tooLong = self { .messageTooLong } else { .protocol } }
}

extension PairingQuestion.Kind {
    /// Whether it is about replacing a bond, which all clients share.
    var isAboutBond: Bool { if case .replaceBond = self { true } else { false } }
}
