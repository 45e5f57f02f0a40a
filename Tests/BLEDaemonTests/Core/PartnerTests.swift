import BLEHost
import BLEMessages
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("Which programs are asked in a pairing")
struct PartnerTests {
    private let daemon = VirtualDaemon()
    private let peer: HostStation
    /// Both sides show a number, and somebody compares.
    private static let options = PairingOptions(ioCapability: .displayYesNo, requiresAuthentication: true)

    init() {
        var controller = SimulatedControllerConfiguration()
        controller.publicAddress = World.address(8)
        var configuration = HostConfiguration(hasCryptoProvider: true)
        configuration.security.pairing = Self.options
        peer = HostStation(daemon.world, configuration: configuration, controller: controller)
        peer.start()
        peer.react = { event in
            guard case .pairing(_, .question(let question)) = event else { return nil }
            return .security(.answerPairing(question.id, .confirm(true)))
        }
        peer.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Peer", serviceUUIDs: [])))))
        daemon.world.run(for: .seconds(1))
    }

    private func pairing(_ program: VirtualProgram) -> [PairingEvent] {
        program.events.compactMap { if case .pairing(_, let event) = $0 { event } else { nil } }
    }

    private func question(_ program: VirtualProgram) -> PairingQuestion? {
        for case .question(let question) in pairing(program) { return question }
        return nil
    }

    /// A program with a link to the peer.
    private func program(user: UInt32) throws -> (program: VirtualProgram, link: LinkID) {
        let program = daemon.tool(user: user)
        // Somebody looks at it.
        #expect(program.end(of: program.request(.servePairing(Self.options))) == .success(.done))
        return (program, try #require(program.connect(World.address(8))))
    }

    @Test("the question goes to the program that pairs, and to no other program on the link; its answer counts")
    func asked() throws {
        let (one, link) = try program(user: 1000)
        let (other, _) = try program(user: 1001)
        let asked = one.request(.security(.pair(link, Self.options)))
        daemon.world.run(for: .seconds(10)) { question(one) != nil }
        let asking = try #require(question(one))
        #expect(pairing(other).isEmpty)
        // Somebody else's answer does not count.
        #expect(other.end(of: .security(.answerPairing(asking.id, .confirm(true)))) == .success(.accepted(false)))
        #expect(one.ends[asked] == nil)
        #expect(one.end(of: .security(.answerPairing(asking.id, .confirm(true)))) == .success(.accepted(true)))
        guard case .success(.paired(let summary))? = one.end(of: asked) else {
            Issue.record("not paired: \(String(describing: one.ends[asked]))")
            return
        }
        #expect(summary.isAuthenticated && pairing(other).isEmpty)
        // The bond is known to the programs of its user.
        #expect(daemon.engine.bonds.map(\.user?.number) == [1000])
        func bonds(_ user: UInt32) -> Int {
            for case .welcome(let welcome) in daemon.tool(user: user).messages { return welcome.bonds.count }
            return -1
        }
        #expect(bonds(1000) == 1 && bonds(1001) == 0 && bonds(0) == 1)
    }

    @Test("a program that leaves with a question open ends its pairing, and the next one can pair")
    func leaves() throws {
        let (one, link) = try program(user: 1000)
        let (next, _) = try program(user: 1000)
        one.request(.security(.pair(link, Self.options)))
        daemon.world.run(for: .seconds(10)) { question(one) != nil }
        #expect(question(one) != nil)
        one.leave()
        let ended = daemon.world.run(for: .seconds(40)) {
            peer.events.contains { if case .pairing(_, .failed) = $0 { true } else { false } }
        }
        #expect(ended && daemon.engine.bonds.isEmpty)
        #expect(daemon.withCore { $0.pairing.partners.isEmpty })
        // The device waits after a pairing that failed.
        daemon.world.run(for: .seconds(120))
        let asked = next.request(.security(.pair(link, Self.options)))
        daemon.world.run(for: .seconds(10)) { question(next) != nil || next.ends[asked] != nil }
        let open = try #require(question(next))
        next.request(.security(.answerPairing(open.id, .confirm(true))))
        guard case .success(.paired)? = next.end(of: asked) else {
            Issue.record("not paired: \(String(describing: next.ends[asked]))")
            return
        }
    }
}
