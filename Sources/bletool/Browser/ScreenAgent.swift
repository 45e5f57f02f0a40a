import BLE
import Synchronization

/// Asks the person at a screen during pairing: each question is on the screen until it is answered, or needs no answer
/// any more.
final class ScreenAgent: PairingAgent {
    private struct State {
        var last: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<ScreenQuestion.Answer?, Never>] = [:]
        /// Passkeys that are shown, by the link of the pairing.
        var displays: [LinkID: UInt64] = [:]
    }

    private let state = Mutex(State())
    /// Shows a question; `false` where there is no room for it.
    private let show: @Sendable (ScreenQuestion) -> Bool
    private let withdraw: @Sendable (UInt64) -> Void

    init(show: @escaping @Sendable (ScreenQuestion) -> Bool, withdraw: @escaping @Sendable (UInt64) -> Void) {
        self.show = show
        self.withdraw = withdraw
    }

    /// The person has answered.
    func answer(_ id: UInt64, _ answer: ScreenQuestion.Answer?) {
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: answer)
    }

    func display(passkey: UInt32, for peer: PairingPeer) async {
        let id = nextID()
        if show(ScreenQuestion(id: id, .display(passkey), peer: peer.address)) {
            state.withLock { $0.displays[peer.link] = id }
        }
    }

    func enterPasskey(for peer: PairingPeer) async -> UInt32? {
        guard case .passkey(let passkey) = await ask(.enterPasskey, peer) else { return nil }
        return passkey
    }

    func compare(_ number: UInt32, with peer: PairingPeer) async -> Bool { await ask(.compare(number), peer) == .yes }

    func consents(to peer: PairingPeer) async -> Bool { await ask(.consent, peer) == .yes }

    func replacesBond(of identity: DeviceAddress, with peer: PairingPeer) async -> Bool {
        await ask(.replaceBond(identity), peer) == .yes
    }

    func ended(_ result: Result<PairingSummary, SecurityFailure>, with peer: PairingPeer) async {
        if let id = state.withLock({ $0.displays.removeValue(forKey: peer.link) }) { withdraw(id) }
    }

    private func nextID() -> UInt64 {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    private func ask(_ kind: ScreenQuestion.Kind, _ peer: PairingPeer) async -> ScreenQuestion.Answer? {
        let id = nextID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting[id] = continuation }
                if !show(ScreenQuestion(id: id, kind, peer: peer.address)) { answer(id, nil) }
                // It may have ended before the question was shown.
                if Task.isCancelled {
                    answer(id, nil)
                    withdraw(id)
                }
            }
        } onCancel: {
            // The pairing has ended.
            answer(id, nil)
            withdraw(id)
        }
    }
}
