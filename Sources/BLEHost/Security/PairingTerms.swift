import BLEPackets

/// On what terms a pairing begins: with which options, and whom it asks.
struct PairingTerms: Equatable {
    /// Whom the pairing is for, and who answers for it; `nil` in an engine that is not shared.
    struct Parties: Equatable {
        /// The client that made the pairing necessary; `nil` if none did.
        var owner: ClientID?
        /// The client whose user is asked; `nil` if none is.
        var asked: ClientID?
        /// The client that is asked for consent, if that is another one.
        var consenting: ClientID?

        /// Whom a question is for.
        func client(for question: PairingQuestion.Kind) -> ClientID? {
            question == .consent ? consenting ?? asked : asked
        }
    }

    var options: PairingOptions
    /// Whether a user must agree before the pairing continues.
    var needsConsent: Bool
    var parties: Parties?
}

/// Whose pairing it is, as far as a link knows.
struct PairingClaim {
    /// The client that makes the pairing necessary; `nil` if none does.
    var owner: ClientID?
    /// The options that come with the owner's command.
    var stated: PairingOptions?
    /// Whether the owner asks for this pairing, not a device.
    var isCommanded = false
    /// Whether the peer wants this pairing, and this side does not.
    var isOfPeer = false
}

extension Pairings {
    /// The clients that share the engine; `nil` if it has one owner, who decides everything.
    var clients: [ClientPairing]? {
        #if hasFeature(Embedded)
        nil
        #else
        settings.clients
        #endif
    }

    /// The terms of a pairing.
    /// - Parameters:
    ///   - role: this side's role on the link.
    ///   - holders: the clients that use the link.
    func terms(for claim: PairingClaim, role: LinkRole, holders: [ClientID]) -> PairingTerms {
        let stated = claim.stated ?? settings.pairing
        guard let clients else {
            return PairingTerms(options: stated, needsConsent: stated.asksConsent && !claim.isCommanded)
        }
        let owner = claim.owner.flatMap { id in clients.first { $0.client == id } }
        let there = clients.filter { holders.contains($0.client) || role == .peripheral && $0.isServing }
        let asked = claim.isCommanded ? nil : partner(of: claim, owner, among: there.filter { $0.asks })
        // Who asks for a pairing answers its questions, whether it has stated anything before or not.
        var parties = PairingTerms.Parties(owner: claim.owner, asked: claim.isCommanded ? claim.owner : asked?.client)
        var options = claim.stated ?? (claim.isCommanded ? owner : asked)?.options ?? settings.pairing
        if let owner, !claim.isCommanded { options.require(owner.options) }
        for other in clients where other.requiresOfAll { options.require(other.options) }
        // The operator may be a program that has stated no options.
        options.requiresAuthentication = options.requiresAuthentication || settings.pairing.requiresAuthentication
        options.requiresSecureConnections =
            options.requiresSecureConnections || settings.pairing.requiresSecureConnections

        let wishes = there.filter { $0.asks && $0.options.asksConsent }
        var needsConsent = !claim.isCommanded && (options.asksConsent || settings.pairing.asksConsent)
        if !claim.isCommanded, !wishes.isEmpty, parties.asked != nil { needsConsent = true }
        // What an operator has to agree to, no other user can agree to in its place.
        let operating = wishes.last { $0.isOperator }
        // Nor does one user's command agree for the servers of another, to which the central gets access, too. Of
        // several the first is asked: none can push itself before the others by coming last.
        let serving = wishes.first { $0.isServing && $0.user != owner?.user }
        let consenting = operating ?? (claim.isCommanded && role == .peripheral ? serving : nil)
        if let consenting, !isOperator(parties.asked ?? claim.owner) {
            parties.consenting = consenting.client
            needsConsent = true
        }
        return PairingTerms(options: options, needsConsent: needsConsent, parties: parties)
    }

    private func isOperator(_ client: ClientID?) -> Bool {
        clients?.contains { $0.client == client && $0.isOperator } ?? false
    }

    /// The client that is asked in a pairing that no client commanded.
    /// - Parameter asking: those on the link that ask a person.
    private func partner(
        of claim: PairingClaim, _ owner: ClientPairing?, among asking: [ClientPairing]
    ) -> ClientPairing? {
        if let owner, owner.asks { return owner }
        guard claim.owner == nil else {
            return asking.last { $0.user == owner?.user } ?? asking.last { $0.isOperator }
        }
        // A central pairs by itself. If servers of several users are there, none can push itself before the others by
        // coming last, or by agreeing to everything.
        if let operating = asking.last(where: { $0.isOperator }) { return operating }
        guard let first = asking.first(where: { $0.isDiscerning }) ?? asking.first else { return nil }
        return asking.last { $0.user == first.user && $0.isDiscerning == first.isDiscerning }
    }

    /// Whether clients belong to one user.
    func areOfOneUser(_ one: ClientID?, _ other: ClientID?) -> Bool {
        if one == other { return true }
        guard let clients, let first = clients.first(where: { $0.client == one }) else { return false }
        return clients.contains { $0.client == other && $0.user == first.user }
    }

    /// Whether pairing with these options would give less than the clients require of all pairings.
    func areTooWeak(_ options: PairingOptions) -> Bool {
        guard let clients else { return false }
        var required = options
        for client in clients where client.requiresOfAll { required.require(client.options) }
        return required != options
    }
}
