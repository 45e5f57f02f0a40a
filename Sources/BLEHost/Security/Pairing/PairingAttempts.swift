import BLEPackets

/// What the pairings of all links share: their numbers, those of their questions, the failures, and out-of-band data.
struct PairingAttempts {
    /// Whether pairing is possible: a crypto provider provides the cryptography, and the controller is not shared with
    /// another stack.
    var areAvailable: Bool { Features.pairing && isEnabled }
    private let isEnabled: Bool
    var failures = PairingGuard()
    var outOfBand = OutOfBandTable()
    private var lastNumber: UInt32 = 0
    private var lastQuestion: UInt64 = 0

    init(configuration: HostConfiguration) {
        isEnabled = configuration.usesCryptoProvider && configuration.ownership == .exclusive
    }

    mutating func nextNumber() -> UInt32 {
        lastNumber &+= 1
        return lastNumber
    }

    mutating func nextQuestion(_ kind: PairingQuestion.Kind, for parties: PairingTerms.Parties?) -> PairingQuestion {
        lastQuestion &+= 1
        return PairingQuestion(
            id: PairingQuestionID(rawValue: lastQuestion), kind: kind, client: parties?.client(for: kind))
    }
}
