import BLEPackets
import Testing

@testable import BLEHost

/// Who comes first at the controller, which takes one command at a time.
@Suite("Turns at the controller")
struct CommandTurnsTests {
    private static let question = LEReadNumberOfSupportedAdvertisingSets.opcode
    private let now = Instant(microseconds: 1_000_000)

    private func client(_ number: Int) -> ClientID { ClientID(rawValue: 0x8000_0000 + UInt32(number)) }

    /// A queue in which clients of one owner have asked thousands of questions, one of which the controller has.
    private func crowded(clients: Int = 30, questions: Int = 250) -> CommandQueue {
        var commands = CommandQueue()
        var outbox = Outbox()
        for number in 0..<clients {
            commands.users.set(ClientUser(1000), of: client(number))
            for count in 0..<questions {
                let operation = OperationID(rawValue: UInt64(number * questions + count))
                commands.append(
                    opcode: Self.question, parameters: [], purpose: .client(operation), of: client(number))
            }
        }
        commands.flush(into: &outbox, at: now)
        return commands
    }

    /// The purposes of the next commands, as the controller gets them.
    private func next(_ count: Int, _ commands: inout CommandQueue) -> [CommandPurpose] {
        var purposes: [CommandPurpose] = []
        var outbox = Outbox()
        while purposes.count < count, let command = commands.inFlight {
            _ = commands.answered(command.opcode, credits: 1)
            commands.flush(into: &outbox, at: now)
            if let next = commands.inFlight { purposes.append(next.purpose) }
        }
        return purposes
    }

