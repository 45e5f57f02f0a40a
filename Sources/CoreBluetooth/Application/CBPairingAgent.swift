import BLEText
import Foundation

/// Asks the user during pairing. It replaces the dialog of Apple's system (SPEC SEC-2, SEC-3).
///
/// `CBApplication.setPairingAgent(_:capability:asksConsent:requiresAuthentication:)` sets the agent. The system calls
/// each method in a separate task. A question must be answered within 25 s: the other device waits for 30 s; if the
/// pairing ends earlier, the question's task is cancelled. A question without an answer counts as "no".
public protocol CBPairingAgent: Sendable {
    /// Shows the passkey, six digits, that the user must enter on the other device.
    /// - Parameter passkey: 0 to 999999.
    func display(passkey: UInt32, for peer: CBPairingPeer) async

    /// Asks for the passkey that the other device shows.
    /// - Returns: 0 to 999999, or `nil` when the user gives up.
    func enterPasskey(for peer: CBPairingPeer) async -> UInt32?

    /// Asks whether the other device shows the same number, of six digits.
    func compare(_ number: UInt32, with peer: CBPairingPeer) async -> Bool

    /// Asks whether to pair with a device that started the pairing; only if `asksConsent` is set.
    func consents(to peer: CBPairingPeer) async -> Bool

    /// Asks whether the bond with a device may be replaced. The other device claims to be this device but has not
    /// proven it by encrypting the link: either it has lost its keys, or it is an attacker. Answer yes only if the user
    /// has just reset the device.
    func replacesBond(with peer: CBPairingPeer) async -> Bool

    /// Pairing has ended, whichever device started it. Remove any question that is still on the screen.
    /// - Parameter error: `nil` if pairing succeeded; its description is for the user.
    func ended(_ error: (any Error)?, with peer: CBPairingPeer) async
}

extension CBPairingAgent {
    /// Shows nothing.
    public func display(passkey: UInt32, for peer: CBPairingPeer) async {}
    /// Gives up.
    public func enterPasskey(for peer: CBPairingPeer) async -> UInt32? { nil }
    /// Says no.
    public func compare(_ number: UInt32, with peer: CBPairingPeer) async -> Bool { false }
    /// Says no.
    public func consents(to peer: CBPairingPeer) async -> Bool { false }
    /// Says no.
    public func replacesBond(with peer: CBPairingPeer) async -> Bool { false }
    /// Does nothing.
    public func ended(_ error: (any Error)?, with peer: CBPairingPeer) async {}
}

/// The device that pairs with this one.
public struct CBPairingPeer: Hashable, Sendable, CustomStringConvertible {
    /// The identifier by which this app knows the device, as in `CBPeer.identifier`.
    public let identifier: UUID
    /// The device's GAP device name or advertised name; `nil` while it is unknown.
    public let name: String?

    /// The name in a printable form, otherwise the identifier. Several devices may have the same name.
    public var description: String {
        guard let name, !name.isEmpty else { return identifier.uuidString }
        return name.printable(limit: 60)
    }
}

/// The I/O capability at which the user is asked (Core 5.4, Vol 3, Part H, 2.3.2). Together with that of the other
/// device, it decides what is asked.
public enum CBPairingCapability: Sendable {
    /// It shows six digits, but has no input.
    case display
    /// It shows six digits and has "yes" and "no".
    case displayYesNo
    /// It has a numeric keyboard, but no display.
    case keyboard
    /// It shows six digits and has a numeric keyboard, as a phone does.
    case keyboardDisplay
}
