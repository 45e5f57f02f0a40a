import BLEAppLifecycle
import BLEHost
import FoundationEssentials

extension WireAppAlert {
    public init(_ alert: Alert) {
        self.init()
        switch alert.kind {
        case .connection: kind = .connection
        case .disconnection: kind = .disconnection
        case .notification: kind = .notification
        case .powerOff: kind = .powerOff
        }
        if let peripheral = alert.peripheral {
            peer = peripheral.identifier.wire
            if let name = peripheral.name { self.name = name }
        }
    }
}

extension WireAppPairing {
    /// - Parameter options: the capabilities of the app's person, and the app's requirements.
    public init(asksSomebody: Bool, _ options: PairingOptions) {
        self.init()
        self.asksSomebody = asksSomebody
        self.options = WirePairingOptions(options)
    }

    /// - Throws: `WireError.invalidField`.
    public func pairingOptions() throws(WireError) -> PairingOptions {
        hasOptions ? try PairingOptions(options) : PairingOptions()
    }
}

extension WireAppPairingProgress {
    /// - Parameter peer: the device as the app knows it.
    public init(_ event: PairingEvent, on link: LinkID, with peer: PeripheralDescription) {
        self.init()
        self.peer = peer.identifier.wire
        if let name = peer.name { self.name = name }
        progress = WirePairingProgress(event, on: link)
    }

    /// The progress of the pairing.
    /// - Throws: `WireError.invalidField`.
    public func event() throws(WireError) -> PairingEvent { try progress.progress }
}

extension WireAnswerPairing {
    /// The answer to a question.
    public init(to question: PairingQuestionID, _ answer: PairingAnswer) { self.init(question, answer) }

    /// - Throws: `WireError.invalidField`.
    public func answered() throws(WireError) -> (PairingQuestionID, PairingAnswer) {
        guard case .answerPairing(let question, let answer) = try command else { throw .invalidField }
        return (question, answer)
    }
}
