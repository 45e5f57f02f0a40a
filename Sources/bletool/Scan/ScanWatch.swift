import BLE
import Synchronization

/// Whether a scan was really on: what the controller answered to the commands about scanning, and the engine's
/// recoveries. Without this, a scan on a controller that hangs looks like a place without devices.
final class ScanWatch: PacketObserver, AdapterObserver {
    /// What was seen.
    struct State: Sendable {
        /// Whether commands are seen at all: those of a daemon are not.
        var seesCommands = false
        /// How often the controller was made to scan.
        var starts = 0
        /// Why the controller did not scan when it was last asked to.
        var refusal: (status: HCIStatus, opcode: HCIOpcode)?
        /// The command without an answer, and whether it is to start a scan.
        var pending: (opcode: HCIOpcode, starts: Bool)?
        /// How often the controller had to be recovered.
        var recoveries = 0
        var isRecovering = false
        /// The command whose answer was missing when the controller was recovered.
        var unanswered: HCIOpcode?
        /// What no recovery has cured.
        var fault: ControllerFault?
        /// Commands that the controller did not answer, by the engine's count.
        var timeouts: UInt64 = 0
        /// Advertising reports that came, by the engine's count.
        var reports: UInt64 = 0
    }

    private let contents = Mutex(State())
    /// Whether another owner of the controller may scan, so that a refused scan still reports devices.
    private let isShared: Bool

    init(isShared: Bool = false) { self.isShared = isShared }

    var state: State { contents.withLock { $0 } }

    /// Scans, and adds what the engine has counted at the end, before the adapter is closed.
    func counting(_ adapter: Adapter, _ scan: () async throws -> Void) async throws {
        do { try await scan() } catch {
            add(await adapter.counters)
            throw error
        }
        add(await adapter.counters)
    }

    /// Adds what an engine has counted.
    func add(_ counters: HostCounters) {
        contents.withLock { state in
            state.timeouts += counters.commandTimeouts
            state.reports += counters.advertisingReports
        }
    }

    /// Why the scan was not what it seems; `nil` if the controller scanned all the time, as far as that is known.
    var trouble: ScanTrouble? { ScanTrouble(state) }

    // MARK: What the controller does

    func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64) {
        switch (direction, packet.byte(at: 0)) {
        case (.hostToController, H4PacketType.command.rawValue): sent(packet)
        case (.controllerToHost, H4PacketType.event.rawValue): received(packet)
        default: break
        }
    }

    private func sent(_ packet: RawSpan) {
        guard let opcode = Self.opcode(packet, at: 1) else { return }
        let enables = packet.byte(at: 4) == 1
        contents.withLock { state in
            state.seesCommands = true
            // One command is on its way at a time: a Reset behind one without an answer is the attempt to cure that.
            if opcode == Reset.opcode, let earlier = state.pending?.opcode, earlier != opcode {
                state.unanswered = earlier
            }
            state.pending = (opcode, enables && Self.enablingCommands.contains(opcode))
        }
    }

    private func received(_ packet: RawSpan) {
        let answer: (opcode: HCIOpcode?, status: UInt8?)
        // Command Complete and Command Status (Core 5.4, Vol 4, Part E, 7.7.14 and 7.7.15).
        switch packet.byte(at: 1) {
        case HCIEventCode.commandComplete.rawValue: answer = (Self.opcode(packet, at: 4), packet.byte(at: 6))
        case HCIEventCode.commandStatus.rawValue: answer = (Self.opcode(packet, at: 5), packet.byte(at: 3))
        default: return
        }
        guard let opcode = answer.opcode, let octet = answer.status else { return }
        let status = HCIStatus(rawValue: octet)
        contents.withLock { state in
            guard let pending = state.pending, pending.opcode == opcode else { return }
            state.pending = nil
            if pending.starts, status.isSuccess || isShared && status == .commandDisallowed {
                state.starts += 1
                state.refusal = nil
            } else if pending.starts || Self.parameterCommands.contains(opcode), !status.isSuccess {
                state.refusal = (status, opcode)
            }
        }
    }

    private static let enablingCommands = [LESetScanEnable.opcode, LESetExtendedScanEnable.opcode]
    private static let parameterCommands = [LESetScanParameters.opcode, LESetExtendedScanParameters.opcode]

    private static func opcode(_ packet: RawSpan, at offset: Int) -> HCIOpcode? {
        guard let low = packet.byte(at: offset), let high = packet.byte(at: offset + 1) else { return nil }
        return HCIOpcode(rawValue: UInt16(low) | UInt16(high) << 8)
    }

    // MARK: What the engine does

    func observe(_ activity: AdapterActivity, of address: TransportAddress) {
        guard case .event(let event) = activity else { return }
        switch event {
        case .recovering:
            contents.withLock { state in
                state.recoveries += 1
                state.isRecovering = true
                if let opcode = state.pending?.opcode, state.unanswered == nil || opcode != Reset.opcode {
                    state.unanswered = opcode
                }
                state.pending = nil
            }
        case .ready: contents.withLock { $0.isRecovering = false }
        case .faultRemains(let fault): contents.withLock { $0.fault = fault }
        default: break
        }
    }
}

