import BLEPackets

/// The controller's answers and timeouts, each passed to the room that it concerns.
extension Host {
    // MARK: Starting

    mutating func startController() {
        session.start()
        continueStartup()
    }

    /// Continues the start until it has to wait for an answer.
    mutating func continueStartup() {
        while true {
            switch session.proceed(
                isAddressBeingMade: radio.privateAddress.isBeingMade, at: effects.now, into: &effects.commands)
            {
            case .waiting: return
            case .addressChosen:
                radio.ownAddress = session.information.ownAddress
                if case .resolvable = configuration.ownAddress {
                    radio.makePrivateAddress(with: rooms.pairings.settings.identityResolvingKey, into: &effects)
                }
            case .ready:
                radio.begin(with: information)
                rooms.pairings.ownIdentity = information.identityAddress
                effects.data.configure(packetLength: information.aclDataLength, packetCount: information.aclDataCount)
                effects.events.append(.ready(information))
                return
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
                if try session.answered(step, parameters, into: &effects.commands) {
                    continueStartup()
                } else {
                    recover()
                }
            } catch {
                if step.isRequired { recover() } else { continueStartup() }
                throw error
            }
        case .scan: radio.scanAnswered(status, into: &effects)
        case .initiate: radio.initiateAnswered(status, into: &effects)
        case .advertise: radio.advertiseAnswered(status, into: &effects)
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

    /// The controller knows no such link: it is gone, and its Disconnection Complete was lost or is late.
    private mutating func disconnectRefused(_ status: HCIStatus, on link: Link) {
        effects.counters.desynchronisations &+= 1
        linkEnded(link, reason: .controller(status))
    }

    // MARK: Time

    mutating func advanceController() {
        if effects.commands.restoreCredit(at: effects.now) { effects.counters.commandTimeouts &+= 1 }
        guard let command = effects.commands.timeOut(at: effects.now) else { return }
        effects.counters.commandTimeouts &+= 1
        switch command.purpose {
        case .startup(let step):
            if step.isRequired { recover() } else { continueStartup() }
        case .scan, .initiate, .advertise, .ownAddress: recover()
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
            if purpose == .disconnect { return recover() }
            rooms.links[link]?.commandFailed(
                purpose, command.opcode, .commandTimeout(command.opcode), &rooms, into: &effects)
        case .client(let operation):
            effects.complete(operation, .failure(.commandTimeout(command.opcode)))
        case .unattendedOnLink, .unusedTrainReceiver, .unwantedTrain, .unattended: break
        }
    }

    // MARK: Recovery

    /// The controller failed: take the next step of the recovery ladder.
    mutating func recover() {
        if case .stopping = phase { return finishStopping() }
        guard let step = session.fall(at: effects.now) else { return }
        // Clients get the recovery's event before those of what it ends.
        switch step {
        case .reset: effects.events.append(.recovering(.reset))
        case .reopenTransport: effects.events.append(.recovering(.reopenTransport))
        case .giveUp: break
        }
        loseController()
        switch step {
        case .reset:
            effects.counters.controllerResets &+= 1
            startController()
        case .reopenTransport:
            effects.counters.transportReopenings &+= 1
            session.phase = .awaitingTransport
            effects.events.append(.reopenTransport)
        case .giveUp:
            session.phase = .failed
            radio.endRequests(with: .controllerUnresponsive, into: &effects)
            effects.endQuestions(with: .controllerUnresponsive)
            effects.events.append(.failed(.controllerUnresponsive))
            finishStopping()
        }
    }

    /// The controller forgot everything or is gone: links and commands end, the clients' requests stay.
    mutating func loseController() {
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
