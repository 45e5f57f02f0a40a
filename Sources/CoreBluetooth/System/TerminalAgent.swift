import BLEText
import Foundation

/// Asks at the terminal from which the program was started: the agent of an app that sets none.
final class TerminalAgent: CBPairingAgent {
    private let input: Int32
    private let output: Int32
    private let isForeground: @Sendable () -> Bool
    /// Asks one question after another.
    private let desk = DispatchQueue(label: "org.jelling.pairing")
    /// Whether the last question was withdrawn while the user may have been answering it; used on `desk`.
    private let wasWithdrawn = Locked(false)
    /// The last question; used on `desk`.
    private let asked = Locked<UUID?>(nil)

    /// How long no question is asked after one was withdrawn, so that its answer is not taken for an answer to the
    /// next: milliseconds.
    private static let pause: Int32 = 1000

    /// - Parameters:
    ///   - input: the descriptor to read lines from, one octet at a time, so that the program's own input stays there.
    ///   - output: the descriptor to write questions to.
    ///   - isForeground: whether the program may read from a terminal.
    init(
        input: Int32 = STDIN_FILENO, output: Int32 = STDERR_FILENO, isForeground: (@Sendable () -> Bool)? = nil
    ) {
        self.isForeground = isForeground ?? { tcgetpgrp(input) == getpgrp() }
        self.input = input
        self.output = output
    }

    /// `nil` if standard input or standard error is not a terminal: then there is no person to ask.
    static func ofProcess() -> TerminalAgent? {
        isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 ? TerminalAgent() : nil
    }

    func display(passkey: UInt32, for peer: CBPairingPeer) async {
        write("Type \(digits(passkey)) on \(name(peer)).\n")
    }

    func enterPasskey(for peer: CBPairingPeer) async -> UInt32? {
        let number = UUID()
        while let line = await ask("Type the passkey that \(name(peer)) shows: ", number) {
            if line.isEmpty { return nil }
            // `UInt32` would accept a sign in the place of a digit.
            let isOfDigits = line.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            if line.utf8.count == 6, isOfDigits, let passkey = UInt32(line) { return passkey }
            write("A passkey has six digits; an empty line cancels.\n")
        }
        return nil
    }

    func compare(_ number: UInt32, with peer: CBPairingPeer) async -> Bool {
        isYes(await ask("Does \(name(peer)) show \(digits(number))? [y/n] "))
    }

    func consents(to peer: CBPairingPeer) async -> Bool {
        isYes(await ask("Pair with \(name(peer))? [y/n] "))
    }

    func replacesBond(with peer: CBPairingPeer) async -> Bool {
        isYes(
            await ask(
                "\(peer) is bonded already, and the device that pairs now did not prove that it is the same one. If you "
                    + "have just reset it, the bond can be replaced. Replace it? [y/n] "))
    }

    func ended(_ error: (any Error)?, with peer: CBPairingPeer) async {
        write(error.map { "Not paired with \(name(peer)): \("\($0)".printable)\n" } ?? "Paired with \(name(peer)).\n")
    }

    /// A device chooses its own name: the identifier distinguishes two devices with the same name.
    private func name(_ peer: CBPairingPeer) -> String {
        guard let name = peer.name, !name.isEmpty else { return peer.identifier.uuidString }
        return "\(name.quoted(limit: 60)) (\(peer.identifier.uuidString.prefix(8)))"
    }

    private func digits(_ number: UInt32) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 6 - text.count)) + text
    }

    private func isYes(_ line: String?) -> Bool { line?.first == "y" || line?.first == "Y" }

    private func write(_ text: String) {
        var octets = Array(text.utf8)[...]
        while !octets.isEmpty {
            let count = unsafe octets.withUnsafeBytes { unsafe Foundation.write(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            octets = octets.dropFirst(count)
        }
    }

    // MARK: Reading

    /// - Returns: `nil` at the end of the input, and if the pairing has ended in the meantime.
    /// - Parameter number: identifies the question, which is asked again after an invalid answer.
    private func ask(_ question: String, _ number: UUID = UUID()) async -> String? {
        guard let alarm = Alarm() else { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                desk.async {
                    if self.wasWithdrawn.current, !alarm.hasRung { alarm.wait(Self.pause) }
                    guard !alarm.hasRung else { return continuation.resume(returning: nil) }
                    self.wasWithdrawn.with { $0 = false }
                    // Input that was typed before the question appeared does not answer it.
                    let before = self.asked.with { asked in
                        defer { asked = number }
                        return asked
                    }
                    if before != number, isatty(self.input) == 1 { tcflush(self.input, TCIFLUSH) }
                    self.write(question)
                    let line = self.readLine(until: alarm)
                    if alarm.hasRung {
                        self.wasWithdrawn.with { $0 = true }
                        self.write("\nThe pairing has ended; this question needs no answer any more.\n")
                        return continuation.resume(returning: nil)
                    }
                    if line == nil { self.write("\n") }
                    continuation.resume(returning: line)
                }
            }
        } onCancel: {
            alarm.ring()
        }
    }

    private func readLine(until alarm: Alarm) -> String? {
        var octets: [UInt8] = []
        while octets.count < 256 {
            // The kernel would stop a background program that reads from its terminal, and its Bluetooth with it.
            if isatty(input) == 1, !isForeground() { return nil }
            var waiting = [
                pollfd(fd: input, events: Int16(POLLIN), revents: 0),
                pollfd(fd: alarm.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            if unsafe poll(&waiting, 2, -1) < 0 {
                if errno == EINTR { continue }
                return nil
            }
            if waiting[1].revents != 0 { return nil }
            var octet: UInt8 = 0
            let count = unsafe read(input, &octet, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            if octet == UInt8(ascii: "\n") { break }
            octets.append(octet)
        }
        return String(decoding: octets, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }
}

/// Ends a wait for input.
private final class Alarm: Sendable {
    /// Becomes readable when the alarm rings, and stays readable.
    let descriptor: Int32
    private let bell: Int32
    private let rung = Locked(false)

    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (descriptor, bell) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(bell)
    }

    var hasRung: Bool { rung.current }

    /// - Parameter milliseconds: the longest wait.
    func wait(_ milliseconds: Int32) {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&waited, 1, milliseconds)
    }

    func ring() {
        rung.with { $0 = true }
        var octet: UInt8 = 0
        _ = unsafe write(bell, &octet, 1)
    }
}
