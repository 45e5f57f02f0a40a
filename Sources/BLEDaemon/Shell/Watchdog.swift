@_spi(HostRunner) import BLE
import BLETransport

/// Reports to a watchdog that the daemon works.
final class Watchdog {
    private let configuration: Daemon.Configuration
    private let runner: HostRunner
    private var deadline: EventLoop.Deadline?
    /// When no bond was being saved, as far as it was last seen, in microseconds.
    private var savedAt = EventLoop.nowMicroseconds

    init(_ configuration: Daemon.Configuration, _ runner: HostRunner) {
        self.configuration = configuration
        self.runner = runner
        guard configuration.aliveMicroseconds != nil else { return }
        deadline = runner.loop.makeDeadline { [unowned self] in reportAlive() }
    }

    func reportAlive() {
        guard let interval = configuration.aliveMicroseconds else { return }
        let now = runner.loop.nowMicroseconds
        if !runner.isKeepingBond { savedAt = now }
        // While a bond is being saved, no events come: a disk that hangs stops every program.
        if now - savedAt < configuration.savingMicroseconds { configuration.alive() }
        deadline?.set(atMicroseconds: now + interval)
    }

    func stop() { deadline?.cancel() }
}
