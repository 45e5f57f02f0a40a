import BLEPackets

/// Commands: which are supported, and how they are answered.
extension SimulatedController {
    func receive(command packet: borrowing HCICommandPacketView) {
        statistics.commands += 1
        let opcode = packet.opcode
        let served = ServedCommand.all[opcode]
        if let served, served.answer == .nothing {
            // It uses no credit either (Core 5.4, Vol 4, Part E, 7.3.40).
            served.carryOut(self, packet.parameters)
            return
        }
        if commandsUnderWay >= max(1, Int(configuration.commandCredits)) { statistics.commandsWithoutCredit += 1 }
        guard !faults.unansweredCommands.contains(opcode) else { return }
        if opcode == Reset.opcode { commandsUnderWay = 0 }
        commandsUnderWay += 1
        postponedEvents = []
        if let status = refusal(of: opcode) {
            answer(opcode, status: status)
        } else if let served, isServed(served) {
            mayUse(served) ? served.carryOut(self, packet.parameters) : answer(opcode, status: .commandDisallowed)
        } else {
            answer(opcode, status: .unknownCommand)
        }
        let events = postponedEvents ?? []
        postponedEvents = nil
        for event in events { deliver(event.packet, delay: event.delay) }
    }

    private func refusal(of opcode: HCIOpcode) -> HCIStatus? {
        guard let position = faults.refusals.firstIndex(where: { $0.opcode == opcode && $0.count != 0 }) else {
            return nil
        }
        if let count = faults.refusals[position].count { faults.refusals[position].count = count - 1 }
        return faults.refusals[position].status
    }

    func decode<Command: HCICommand>(_ command: Command.Type, _ parameters: RawSpan) -> Command? {
        var reader = PacketReader(parameters)
        do throws(DecodingError) {
            let command = try Command(decoding: &reader)
            try reader.expectEnd()
            return command
        } catch {
            return nil
        }
    }

    // MARK: Answers

    /// Performs a command whose answer is its status.
    func perform<Command: HCICommand>(_ type: Command.Type, _ parameters: RawSpan, _ body: (Command) -> HCIStatus) {
        var status = HCIStatus.invalidCommandParameters
        if let command = decode(type, parameters) { status = body(command) }
        answer(Command.opcode, status: status)
    }

    /// Performs a command that returns more than its status.
    func query<Command: HCICommand>(
        _ type: Command.Type, _ parameters: RawSpan, _ body: (Command) -> Command.ReturnParameters
    ) {
        guard let command = decode(type, parameters) else {
            answer(Command.opcode, status: .invalidCommandParameters)
            return
        }
        let result = body(command)
        record(Command.opcode, result.status)
        writer.removeAll()
        result.encode(into: &writer)
        let returned = writer.bytes
        answer { CommandComplete(commandCredits: $0, opcode: Command.opcode, returnParameters: returned) }
    }

    func answer(_ opcode: HCIOpcode, status: HCIStatus) {
        record(opcode, status)
        let isStatus =
            status == .unknownCommand
            ? !configuration.completesUnknownCommands : ServedCommand.all[opcode]?.answer == .status
        if isStatus {
            answer { CommandStatus(status: status, commandCredits: $0, opcode: opcode) }
        } else {
            answer { CommandComplete(commandCredits: $0, opcode: opcode, returnParameters: [status.rawValue]) }
        }
    }

    private func answer(_ event: @escaping (_ credits: UInt8) -> some HCIEvent) {
        let cycle = powerCycle
        air.after(min(max(0, configuration.latencyMicroseconds), 10_000_000)) { [unowned self] in
            guard cycle == powerCycle, isOpen else { return }
            commandsUnderWay = max(0, commandsUnderWay - 1)
            countPacket()
            guard isOpen else { return }
            let credits = max(0, max(1, Int(configuration.commandCredits)) - commandsUnderWay)
            writer.removeAll()
            event(UInt8(clamping: credits)).encodePacket(into: &writer)
            toHost.append(writer.bytes)
        }
    }

    private func record(_ opcode: HCIOpcode, _ status: HCIStatus) {
        guard !status.isSuccess else { return }
        if statistics.rejections.count >= 64 { statistics.rejections.removeFirst() }
        statistics.rejections.append(.init(opcode: opcode, status: status))
    }

    // MARK: What is known

    private func isServed(_ command: ServedCommand) -> Bool {
        command.isKnown(with: configuration.features) && !configuration.unservedCommands.contains(command.opcode)
            && !configuration.falselyClaimedCommands.contains(command.opcode)
    }

    /// The answer of Read Local Supported Commands.
    var supportedCommands: SupportedCommands {
        var commands = SupportedCommands()
        for command in ServedCommand.list where command.isKnown(with: configuration.features) {
            if !configuration.unservedCommands.contains(command.opcode) { commands.insert(command.opcode) }
        }
        for opcode in configuration.falselyClaimedCommands { commands.insert(opcode) }
        return commands
    }

    /// Keeps legacy and extended commands from being mixed (Core 5.4, Vol 4, Part E, 3.1.1).
    private func mayUse(_ command: ServedCommand) -> Bool {
        guard command.family != .undecided else { return true }
        if settings.family == .undecided { settings.family = command.family }
        return settings.family == command.family || configuration.allowsMixedCommands
    }
}
