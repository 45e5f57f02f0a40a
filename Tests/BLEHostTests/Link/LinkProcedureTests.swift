import BLEPackets
import Testing

@testable import BLEHost

/// One link without an engine: the test answers its commands and reads what it signals.
private struct Bench {
    let link: Link
    var effects = Effects()
    var now = Instant(microseconds: 1_000_000)
    private var lastOperation: UInt64 = 0

    init(_ role: LinkRole = .central, localFeatures: LEFeatures = []) {
        link = Link.made(7, generation: 1, role: role, localFeatures: localFeatures)
    }

    mutating func start(_ procedure: LinkProcedure, client: ClientID = .local) -> OperationID {
        lastOperation += 1
        let operation = OperationID(rawValue: lastOperation)
        link.start(procedure, operation: operation, client: client, at: now, into: &effects)
        return operation
    }

    /// Takes the next command from the queue, as a controller does.
    mutating func command() -> HCIOpcode? {
        effects.sendCommands(at: now)
        effects.packets.removeAll()
        guard let command = effects.commands.inFlight else { return nil }
        let purpose = effects.commands.answered(command.opcode, credits: 1)
        #expect(purpose == .link(link.id, .procedure))
        return command.opcode
    }

    /// What the link wants sent on the signalling channel.
    mutating func signals() -> [LESignallingCommand] {
        var signals: [LESignallingCommand] = []
        while let action = link.signalling.nextChannelAction() {
            if case .signal(let command, _) = action { signals.append(command) }
        }
        return signals
    }

    mutating func ends() -> [OperationID: Result<HostResult, HostFailure>] {
        var ends: [OperationID: Result<HostResult, HostFailure>] = [:]
        while let event = effects.events.popFirst() {
            guard case .completed(let operation, let result) = event else { continue }
            #expect(ends[operation] == nil, "an operation ends once")
            ends[operation] = result
        }
        return ends
    }
}

@Suite("Procedures of the link layer on one link")
struct LinkProcedureTests {
    private let wished = ConnectionParameterRequest(
        interval: .milliseconds(30)...(.milliseconds(50)), peripheralLatency: 0,
        supervisionTimeout: .milliseconds(2000))

    @Test("two with the same command run one after the other, each with its own answer")
    func inTurn() {
        var bench = Bench()
        let (first, second) = (bench.start(.readRSSI), bench.start(.readRSSI))
        let command1 = bench.command()
        #expect(command1 == ReadRSSI.opcode)
        let command2 = bench.command()
        #expect(command2 == nil)
        for rssi in [Int8(-40), -50] {
            let answer: [UInt8] = [0, 7, 0, UInt8(bitPattern: rssi)]
            bench.link.commandTaken(ReadRSSI.opcode, answer.span.bytes, at: bench.now, into: &bench.effects)
            _ = bench.command()
        }
        let ends3 = bench.ends()
        #expect(ends3 == [first: .success(.rssi(-40)), second: .success(.rssi(-50))])
        #expect(bench.link.operations.isEmpty && bench.link.nextDeadline == nil)
    }

    @Test("an answer that cannot be decoded fails its operation alone")
    func broken() {
        var bench = Bench()
        let (first, second) = (bench.start(.readRSSI), bench.start(.readRSSI))
        let answer: [UInt8] = [0, 7]
        bench.link.commandTaken(ReadRSSI.opcode, answer.span.bytes, at: bench.now, into: &bench.effects)
        let ends4 = bench.ends()
        #expect(ends4 == [first: .failure(.controller(.unspecifiedError, ReadRSSI.opcode))])
        bench.link.finish(ReadRSSI.opcode, with: .success(.rssi(1)), at: bench.now, into: &bench.effects)
        let ends5 = bench.ends()
        #expect(ends5 == [second: .success(.rssi(1))])
    }

    @Test("what does not change while the link lasts is read once")
    func known() {
        var bench = Bench()
        let (first, second) = (bench.start(.readRemoteFeatures), bench.start(.readRemoteFeatures))
        let command6 = bench.command()
        #expect(command6 == LEReadRemoteFeatures.opcode)
        bench.link.remoteFeaturesRead(
            LEReadRemoteFeaturesComplete(
                status: .success, connectionHandle: bench.link.id.handle, features: [.encryption]),
            at: bench.now, into: &bench.effects)
        let third = bench.start(.readRemoteFeatures)
        let command7 = bench.command()
        #expect(command7 == nil)
        let features = Result<HostResult, HostFailure>.success(.remoteFeatures([.encryption]))
        let ends8 = bench.ends()
        #expect(ends8 == [first: features, second: features, third: features])
    }

