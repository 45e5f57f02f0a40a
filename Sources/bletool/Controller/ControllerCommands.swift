import BLE

/// Sends single commands to the controller and waits for the events that complete them.
struct ControllerCommands: Sendable {
    let adapter: Adapter
    let events: EventWatch

    /// The time limit of a procedure between two controllers.
    static let procedureTimeout = Duration.seconds(15)

    /// Sends a command that is answered by Command Complete.
    /// - Throws: `Failure` when the controller refuses it, `BLEError` when it does not answer.
    @discardableResult
    func send<Command: HCICommand>(_ command: Command) async throws -> Command.ReturnParameters {
        let answer = try await adapter.sendHCICommand(
            Command.opcode, parameters: HCICommandPacket(command).parameters)
        try Self.check(answer, Command.opcode)
        var reader = PacketReader(answer.span.bytes)
        guard let parameters = try? Command.ReturnParameters(decoding: &reader) else {
            throw Failure("the controller's response is too short", code: .protocolError)
        }
        return parameters
    }

    /// Sends a command that is answered by Command Status, and waits for its last event.
    /// - Parameters:
    ///   - giveUp: takes the command back, when it was accepted and its end did not come in time or the task was
    ///     cancelled; it may ask for the event that comes all the same.
    ///   - match: what the event that was waited for says; `nil` for another event.
    /// - Throws: `Failure` when the controller refuses the command or never reports its end.
    func send<Command: HCICommand, Value: Sendable>(
        _ command: Command, timeout: Duration? = procedureTimeout,
        giveUp: @escaping @Sendable (_ late: @Sendable () async -> Value?) async -> Void = { _ in },
        match: @escaping @Sendable (HCIEventPacket) -> Value?
    ) async throws -> Value {
        let ends = events.events { $0.packet.flatMap(match) != nil }
        let lateEnds = events.events { $0.packet.flatMap(match) != nil }
        let answer = try await adapter.sendHCICommand(
            Command.opcode, parameters: HCICommandPacket(command).parameters)
        try Self.check(answer, Command.opcode)
        do {
            return try await withTimeout(
                timeout,
                overdue: Failure(
                    "the controller did not report the completion of "
                        + "\(CommandNames.text(of: Command.opcode))")
            ) {
                guard let value = await Self.first(of: ends, match) else { throw Failure.interrupted }
                return value
            }
        } catch {
            // The task may be cancelled: what takes the command back must not be.
            await Task {
                await giveUp {
                    try? await withTimeout(.seconds(2), overdue: Failure.interrupted) {
                        await Self.first(of: lateEnds, match)
                    }
                }
            }.value
            throw error
        }
    }

    private static func first<Value: Sendable>(
        of events: AsyncStream<ReceivedEvent>, _ match: (HCIEventPacket) -> Value?
    ) async -> Value? {
        for await event in events {
            if let value = event.packet.flatMap(match) { return value }
        }
        return nil
    }

    /// - Throws: `Failure` when the status is an error.
    static func check(_ status: HCIStatus, _ what: String) throws {
        guard status.isSuccess else { throw Failure("\(what): \(status.text)", code: .controllerRefused) }
    }

    private static func check(_ answer: [UInt8], _ opcode: HCIOpcode) throws {
        let status = HCIStatus(rawValue: answer.first ?? HCIStatus.unspecifiedError.rawValue)
        guard status.isSuccess else {
            throw Failure(
                "the controller refused \(CommandNames.text(of: opcode)): \(status.text)", code: .controllerRefused)
        }
    }
}