/// Why a scan that reported nothing proves nothing.
enum ScanTrouble: Equatable, Sendable {
    /// No recovery has cured this.
    case fault(ControllerFault)
    /// The controller was being recovered when the scan ended.
    case recovering(unanswered: HCIOpcode?)
    /// The controller refused to scan.
    case refused(HCIStatus, HCIOpcode)
    /// The controller has not answered this command.
    case unanswered(HCIOpcode)
    /// The scan was over before the controller had begun.
    case tooShort
    /// The controller had to be recovered.
    case recovered(times: Int, unanswered: HCIOpcode?)
    /// The controller left commands unanswered.
    case timeouts(UInt64)

    /// - Returns: `nil` if reports came, or the scan was on all the time.
    init?(_ state: ScanWatch.State) {
        guard state.reports == 0 else { return nil }
        if let fault = state.fault {
            self = .fault(fault)
        } else if state.starts == 0, let refusal = state.refusal {
            self = .refused(refusal.status, refusal.opcode)
        } else if state.isRecovering {
            self = .recovering(unanswered: state.unanswered)
        } else if state.seesCommands, state.starts == 0 {
            if let opcode = state.unanswered ?? state.pending?.opcode {
                self = .unanswered(opcode)
            } else {
                self = .tooShort
            }
        } else if state.recoveries > 0 {
            self = .recovered(times: state.recoveries, unanswered: state.unanswered)
        } else if state.timeouts > 0 {
            self = .timeouts(state.timeouts)
        } else {
            return nil
        }
    }

    /// The cause and the remedy.
    var failure: Failure {
        switch self {
        case .fault(let fault): return Failure(BLEError.controllerFault(fault))
        case .recovering(let opcode):
            return Self.silent("the controller was being recovered when the scan ended\(Self.reason(opcode))")
        case .refused(let status, let opcode):
            return Failure(
                "the scan was never on: the controller refused \(CommandNames.text(of: opcode)): \(status.text); "
                    + "‘bletool check’ examines it", code: .controllerRefused)
        case .unanswered(let opcode): return Self.silent("the scan was never on\(Self.reason(opcode))")
        case .tooShort:
            return Failure(
                "the scan was over before the controller had begun: choose a longer --duration", code: .timeout)
        case .recovered(let times, let opcode):
            let count = times == 1 ? "once" : "\(times) times"
            return Self.silent("the controller had to be recovered \(count)\(Self.reason(opcode))")
        case .timeouts(let count):
            return Self.silent("the controller left \(count) command\(count == 1 ? "" : "s") unanswered")
        }
    }

    private static func reason(_ opcode: HCIOpcode?) -> String {
        opcode.map { ": it did not answer \(CommandNames.text(of: $0))" } ?? ""
    }

    private static func silent(_ cause: String) -> Failure {
        Failure(
            "\(cause), and no device was heard; unplug the adapter and plug it in again, or reset it (‘bletool power "
                + "reset’ does so for USB and the kernel's adapters), and try ‘bletool check’", code: .controllerSilent)
    }
}