    @Test(
        "a peripheral asks over L2CAP unless both sides know the link layer's procedure (Core 5.4, Vol 3, Part A, 4.20)",
        arguments: [(true, true), (true, false), (false, true), (false, false)])
    func asks(isKnownHere: Bool, isKnownThere: Bool) {
        let procedure: LEFeatures = [.connectionParametersRequestProcedure]
        var bench = Bench(.peripheral, localFeatures: isKnownHere ? procedure : [])
        bench.link.remoteFeatures = isKnownThere ? procedure : []
        _ = bench.start(.updateParameters(wished))
        let updatesItself = isKnownHere && isKnownThere
        let command9 = bench.command()
        #expect(command9 == (updatesItself ? LEConnectionUpdate.opcode : nil))
        let signals10 = bench.signals()
        #expect(signals10.count == (updatesItself ? 0 : 1))
    }

    @Test("a peripheral's request that nobody answers ends after 30 s, a central's update after 41 s")
    func patience() {
        var peripheral = Bench(.peripheral)
        let asked = peripheral.start(.updateParameters(wished))
        peripheral.link.advanceProcedures(to: peripheral.now.advanced(by: .seconds(30)), into: &peripheral.effects)
        let ends11 = peripheral.ends()
        #expect(ends11 == [asked: .failure(.rejectedByPeer)])
        var central = Bench()
        let updated = central.start(.updateParameters(wished))
        central.link.advanceProcedures(to: central.now.advanced(by: .seconds(40)), into: &central.effects)
        let ends12 = central.ends()
        #expect(ends12.isEmpty)
        central.link.advanceProcedures(to: central.now.advanced(by: .seconds(41)), into: &central.effects)
        let ends13 = central.ends()
        #expect(ends13 == [updated: .failure(.procedureTimeout)])
    }

    @Test("parameters that contradict one another reach nobody")
    func invalid() {
        var bench = Bench()
        var invalid = wished
        invalid.peripheralLatency = 499
        let operation = bench.start(.updateParameters(invalid))
        let ends14 = bench.ends()
        #expect(ends14 == [operation: .failure(.invalidRequest(.connectionParameters))])
        let command15 = bench.command()
        #expect(command15 == nil)
    }
}

@Suite("The table of links")
struct LinkTableTests {
    @Test("a handle that is given out again belongs to the new link; the old identifier finds nothing")
    func generations() {
        var table = LinkTable(limit: 2)
        let old = Link.made(7, generation: 1)
        table.insert(old)
        let found = table[old.id]
        #expect(found === old)
        table.remove(old)
        let (gone, free) = (table[old.id], table[old.id.handle])
        #expect(gone == nil && free == nil && table.isEmpty)
        let new = Link.made(7, generation: 2)
        table.insert(new)
        let (current, former) = (table[old.id.handle], table[old.id])
        #expect(current === new && former == nil)
    }

    @Test("the earliest deadline is that of the links that are there")
    func deadlines() {
        var table = LinkTable(limit: 3)
        let links = (0..<3).map { Link.made(UInt16($0), generation: 1) }
        for (number, link) in links.enumerated() {
            link.state = .closing(deadline: Instant(microseconds: Int64(number) * 10))
            table.insert(link)
        }
        #expect(table.isFull)
        table.noteDeadlines()
        #expect(table.nextDeadline == Instant(microseconds: 0))
        table.remove(links[0])
        #expect(table.nextDeadline == Instant(microseconds: 10))
        table[links[1].id]?.state = .open
        table.noteDeadlines()
        #expect(table.nextDeadline == Instant(microseconds: 20))
        let all = table.all
        #expect(all.map(\.id) == [links[1].id, links[2].id])
    }
}

extension Link {
    fileprivate static func made(
        _ handle: UInt16, generation: UInt32, role: LinkRole = .central, localFeatures: LEFeatures = []
    ) -> Link {
        let peer = DeviceAddress(value: 1, kind: .public)
        return Link(
            id: LinkID(handle: ConnectionHandle(rawValue: handle), generation: generation), peer: peer, role: role,
            localFeatures: localFeatures, state: .open,
            parameters: ConnectionParameters(
                interval: .milliseconds(30), peripheralLatency: 0, supervisionTimeout: .milliseconds(5000)),
            localAddress: peer, peerAddress: peer, gatt: GATTClientSettings())
    }
}
