import BLEText
import Foundation

/// Speaks with the user while devices pair: the place of the dialog that Apple's system shows (SPEC SEC-2, SEC-3).
///
/// An agent is named by `CBApplication.setPairingAgent(_:capability:asksConsent:requiresAuthentication:)`. It is asked what
/// only a person can know, in tasks of its own. What is asked has to be answered within the 30 s that the other device waits;
/// when the pairing ends before, the task in which the question was asked is cancelled. A question without an answer is
/// answered with "no".
public protocol CBPairingAgent: Sendable {
    /// The user has to type this passkey, of six digits, on the other device.
    /// - Parameter passkey: 0 to 999999.
    func display(passkey: UInt32, for peer: CBPairingPeer) async

    /// Asks for the passkey that the other device shows.
    /// - Returns: 0 to 999999, or `nil` when the user gives up.
    func enterPasskey(for peer: CBPairingPeer) async -> UInt32?

    /// Asks whether the other device shows the same number, of six digits.
    func compare(_ number: UInt32, with peer: CBPairingPeer) async -> Bool

    /// Asks whether to pair at all with a device that began it; only where that was asked for.
    func consents(to peer: CBPairingPeer) async -> Bool

    /// Asks whether the bond with a device may be replaced. The other side says that it is this device, and has not proven it
    /// by encrypting the link: it is the device and has lost its keys, or a stranger that wants its place. Yes is for
    /// somebody who has just reset the device.
    func replacesBond(with peer: CBPairingPeer) async -> Bool

    /// Pairing has ended, no matter which side began it. Questions that are still on the screen mean nothing any more.
    /// - Parameter error: `nil` when the devices are paired; its description is for people.
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
    /// Takes no notice.
    public func ended(_ error: (any Error)?, with peer: CBPairingPeer) async {}
}

/// With whom this device pairs.
public struct CBPairingPeer: Hashable, Sendable, CustomStringConvertible {
    /// By which this app knows the device: as `CBPeer.identifier`.
    public let identifier: UUID
    /// What the device calls itself, or advertised; `nil` while that is not known.
    public let name: String?

    /// The name as it may stand before a person, else the identifier. Several devices may have one name.
    public var description: String {
        guard let name, !name.isEmpty else { return identifier.uuidString }
        return name.printable(limit: 60)
    }
}

/// What the place can do at which the user is asked (Core 5.4, Vol 3, Part H, 2.3.2). With the other device's, it decides
/// what is asked.
public enum CBPairingCapability: Sendable {
    /// It shows six digits, and nobody can answer.
    case display
    /// It shows six digits, and takes yes or no.
    case displayYesNo
    /// It takes six digits, and shows nothing.
    case keyboard
    /// It shows six digits and takes them: as a phone does.
    case keyboardDisplay
}
