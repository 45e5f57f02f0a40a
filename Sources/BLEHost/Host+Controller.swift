import BLEPackets

/// The controller session: starting it, taking the answers to commands, and bringing it back when it fails.
extension Host {
    // MARK: Starting

    mutating func startController(at now: Instant) {
        information = ControllerInformation()
        phase = .starting(next: 0)
        continueStartup(at: now)
    }

    /// Gives the next command that makes sense, or declares the controller ready.
    mutating func continueStartup(at now: Instant) {
        guard case .starting(var next) = phase else { return }
        let steps = StartupStep.allCases
        while next < steps.count {
            let step = steps[next]
            next += 1
            phase = .starting(next: next)
            if step == .setEventMask { chooseOwnAddress() }
            if step == .setRandomAddress, privacy.isBeingMade {
                phase = .starting(next: next - 1)
                return
            }
            if step.applies(to: information, configuration: configuration) { return submit(step) }
        }
        phase = .ready
        ladder.isReady(at: now)
        beginResolvingList()
        advertisingMachine = AdvertisingMachine(setsRandomAddress: information.usesExtendedCommands)
        acl.configure(packetLength: information.aclDataLength, packetCount: information.aclDataCount)
        events.append(.ready(information))
        needsConvergence = true
    }

    private mutating func submit(_ step: StartupStep) {
        let purpose = CommandPurpose.startup(step)
        switch step {
        case .reset: commands.append(Reset(), purpose: purpose)
        case .readLocalVersion: commands.append(ReadLocalVersionInformation(), purpose: purpose)
        case .readSupportedCommands: commands.append(ReadLocalSupportedCommands(), purpose: purpose)
        case .readSupportedFeatures: commands.append(ReadLocalSupportedFeatures(), purpose: purpose)
        case .readAddress: commands.append(ReadBDADDR(), purpose: purpose)
        case .readLEFeatures: commands.append(LEReadLocalSupportedFeatures(), purpose: purpose)
        case .readLEBufferSize: commands.append(LEReadBufferSize(), purpose: purpose)
        case .readBufferSize: commands.append(ReadBufferSize(), purpose: purpose)
        case .readSupportedStates: commands.append(LEReadSupportedStates(), purpose: purpose)
        case .readAcceptListSize: commands.append(LEReadFilterAcceptListSize(), purpose: purpose)
        case .readResolvingListSize: commands.append(LEReadResolvingListSize(), purpose: purpose)
        case .readMaximumDataLength: commands.append(LEReadMaximumDataLength(), purpose: purpose)
        case .setEventMask: commands.append(SetEventMask(mask: EventMasks.hci), purpose: purpose)
        case .setLEEventMask:
            var mask = EventMasks.le(for: information.features)
            if configuration.usesControllerResolution,
                information.features.contains(.extendedScanningFilterPolicies)
            {
                mask.insert(.directedAdvertisingReport)
            }
            commands.append(LESetEventMask(mask: mask), purpose: purpose)
        case .writeSuggestedDataLength:
            commands.append(
                LEWriteSuggestedDefaultDataLength(
                    maximumTransmitOctets: information.maximumTransmitOctets,
                    maximumTransmitTime: information.maximumTransmitMicroseconds),
                purpose: purpose)
        case .setRandomAddress:
            guard let address = information.ownAddress else { return }
            commands.append(LESetRandomAddress(address: address), purpose: purpose)
        }
    }

    private mutating func chooseOwnAddress() {
        switch configuration.ownAddress {
        case .public: information.ownAddress = information.publicAddress
        case .random(let address): information.ownAddress = address
        case .automatic(let fallback): information.ownAddress = information.publicAddress ?? fallback
        case .resolvable(let fallback):
            information.ownAddress = information.publicAddress ?? fallback
            makePrivateAddress()
        }
        information.identityAddress = information.ownAddress
    }

    /// A startup command was answered.
    /// - Returns: whether the next may follow; not when the controller is being brought back.
    private mutating func startupAnswered(
        _ step: StartupStep, _ parameters: RawSpan, at now: Instant
    ) throws(DecodingError) -> Bool {
        let status = HCIStatus(rawValue: parameters.byte(at: 0) ?? HCIStatus.unspecifiedError.rawValue)
        guard status.isSuccess else {
            // A refusal of the mask means that the controller does not know all of its bits: the oldest mask is tried.
            if step == .setLEEventMask {
                commands.append(LESetEventMask(mask: .afterReset), purpose: .unattended)
                return true
            }
            if step.isRequired { recover(at: now) }
            return !step.isRequired
        }
        var reader = PacketReader(parameters)
        switch step {
        case .readLocalVersion:
            let answer = try ReadLocalVersionInformation.ReturnParameters(decoding: &reader)
            information.hciVersion = answer.hciVersion.rawValue
            information.hciSubversion = answer.hciSubversion
            information.lmpVersion = answer.lmpVersion.rawValue
            information.lmpSubversion = answer.lmpSubversion
            information.companyIdentifier = answer.manufacturer.rawValue
        case .readSupportedCommands:
            information.supportedCommands = parameters.extracting(droppingFirst: 1).copied()
        case .readAddress:
            let answer = try ReadBDADDR.ReturnParameters(decoding: &reader)
            information.publicAddress = answer.address.value == 0 ? nil : answer.address
        case .readLEFeatures:
            information.features = try LEReadLocalSupportedFeatures.ReturnParameters(decoding: &reader).features
        case .readLEBufferSize:
            let answer = try LEReadBufferSize.ReturnParameters(decoding: &reader)
            information.aclDataLength = answer.aclDataPacketLength
            information.aclDataCount = UInt16(answer.totalACLDataPackets)
        case .readBufferSize:
            let answer = try ReadBufferSize.ReturnParameters(decoding: &reader)
            information.aclDataLength = answer.aclDataPacketLength
            information.aclDataCount = answer.totalACLDataPackets
        case .readSupportedStates:
            information.supportedStates = try LEReadSupportedStates.ReturnParameters(decoding: &reader).states
        case .readAcceptListSize:
            information.filterAcceptListSize = try LEReadFilterAcceptListSize.ReturnParameters(decoding: &reader).size
        case .readResolvingListSize:
            information.resolvingListSize = try LEReadResolvingListSize.ReturnParameters(decoding: &reader).size
        case .readMaximumDataLength:
            let answer = try LEReadMaximumDataLength.ReturnParameters(decoding: &reader)
            information.maximumTransmitOctets = answer.maximumTransmitOctets
            information.maximumTransmitMicroseconds = answer.maximumTransmitTime
        case .reset, .readSupportedFeatures, .setEventMask, .setLEEventMask, .writeSuggestedDataLength,
            .setRandomAddress:
            break
        }
        return true
    }

