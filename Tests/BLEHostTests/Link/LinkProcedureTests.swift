import BLEPackets
import Testing

@testable import BLEHost

/// One link without an engine: the test answers its commands and reads what it signals.
private struct Bench {
    let link: Link
    var effects = Effects()
    var now: Instant {
        get { effects.now }
        set { effects.now = newValue }
    }
    private var lastOperation: UInt64 = 0

    init(_ role: LinkRole = .central, localFeatures: LEFeatures = []) {
        link = Link.made(7, generation: 1, role: role, localFeatures: localFeatures)
        effects.now = Instant(microseconds: 1_000_000)
    }

    mutating func start(_ procedure: LinkProcedure, client: ClientID = .local) -> OperationID {
        lastOperation += 1
        let operation = OperationID(rawValue: lastOperation)
        link.start(procedure, operation: operation, client: client, into: &effects)
        return operation
    }

    /// Takes the next command from the queue, as a controller does.
    mutating func command() -> HCIOpcode? {
        effects.commands.flush(into: &effects.packets, at: now)
        effects.packets.removeAll()
        guard let command = effects.commands.inFlight else { return nil }
        let purpose = effects.commands.answered(command.opcode, credits: 1)
        #expect(purpose == .link(link.id, .procedure))
        return command.opcode
    }

    /// What the link wants sent on the signalling channel.
    mutating func signals() -> [[UInt8]] {
        var signals: [[UInt8]] = []
        while let frame = link.queue.popFirst() {
            #expect(frame.channel == .leSignalling)
            signals.append(frame.payload)
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
    func inTurn() throws {
        var bench = Bench()
        let (first, second) = (bench.start(.readRSSI), bench.start(.readRSSI))
        let command = bench.command()
        #expect(command == ReadRSSI.opcode)
        let nextCommand = bench.command()
        #expect(nextCommand == nil)
        for rssi in [Int8(-40), -50] {
            let answer: [UInt8] = [0, 7, 0, UInt8(bitPattern: rssi)]
            try bench.link.commandSucceeded(ReadRSSI.opcode, answer.span.bytes, into: &bench.effects)
            _ = bench.command()
        }
        let ends = bench.ends()
        #expect(ends == [first: .success(.rssi(-40)), second: .success(.rssi(-50))])
        #expect(bench.link.operations.isEmpty && bench.link.nextDeadline == nil)
    }

    @Test("an answer that cannot be decoded ends nothing by itself; the failure ends only its operation")
    func broken() {
        var bench = Bench()
        let (first, second) = (bench.start(.readRSSI), bench.start(.readRSSI))
        let answer: [UInt8] = [0, 7]
        #expect(throws: DecodingError.self) {
            try bench.link.commandSucceeded(ReadRSSI.opcode, answer.span.bytes, into: &bench.effects)
        }
        let none = bench.ends()
        #expect(none.isEmpty)
        let failure = HostFailure.controller(.unspecifiedError, ReadRSSI.opcode)
        bench.link.finish(ReadRSSI.opcode, with: .failure(failure), into: &bench.effects)
        bench.link.finish(ReadRSSI.opcode, with: .success(.rssi(1)), into: &bench.effects)
        let ends = bench.ends()
        #expect(ends == [first: .failure(failure), second: .success(.rssi(1))])
    }

    @Test("what does not change while the link lasts is read once")
    func known() {
        var bench = Bench()
        let (first, second) = (bench.start(.readRemoteFeatures), bench.start(.readRemoteFeatures))
        let command = bench.command()
        #expect(command == LEReadRemoteFeatures.opcode)
        bench.link.receive(
            LEReadRemoteFeaturesComplete(
                status: .success, connectionHandle: bench.link.id.handle, features: [.encryption]),
            into: &bench.effects)
        let third = bench.start(.readRemoteFeatures)
        let secondCommand = bench.command()
        #expect(secondCommand == nil)
        let features = Result<HostResult, HostFailure>.success(.remoteFeatures([.encryption]))
        let ends = bench.ends()
        #expect(ends == [first: features, second: features, third: features])
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
        let command = bench.command()
        #expect(command == (updatesItself ? LEConnectionUpdate.opcode : nil))
        let signals = bench.signals()
        // Connection Parameter Update Request (Core 5.4, Vol 3, Part A, 4.20): 24 to 40 × 1.25 ms, 200 × 10 ms.
        let request = bytes("12 01 0800 1800 2800 0000 c800")
        #expect(signals == (updatesItself ? [] : [request]))
    }

    @Test("a peripheral's unanswered request ends after 30 s, a central's update after 41 s")
    func timeouts() {
        var peripheral = Bench(.peripheral)
        let asked = peripheral.start(.updateParameters(wished))
        peripheral.now = peripheral.now.advanced(by: .seconds(30))
        peripheral.link.advanceSignalling(into: &peripheral.effects)
        let peripheralEnds = peripheral.ends()
        #expect(peripheralEnds == [asked: .failure(.rejectedByPeer)])
        var central = Bench()
        let updated = central.start(.updateParameters(wished))
        central.now = central.now.advanced(by: .seconds(40))
        central.link.advanceProcedures(into: &central.effects)
        let early = central.ends()
        #expect(early.isEmpty)
        central.now = central.now.advanced(by: .seconds(1))
        central.link.advanceProcedures(into: &central.effects)
        let late = central.ends()
        #expect(late == [updated: .failure(.procedureTimeout)])
    }

    @Test("contradictory parameters are not sent")
    func invalid() {
        var bench = Bench()
        var invalid = wished
        invalid.peripheralLatency = 499
        let operation = bench.start(.updateParameters(invalid))
        let ends = bench.ends()
        #expect(ends == [operation: .failure(.invalidRequest(.connectionParameters))])
        let command = bench.command()
        #expect(command == nil)
    }
}

@Suite("The table of links")
struct LinkTableTests {
    @Test("a reused handle belongs to the new link; the old identifier finds nothing")
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

    @Test("the earliest deadline is that of the present links")
    func deadlines() {
        var table = LinkTable(limit: 3)
        let links = (0..<3).map { Link.made(UInt16($0), generation: 1) }
        for (number, link) in links.enumerated() {
            link.state = .closing(deadline: Instant(microseconds: Int64(number) * 10))
            table.insert(link)
        }
        #expect(table.isFull)
        table.updateDeadlines()
        #expect(table.nextDeadline == Instant(microseconds: 0))
        table.remove(links[0])
        #expect(table.nextDeadline == Instant(microseconds: 10))
        table[links[1].id]?.state = .open
        table.updateDeadlines()
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
            state: .open,
            parameters: ConnectionParameters(
                interval: .milliseconds(30), peripheralLatency: 0, supervisionTimeout: .milliseconds(5000)),
            localFeatures: localFeatures, localAddress: peer, peerAddress: peer, gatt: GATTClientSettings())
    }
}
