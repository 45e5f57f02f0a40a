import BLEHost
import BLEPackets

/// A program that asks a person during pairings (`Agent1`).
struct PairingPerson: Equatable {
    /// The unique name of the client.
    var client: String
    /// The client's user.
    var user: UInt32
    var path: String
    var capability: IOCapability
}

/// A question of a pairing that an agent is asked.
struct PairingPrompt: Equatable {
    var question: PairingQuestionID
    var kind: PairingQuestion.Kind
}

/// The agents, and which of them is asked.
struct AgentDesk {
    /// In the order in which they were registered; each client has one at most.
    private(set) var all: [PairingPerson] = []
    /// The clients that may be the default, the first one is: those that have asked for it, the latest first, and the
    /// one that registered when there was no other.
    private var defaults: [String] = []

    /// The agent for devices for which no client has asked.
    var standard: PairingPerson? { defaults.first.flatMap { agent(of: $0) } }

    func agent(of client: String) -> PairingPerson? { all.first { $0.client == client } }

    /// The agent that is asked in a client's pairing: its own one, else one of its user's, else the default.
    func agent(for call: BusCall?) -> PairingPerson? {
        guard let call else { return standard }
        let ofUser = defaults.compactMap { agent(of: $0) } + all
        return agent(of: call.sender) ?? ofUser.first { $0.user == call.user } ?? standard
    }

    mutating func add(_ agent: PairingPerson) {
        if all.isEmpty { makeDefault(agent.client) }
        all.append(agent)
    }

    mutating func makeDefault(_ client: String) {
        defaults.removeAll { $0 == client }
        defaults.insert(client, at: 0)
    }

    mutating func remove(_ client: String) {
        all.removeAll { $0.client == client }
        defaults.removeAll { $0 == client }
    }

    /// What an agent can do, as it says at its registration; `nil`: there is no such capability.
    static func capability(_ name: String) -> IOCapability? {
        switch name {
        case "", "KeyboardDisplay": .keyboardDisplay
        case "DisplayOnly": .displayOnly
        case "DisplayYesNo": .displayYesNo
        case "KeyboardOnly": .keyboardOnly
        case "NoInputNoOutput": .noInputNoOutput
        default: nil
        }
    }
}