    @Test("7,500 questions delay a Long Term Key, the end of a link and a scan by one command")
    func linksComeFirst() {
        var commands = crowded()
        let link = LinkID(handle: ConnectionHandle(rawValue: 0x40), generation: 1)
        for _ in 0..<4 { commands.append(LESetScanEnable(isEnabled: true, filtersDuplicates: false), purpose: .scan) }
        commands.append(
            Disconnect(connectionHandle: ConnectionHandle(rawValue: 0x41)),
            purpose: .unattendedOnLink(ConnectionHandle(rawValue: 0x41)))
        commands.append(
            LELongTermKeyRequestReply(connectionHandle: link.handle, longTermKey: Key128(rawValue: 1)),
            purpose: .link(link, .replyWithKey))
        #expect(
            next(6, &commands) == [
                .unattendedOnLink(ConnectionHandle(rawValue: 0x41)), .link(link, .replyWithKey), .scan, .scan, .scan,
                .scan,
            ])
    }

    @Test("another user's question comes after one of the first user, however many clients that one has")
    func byOwner() {
        var commands = crowded()
        let other = client(99)
        commands.users.set(ClientUser(1001), of: other)
        for number in 0..<3 {
            commands.append(
                opcode: Self.question, parameters: [],
                purpose: .client(OperationID(rawValue: 1_000_000 + UInt64(number))), of: other)
        }
        let places = next(10, &commands).enumerated().filter { ($1.operation?.rawValue ?? 0) >= 1_000_000 }
        #expect(places.map(\.offset).last ?? 99 <= 5, "\(places)")
        #expect(places.map { $0.element.operation?.rawValue } == [1_000_000, 1_000_001, 1_000_002])
    }

    @Test("the clients of one user take turns with each other, and each keeps its order")
    func byClient() {
        var commands = crowded(clients: 3, questions: 4)
        // The first one is with the controller.
        let operations = next(11, &commands).compactMap { $0.operation?.rawValue }
        #expect(operations == [4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11])
        #expect(commands.isIdle == false)
        _ = commands.answered(Self.question, credits: 1)
        #expect(commands.isIdle)
    }

    @Test("an operator's question comes before those of all others")
    func operatorsFirst() {
        var commands = crowded()
        commands.users.set(ClientUser(1, isOperator: true), of: client(99))
        let operation = OperationID(rawValue: 1_000_000)
        commands.append(opcode: Self.question, parameters: [], purpose: .client(operation), of: client(99))
        #expect(next(1, &commands) == [.client(operation)])
    }

    @Test("where nothing is known of owners, commands are sent in the order in which they came, but for what is urgent")
    func withoutShares() {
        var commands = CommandQueue()
        var outbox = Outbox()
        for number in 0..<2 {
            for count in 0..<3 {
                commands.append(
                    opcode: Self.question, parameters: [],
                    purpose: .client(OperationID(rawValue: UInt64(10 * number + count))), of: client(number))
            }
        }
        commands.append(LESetScanEnable(isEnabled: true, filtersDuplicates: false), purpose: .scan)
        let link = LinkID(handle: ConnectionHandle(rawValue: 0x40), generation: 1)
        commands.append(Disconnect(connectionHandle: link.handle), purpose: .link(link, .disconnect))
        commands.flush(into: &outbox, at: now)
        #expect(
            [commands.inFlight?.purpose].compactMap { $0 } + next(7, &commands) == [
                .link(link, .disconnect), .client(OperationID(rawValue: 0)), .client(OperationID(rawValue: 1)),
                .client(OperationID(rawValue: 2)), .client(OperationID(rawValue: 10)),
                .client(OperationID(rawValue: 11)), .client(OperationID(rawValue: 12)), .scan,
            ])
    }

    @Test("a few commands of the engine and an urgent one are sent in the order in which they came")
    func fewCommands() {
        var commands = CommandQueue()
        var outbox = Outbox()
        let link = LinkID(handle: ConnectionHandle(rawValue: 0x40), generation: 1)
        for _ in 0..<2 { commands.append(LESetScanEnable(isEnabled: true, filtersDuplicates: false), purpose: .scan) }
        commands.append(Disconnect(connectionHandle: link.handle), purpose: .link(link, .disconnect))
        commands.append(LESetScanEnable(isEnabled: true, filtersDuplicates: false), purpose: .scan)
        commands.flush(into: &outbox, at: now)
        #expect(next(3, &commands) == [.scan, .link(link, .disconnect), .scan])
    }

    @Test("what a client that leaves has asked the controller and nobody has sent ends at once")
    func leavers() {
        let rig = HostRig()
        rig.start()
        rig.answers[Self.question] = .silence
        var operations: [OperationID] = []
        for _ in 0..<256 {
            operations.append(
                rig.submit(.sendHCICommand(opcode: Self.question, parameters: []), from: client(1)))
        }
        for operation in operations { rig.submit(.cancel(operation), from: client(1)) }
        #expect(rig.results(of: operations[0]).isEmpty)
        for operation in operations[1...] { #expect(rig.results(of: operation) == [.failure(.cancelled)]) }
        rig.forget()
        rig.answers[Self.question] = nil
        rig.receive(CommandComplete(opcode: Self.question, returnParameters: [0, 4]))
        #expect(rig.results(of: operations[0]) == [.success(.hciAnswer([0, 4]))])
        #expect(rig.commands.isEmpty)
    }

    @Test("a peripheral answers for its key at once while a client floods the controller with questions")
    func keyBesideFlood() {
        let rig = HostRig()
        rig.start()
        let link = rig.connect()
        rig.answers[Self.question] = .silence
        for _ in 0..<250 { rig.submit(.sendHCICommand(opcode: Self.question, parameters: []), from: client(1)) }
        rig.forget()
        rig.receive(
            LELongTermKeyRequest(connectionHandle: link.handle, randomNumber: 0, encryptedDiversifier: 0))
        rig.submit(.link(link, .disconnect))
        rig.receive(CommandComplete(opcode: Self.question, returnParameters: [0, 4]))
        #expect(
            rig.commands.prefix(2).map(\.opcode) == [
                LELongTermKeyRequestNegativeReply.opcode, Disconnect.opcode,
            ])
    }

    @Test("what clients ask of links takes turns by user, too")
    func proceduresTakeTurns() {
        let rig = HostRig()
        rig.start()
        let link = rig.connect()
        rig.apply(.user(ClientUser(1000), client(1)))
        rig.apply(.user(ClientUser(1001), client(2)))
        rig.answers[Self.question] = .silence
        rig.answers[ReadRSSI.opcode] = .silence
        for _ in 0..<250 { rig.submit(.sendHCICommand(opcode: Self.question, parameters: []), from: client(1)) }
        rig.forget()
        rig.submit(.link(link, .procedure(.readRSSI)), from: client(2))
        for _ in 0..<2 { rig.receive(CommandComplete(opcode: Self.question, returnParameters: [0, 4])) }
        #expect(rig.count(of: ReadRSSI.opcode) == 1)
    }

    @Test("users are found whatever the order in which clients come and go")
    func users() {
        var users = ClientUsers()
        let numbers = [5, 1, 9, 3, 7, 1, 5]
        for number in numbers { users.set(ClientUser(UInt32(number)), of: client(number)) }
        for number in [1, 3, 5, 7, 9] { #expect(users[client(number)]?.number == UInt32(number)) }
        users.set(nil, of: client(3))
        users.set(nil, of: client(4))
        for number in [0, 2, 3, 4, 8, 10] { #expect(users[client(number)] == nil) }
        #expect(users[client(9)]?.number == 9)
    }
}
