import BLETransport

/// Resets the device behind the daemon's adapter: by the owner's own program, by USB, or by the adapter's rfkill switch.
/// What may block runs on a separate thread.
final class DeviceReset {
    private let loop: EventLoop
    private let command: [String]
    private let program: RecoveryCommand
    private var isRunning = false

    /// Whether the owner has a program for it.
    var hasProgram: Bool { !command.isEmpty }

    /// - Parameter command: the owner's program with its arguments; empty: none.
    init(_ command: [String], on loop: EventLoop) {
        (self.command, self.loop) = (command, loop)
        program = RecoveryCommand(on: loop)
    }

    /// How it ended.
    struct Outcome: Sendable {
        /// What was done, in words for the log.
        let step: String
        /// Why it did not work; `nil` if it did.
        let problem: String?
        /// Whether the adapter's own switch had blocked it before.
        let wasBlocked: Bool
    }

    /// Begins; nothing happens while an earlier one runs.
    /// - Parameters:
    ///   - index: the number of the adapter, whose user channel is closed.
    ///   - done: called once on the loop.
    func begin(_ index: UInt16, done: @escaping (Outcome) -> Void) {
        guard !isRunning else { return }
        isRunning = true
        let hardware = AdapterHardware.read(index)
        let wasBlocked = hardware.block?.isSoft ?? false
        let finish = { [weak self] (step: String, problem: String?) in
            guard let self, isRunning else { return }
            isRunning = false
            done(Outcome(step: step, problem: problem, wasBlocked: wasBlocked))
        }
        if hasProgram { return program.run(command, adapter: "hci\(index)") { finish(Self.programText, $0) } }
        let step = hardware.usb.map { "a USB reset of \($0.identifiers) at \($0.port)" } ?? "its rfkill switch"
        // A defect of the kernel could hold it for ever: nobody waits for the thread.
        let helper: EventLoop
        do throws(TransportError) {
            helper = try EventLoop(name: "bled-reset")
            try helper.start()
        } catch {
            return loop.runLater { finish(step, "\(error)") }
        }
        // Safe: it only travels through the other thread, and is called on the loop that it came from.
        nonisolated(unsafe) let report = finish
        let own = loop
        helper.run {
            var problem: String?
            do throws(AdapterResetError) {
                if let device = hardware.usb {
                    try AdapterReset.resetUSB(device)
                } else {
                    try AdapterReset.cycleSwitch(ofAdapter: index)
                }
            } catch { problem = "\(error)" }
            let text = problem
            // The closure is the loop's again when it runs there.
            own.run { unsafe report(step, text) }
            helper.stop()
        }
    }

    private static let programText = "the program of ‘recoveryCommand’"

    /// Resets what no driver of the kernel has, such as a chip at a serial port, by the owner's program; nothing happens
    /// while an earlier one runs.
    /// - Parameters:
    ///   - address: the transport, which is closed.
    ///   - done: called once on the loop.
    func begin(_ address: TransportAddress, done: @escaping (Outcome) -> Void) {
        guard !isRunning else { return }
        isRunning = true
        program.run(command, adapter: "\(address)") { [weak self] problem in
            guard let self, isRunning else { return }
            isRunning = false
            done(Outcome(step: Self.programText, problem: problem, wasBlocked: false))
        }
    }

    /// Nothing is reported any more.
    func cancel() {
        isRunning = false
        program.cancel()
    }
}
