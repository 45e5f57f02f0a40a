import BLEHost
import BLEPackets

/// Asks the user during pairing: shows a passkey, asks for one, or has two numbers compared.
///
/// Answer within 30 s, because the other device waits no longer. If pairing ends first, the task of the question is
/// cancelled. No answer counts as "no".
public protocol PairingAgent: Sendable {
    /// The user has to type this passkey, of six digits, on the other device.
    /// - Parameter passkey: 0 to 999999.
    func display(passkey: UInt32, for peer: PairingPeer) async

    /// Asks for the passkey that the other device shows.
    /// - Returns: 0 to 999999, or `nil` when the user gives up.
    func enterPasskey(for peer: PairingPeer) async -> UInt32?

    /// Asks whether the other device shows the same number, of six digits.
    func compare(_ number: UInt32, with peer: PairingPeer) async -> Bool

    /// Asks whether to pair at all; only where `PairingOptions.asksConsent` is set.
    func consents(to peer: PairingPeer) async -> Bool

    /// Asks whether the bond with a device may be replaced. Whoever pairs says that it is this device, and has not proven it
    /// by encrypting the link: it is the device and has lost its keys, or a stranger that wants its place. Yes is for
    /// somebody who has just reset the device.
    /// - Parameter identity: the device whose bond it is.
    func replacesBond(of identity: DeviceAddress, with peer: PairingPeer) async -> Bool

    /// Pairing has ended, no matter which side started it. Remove questions that are still on the screen.
    func ended(_ result: Result<PairingSummary, SecurityFailure>, with peer: PairingPeer) async
}

extension PairingAgent {
    /// Shows nothing.
    public func display(passkey: UInt32, for peer: PairingPeer) async {}
    /// Gives up.
    public func enterPasskey(for peer: PairingPeer) async -> UInt32? { nil }
    /// Says no.
    public func compare(_ number: UInt32, with peer: PairingPeer) async -> Bool { false }
    /// Says no.
    public func consents(to peer: PairingPeer) async -> Bool { false }
    /// Says no.
    public func replacesBond(of identity: DeviceAddress, with peer: PairingPeer) async -> Bool { false }
    /// Takes no notice.
    public func ended(_ result: Result<PairingSummary, SecurityFailure>, with peer: PairingPeer) async {}
}

/// With whom this device pairs.
public struct PairingPeer: Hashable, Sendable {
    /// The link on which they pair.
    public var link: LinkID
    /// The address under which the link was made, an identity where it is known.
    public var address: DeviceAddress

    public init(link: LinkID, address: DeviceAddress) {
        self.link = link
        self.address = address
    }
}
