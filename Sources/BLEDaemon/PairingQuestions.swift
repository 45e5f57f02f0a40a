import BLEHost

/// The open questions of the pairings that a client answers. Pairings on other links do not end them.
struct PairingQuestions {
    /// More of them than pairings can have open; the oldest ones go.
    static let limit = 32

    private var open: [(id: PairingQuestionID, link: LinkID, isAboutBond: Bool)] = []

    /// Notes what happens in a pairing.
    mutating func hear(_ event: PairingEvent, on link: LinkID) {
        switch event {
        case .question(let question):
            if open.count >= Self.limit { open.removeFirst() }
            open.append((question.id, link, question.kind.isAboutBond))
        case .paired, .failed: ended(on: link)
        case .started, .belongs, .displayPasskey, .passkeyLocked, .securityRequested: break
        }
    }

    /// The pairing on this link has ended.
    mutating func ended(on link: LinkID) { open.removeAll { $0.link == link } }

    /// The client's answer as the engine may have it.
    /// - Parameter isOperator: whether the client may replace bonds, which all clients share.
    /// - Returns: `nil` if it was not asked.
    func allowed(_ answer: PairingAnswer, to id: PairingQuestionID, isOperator: Bool) -> PairingAnswer? {
        guard let question = open.first(where: { $0.id == id }) else { return nil }
        return question.isAboutBond && !isOperator && answer == .confirm(true) ? .confirm(false) : answer
    }
}
