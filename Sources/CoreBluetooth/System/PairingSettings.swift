import BLE

/// The pairing settings of this app.
struct PairingSettings: Hashable, Sendable {
    /// `nil`: there is no person to ask.
    var capability: CBPairingCapability?
    var asksConsent = false
    var requiresAuthentication = false
    var requiresSecureConnectionsOnly = false
    var minimumKeySize = 16

    /// Copies the settings into the engine's options.
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
        options.requiresSecureConnections = false
        options.minimumKeySize = UInt8(clamping: min(16, max(7, minimumKeySize)))
        if requiresSecureConnectionsOnly { options.requireSecureConnectionsOnly() }
    }
}

/// Translates the engine's questions for the app's agent.
struct AgentOfApp: PairingAgent {
    let agent: any CBPairingAgent
    let shown: CBPairingPeer
    /// The address under which the app knows the device.
    let address: DeviceAddress

    func display(passkey: UInt32, for peer: PairingPeer) async { await agent.display(passkey: passkey, for: shown) }
    func enterPasskey(for peer: PairingPeer) async -> UInt32? { await agent.enterPasskey(for: shown) }
    func compare(_ number: UInt32, with peer: PairingPeer) async -> Bool { await agent.compare(number, with: shown) }
    func consents(to peer: PairingPeer) async -> Bool { await agent.consents(to: shown) }

    func replacesBond(of identity: DeviceAddress, with peer: PairingPeer) async -> Bool {
        // An app cannot be asked whether one device may replace another.
        guard identity == address.withoutIdentityMark else { return false }
        return await agent.replacesBond(with: shown)
    }

    func ended(_ result: Result<PairingSummary, SecurityFailure>, with peer: PairingPeer) async {
        switch result {
        case .success: await agent.ended(nil, with: shown)
        case .failure(let failure): await agent.ended(failure, with: shown)
        }
    }
}
