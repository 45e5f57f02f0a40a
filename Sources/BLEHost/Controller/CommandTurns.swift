import BLEPackets

/// The commands that clients ask for and that nothing else waits for, in turns: the owners of clients take turns, those
/// who are preferred before all others, and so do the clients of each owner. A client's commands keep their order.
///
/// So one that asks for thousands delays another by one command for each of the other's. Taking the next one and adding
/// one takes a time that does not depend on how many wait.
struct CommandTurns {
    private struct Line {
        let client: ClientID
        var commands = Queue<CommandQueue.Waiting>()
    }

    /// The clients of an owner that wait.
    private struct Owner {
        let user: ClientUser
        var lines: [Line] = []
        /// The place of the line that has the next turn.
        var turn = 0

        mutating func append(_ command: CommandQueue.Waiting, of client: ClientID) {
            if !lines.contains(where: { $0.client == client }) { lines.append(Line(client: client)) }
            // A line that was not there is the last one.
            let place = lines.firstIndex { $0.client == client } ?? lines.count - 1
            lines[place].commands.append(command)
        }

        mutating func popFirst() -> CommandQueue.Waiting? {
            guard !lines.isEmpty else { return nil }
            if turn >= lines.count { turn = 0 }
            let command = lines[turn].commands.popFirst()
            if lines[turn].commands.isEmpty { lines.remove(at: turn) } else { turn += 1 }
            return command
        }

        mutating func keep(where isIncluded: (CommandQueue.Waiting) -> Bool) {
            for place in lines.indices { lines[place].commands.keep(where: isIncluded) }
            lines.removeAll { $0.commands.isEmpty }
        }
    }

    /// Owners that are alike in whether they are preferred.
    private struct Rotation {
        var owners: [Owner] = []
        /// The place of the owner who has the next turn.
        var turn = 0

        mutating func append(_ command: CommandQueue.Waiting, of client: ClientID, _ user: ClientUser) {
            if !owners.contains(where: { $0.user == user }) { owners.append(Owner(user: user)) }
            let place = owners.firstIndex { $0.user == user } ?? owners.count - 1
            owners[place].append(command, of: client)
        }

        mutating func popFirst() -> CommandQueue.Waiting? {
            guard !owners.isEmpty else { return nil }
            if turn >= owners.count { turn = 0 }
            let command = owners[turn].popFirst()
            if owners[turn].lines.isEmpty { owners.remove(at: turn) } else { turn += 1 }
            return command
        }

        mutating func keep(where isIncluded: (CommandQueue.Waiting) -> Bool) {
            for place in owners.indices { owners[place].keep(where: isIncluded) }
            owners.removeAll { $0.lines.isEmpty }
        }
    }

    private var preferred = Rotation()
    private var others = Rotation()

    var isEmpty: Bool { preferred.owners.isEmpty && others.owners.isEmpty }

    mutating func append(_ command: CommandQueue.Waiting, of client: ClientID, _ user: ClientUser) {
        if user.isOperator {
            preferred.append(command, of: client, user)
        } else {
            others.append(command, of: client, user)
        }
    }

    mutating func popFirst() -> CommandQueue.Waiting? { preferred.popFirst() ?? others.popFirst() }

    /// Keeps the commands for which `isIncluded` is true, in their order.
    mutating func keep(where isIncluded: (CommandQueue.Waiting) -> Bool) {
        preferred.keep(where: isIncluded)
        others.keep(where: isIncluded)
    }
}
