import BLEHost
import BLEMessages
import BLEPackets
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("How much of the daemon's time programs get")
struct TurnTimeTests {
    private static let noLink = ToolCommand.host(
        .link(LinkID(handle: ConnectionHandle(rawValue: 99), generation: 1), .disconnect))

    /// Programs that have more requests waiting than can be carried out.
    private func flood(_ daemon: VirtualDaemon, _ count: Int, user: UInt32) -> [VirtualProgram] {
        let programs = (0..<count).map { _ in daemon.tool(user: user) }
        // Each waits for its welcome.
        daemon.world.run(for: .milliseconds(100))
        for program in programs { program.collectsMessages = false }
        daemon.whileBusy {
            for program in programs { program.request(all: Array(repeating: Self.noLink, count: 20_000)) }
        }
        return programs
    }

    private func answered(_ programs: [VirtualProgram]) -> Int { programs.reduce(0) { $0 + $1.ends.count } }

    @Test("ten busy programs of one user get an eighth of the time together, and none of them more than another")
    func busyPrograms() {
        let daemon = VirtualDaemon()
        daemon.turn = .microseconds(100)
        let programs = flood(daemon, 10, user: 1000)
        daemon.world.run(for: .seconds(1))
        let before = programs.map(\.ends.count)
        daemon.world.run(for: .seconds(1))
        let got = zip(programs, before).map { $0.ends.count - $1 }
        // An eighth of a second has 1,250 turns of 100 µs, with eight requests each.
        #expect(9_000...10_500 ~= got.reduce(0, +))
        #expect(got.max()! - got.min()! <= 2 * TurnLine.turn)
    }

    @Test("one busy program has all the time that others leave")
    func onlyOne() {
        let daemon = VirtualDaemon()
        daemon.turn = .microseconds(100)
        let programs = flood(daemon, 1, user: 1000)
        daemon.world.run(for: .milliseconds(100))
        #expect(answered(programs) >= 7_500)
    }

    @Test("the busy programs of two users take turns, however many each has")
    func users() {
        let daemon = VirtualDaemon()
        daemon.turn = .microseconds(100)
        let (many, one) = (flood(daemon, 10, user: 1000), flood(daemon, 1, user: 1001))
        daemon.world.run(for: .seconds(1))
        let before = (answered(many), answered(one))
        daemon.world.run(for: .seconds(1))
        let got = (answered(many) - before.0, answered(one) - before.1)
        #expect(got.0 > 1000 && abs(got.0 - got.1) <= got.0 / 10)
    }

    @Test("a program that asks for little is answered after a round at most, whoever floods")
    func light() throws {
        let daemon = VirtualDaemon()
        daemon.turn = .microseconds(100)
        _ = flood(daemon, 10, user: 1000)
        let victim = daemon.tool(user: 1001)
        daemon.world.run(for: .milliseconds(100))
        for _ in 0..<100 {
            daemon.world.run(for: .milliseconds(20))
            let began = daemon.now
            #expect(victim.end(of: .cancel(OperationID(rawValue: 99))) == .success(.done))
            #expect(daemon.now <= began.advanced(by: .microseconds(100 * Int64(TurnLine.round / TurnLine.turn + 1))))
        }
    }
}
