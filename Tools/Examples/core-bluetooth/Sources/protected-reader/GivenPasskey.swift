#if os(Linux)
import CoreBluetooth

/// Answers for a person who is not here: the passkey was told beforehand.
struct GivenPasskey: CBPairingAgent {
    let passkey: UInt32

    func enterPasskey(for peer: CBPairingPeer) async -> UInt32? {
        report("asked", ["peer": peer.description])
        return passkey
    }

    func ended(_ error: (any Error)?, with peer: CBPairingPeer) async {
        report("pairing", ["peer": peer.description, "error": error.map { "\($0)" } ?? "none"])
    }
}
#endif
