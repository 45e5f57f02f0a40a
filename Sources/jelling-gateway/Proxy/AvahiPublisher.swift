import BLEESPHome
import Dispatch
import Logging

/// Has the Avahi daemon announce the proxy, as long as the daemon runs and the proxy does.
final class AvahiPublisher: Sendable {
    private let record: ServiceRecord
    private let logger: Logger
    private let wakeUp = WakeUp()
    private let isEnded = WakeUp()

    /// How often the daemon is asked whether it still announces.
    private static let pause: Int32 = 5000

    init(_ record: ServiceRecord, logger: Logger) {
        self.record = record
        self.logger = logger
        DispatchQueue(label: "avahi").async { self.run() }
    }

    func end() {
        wakeUp.signal()
        // The daemon forgets what it announced when the connection ends.
        isEnded.wait(2000)
    }

    private func run() {
        defer { isEnded.signal() }
        var lastProblem: String?
        var suffix = 1
        var wasHeld = false
        while true {
            do throws(AvahiProblem) {
                let name = suffix == 1 ? record.name : "\(record.name)-\(suffix)"
                let announcement = try AvahiAnnouncement(record, name: name)
                logger.info("esphome.advertise: announced as ‘\(name)’")
                lastProblem = nil
                wasHeld = true
                while try announcement.isHeld {
                    if wakeUp.waitForSignal(Self.pause) { return }
                }
                // Another host has this name.
                suffix += 1
            } catch {
                if error.text != lastProblem {
                    logger.warning("esphome.advertise: Avahi does not announce the proxy: \(error.text); trying again")
                }
                lastProblem = error.text
                // A daemon that was started anew is there already.
                if wakeUp.waitForSignal(wasHeld ? 0 : Self.pause) { return }
                wasHeld = false
            }
        }
    }
}
