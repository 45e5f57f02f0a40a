import BLEHost
import BLEPackets

/// Agents: they register, and are asked in pairings.
extension BlueZService {
    mutating func receiveAgentManager(_ call: BusCall) {
        let path = call.text(at: 0)
        switch call.member {
        case "RegisterAgent":
            guard agents.agent(of: call.sender) == nil else { return refuse(call, .alreadyExists) }
            guard let capability = AgentDesk.capability(call.text(at: 1)) else {
                return refuse(call, .invalidArguments)
            }
            agents.add(PairingPerson(client: call.sender, user: call.user, path: path, capability: capability))
            beginWish(of: call.sender)
        case "UnregisterAgent":
            guard agents.agent(of: call.sender)?.path == path else { return refuse(call, .doesNotExist) }
            agents.remove(call.sender)
            cancelRequest(
                of: PairingPerson(client: call.sender, user: call.user, path: path, capability: .noInputNoOutput))
            endWish(of: call.sender)
        case "RequestDefaultAgent":
            guard agents.agent(of: call.sender)?.path == path else { return refuse(call, .doesNotExist) }
            agents.makeDefault(call.sender)
        default: return refuse(call, .unknownMethod(call))
        }
        reply(to: call)
        setAgentOfAdapters()
    }

    /// A client has left the bus.
    mutating func endAgent(of client: String) {
        guard agents.agent(of: client) != nil else { return }
        agents.remove(client)
        setAgentOfAdapters()
    }

    /// Operations that need a pairing use the abilities of the default agent; without an agent no question is asked.
    mutating func setAgentOfAdapters() {
        var security = SecuritySettings()
        security.pairing.ioCapability = agents.standard?.capability ?? .noInputNoOutput
        for number in adapters.keys.sorted() {
            setPairable(byAgents: !agents.all.isEmpty, at: number)
            security.pairing.asksConsent = agents.standard != nil || adapters[number]?.refusesPairing == true
            security.pairing.prefersAuthentication =
                security.pairing.ioCapability != .noInputNoOutput && adapters[number]?.isOperator == true
            guard adapters[number]?.pairing != security.pairing else { continue }
            adapters[number]?.pairing = security.pairing
            submit(.security(.setSecurity(security)), to: number, .nothing)
        }
    }

    /// The first agent makes the adapters pairable, and without the last one they no longer are.
    private mutating func setPairable(byAgents hasAgents: Bool, at number: Int) {
        guard let adapter = adapters[number], adapter.hasAgents != hasAgents else { return }
        let end = hasAgents ? end(after: adapter.pairableTimeout) : nil
        adapters[number]?.hasAgents = hasAgents
        adapters[number]?.isPairable = hasAgents
        if hasAgents { adapters[number]?.refusesPairing = false }
        adapters[number]?.pairableEnd = end
        tree.set([("Pairable", .boolean(hasAgents))], InterfaceName.adapter, of: adapter.path)
    }

    // MARK: Pairings

    /// What happens in the pairing with a device.
    mutating func receive(_ event: PairingEvent, of path: String) {
        guard let device = devices[path] else { return }
        let agent = agents.agent(for: device.pairing?.call)
        switch event {
        case .question(let question):
            if question.kind == .consent, device.isCentral, adapters[device.adapter]?.refusesPairing == true {
                return answer(question.id, .confirm(false), device.adapter)
            }
            guard let agent else {
                // Without an agent, pairings are Just Works.
                return answer(question.id, .confirm(question.kind == .consent), device.adapter)
            }
            prompt(agent, PairingPrompt(question: question.id, kind: question.kind), path, device.adapter)
        case .displayPasskey(let passkey):
            guard let agent else { break }
            emit(.tell(agent.request("DisplayPasskey", [.path(path), .uint32(passkey), .uint16(0)])))
        case .paired(let summary):
            cancelPrompts(of: path)
            guard device.pairing?.isFollowing != true else { return followed(path, .success(.paired(summary))) }
            // The client's own pairing ends with its command.
            if device.pairing?.ticket == nil, summary.isBonded { setBonded(true, path, identity: summary.identity) }
        case .failed(let failure):
            cancelPrompts(of: path)
            guard device.pairing?.isFollowing != true else { return followed(path, .failure(.security(failure))) }
            // The client's own pairing ends with its command.
            if device.pairing?.ticket == nil { note(failure, of: device) }
        case .started, .belongs, .passkeyLocked, .securityRequested: break
        }
    }

    private mutating func prompt(_ agent: PairingPerson, _ prompt: PairingPrompt, _ path: String, _ number: Int) {
        let request: BusRequest
        switch prompt.kind {
        case .enterPasskey: request = agent.request("RequestPasskey", [.path(path)])
        case .compare(let value): request = agent.request("RequestConfirmation", [.path(path), .uint32(value)])
        case .consent: request = agent.request("RequestAuthorization", [.path(path)])
        // Anybody in range can claim to be a bonded device: who has the device removes it first.
        case .replaceBond: return answer(prompt.question, .confirm(false), number)
        }
        ask(request, .pairing(device: path, prompt))
    }

    mutating func agentAnswered(
        _ answer: Result<[BusValue], BusError>, to prompt: PairingPrompt, _ path: String
    ) {
        guard let number = devices[path]?.adapter else { return }
        switch (answer, prompt.kind) {
        case (.success(let values), .enterPasskey):
            guard case .uint32(let passkey)? = values.first, passkey <= 999_999 else {
                return self.answer(prompt.question, .cancel, number)
            }
            self.answer(prompt.question, .passkey(passkey), number)
        case (.success, _): self.answer(prompt.question, .confirm(true), number)
        case (.failure, .enterPasskey): self.answer(prompt.question, .cancel, number)
        case (.failure, _): self.answer(prompt.question, .confirm(false), number)
        }
    }

    private mutating func answer(_ question: PairingQuestionID, _ answer: PairingAnswer, _ number: Int) {
        submit(.security(.answerPairing(question, answer)), to: number, .nothing)
    }

    /// The pairing with a device has ended while a person was asked. A number that was shown is not taken back: as with
    /// BlueZ, programs go by the device's properties.
    mutating func cancelPrompts(of path: String) {
        let open = openPrompts { $0 == path }
        for id in open {
            guard let question = questions.removeValue(forKey: id) else { continue }
            emit(.dropQuestion(id))
            cancelRequest(of: question.client)
        }
    }

    /// An agent that was asked goes: its questions are answered by no.
    private mutating func cancelRequest(of agent: PairingPerson) {
        for id in openPrompts({ _ in true }) where questions[id]?.client == agent.client {
            emit(.dropQuestion(id))
            emit(.tell(agent.request("Cancel", [])))
            receive(.failure(.noReply), to: id)
        }
    }

    /// A person need not answer any longer.
    mutating func cancelRequest(of client: String) {
        if let agent = agents.agent(of: client) { emit(.tell(agent.request("Cancel", []))) }
    }

    /// The open questions of the pairings with devices, oldest first.
    private func openPrompts(_ isMeant: (String) -> Bool) -> [QuestionID] {
        questions.filter { _, question in
            if case .pairing(let device, _) = question.purpose { isMeant(device) } else { false }
        }.keys.sorted { $0.rawValue < $1.rawValue }
    }
}

extension PairingPerson {
    func request(_ member: String, _ arguments: [BusValue]) -> BusRequest {
        BusRequest(
            destination: client, path: path, interface: InterfaceName.agent, member: member, arguments: arguments)
    }
}