    // MARK: Answers

    /// Command Complete or Command Status came for `opcode`.
    /// - Parameter parameters: the return parameters, or the status octet alone.
    mutating func commandAnswered(
        _ opcode: HCIOpcode, credits: UInt8, parameters: RawSpan, at now: Instant
    ) throws(DecodingError) {
        guard let purpose = commands.answered(opcode, credits: credits) else {
            // Opcode 0 only returns credits; what else nobody asked for is late, or another process's.
            if opcode.rawValue != 0 { counters.unexpectedEvents &+= 1 }
            return
        }
        let status = HCIStatus(rawValue: parameters.byte(at: 0) ?? HCIStatus.unspecifiedError.rawValue)
        switch purpose {
        case .startup(let step):
            do throws(DecodingError) {
                if try startupAnswered(step, parameters, at: now) { continueStartup(at: now) }
            } catch {
                if step.isRequired { recover(at: now) } else { continueStartup(at: now) }
                throw error
            }
        case .scan: scanAnswered(status, at: now)
        case .initiate: initiateAnswered(status, at: now)
        case .advertise: advertiseAnswered(status, at: now)
        case .ownAddress: addressChanged(status, at: now)
        case .resolvingList: resolvingListAnswered(status)
        case .link(let link, let procedure):
            linkCommandAnswered(procedure, on: link, status, opcode, parameters, at: now)
        case .client(let operation):
            complete(operation, .success(.hciAnswer(parameters.copied())))
        case .unattendedOnLink, .unattended: break
        }
    }

    // MARK: Time

    mutating func advanceController(to now: Instant) {
        if commands.restoreCredit(at: now) { counters.commandTimeouts &+= 1 }
        guard let command = commands.timeOut(at: now) else { return }
        counters.commandTimeouts &+= 1
        switch command.purpose {
        case .startup(let step):
            if step.isRequired { recover(at: now) } else { continueStartup(at: now) }
        case .scan, .initiate, .advertise, .ownAddress:
            recover(at: now)
        case .resolvingList: resolvingListTimedOut()
        case .link(let link, let procedure):
            if procedure == .disconnect { return recover(at: now) }
            linkCommandFailed(procedure, on: link, .commandTimeout(command.opcode), at: now)
        case .client(let operation):
            complete(operation, .failure(.commandTimeout(command.opcode)))
        case .unattendedOnLink, .unattended: break
        }
    }

    // MARK: Recovery

    /// The controller does not do what it must: one rung up the ladder.
    mutating func recover(at now: Instant) {
        switch phase {
        case .starting, .ready: break
        case .stopping: return finishStopping(at: now)
        case .closed, .awaitingTransport, .stopped, .failed: return
        }
        let step = ladder.fall(at: now)
        loseController(at: now)
        switch step {
        case .reset:
            counters.controllerResets &+= 1
            events.append(.recovering(.reset))
            startController(at: now)
        case .reopenTransport:
            counters.transportReopenings &+= 1
            phase = .awaitingTransport
            events.append(.recovering(.reopenTransport))
            events.append(.reopenTransport)
        case .giveUp:
            phase = .failed
            endIntents(with: .controllerUnresponsive)
            events.append(.failed(.controllerUnresponsive))
            finishStopping(at: now)
        }
    }

    /// The controller forgot everything, or is gone: links and commands end, intents stay.
    mutating func loseController(at now: Instant) {
        for slot in links.slotRange where links.isOccupied(slot) { linkEnded(slot, reason: .controllerLost, at: now) }
        for purpose in commands.removeAll() {
            if case .client(let operation) = purpose {
                complete(operation, .failure(.controllerLost))
            }
        }
        outbox.removeAll()
        parked.removeAll()
        resolver.controllerLost()
        privacy = PrivateAddress()
        resolvingList = ControllerResolvingList()
        scanMachine.controllerReset()
        initiator.controllerReset()
        acceptListLimit = .max
        advertisingMachine.controllerReset()
        callDeadline = nil
        needsConvergence = true
    }
}
