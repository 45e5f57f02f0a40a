import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("What operators see and do")
struct OperatorRuleTests {
    private static let relay = "org.example.relay"

    @Test(
        "the status says who wants the scan, the advertisement and the link, and that nothing is wanted when they have left"
    )
    func status() throws {
        let daemon = VirtualDaemon(apps: [Manifest(Self.relay, modes: ["bluetooth-central"])])
        daemon.world.air.addPeripheral(.jellingHeart)
        var adapter = daemon.status.adapters[0]
        #expect(adapter.transport == "sim" && adapter.information != nil && adapter.trouble == nil)
        #expect(adapter.wanted.isEmpty && adapter.links.isEmpty && !adapter.isAdvertising)
        var wish = Wish()
        (wish.scan, wish.connects) = ([.heartRate], true)
        daemon.wishes[AppID(rawValue: Self.relay)] = wish
        #expect(daemon.operate(.foreground(Self.relay))?.error == "")
        let (scanner, server, reader) = (daemon.tool(), daemon.tool(), daemon.tool())
        scanner.request(.radio(.scan(ScanRequest(isActive: false))))
        #expect(server.publish() != nil)
        server.advertise()
        #expect(reader.connect(.heart) != nil)
        daemon.world.run(for: .seconds(5))
        let status = daemon.status
        adapter = status.adapters[0]
        func works(_ program: VirtualProgram) -> [DaemonStatus.Wanted.Work] {
            adapter.wanted.filter { $0.client == program.name }.map(\.work)
        }
        if case .scan(let scan)? = works(scanner).first { #expect(!scan.isActive) } else { Issue.record("no scan") }
        if case .advertise(let request)? = works(server).first {
            #expect(request.content == .packed(localName: "Tool", serviceUUIDs: []))
        } else {
            Issue.record("no advertisement")
        }
        #expect(adapter.isAdvertising)
        #expect(adapter.links.contains { Set($0.holders).isSuperset(of: [reader.name, Self.relay]) })
        #expect(status.clients.first { $0.name == server.name }?.services == 1)
        #expect(status.clients.first { $0.name == Self.relay }?.kind == .app)
        #expect(status.apps.first?.place == .foreground)
        for program in [scanner, server, reader] { program.leave() }
        daemon.world.run(for: .seconds(1))
        #expect(!daemon.status.adapters[0].wanted.contains { $0.client != Self.relay })
    }

    @Test(
        "an alert of a suspended app waits for the operator; accepting it brings the app to the foreground, and who follows learns of both"
    )
    func alerts() throws {
        let daemon = VirtualDaemon()
        let belt = daemon.world.air.addPeripheral(.jellingHeart)
        #expect(daemon.operate(.alerts)?.alerts == [])
        let follower = daemon.person()
        follower.send(.operatorRequest(.followAlerts))
        #expect(follower.answers.count == 1)
        var wish = Wish()
        wish.scan = [.heartRate]
        let app = daemon.app("org.example.alerted", wish)
        daemon.world.run(for: .seconds(5)) { !app.found.isEmpty }
        let peer = try #require(app.found.first)
        // Connected when it is suspended.
        daemon.world.air.setInRange(false, belt)
        app.ask(.central(.connect(peer, ConnectOptions(notifiesOnConnection: true))))
        app.move(.background)
        app.move(.suspended)
        daemon.world.air.setInRange(true, belt)
        func alerts() -> [OperatorAlert] {
            follower.messages.compactMap { if case .alert(let alert) = $0 { alert } else { nil } }
        }
        daemon.world.run(for: .seconds(30)) { !alerts().isEmpty }
        let alert = try #require(alerts().first)
        #expect(alert.alert.app.rawValue.hasSuffix("org.example.alerted") && !alert.isOver)
        #expect(app.connections == 0)
        #expect(daemon.operate(.alerts)?.alerts == [alert])
        #expect(daemon.operate(.answerAlert(999_999, accepts: true))?.error.contains("no alert 999999") == true)
        #expect(daemon.operate(.answerAlert(alert.alert.id.rawValue, accepts: true))?.error == "")
        daemon.world.run(for: .seconds(1))
        #expect(alerts().last?.isOver == true)
        // In the foreground it gets what happened.
        #expect(app.connections == 1)
        #expect(daemon.operate(.alerts)?.alerts == [])
        #expect(daemon.operate(.answerAlert(alert.alert.id.rawValue, accepts: true))?.error != "")
    }

    @Test("an operator that asks for eight long answers at once, and then reads, gets all of them")
    func longAnswers() {
        let names = (0..<900).map { String(String(1000 + $0).dropFirst()) + "." + String(repeating: "x", count: 100) }
        let daemon = VirtualDaemon(apps: names.map { Manifest($0) })
        let person = daemon.person()
        person.reads = false
        person.send(Array(repeating: .operatorRequest(.list), count: 8))
        daemon.world.run(for: .seconds(1))
        // Not all of them wait at once.
        #expect(person.unread < ClientLimits().heardOctets + VirtualProgram.buffer + 900 * 150)
        person.reads = true
        daemon.world.run(for: .seconds(1))
        #expect(person.answers.map(\.apps.count) == Array(repeating: 900, count: 8))
    }

    @Test("operators who watch and never read, send garbage or no end of requests harm only themselves")
    func stuck() throws {
        let daemon = VirtualDaemon()
        daemon.world.air.addPeripheral(.jellingHeart)
        var wish = Wish()
        (wish.scan, wish.connects, wish.subscribe) = ([.heartRate], true, .heartRateMeasurement)
        let victim = daemon.app("org.example.victim", user: 1000, wish)
        daemon.world.run(for: .seconds(10)) { victim.values.count >= 2 }
        let watching = (0..<2).map { _ in daemon.person() }
        for person in watching {
            person.send(.operatorRequest(.capture))
            person.reads = false
        }
        #expect(daemon.isCapturing)
        let garbage = daemon.person()
        garbage.send(octets: [3, 0, 0, 0, 0xFF, 0xFF, 0xFF])
        #expect(garbage.isClosed)
        let long = daemon.person()
        long.send(octets: [0, 0, 0, 1])
        #expect(long.isClosed)
        let flood = daemon.person()
        flood.reads = false
        while !flood.isFull { flood.send(Array(repeating: .operatorRequest(.status), count: 100)) }
        let packet = DaemonInput.packet(
            [UInt8](repeating: 4, count: 250), isFromController: true, unixMicroseconds: 0)
        for _ in 0..<10_000 {
            daemon.input(packet)
            daemon.world.run(for: .microseconds(100))
        }
        let status = daemon.status
        #expect(status.clients.allSatisfy { $0.waitingOctets <= UInt64(ClientLimits().heardOctets) })
        let before = victim.values.count
        daemon.world.run(for: .seconds(5)) { victim.values.count >= before + 2 }
        #expect(victim.values.count >= before + 2)
        // What it has missed is counted.
        watching[0].reads = true
        daemon.input(packet)
        daemon.world.run(for: .seconds(1))
        let lost = watching[0].messages.reduce(UInt32(0)) {
            if case .packet(_, _, _, let lost) = $1 { $0 + lost } else { $0 }
        }
        #expect(lost > 0)
        for person in watching { person.leave() }
        #expect(!daemon.isCapturing)
    }

    @Test(
        "an app sees the services that Apple's system hides only if its manifest says so, its own or that of its installation"
    )
    func systemServices() throws {
        var shown = Manifest("org.example.shown")
        shown.systemServices = "shown"
        let daemon = VirtualDaemon(apps: [shown, Manifest("org.example.hidden")])
        daemon.world.air.addPeripheral(.jellingHeart)
        func seen(_ app: VirtualApp) -> Set<BluetoothUUID> {
            var found: Set<BluetoothUUID> = []
            daemon.world.run(for: .seconds(20)) {
                for case .peripheral(_, .servicesDiscovered(let services, _)) in app.events.map(\.event) {
                    found = Set(services.map(\.uuid))
                }
                return !found.isEmpty
            }
            app.end(.exited(0))
            #expect(found.contains(.heartRate))
            return found
        }
        var wish = Wish()
        (wish.scan, wish.connects, wish.subscribe) = ([.heartRate], true, .heartRateMeasurement)
        let hidden = BluetoothUUID(UInt16(0x1800))
        #expect(!seen(daemon.app("plain", wish)).contains(hidden))
        let own = VirtualApp(
            daemon, AppID(rawValue: "own manifest"), wish, user: 0, process: 77, isInstalled: false
        ) { $0.showsSystemServices = true }
        #expect(seen(own).contains(hidden))
        for name in ["org.example.shown", "org.example.hidden"] {
            daemon.wishes[AppID(rawValue: name)] = wish
            #expect(daemon.operate(.foreground(name))?.error == "")
            let process = try #require(daemon.process(of: name))
            #expect(seen(process).contains(hidden) == (name == "org.example.shown"))
        }
    }

    @Test("what operators may is refused in words to a user who may only connect; a member of the operators' group may")
    func refusedToOthers() {
        let daemon = VirtualDaemon { $0.operatorGroup = 54321 }
        let plain = daemon.person(user: 1000)
        #expect(plain.refusal == .notAllowed && plain.refusalText.contains("--operators") && plain.isClosed)
        let tool = daemon.tool(user: 1000)
        #expect(tool.isWelcome)
        #expect(tool.end(of: tool.request(.capture(true))) == .failure(.invalidRequest(.notPermitted)))
        let member = daemon.person(user: 1000, groups: [54321])
        for request in [OperatorRequest.status, .alerts, .list, .bonds] { member.send(.operatorRequest(request)) }
        #expect(member.answers.count == 4 && member.answers.allSatisfy { $0.error.isEmpty })
    }
}

extension VirtualProgram {
    /// The name of a tool in the status.
    var name: String { "program (process \(peer.process))" }
}
