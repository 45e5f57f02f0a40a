import BLE

/// What a pairing asks the person at the screen, or shows to them.
struct ScreenQuestion: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        /// The passkey is to be typed on the device.
        case display(UInt32)
        case enterPasskey
        case compare(UInt32)
        case consent
        case replaceBond(DeviceAddress)
    }

    enum Answer: Equatable, Sendable {
        case yes
        case no
        case passkey(UInt32)
    }

    /// Keys within this time, in seconds, were not meant for the question, which cannot have been read yet. A person
    /// who types on has not looked up, either.
    private static let readingTime = 0.5

    let id: UInt64
    let kind: Kind
    let peer: DeviceAddress
    /// When it was first on the screen, on the scan's clock.
    var shownSince: Double?
    private(set) var digits = ""

    init(id: UInt64, _ kind: Kind, peer: DeviceAddress) {
        self.id = id
        self.kind = kind
        self.peer = peer
    }

    var text: String {
        switch kind {
        case .display(let passkey): "type \(Passkey.text(passkey)) on \(peer)"
        case .enterPasskey: "enter the passkey that \(peer) displays: \(digits)_"
        case .compare(let number): "does \(peer) show \(Passkey.text(number))?"
        case .consent: "\(peer) wants to pair. Allow it?"
        case .replaceBond(let identity):
            "\(identity) is bonded, and the device that is pairing has not proved to be the same one. Replace the "
                + "bond, because you have just reset the device?"
        }
    }

    var keys: String {
        switch kind {
        case .display: "it goes when the pairing has ended   Esc hides it"
        case .enterPasskey: "six digits, then Enter   Esc cancels"
        case .compare, .consent, .replaceBond: "y yes   n no"
        }
    }

    /// - Returns: the answer, once it is whole.
    mutating func press(_ key: Key, at now: Double) -> Answer? {
        guard let since = shownSince else { return nil }
        guard now - since >= Self.readingTime else {
            shownSince = max(since, now)
            return nil
        }
        switch (kind, key) {
        case (_, .escape), (.compare, .character("n")), (.consent, .character("n")), (.replaceBond, .character("n")):
            return .no
        case (.compare, .character("y")), (.consent, .character("y")), (.replaceBond, .character("y")): return .yes
        case (.enterPasskey, .character(let digit)) where "0"..."9" ~= digit && digit.isASCII && digits.count < 6:
            digits.append(digit)
        case (.enterPasskey, .backspace): if !digits.isEmpty { digits.removeLast() }
        case (.enterPasskey, .enter): return Passkey(argument: digits).map { .passkey($0.number) }
        default: break
        }
        return nil
    }
}
