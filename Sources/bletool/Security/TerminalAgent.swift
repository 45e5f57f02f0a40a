import BLE
import Glibc

/// Asks the person at the terminal during pairing; scripts give the answers as options.
///
/// There is one question at a time, and an answer belongs to the question that the person has seen: earlier input is
/// discarded.
final class TerminalAgent: PairingAgent {
    private let desk = QuestionDesk()
    private let console: Console
    /// `--yes`.
    private let confirms: Bool
    private let hasTerminal: Bool

    init(console: Console, confirms: Bool = false) {
        self.console = console
        self.confirms = confirms
        hasTerminal = isatty(0) == 1
    }

    func display(passkey: UInt32, for peer: PairingPeer) async {
        let digits = Passkey.text(passkey)
        console.print(
            [
                "event": "passkey", "passkey": .string(digits), "address": .string(peer.address.addressText),
                "addressType": .string(peer.address.kindText),
            ], text: "type \(digits) on \(peer.address)")
    }

    func enterPasskey(for peer: PairingPeer) async -> UInt32? {
        guard hasTerminal else {
            console.note(
                "\(peer.address) displays a passkey; give it with --passkey-file FILE, or - for standard input")
            return nil
        }
        return await desk.turn { [self] in
            while let line = ask("enter the passkey that \(peer.address) displays: ") {
                if let passkey = Passkey(argument: line) { return passkey.number }
                if line.isEmpty { return nil }
                console.explain(Passkey.mistake(in: line) + "; an empty line cancels")
            }
            return nil
        }
    }

    func compare(_ number: UInt32, with peer: PairingPeer) async -> Bool {
        let digits = Passkey.text(number)
        console.print(
            [
                "event": "comparison", "number": .string(digits), "address": .string(peer.address.addressText),
                "addressType": .string(peer.address.kindText),
            ], text: "\(peer.address) should display \(digits)")
        if confirms { return true }
        guard hasTerminal else {
            console.note("there is no terminal to compare the numbers on; --yes accepts them")
            return false
        }
        return await desk.turn { [self] in isYes(ask("does \(peer.address) show \(digits)? [y/n] ")) } ?? false
    }

    func consents(to peer: PairingPeer) async -> Bool {
        if confirms { return true }
        guard hasTerminal else { return false }
        return await desk.turn { [self] in isYes(ask("\(peer.address) wants to pair. Allow it? [y/n] ")) } ?? false
    }

    /// `--yes` does not replace bonds; `pair --replace` does.
    func replacesBond(of identity: DeviceAddress, with peer: PairingPeer) async -> Bool {
        let place = "\(identity.addressText) \(identity.kindText)"
        guard hasTerminal else {
            console.note(
                "\(place) is bonded, and the device that is pairing has not proved to be the same one: the "
                    + "bond stays")
            return false
        }
        let question =
            "\(place) is bonded, and the device that is pairing has not proved to be the same one. Replace the "
            + "bond, because you have just reset the device? [y/n] "
        return await desk.turn { [self] in isYes(ask(question)) } ?? false
    }

    private func isYes(_ line: String?) -> Bool {
        guard let first = line?.first else { return false }
        return first == "y" || first == "Y"
    }

    /// - Returns: `nil` at the end of the input, and when the pairing has ended in the meantime.
    private func ask(_ question: String) -> String? {
        // A line is answered, and no key of a shell.
        let line = TerminalMode.paused {
            console.ask(question)
            var input = StandardInput()
            return input.answer()
        }
        if Task.isCancelled {
            // The user's late answer must not answer the next question instead.
            console.explain("\nthe pairing has ended; this question no longer needs an answer")
            return nil
        }
        return line
    }
}
