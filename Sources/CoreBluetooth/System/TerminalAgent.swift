import Foundation

/// Asks at the terminal from which the program was started: what an app has that names no agent of its own.
final class TerminalAgent: CBPairingAgent {
    private let input: Int32
    private let output: Int32
    /// One question after the other.
    private let desk = DispatchQueue(label: "org.jelling.pairing")

    /// - Parameters:
    ///   - input: from where lines are read, an octet at a time, so that what the program reads itself stays there.
    ///   - output: where questions are written.
    init(input: Int32 = STDIN_FILENO, output: Int32 = STDERR_FILENO) {
        self.input = input
        self.output = output
    }

    /// `nil` where standard input or standard error is no terminal: there is nobody to be asked.
    static func ofProcess() -> TerminalAgent? {
        isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 ? TerminalAgent() : nil
    }

    func display(passkey: UInt32, for peer: CBPairingPeer) async { write("Type \(digits(passkey)) on \(peer).\n") }

    func enterPasskey(for peer: CBPairingPeer) async -> UInt32? {
        while let line = await ask("Type the passkey that \(peer) shows: ") {
            if line.isEmpty { return nil }
            if line.utf8.count == 6, let passkey = UInt32(line), passkey <= 999_999 { return passkey }
            write("A passkey has six digits; an empty line gives up.\n")
        }
        return nil
    }

    func compare(_ number: UInt32, with peer: CBPairingPeer) async -> Bool {
        isYes(await ask("Does \(peer) show \(digits(number))? [y/n] "))
    }

    func consents(to peer: CBPairingPeer) async -> Bool { isYes(await ask("Shall \(peer) be paired with? [y/n] ")) }

    func ended(_ error: (any Error)?, with peer: CBPairingPeer) async {
        write(error.map { "Not paired with \(peer): \($0)\n" } ?? "Paired with \(peer).\n")
    }

    private func digits(_ number: UInt32) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 6 - text.count)) + text
    }

    private func isYes(_ line: String?) -> Bool { line?.first == "y" || line?.first == "Y" }

    private func write(_ text: String) {
        var octets = Array(text.utf8)[...]
        while !octets.isEmpty {
            let count = octets.withUnsafeBytes { Foundation.write(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            octets = octets.dropFirst(count)
        }
    }

    // MARK: Reading

    /// - Returns: `nil` at the end of the input, and when the pairing has ended in the meantime.
    private func ask(_ question: String) async -> String? {
        guard let alarm = Alarm() else { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                desk.async {
                    guard !alarm.hasRung else { return continuation.resume(returning: nil) }
                    self.write(question)
                    let line = self.readLine(until: alarm)
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
            if isatty(input) == 1, tcgetpgrp(input) != getpgrp() { return nil }
            var waiting = [
                pollfd(fd: input, events: Int16(POLLIN), revents: 0),
                pollfd(fd: alarm.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&waiting, 2, -1) < 0 {
                if errno == EINTR { continue }
                return nil
            }
            if waiting[1].revents != 0 { return nil }
            var octet: UInt8 = 0
            let count = read(input, &octet, 1)
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
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (descriptor, bell) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(bell)
    }

    var hasRung: Bool { rung.current }

    func ring() {
        rung.with { $0 = true }
        var octet: UInt8 = 0
        _ = write(bell, &octet, 1)
    }
}
