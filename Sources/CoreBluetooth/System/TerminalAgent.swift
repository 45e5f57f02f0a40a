import BLEText
import Foundation

/// Asks at the terminal from which the program was started: what an app has that names no agent of its own.
final class TerminalAgent: CBPairingAgent {
    private let input: Int32
    private let output: Int32
    private let isForeground: @Sendable () -> Bool
    /// One question after the other.
    private let desk = DispatchQueue(label: "org.jelling.pairing")
    /// Whether the last question went away while somebody may have been answering it; of the desk.
    private let wasWithdrawn = Locked(false)
    /// The question that was asked last; of the desk.
    private let asked = Locked<UUID?>(nil)

    /// How long nobody is asked after a question went away, so that its answer is not taken for one to the next:
    /// milliseconds.
    private static let pause: Int32 = 1000

    /// - Parameters:
    ///   - input: from where lines are read, an octet at a time, so that what the program reads itself stays there.
    ///   - output: where questions are written.
    ///   - isForeground: whether the program may read from a terminal.
    init(
        input: Int32 = STDIN_FILENO, output: Int32 = STDERR_FILENO, isForeground: (@Sendable () -> Bool)? = nil
    ) {
        self.isForeground = isForeground ?? { tcgetpgrp(input) == getpgrp() }
        self.input = input
        self.output = output
    }

    /// `nil` where standard input or standard error is no terminal: there is nobody to be asked.
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
            if line.utf8.count == 6, let passkey = UInt32(line), passkey <= 999_999 { return passkey }
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

    /// What the device calls itself is its own word: the identifier tells two of one name apart.
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

    /// - Returns: `nil` at the end of the input, and when the pairing has ended in the meantime.
    /// - Parameter number: of the question, where it may be asked again because the answer was none.
    private func ask(_ question: String, _ number: UUID = UUID()) async -> String? {
        guard let alarm = Alarm() else { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                desk.async {
                    if self.wasWithdrawn.current, !alarm.hasRung { alarm.wait(Self.pause) }
                    guard !alarm.hasRung else { return continuation.resume(returning: nil) }
                    self.wasWithdrawn.with { $0 = false }
                    // What was typed before a question stood there answers nothing.
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
            // A program in the background that reads from its terminal is stopped, and its Bluetooth with it.
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

/// Something that ends a wait for input.
private final class Alarm: Sendable {
    /// Becomes readable when it rings, and stays so.
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

    /// - Parameter milliseconds: how long at most.
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
