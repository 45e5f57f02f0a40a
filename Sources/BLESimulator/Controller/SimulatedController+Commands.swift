import BLEPackets

/// Commands: which are known, who answers, and the way of an answer.
extension SimulatedController {
    func receive(command packet: borrowing HCICommandPacketView) {
        statistics.commands += 1
        let opcode = packet.opcode
        if opcode == HostNumberOfCompletedPackets.opcode {
            // The only command without credit and answer (Core 5.4, Vol 4, Part E, 7.3.40).
            if let command = decode(HostNumberOfCompletedPackets.self, packet.parameters) { hostCompleted(command) }
            return
        }
        if commandsUnderWay >= max(1, Int(configuration.commandCredits)) { statistics.commandsWithoutCredit += 1 }
        guard !faults.unansweredCommands.contains(opcode) else { return }
        if opcode == Reset.opcode { commandsUnderWay = 0 }
        commandsUnderWay += 1
        heldEvents = []
        if let status = refusal(of: opcode) {
            answer(opcode, status: status)
        } else if !isServed(opcode) {
            answer(opcode, status: .unknownCommand)
        } else if !mayUse(opcode) {
            answer(opcode, status: .commandDisallowed)
        } else {
            carryOut(opcode, packet.parameters)
        }
        let events = heldEvents ?? []
        heldEvents = nil
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

    /// Carries out a command whose answer is its status.
    func perform<Command: HCICommand>(
        _ type: Command.Type, _ parameters: RawSpan, _ body: (Command) -> HCIStatus
    ) {
        var status = HCIStatus.invalidCommandParameters
        if let command = decode(type, parameters) { status = body(command) }
        answer(Command.opcode, status: status)
    }

    /// Carries out a command that returns more than its status.
    func query<Command: HCICommand>(
        _ type: Command.Type, _ parameters: RawSpan, _ body: (Command) -> Command.ReturnParameters
    ) {
        guard let command = decode(type, parameters) else {
            answer(Command.opcode, status: .invalidCommandParameters)
            return
        }
        let result = body(command)
        note(Command.opcode, result.status)
        writer.removeAll()
        result.encode(into: &writer)
        let returned = writer.bytes
        answer { CommandComplete(commandCredits: $0, opcode: Command.opcode, returnParameters: returned) }
    }

    func answer(_ opcode: HCIOpcode, status: HCIStatus) {
        note(opcode, status)
        let isStatus =
            status == .unknownCommand ? !configuration.completesUnknownCommands : Self.isAnsweredByStatus(opcode)
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

    private func note(_ opcode: HCIOpcode, _ status: HCIStatus) {
        guard !status.isSuccess else { return }
        if statistics.rejections.count >= 64 { statistics.rejections.removeFirst() }
        statistics.rejections.append(.init(opcode: opcode, status: status))
    }

    private static func isAnsweredByStatus(_ opcode: HCIOpcode) -> Bool {
        switch opcode {
        case Disconnect.opcode, ReadRemoteVersionInformation.opcode, LECreateConnection.opcode,
            LEConnectionUpdate.opcode, LEReadRemoteFeatures.opcode, LESetPHY.opcode,
            LEExtendedCreateConnection.opcode, LEEnableEncryption.opcode:
            true
        default: false
        }
    }

    // MARK: What is known

    /// Every command that this controller carries out.
    var servedCommands: [HCIOpcode] {
        let features = configuration.features
        var opcodes: [HCIOpcode] = [
            Disconnect.opcode, ReadRemoteVersionInformation.opcode, SetEventMask.opcode, Reset.opcode,
            SetControllerToHostFlowControl.opcode, HostBufferSize.opcode, HostNumberOfCompletedPackets.opcode,
            SetEventMaskPage2.opcode, ReadLEHostSupport.opcode, WriteLEHostSupport.opcode,
            ReadTransmitPowerLevel.opcode, ReadLocalVersionInformation.opcode, ReadLocalSupportedCommands.opcode,
            ReadLocalSupportedFeatures.opcode, ReadBufferSize.opcode, ReadBDADDR.opcode, ReadRSSI.opcode,
            LESetEventMask.opcode, LEReadBufferSize.opcode, LEReadLocalSupportedFeatures.opcode,
            LESetRandomAddress.opcode, LESetAdvertisingParameters.opcode, LEReadAdvertisingChannelTxPower.opcode,
            LESetAdvertisingData.opcode, LESetScanResponseData.opcode, LESetAdvertisingEnable.opcode,
            LESetScanParameters.opcode, LESetScanEnable.opcode, LECreateConnection.opcode,
            LECreateConnectionCancel.opcode, LEReadFilterAcceptListSize.opcode, LEClearFilterAcceptList.opcode,
            LEAddDeviceToFilterAcceptList.opcode, LERemoveDeviceFromFilterAcceptList.opcode,
            LEConnectionUpdate.opcode, LESetHostChannelClassification.opcode, LEReadChannelMap.opcode,
            LEReadRemoteFeatures.opcode, LERand.opcode, LEReadSupportedStates.opcode,
        ]
        if features.contains(.encryption) {
            opcodes += [
                LEEncrypt.opcode, LEEnableEncryption.opcode, LELongTermKeyRequestReply.opcode,
                LELongTermKeyRequestNegativeReply.opcode,
            ]
        }
        if features.contains(.ping) {
            opcodes += [ReadAuthenticatedPayloadTimeout.opcode, WriteAuthenticatedPayloadTimeout.opcode]
        }
        if features.contains(.connectionParametersRequestProcedure) {
            opcodes += [
                LERemoteConnectionParameterRequestReply.opcode, LERemoteConnectionParameterRequestNegativeReply.opcode,
            ]
        }
        if features.contains(.dataPacketLengthExtension) {
            opcodes += [
                LESetDataLength.opcode, LEReadSuggestedDefaultDataLength.opcode,
                LEWriteSuggestedDefaultDataLength.opcode, LEReadMaximumDataLength.opcode,
            ]
        }
        if features.contains(.linkLayerPrivacy) {
            opcodes += [
                LEAddDeviceToResolvingList.opcode, LERemoveDeviceFromResolvingList.opcode,
                LEClearResolvingList.opcode, LEReadResolvingListSize.opcode, LESetAddressResolutionEnable.opcode,
                LESetResolvablePrivateAddressTimeout.opcode, LESetPrivacyMode.opcode,
                LEReadPeerResolvableAddress.opcode, LEReadLocalResolvableAddress.opcode,
            ]
        }
        if !features.isDisjoint(with: [.le2MPHY, .leCodedPHY]) {
            opcodes += [LEReadPHY.opcode, LESetDefaultPHY.opcode, LESetPHY.opcode]
        }
        if features.contains(.extendedAdvertising) {
            opcodes += [
                LESetAdvertisingSetRandomAddress.opcode, LESetExtendedAdvertisingParameters.opcode,
                LESetExtendedAdvertisingData.opcode, LESetExtendedScanResponseData.opcode,
                LESetExtendedAdvertisingEnable.opcode, LEReadMaximumAdvertisingDataLength.opcode,
                LEReadNumberOfSupportedAdvertisingSets.opcode, LERemoveAdvertisingSet.opcode,
                LEClearAdvertisingSets.opcode, LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode,
                LEExtendedCreateConnection.opcode,
            ]
        }
        return opcodes
    }

    private func isServed(_ opcode: HCIOpcode) -> Bool {
        servedCommands.contains(opcode) && !configuration.unservedCommands.contains(opcode)
            && !configuration.falselyClaimedCommands.contains(opcode)
    }

    /// What Read Local Supported Commands answers.
    var supportedCommands: SupportedCommands {
        var commands = SupportedCommands()
        for opcode in servedCommands where !configuration.unservedCommands.contains(opcode) {
            commands.insert(opcode)
        }
        for opcode in configuration.falselyClaimedCommands { commands.insert(opcode) }
        return commands
    }

    /// Keeps legacy and extended commands apart (Core 5.4, Vol 4, Part E, 3.1.1).
    private func mayUse(_ opcode: HCIOpcode) -> Bool {
        let family: CommandFamily
        switch opcode {
        case LESetAdvertisingParameters.opcode, LEReadAdvertisingChannelTxPower.opcode, LESetAdvertisingData.opcode,
            LESetScanResponseData.opcode, LESetAdvertisingEnable.opcode, LESetScanParameters.opcode,
            LESetScanEnable.opcode, LECreateConnection.opcode:
            family = .legacy
        case LESetAdvertisingSetRandomAddress.opcode, LESetExtendedAdvertisingParameters.opcode,
            LESetExtendedAdvertisingData.opcode, LESetExtendedScanResponseData.opcode,
            LESetExtendedAdvertisingEnable.opcode, LEReadMaximumAdvertisingDataLength.opcode,
            LEReadNumberOfSupportedAdvertisingSets.opcode, LERemoveAdvertisingSet.opcode,
            LEClearAdvertisingSets.opcode, LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode,
            LEExtendedCreateConnection.opcode:
            family = .extended
        default: return true
        }
        if settings.family == .undecided { settings.family = family }
        return settings.family == family || configuration.allowsMixedCommands
    }

    // MARK: Which command goes where

    private func carryOut(_ opcode: HCIOpcode, _ parameters: RawSpan) {
        switch opcode.groupField {
        case HCIOpcode.Group.leController.rawValue:
            if carryOutRadio(opcode, parameters) || carryOutAdvertising(opcode, parameters)
                || carryOutLink(opcode, parameters) || carryOutEncryption(opcode, parameters)
                || carryOutLists(opcode, parameters) || carryOutPrivacy(opcode, parameters)
                || carryOutInformation(opcode, parameters)
            {
                return
            }
        default:
            if carryOutInformation(opcode, parameters) || carryOutLink(opcode, parameters) { return }
        }
        answer(opcode, status: .unknownCommand)
    }
}
