import BLEPackets

/// Starts a chip: loads its firmware, changes its speed and writes its address. No I/O and no clock: packets, files and
/// times come in; actions come out.
///
/// After each input take the actions, then set a timer to the deadline.
public struct ChipBringUp: Sendable {
    /// What the owner has to do.
    public enum Action: Hashable, Sendable {
        /// Send a packet, type octet first.
        case send([UInt8])
        /// Change the speed of the port once all has been sent, then call `carriedOut`.
        case setBaud(UInt32)
        /// Establish a three-wire link anew, then call `carriedOut`.
        case restartLink
        /// Read the first of these files that is there, then call `fileRead`.
        case readFile([String])
        /// The chip is started.
        case done(ChipInformation)
        /// The chip cannot be started.
        case failed(ChipFailure)
    }

    /// How long a chip may take to answer.
    static let answerMicroseconds: UInt64 = 2_000_000
    /// How often Reset is sent to a chip that does not answer at first: it may be starting.
    private static let resetAttempts = 2

    private enum Wait: Equatable, Sendable {
        case nothing
        case answer(HCIOpcode, until: UInt64)
        case time(until: UInt64)
        case owner
    }

    private var script: any ChipScript
    private var wait = Wait.nothing
    private var actions: [Action] = []
    private var remainingResets = Self.resetAttempts - 1
    private var hasAnswered = false

    /// - Throws: `ChipFailure.needsKernelDriver`.
    public init(settings: ChipSettings) throws(ChipFailure) { script = try Self.makeScript(settings) }

    static func makeScript(_ settings: ChipSettings) throws(ChipFailure) -> any ChipScript {
        switch settings.family {
        case .automatic: AutomaticScript(settings: settings)
        case .broadcom: BroadcomScript(settings: settings)
        case .realtek: RealtekScript(settings: settings)
        case .zephyr: ZephyrScript(settings: settings)
        case .texasInstruments: TexasInstrumentsScript(settings: settings)
        case .intel, .qualcomm, .mediatek, .nxp: throw .needsKernelDriver(settings.family)
        }
    }

    // MARK: Inputs

    /// Begins; packets can be exchanged.
    public mutating func start(at now: UInt64) { proceed(.nothing, at: now) }

    /// A packet of the chip, type octet first. What is no answer to the command in flight is of no interest.
    public mutating func receive(_ packet: RawSpan, at now: UInt64) {
        guard case .answer(let opcode, _) = wait, packet.byte(at: 0) == H4PacketType.event.rawValue else { return }
        let parameters = packet.extracting(droppingFirst: min(3, packet.byteCount)).copied()
        let code = packet.byte(at: 1).map { HCIEventCode(rawValue: $0) }
        let answer: [UInt8]
        switch code {
        case .commandComplete where parameters.count >= 3 && Self.opcode(parameters, at: 1) == opcode:
            answer = Array(parameters[3...])
        case .commandStatus where parameters.count >= 4 && Self.opcode(parameters, at: 2) == opcode:
            answer = [parameters[0]]
        default: return
        }
        hasAnswered = true
        proceed(.answer(answer), at: now)
    }

    /// What `Action.setBaud` or `Action.restartLink` asked for has been done.
    public mutating func carriedOut(at now: UInt64) {
        if wait == .owner { proceed(.nothing, at: now) }
    }

    /// The answer to `Action.readFile`; `nil` if none of the files is there.
    public mutating func fileRead(_ file: ChipFile?, at now: UInt64) {
        if wait == .owner { proceed(.file(file), at: now) }
    }

    /// What `Action.setBaud`, `readFile` asked for cannot be done.
    public mutating func fail(_ failure: ChipFailure) {
        wait = .nothing
        actions.append(.failed(failure))
    }

    /// Time has passed.
    public mutating func advance(to now: UInt64) {
        switch wait {
        case .time(let end) where end <= now: proceed(.nothing, at: now)
        case .answer(let opcode, let end) where end <= now:
            if opcode == .reset, !hasAnswered, remainingResets > 0 {
                remainingResets -= 1
                send(opcode, [])
                wait = .answer(opcode, until: now + Self.answerMicroseconds)
            } else {
                fail(.unanswered(opcode))
            }
        default: break
        }
    }

    // MARK: Outputs

    /// When to call `advance`; `nil` if no timer runs.
    public var nextDeadline: UInt64? {
        switch wait {
        case .time(let end), .answer(_, let end): end
        case .nothing, .owner: nil
        }
    }

    public mutating func nextAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

    // MARK: Steps

    private mutating func proceed(_ result: ChipResult, at now: UInt64) {
        do throws(ChipFailure) {
            var result = result
            while let next = try step(result, at: now) { result = next }
        } catch { fail(error) }
    }

    /// - Returns: the result of a step that needs no waiting.
    private mutating func step(_ result: ChipResult, at now: UInt64) throws(ChipFailure) -> ChipResult? {
        wait = .nothing
        switch try script.next(result) {
        case .command(let opcode, let parameters):
            send(opcode, parameters)
            wait = .answer(opcode, until: now + Self.answerMicroseconds)
        case .announcement(let opcode, let parameters):
            send(opcode, parameters)
            return .nothing
        case .pause(let microseconds): wait = .time(until: now + microseconds)
        case .setBaud(let baud):
            wait = .owner
            actions.append(.setBaud(baud))
        case .restartLink:
            wait = .owner
            actions.append(.restartLink)
        case .readFile(let names):
            wait = .owner
            actions.append(.readFile(names))
        case .done: actions.append(.done(script.information))
        }
        return nil
    }

    private mutating func send(_ opcode: HCIOpcode, _ parameters: [UInt8]) {
        var writer = PacketWriter(reservingCapacity: 4 + parameters.count)
        HCICommandPacket(opcode: opcode, parameters: parameters).encodePacket(into: &writer)
        actions.append(.send(writer.bytes))
    }

    private static func opcode(_ octets: [UInt8], at index: Int) -> HCIOpcode {
        HCIOpcode(rawValue: UInt16(octets[index]) | UInt16(octets[index + 1]) << 8)
    }
}
