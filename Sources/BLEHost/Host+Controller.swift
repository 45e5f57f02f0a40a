import BLEPackets

/// The controller's answers and timeouts, each passed to the room that it concerns.
extension Host {
    // MARK: Starting

    mutating func startController() {
        session.start()
        // The next start tries the whole mask.
        effects.controller.reconsider(.knowsOldEventMaskOnly)
        continueStartup()
    }

    /// The last step of the start is done. Apart from the loop, as its frame would be large.
    @inline(never)
    private mutating func controllerStarted() {
        var information = session.information
        information.traits = effects.controller.traits
        let isBelieved = !effects.adapts
        radio.begin(with: information, traits: information.traits)
        radio.reportedAddress = session.reportedAddress
        rooms.pairings.ownIdentity = information.identityAddress
        effects.data.configure(
            packetLength: information.aclDataLength, packetCount: information.aclDataCount, isBelieved: isBelieved)
        effects.events.append(.ready(information))
    }

    /// Continues the start until it has to wait for an answer.
    mutating func continueStartup() {
        while true {
            switch session.proceed(
                isAddressBeingMade: radio.privateAddress.isBeingMade, knowledge: &effects.controller, at: effects.now,
                into: &effects.commands)
            {
            case .waiting: return
            case .addressChosen:
                radio.ownAddress = session.information.ownAddress
                if case .resolvable = configuration.ownAddress {
                    radio.makePrivateAddress(with: rooms.pairings.settings.identityResolvingKey, into: &effects)
                }
            case .ready: return controllerStarted()
            }
        }
    }

    // MARK: Answers

    /// Command Complete or Command Status came for `opcode`.
    /// - Parameter parameters: the return parameters, or only the status octet.
    mutating func commandAnswered(_ opcode: HCIOpcode, credits: UInt8, parameters: RawSpan) throws(DecodingError) {
        guard let purpose = effects.commands.answered(opcode, credits: credits) else {
            // Opcode 0 only returns credits; any other unexpected answer is late or belongs to another process.
            if opcode.rawValue != 0 { effects.counters.unexpectedEvents &+= 1 }
            return
        }
        let status = HCIStatus(rawValue: parameters.byte(at: 0) ?? HCIStatus.unspecifiedError.rawValue)
        switch purpose {
        case .startup(let step):
            do throws(DecodingError) {
                let verdict = try session.answered(step, parameters)
                if step == .setRandomAddress { radio.ownAddress = session.information.ownAddress }
                switch verdict {
                case .goOn: continueStartup()
                case .learn(let trait):
                    effects.learn(trait)
                    continueStartup()
                case .recover: recover(from: .refused(status, opcode))
                case .giveUp(let fault): giveUp(because: fault)
                }
            } catch {
                if step.isRequired { recover(from: .refused(status, opcode)) } else { continueStartup() }
                throw error
            }
        case .scan: radio.scanAnswered(status, opcode, hasLinks: !rooms.links.isEmpty, into: &effects)
        case .initiate: radio.initiateAnswered(status, opcode, hasLinks: !rooms.links.isEmpty, into: &effects)
        case .advertise: radio.advertiseAnswered(status, opcode, into: &effects)
        case .advertisingProbe: radio.probeAnswered(status, opcode, into: &effects)
        case .probe: break
        case .advertisingSetCapacity:
            guard Features.sets else { return }
            radio.sets.learned(status, opcode, parameters)
        case .advertisingSet(let handle):
            radio.setAnswered(handle, status, opcode, parameters, into: &effects)
        case .train: radio.trainAnswered(status, opcode, into: &effects)
        case .trainReceiver(let operation, _): radio.trainReceiverAnswered(operation, status, opcode, into: &effects)
        case .trainSubevents(let handle):
            radio.subeventsAnswered(handle, status, .controller(status, opcode), into: &effects)
        case .plain(let operation), .trainTransfer(let operation, _):
            let failure = HostFailure.controller(status, opcode)
            effects.complete(operation, status.isSuccess ? .success(.done) : .failure(failure))
        case .ownAddress:
            radio.addressAnswered(status, at: effects.now)
            session.information.ownAddress = radio.ownAddress
        case .resolvingList: if Features.pairing { radio.resolvingListAnswered(status, into: &effects) }
        case .link(let link, let purpose):
            linkCommandAnswered(purpose, on: link, status, opcode, parameters)
        case .client(let operation):
            effects.complete(operation, .success(.hciAnswer(parameters.copied())))
        case .unattendedOnLink, .unusedTrainReceiver, .unwantedTrain, .unattended: break
        }
    }

    /// The controller answered a command about a link.
    private mutating func linkCommandAnswered(
        _ purpose: LinkPurpose, on id: LinkID, _ status: HCIStatus, _ opcode: HCIOpcode, _ parameters: RawSpan
    ) {
        guard let link = rooms.links[id] else { return }
        var failure = HostFailure.controller(status, opcode)
        if status.isSuccess {
            do throws(DecodingError) {
                return try link.commandSucceeded(opcode, parameters, into: &effects)
            } catch { failure = .controller(.unspecifiedError, opcode) }
        } else if purpose == .disconnect {
            return disconnectRefused(status, on: link)
        }
        link.commandFailed(purpose, opcode, failure, &rooms, into: &effects)
    }

