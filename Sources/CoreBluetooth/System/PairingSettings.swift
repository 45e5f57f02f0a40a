import BLE

/// How this app pairs.
struct PairingSettings: Hashable, Sendable {
    /// `nil`: there is nobody to be asked.
    var capability: CBPairingCapability?
    var asksConsent = false
    var requiresAuthentication = false

    /// As the engine takes it.
    func apply(to options: inout PairingOptions) {
        options.ioCapability =
            switch capability {
            case nil: .noInputNoOutput
            case .display: .displayOnly
            case .displayYesNo: .displayYesNo
            case .keyboard: .keyboardOnly
            case .keyboardDisplay: .keyboardDisplay
            }
        options.asksConsent = asksConsent
        options.requiresAuthentication = requiresAuthentication
    }
}

/// Puts the engine's questions into the words of an app.
struct AgentOfApp: PairingAgent {
    let agent: any CBPairingAgent
    let told: CBPairingPeer

    func display(passkey: UInt32, for peer: PairingPeer) async { await agent.display(passkey: passkey, for: told) }
    func enterPasskey(for peer: PairingPeer) async -> UInt32? { await agent.enterPasskey(for: told) }
    func compare(_ number: UInt32, with peer: PairingPeer) async -> Bool { await agent.compare(number, with: told) }
    func consents(to peer: PairingPeer) async -> Bool { await agent.consents(to: told) }

    func ended(_ result: Result<PairingSummary, SecurityFailure>, with peer: PairingPeer) async {
        switch result {
        case .success: await agent.ended(nil, with: told)
        case .failure(let failure): await agent.ended(failure, with: told)
        }
    }
}
