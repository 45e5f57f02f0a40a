import BLEPackets

/// Commands: which are supported, and how they are answered.
extension SimulatedController {
    /// Carries out a command now, or after the ones that the controller is late with.
    /// - Parameter packet: the command without its type octet.
    func receive(command packet: RawSpan) throws(DecodingError) {
        let command = try HCICommandPacketView(decoding: packet)
        statistics.commands += 1
        if command.opcode == Reset.opcode { statistics.resets += 1 }
        let now = air.nowMicroseconds
        let end = max(now, busyUntil) + faults.delay(of: command.opcode)
        guard end > now else { return carryOut(command) }
        busyUntil = end
        let octets = packet.copied()
        let cycle = powerCycle
        air.after(end - now) { [unowned self] in
            guard cycle == powerCycle, isOpen else { return }
            do throws(DecodingError) { carryOut(try HCICommandPacketView(decoding: octets.span.bytes)) } catch {
                statistics.malformedPackets += 1
            }
        }
    }

    private func carryOut(_ packet: borrowing HCICommandPacketView) {
        let opcode = packet.opcode
        let served = ServedCommand.all[opcode]
        if opcode == Reset.opcode { apply(.reset) }
        guard !faults.hangs, !faults.hangsAfterReset || opcode == Reset.opcode, !isCrashed else { return }
        if let served, served.answer == .nothing {
            // It uses no credit either (Core 5.4, Vol 4, Part E, 7.3.40).
            served.carryOut(self, packet.parameters)
            return
        }
        if commandsUnderWay >= max(1, Int(configuration.commandCredits)) { statistics.commandsWithoutCredit += 1 }
        guard !faults.unansweredCommands.contains(opcode) else { return }
        if let crash = faults.crashes.first(where: { $0.opcode == opcode }),
            !crash.whileScanning || settings.scan.isEnabled
        {
            return self.crash(crash)
        }
        if opcode == Reset.opcode {
            commandsUnderWay = 0
            if faults.resetClosesTransport {
                let cycle = powerCycle
                return air.after(latency) { [unowned self] in if cycle == powerCycle { losePower() } }
            }
        }
        commandsUnderWay += 1
        postponedEvents = []
        if let status = refusal(of: opcode) {
            answer(opcode, status: status)
        } else if let fixed = configuration.fixedAnswers.first(where: { $0.opcode == opcode }) {
            answer { CommandComplete(commandCredits: $0, opcode: opcode, returnParameters: fixed.returnParameters) }
        } else if let served, isServed(served) {
            mayUse(served) ? served.carryOut(self, packet.parameters) : answer(opcode, status: .commandDisallowed)
        } else {
            answer(opcode, status: .unknownCommand)
        }
        if opcode == Reset.opcode, faults.answersResetTwice {
            commandsUnderWay += 1
            answer(opcode, status: .success)
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
        air.after(latency) { [unowned self] in
            guard cycle == powerCycle, isOpen, !faults.hangs, !isCrashed else { return }
            commandsUnderWay = max(0, commandsUnderWay - 1)
            let free = max(0, max(1, Int(configuration.commandCredits)) - commandsUnderWay)
            var credits = UInt8(clamping: free)
            if !hasAnswered, let first = faults.creditsOfFirstAnswer { credits = first }
            hasAnswered = true
            toHost(event(faults.returnsCreditsByNOP ? 0 : credits))
            if faults.returnsCreditsByNOP { sendNOP(credits: credits) }
        }
    }

    /// A Command Complete that answers no command (Core 5.4, Vol 4, Part E, 4.4).
    func sendNOP(credits: UInt8) {
        toHost(CommandComplete(commandCredits: credits, opcode: HCIOpcode(rawValue: 0), returnParameters: []))
    }

    private func toHost(_ event: some HCIEvent) {
        countPacket()
        guard isOpen else { return }
        writer.removeAll()
        event.encodePacket(into: &writer)
        toHost.append(writer.bytes)
    }

    private func record(_ opcode: HCIOpcode, _ status: HCIStatus) {
        guard !status.isSuccess else { return }
        if statistics.rejections.count >= 64 { statistics.rejections.removeFirst() }
        statistics.rejections.append(.init(opcode: opcode, status: status))
    }

    // MARK: What is known

    private func isServed(_ command: ServedCommand) -> Bool {
        isClaimed(command) && !configuration.falselyClaimedCommands.contains(command.opcode)
    }

    private func isClaimed(_ command: ServedCommand) -> Bool {
        command.isKnown(with: configuration.features) && !configuration.unservedCommands.contains(command.opcode)
            && (configuration.hasLowEnergy
                || command.opcode.groupField != HCIOpcode.Group.leController.rawValue)
    }

    /// The answer of Read Local Supported Commands.
    var supportedCommands: SupportedCommands {
        if let claimed = configuration.claimedCommands { return claimed }
        var commands = SupportedCommands()
        for command in ServedCommand.list where isClaimed(command) { commands.insert(command.opcode) }
        for opcode in configuration.falselyClaimedCommands { commands.insert(opcode) }
        for answer in configuration.fixedAnswers { commands.insert(answer.opcode) }
        return commands
    }

    /// Keeps legacy and extended commands from being mixed (Core 5.4, Vol 4, Part E, 3.1.1).
    private func mayUse(_ command: ServedCommand) -> Bool {
        guard command.family != .undecided else { return true }
        if settings.family == .undecided { settings.family = command.family }
        return settings.family == command.family || configuration.allowsMixedCommands
    }
}
