import BLEHost
import BLEMessages
import BLEPackets
import Testing

@testable import BLEDaemon

@Suite("The requests of a tool end once, and leave nothing")
struct ToolSessionTests {
    private static let notPermitted = HostFailure.invalidRequest(.notPermitted)
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 64), generation: 1)

    private static let connected = HostEvent.connected(
        LinkInformation(
            id: link, peer: DeviceAddress(value: 0xC0DE_0000_0001, kind: .random), role: .central,
            parameters: ConnectionParameters(
                interval: .milliseconds(30), peripheralLatency: 0, supervisionTimeout: .milliseconds(720)),
            attMTU: 100),
        ToolStage.client)

    @Test("write commands that are not submitted are not waited for")
    func writeCommands() {
        var stage = ToolStage()
        stage.session.hear(Self.connected, waiting: 0)
        let write = HostCommand.link(Self.link, .gatt(.writeCommand(AttributeHandle(rawValue: 3), value: [])))
        for _ in 0..<4 { stage.request(write) }
        #expect(stage.session.hasManyCommands && stage.submitted.count == 4)
        for number in 1001...1004 as ClosedRange<UInt64> {
            stage.session.hear(.completed(OperationID(rawValue: number), .failure(.cancelled)), waiting: 0)
        }
        #expect(!stage.session.hasManyCommands)
        stage.submits = false
        for _ in 0..<4 { stage.request(write) }
        #expect(stage.failures.values.count { $0 == .limitReached } == 4)
        #expect(!stage.session.hasManyCommands)
    }

    @Test("out-of-band data end when the tool leaves, also when it stays connected")
    func leaves() {
        var stage = ToolStage()
        let peer = DeviceAddress(value: 1, kind: .public)
        stage.request(.security(.setOutOfBandData(peer, OutOfBandData(temporaryKey: Key128(rawValue: 7)))))
        #expect(stage.session.outOfBand.data(for: peer) != nil)
        _ = stage.session.leaving()
        #expect(stage.session.outOfBand.data(for: peer) == nil)
    }

    @Test("a question of a pairing stays open while other requests end, until its pairing does")
    func questions() {
        var stage = ToolStage()
        let (other, first, second) = (Self.link, PairingQuestionID(rawValue: 5), PairingQuestionID(rawValue: 6))
        let link = LinkID(handle: ConnectionHandle(rawValue: 65), generation: 2)
        stage.session.takesPartInPairing(.question(PairingQuestion(id: first, kind: .compare(123_456))), on: link)
        stage.session.takesPartInPairing(.question(PairingQuestion(id: second, kind: .consent)), on: other)
        stage.request(.radio(.scan(ScanRequest(isActive: true))))
        stage.session.hear(.completed(OperationID(rawValue: 1001), .failure(.cancelled)), waiting: 0)
        stage.session.takesPartInPairing(.failed(.timedOut), on: other)
        let answer = { (id: PairingQuestionID) in HostCommand.security(.answerPairing(id, .confirm(true))) }
        stage.request(answer(first))
        #expect(stage.submitted.last == .security(.answerPairing(first, .confirm(true))))
        let count = stage.submitted.count
        stage.request(answer(second))
        #expect(stage.submitted.count == count)
        // That a bond is replaced is not for every user to decide.
        stage.session.takesPartInPairing(
            .question(PairingQuestion(id: second, kind: .replaceBond(DeviceAddress(value: 1, kind: .public)))), on: link
        )
        stage.request(answer(second))
        #expect(stage.submitted.last == .security(.answerPairing(second, .confirm(false))))
    }

    @Test("what an ordinary user requires of pairings is for its own: a tool with requirements cannot serve")
    func requirements() {
        let strict = PairingOptions(requiresAuthentication: true, replacesBond: true)
        let battery = HostCommand.server(.publish(GATTServiceDefinition(uuid: "180F")))
        let listen = HostCommand.channel(.listen(spsm: nil, ChannelSettings(), requiresEncryption: false))
        let advertise = HostCommand.radio(.advertise(AdvertiseRequest(.packed(localName: nil, serviceUUIDs: []))))
        for isOperator in [false, true] {
            var stage = ToolStage(isOperator: isOperator)
            let told = stage.request(own: .servePairing(strict))
            let refused = [
                stage.request(battery), stage.request(listen), stage.request(advertise),
            ]
            let expected = isOperator ? [] : refused
            #expect(stage.failures.filter { $0.value == Self.notPermitted }.keys.sorted() == expected)
            #expect(stage.failures[told] == nil)
        }
        // One that serves already does not begin to require anything.
        var stage = ToolStage()
        let serving = stage.request(battery)
        let plain = stage.request(own: .servePairing(PairingOptions(asksConsent: true)))
        let late = stage.request(own: .servePairing(strict))
        #expect(stage.failures[serving] == nil && stage.failures[plain] == nil)
        #expect(stage.failures[late] == Self.notPermitted)
    }

    private static func bond(_ number: UInt64, of user: UInt32?) -> Bond {
        var bond = Bond(
            identity: DeviceAddress(value: number, kind: .public), localKey: LongTermKey(key: Key128(rawValue: 1)))
        bond.user = user.map { ClientUser($0) }
        bond.lastUse = number
        return bond
    }

    @Test("a tool knows and names the bonds of its user and no others; an operator knows all")
    func bonds() {
        let bonds = [Self.bond(1, of: 1001), Self.bond(2, of: 1002), Self.bond(3, of: nil)]
        let name = { (bond: Bond) in HostCommand.security(.nameBond(bond.identity, "Lock")) }
        for (isOperator, known) in [(false, [1]), (true, [1, 2, 3])] as [(Bool, [UInt64])] {
            var stage = ToolStage(isOperator: isOperator, user: 1001, bonds: bonds)
            guard case .welcome(let welcome)? = stage.sent.first else {
                Issue.record("not welcome: \(stage.sent)")
                continue
            }
            #expect(welcome.bonds.map(\.identity.value) == known)
            #expect(welcome.bonds.map(\.lastUse) == (isOperator ? known : [0]))
            var refused: [UInt64] = []
            for bond in bonds {
                let request = stage.request(name(bond))
                if stage.failures[request] == Self.notPermitted { refused.append(bond.identity.value) }
            }
            #expect(refused == bonds.map(\.identity.value).filter { !known.contains($0) })
            #expect(stage.submitted.count == known.count)
            // What changes later is told in the same way; a bond that has been removed can no longer be named.
            stage.sent = []
            for bond in bonds { stage.session.hear(.bondChanged(bond), waiting: 0) }
            for bond in bonds { stage.session.hear(.bondRemoved(bond.identity), waiting: 0) }
            stage.pump()
            #expect(stage.sent.count == 2 * known.count)
            let late = stage.request(name(bonds[0]))
            #expect((stage.failures[late] == Self.notPermitted) == !isOperator)
        }
        // Without a user there are no own bonds.
        let stage = ToolStage(bonds: bonds)
        guard case .welcome(let welcome)? = stage.sent.first else { return #expect(Bool(false), "not welcome") }
        #expect(welcome.bonds.isEmpty)
    }

    @Test("each user may name a few bonds at once, and later one in a second")
    func namings() {
        var limit = NamingLimit()
        for _ in 0..<NamingLimit.burst {
            let isFree = limit.spend(of: 1001, at: 5)
            #expect(isFree)
        }
        let answers = [
            limit.spend(of: 1001, at: 5), limit.spend(of: 1002, at: 5),
            limit.spend(of: 1001, at: 4 + NamingLimit.interval), limit.spend(of: 1001, at: 5 + NamingLimit.interval),
            limit.spend(of: 1001, at: 5 + NamingLimit.interval),
        ]
        #expect(answers == [false, true, false, true, false])
    }

    @Test("a tool is told of nobody else's pairing on its link")
    func othersPairings() {
        var stage = ToolStage()
        stage.session.hear(Self.connected, waiting: 0)
        stage.pump()
        let count = stage.sent.count
        let question = PairingQuestion(id: PairingQuestionID(rawValue: 3), kind: .compare(1))
        for event in [PairingEvent.started, .displayPasskey(1), .question(question), .failed(.timedOut)] {
            stage.session.hear(.pairing(Self.link, event), waiting: 0)
        }
        stage.pump()
        #expect(stage.sent.count == count)
    }
}
