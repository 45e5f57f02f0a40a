@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import Foundation

/// The user's part in pairing (SPEC SEC-2 to SEC-4).
extension LocalSystem {
    nonisolated func setPairing(_ agent: (any CBPairingAgent)?, _ settings: PairingSettings) {
        onLoop { system in
            system.pairingAgent = agent
            settings.apply(to: &system.security.pairing)
            guard let runner = system.runner else { return }
            // The store provides the key of this device's private addresses, which stays as it is.
            var security = system.security
            security.identityResolvingKey = runner.identityResolvingKey
            _ = runner.submit(.security(.setSecurity(security)))
            runner.settle()
        }
    }

    func handle(_ event: PairingEvent, on link: LinkID) {
        if case .failed(.tooManyBonds) = event { client.write("no pairing: \(SecurityFailure.tooManyBonds)") }
        guard let partner = partner(on: link) else {
            if case .question(let question) = event { answer(question.id, with: .cancel) }
            return
        }
        switch event {
        case .paired, .failed: pairingPartners[link] = nil
        // No pairing has started, so none will end.
        case .securityRequested, .passkeyLocked, .belongs: return
        case .started, .displayPasskey, .question: pairingPartners[link] = partner
        }
        let refused = pairingState.handle(
            event, with: PairingPeer(link: link, address: partner.address),
            agent: pairingAgent.map { AgentOfApp(agent: $0, shown: partner.shown, address: partner.address) }
        ) { question, reply in await self.answer(question, with: reply) }
        if let refused { answer(refused, with: .cancel) }
    }

    /// The peer of a link. It is kept during pairing, because the link may end before the end of pairing is reported.
    private func partner(on link: LinkID) -> PairingPartner? {
        if let known = pairingPartners[link] { return known }
        let app = app
        guard let (address, peer) = engine.withAppsWithinStep(at: now, { $0.peer(of: link, for: app) }) else {
            return nil
        }
        return PairingPartner(
            address: address, shown: CBPairingPeer(identifier: UUID(peer.identifier), name: peer.name))
    }

    private func answer(_ question: PairingQuestionID, with answer: PairingAnswer) {
        _ = runner?.submit(.security(.answerPairing(question, answer)))
        runner?.settle()
    }
}

/// The device at the other end of a link during pairing.
struct PairingPartner {
    var address: DeviceAddress
    var shown: CBPairingPeer
}
