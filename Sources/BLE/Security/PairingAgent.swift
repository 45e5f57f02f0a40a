import BLEHost
import BLEPackets

/// Asks the user during pairing: shows a passkey, asks for one, or has two numbers compared.
///
/// Answer within 25 s, because the other device waits for 30 s. If pairing ends first, the task of the question is
/// cancelled. No answer counts as "no".
public protocol PairingAgent: Sendable {
    /// Shows a passkey, which the user enters on the other device as six digits.
    /// - Parameter passkey: 0 to 999999.
    func display(passkey: UInt32, for peer: PairingPeer) async

    /// Asks for the passkey that the other device displays.
    /// - Returns: 0 to 999999, or `nil` if the user cancels.
    func enterPasskey(for peer: PairingPeer) async -> UInt32?

    /// Asks whether the other device displays the same number, as six digits.
    func compare(_ number: UInt32, with peer: PairingPeer) async -> Bool

    /// Asks whether to pair at all; only if `PairingOptions.asksConsent` is set.
    func consents(to peer: PairingPeer) async -> Bool

    /// Asks whether the bond with a device may be replaced. The peer claims to be this device and has not proved it by
    /// encrypting the link: either the device has lost its keys, or another device impersonates it. Answer yes only if
    /// the device has just been reset.
    /// - Parameter identity: the device of the bond.
    func replacesBond(of identity: DeviceAddress, with peer: PairingPeer) async -> Bool

    /// Pairing has ended, no matter which side started it. Remove questions that are still on the screen.
    func ended(_ result: Result<PairingSummary, SecurityFailure>, with peer: PairingPeer) async
}

extension PairingAgent {
    /// Shows nothing.
    public func display(passkey: UInt32, for peer: PairingPeer) async {}
    /// Cancels.
    public func enterPasskey(for peer: PairingPeer) async -> UInt32? { nil }
    /// Says no.
    public func compare(_ number: UInt32, with peer: PairingPeer) async -> Bool { false }
    /// Says no.
    public func consents(to peer: PairingPeer) async -> Bool { false }
    /// Says no.
    public func replacesBond(of identity: DeviceAddress, with peer: PairingPeer) async -> Bool { false }
    /// Does nothing.
    public func ended(_ result: Result<PairingSummary, SecurityFailure>, with peer: PairingPeer) async {}
}

/// The peer of a pairing.
public struct PairingPeer: Hashable, Sendable {
    /// The link of the pairing.
    public var link: LinkID
    /// The peer's address: its identity, if that is known.
    public var address: DeviceAddress

    public init(link: LinkID, address: DeviceAddress) {
        self.link = link
        self.address = address
    }
}