    /// If the controller knows no such link, it is gone, and its Disconnection Complete was lost or is late.
    private mutating func disconnectRefused(_ status: HCIStatus, on link: Link) {
        effects.counters.desynchronisations &+= 1
        if effects.adapts, configuration.ownership == .exclusive, status != .unknownConnectionIdentifier {
            return link.endRefused(status, into: &effects)
        }
        linkEnded(link, reason: .controller(status))
    }

    // MARK: Time

    mutating func advanceController() {
        if effects.commands.restoreCredit(at: effects.now) { effects.counters.commandTimeouts &+= 1 }
        guard let command = effects.commands.timeOut(at: effects.now) else { return }
        effects.counters.commandTimeouts &+= 1
        switch command.purpose {
        case .startup(let step):
            session.startFailed(at: step, knowledge: &effects.controller)
            if step.isRequired { recover(from: .unanswered(command.opcode)) } else { continueStartup() }
        case .initiate
        where configuration.adaptsToController && !command.isOverdue && session.isReliable(at: effects.now):
            // Some controllers answer after 10 s (esp-idf#7763): all links would be lost for one slow answer.
            effects.commands.waitLonger(for: command, at: effects.now)
        case .scan, .initiate, .advertise, .ownAddress:
            radio.commandLost(
                command.opcode, isFirst: session.isReliable(at: effects.now), into: &effects)
            recover(from: .unanswered(command.opcode))
        case .probe, .advertisingProbe: recover(from: .unanswered(command.opcode))
        // Some controllers swallow commands that they do not know: that ends what the command was for, and nothing
        // else.
        case .advertisingSetCapacity:
            guard Features.sets else { return }
            let none: [UInt8] = []
            radio.sets.learned(.connectionTimeout, command.opcode, none.span.bytes)
        case .advertisingSet(let handle):
            radio.setTimedOut(handle, command.opcode, into: &effects)
        case .train: radio.trainTimedOut(command.opcode, into: &effects)
        case .trainReceiver(let operation, _):
            radio.trainReceiverAnswered(operation, .connectionTimeout, command.opcode, into: &effects)
        case .trainSubevents(let handle):
            radio.subeventsAnswered(handle, .connectionTimeout, .commandTimeout(command.opcode), into: &effects)
        case .plain(let operation), .trainTransfer(let operation, _):
            effects.complete(operation, .failure(.commandTimeout(command.opcode)))
        case .resolvingList: radio.resolvingListTimedOut()
        case .link(let link, let purpose):
            if purpose == .disconnect { return recover(from: .unanswered(command.opcode)) }
            rooms.links[link]?.commandFailed(
                purpose, command.opcode, .commandTimeout(command.opcode), &rooms, into: &effects)
        case .client(let operation):
            effects.complete(operation, .failure(.commandTimeout(command.opcode)))
        case .unattendedOnLink, .unusedTrainReceiver, .unwantedTrain, .unattended: break
        }
    }

    // MARK: Recovery

    /// The controller failed: take the next step of the recovery ladder.
    mutating func recover(from fault: ControllerFault) {
        if case .stopping = phase { return finishStopping() }
        guard let step = session.fall(from: fault, lastReport: radio.reception.lastReport, at: effects.now) else {
            return
        }
        // The place may be empty: the wishes stay.
        if step == .giveUp, fault == .noReports { return effects.events.append(.faultRemains(fault)) }
        // Clients get the recovery's event before those of what it ends.
        switch step {
        case .reset: effects.events.append(.recovering(.reset))
        case .reopenTransport: effects.events.append(.recovering(.reopenTransport))
        case .resetDevice: effects.events.append(.recovering(.resetDevice))
        case .giveUp: break
        }
        loseController()
        switch step {
        case .reset:
            effects.counters.controllerResets &+= 1
            startController()
        case .reopenTransport, .resetDevice:
            effects.counters.transportReopenings &+= 1
            session.phase = .awaitingTransport
            effects.events.append(.reopenTransport(resetsDevice: step == .resetDevice))
        case .giveUp: giveUp(because: fault)
        }
    }

    /// Every operation ends.
    private mutating func giveUp(because fault: ControllerFault) {
        let failure: HostFailure =
            fault == .unanswered(Reset.opcode) ? .controllerUnresponsive : .controllerFault(fault)
        loseController()
        session.phase = .failed(failure)
        radio.endRequests(with: failure, into: &effects)
        effects.endQuestions(with: failure)
        effects.events.append(.failed(failure))
        finishStopping()
    }

    /// Resets the controller although nothing failed: it has to take other commands from now on.
    mutating func restartController() {
        effects.events.append(.recovering(.reset))
        loseController()
        effects.counters.controllerResets &+= 1
        startController()
    }

    /// The controller forgot everything or is gone: links and commands end, the clients' requests stay.
    mutating func loseController() {
        effects.restartDone()
        for link in rooms.links.all { linkEnded(link, reason: .controllerLost) }
        for purpose in effects.commands.removeAll() {
            if let operation = purpose.operation { effects.complete(operation, .failure(.controllerLost)) }
        }
        effects.packets.removeAll()
        parked.removeAll()
        rooms.pairings.bonds.resolver.controllerLost()
        radio.controllerLost(into: &effects)
    }
}
