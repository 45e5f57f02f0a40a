import BLEHost
import BLEMessages
import Testing

@testable import BLEDaemon

@Suite("The daemon without sockets, processes and clock")
struct DaemonCoreTests {
    private static let user: UInt32 = 1000
    private static var rules: DaemonRules {
        var rules = DaemonRules()
        rules.users = [user]
        return rules
    }

    private func ready(_ rules: DaemonRules = rules) -> CoreStage {
        var stage = CoreStage(rules)
        stage.apply(.reload)
        stage.apply(.begun)
        stage.machine.isConnected = true
        stage.handle(.ready(ControllerInformation()))
        return stage
    }

    @Test("a tool is welcomed when the controller is ready, and its operation ends with the engine's")
    func tool() throws {
        var stage = CoreStage(Self.rules)
        stage.apply(.begun)
        #expect(stage.effects.contains(.openController))
        stage.connect(1, user: Self.user)
        stage.send(.hello(Greeting(.tool)), from: 1)
        #expect(try stage.messages(for: 1).isEmpty)
        stage.machine.isConnected = true
        stage.handle(.ready(ControllerInformation()))
        guard case .welcome? = try stage.messages(for: 1).first else {
            Issue.record("no welcome")
            return
        }
        stage.send(.request(1, .radio(.scan(ScanRequest()))), from: 1)
        let scan = try #require(stage.machine.commands.last)
        #expect(scan.client == ConnectionID(rawValue: 1).client)
        stage.handle(.completed(scan.operation, .success(.done)))
        #expect(try stage.messages(for: 1) == [.completed(OperationID(rawValue: 1), .success(.done))])
    }

    @Test("a program that says nothing is refused after five seconds")
    func silence() throws {
        var stage = ready()
        stage.connect(1, user: Self.user)
        stage.wait(until: stage.time + 4_900_000)
        #expect(try stage.messages(for: 1).isEmpty)
        stage.wait(until: stage.time + 200_000)
        guard case .refusal(.silent, _)? = try stage.messages(for: 1).first else {
            Issue.record("not refused")
            return
        }
        #expect(stage.effects.contains(.close(ConnectionID(rawValue: 1))))
        #expect(stage.core.connections.all.isEmpty)
    }

    @Test("a controller that cannot be opened is tried again after pauses that double, up to four seconds")
    func pauses() {
        var stage = CoreStage(Self.rules)
        stage.apply(.begun)
        var pauses: [UInt64] = []
        for _ in 0..<7 {
            stage.apply(.controller(.refused("it is not there", isBlocked: false, isGivenBack: false)))
            let begin = stage.time
            stage.effects = []
            while !stage.effects.contains(.openController), let next = stage.core.nextDeadline {
                stage.wait(until: UInt64(next.microseconds))
            }
            pauses.append(stage.time - begin)
        }
        #expect(pauses == [250_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 4_000_000, 4_000_000])
    }

    @Test("what a tool has asked for ends when it is gone")
    func leaving() throws {
        var stage = ready()
        stage.connect(1, user: Self.user)
        stage.send(.hello(Greeting(.tool)), from: 1)
        stage.send(.request(1, .radio(.scan(ScanRequest()))), from: 1)
        let scan = try #require(stage.machine.commands.last)
        stage.apply(.closed(ConnectionID(rawValue: 1)))
        #expect(stage.machine.commands.last?.command == .cancel(scan.operation))
    }

    @Test("the same inputs at the same times have the same effects")
    func replay() throws {
        var stage = ready()
        for number in 1...3 as ClosedRange<UInt32> {
            stage.connect(number, user: Self.user)
            stage.send(.hello(Greeting(number == 3 ? .operator : .tool)), from: number)
        }
        stage.connect(4, user: 0)
        stage.send(.hello(Greeting(.operator)), from: 4)
        for request in 1...20 as ClosedRange<UInt64> {
            stage.send(.request(request, .radio(.scan(ScanRequest()))), from: 1)
            stage.send(
                .request(request, .radio(.advertise(AdvertiseRequest(.packed(localName: nil, serviceUUIDs: []))))),
                from: 2)
            stage.send(.operatorRequest(.status), from: 4)
            stage.wait(until: stage.time + 3_000)
        }
        stage.apply(.controller(.ended("it was unplugged")))
        stage.wait(until: stage.time + 10_000_000)
        stage.apply(.stop)
        let machine = CoreMachine(repeating: stage.machine.answers)
        var again = DaemonCore(Self.rules, on: machine, lookups: machine, seed: [UInt8](repeating: 7, count: 32))
        var effects: [DaemonEffect] = []
        for (time, input) in stage.inputs {
            again.apply(input, at: Instant(microseconds: Int64(time)))
            while let effect = again.nextEffect() { effects.append(effect) }
        }
        #expect(effects == stage.effects)
        #expect(machine.commands.map(\.command) == stage.machine.commands.map(\.command))
    }
}
