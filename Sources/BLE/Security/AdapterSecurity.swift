import BLEHost
import BLEPackets

/// The pairing state of an engine's owner: the peer of each link, and the open questions to the agent.
@_spi(HostRunner)
public struct AdapterSecurity {
    /// The peer of each link.
    private(set) var peers: [LinkID: DeviceAddress] = [:]
    private(set) var links: [LinkID: LinkSecurity] = [:]
    /// Open questions to the agent.
    private var questions: [LinkID: [Task<Void, Never>]] = [:]

    public init() {}

    mutating func connected(_ link: LinkInformation) {
        // A link may be reported twice: to the client that made it, and as a central's.
        if peers[link.id] == nil { peers[link.id] = link.peer.withoutIdentityMark }
    }

    mutating func disconnected(_ link: LinkID) {
        peers[link] = nil
        links[link] = nil
        cancelQuestions(of: link)
    }

    mutating func changed(_ link: LinkID, to security: LinkSecurity) {
        links[link] = security
        if security.isBonded { peers[link] = security.identity }
    }

    /// The peer of a pairing on a link.
    func peer(of link: LinkID) -> PairingPeer {
        PairingPeer(link: link, address: peers[link] ?? DeviceAddress(value: 0, kind: .public))
    }

    /// Passes pairing events to the agent, each question in a task that is cancelled when the pairing ends.
    /// - Parameter answer: passes the agent's answer to the engine.
    /// - Returns: the question to cancel at once, because there is no agent.
    public mutating func handle(
        _ event: PairingEvent, with peer: PairingPeer, agent: (any PairingAgent)?,
        answer: @escaping @Sendable (PairingQuestionID, PairingAnswer) async -> Void
    ) -> PairingQuestionID? {
        let link = peer.link
        switch event {
        case .started, .belongs, .securityRequested, .passkeyLocked: break
        case .displayPasskey(let passkey):
            guard let agent else { break }
            asked(Task { await agent.display(passkey: passkey, for: peer) }, on: link)
        case .question(let question):
            guard let agent else { return question.id }
            let task = Task {
                let reply: PairingAnswer
                switch question.kind {
                case .enterPasskey: reply = await agent.enterPasskey(for: peer).map { .passkey($0) } ?? .cancel
                case .compare(let number): reply = .confirm(await agent.compare(number, with: peer))
                case .consent: reply = .confirm(await agent.consents(to: peer))
                case .replaceBond(let identity):
                    reply = .confirm(await agent.replacesBond(of: identity, with: peer))
                }
                if !Task.isCancelled { await answer(question.id, reply) }
            }
            asked(task, on: link)
        case .paired(let summary):
            cancelQuestions(of: link)
            if summary.isBonded {
                // When the link was encrypted, the identity was not known yet.
                links[link]?.isBonded = true
                links[link]?.identity = summary.identity
            }
            if let agent { Task { await agent.ended(.success(summary), with: peer) } }
        case .failed(let failure):
            cancelQuestions(of: link)
            if let agent { Task { await agent.ended(.failure(failure), with: peer) } }
        }
        return nil
    }

    private mutating func asked(_ task: Task<Void, Never>, on link: LinkID) {
        questions[link, default: []].append(task)
    }

    private mutating func cancelQuestions(of link: LinkID) {
        for task in questions.removeValue(forKey: link) ?? [] { task.cancel() }
    }
}
