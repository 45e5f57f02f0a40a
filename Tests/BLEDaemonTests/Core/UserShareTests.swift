import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("What the programs of one user have together, and what a program has for itself")
struct UserShareTests {
    @Test("a client that waits for 250 devices does not delay another one's device, which is there")
    func connectionsOfOthers() throws {
        let daemon = VirtualDaemon()
        daemon.world.air.addPeripheral(.jellingHeart)
        let (greedy, modest) = (daemon.tool(), daemon.tool())
        let away = (0..<250).map { number in
            ToolCommand.host(
                .radio(
                    .connect(
                        ConnectRequest(
                            peer: DeviceAddress(value: 0xC0FF_EE00_0000 + UInt64(number), kind: .random)))))
        }
        greedy.request(all: away)
        let began = daemon.now
        #expect(modest.connect(.heart) != nil)
        // With the turns of all devices one after the other, its own would come after minutes.
        #expect(daemon.now <= began.advanced(by: .seconds(20)))
        #expect(greedy.ends.isEmpty)
    }

    private func request(_ peer: DeviceAddress, for user: UInt32) -> HostCommand {
        var request = ConnectRequest(peer: peer)
        request.user = ClientUser(user)
        return .radio(.connect(request))
    }

    @Test("a service that connects for two users: what one waits for does not delay the other's device, which is there")
    func connectionsOfAService() {
        let daemon = VirtualDaemon()
        daemon.world.air.addPeripheral(.jellingHeart)
        let service = daemon.tool()
        for number in 0..<30 {
            service.request(request(DeviceAddress(value: 0xC0FF_EE00_0000 + UInt64(number), kind: .random), for: 1000))
        }
        daemon.world.run(for: .seconds(3))
        let began = daemon.now
        guard case .success? = service.end(of: request(.heart, for: 1001)) else {
            Issue.record("the connection failed")
            return
        }
        // One turn of the others has 10 s.
        #expect(daemon.now <= began.advanced(by: .seconds(2)))
    }

    @Test("root and the daemon's own user are believed for whom they connect; others connect for themselves")
    func believed() {
        let daemon = VirtualDaemon(apps: []) { rules in
            rules.ownUser = 1001
            rules.operatorGroup = 5
        }
        for (user, groups, named) in [(0, [], 1002), (1001, [], 1002), (1000, [5], nil), (1002, [], nil)]
            as [(UInt32, [UInt32], UInt32?)]
        {
            daemon.tool(user: user, groups: groups).request(request(.heart, for: 1002))
            guard case .radio(.connect(let asked))? = daemon.engine.commands.last?.command else {
                Issue.record("\(user) was refused")
                continue
            }
            #expect(asked.user?.number == named && asked.user?.isOperator != true)
        }
        // Who is an operator the daemon knows by itself.
        daemon.tool().request(request(.heart, for: 0))
        guard case .radio(.connect(let asked))? = daemon.engine.commands.last?.command else { return }
        #expect(asked.user == ClientUser(0, isOperator: true))
    }

    @Test(
        "a user with many connections does not get every advertising set, and not eight scans for each; another user has room"
    )
    func setsOfUsers() {
        let daemon = VirtualDaemon()
        func greedy(_ user: UInt32, _ count: Int) {
            for _ in 0..<count {
                let program = daemon.tool(user: user)
                let sets = (0..<4).map { _ in
                    ToolCommand.host(.radio(.advertiseSet(AdvertisingSetRequest(data: [2, 1, 6]))))
                }
                program.request(all: sets + (0..<8).map { _ in .host(.radio(.scan(ScanRequest()))) })
                #expect(program.end(of: .cancel(OperationID(rawValue: 99))) != nil)
            }
        }
        func works(_ user: UInt32) -> (sets: Int, scans: Int) {
            let status = daemon.status
            let names = status.clients.filter { $0.user == user }.map(\.name)
            var (sets, scans) = (0, 0)
            for wanted in status.adapters[0].wanted where names.contains(wanted.client) {
                if case .advertiseSet = wanted.work { sets += 1 }
                if case .scan = wanted.work { scans += 1 }
            }
            return (sets, scans)
        }
        greedy(1000, 20)
        let first = works(1000)
        greedy(1001, 1)
        let second = works(1001)
        // 80 and 160 were asked for; of scans, a user has four times what one tool may have, and one more for each of
        // its other 16.
        #expect(first.sets < 20 && second.sets >= 1)
        #expect(first.scans == 32 + 16 && second.scans == 8)
    }

    /// What apps of a user that are not installed get of channels, scans and managers.
    private func had(_ daemon: VirtualDaemon, _ user: UInt32, _ count: Int) -> (channels: Int, refused: Int, more: Int)
    {
        let apps = (0..<count).map { daemon.app("app\($0)", user: user) }
        let peripheral = ManagerID(rawValue: 2)
        for app in apps {
            app.ask(.createPeripheral(ManagerOptions()), from: peripheral)
            daemon.world.run(for: .seconds(1))
            for _ in 0..<16 { app.ask(.peripheral(.publishChannel(isEncrypted: false)), from: peripheral) }
        }
        daemon.world.run(for: .seconds(1))
        let channels = apps.reduce(0) { sum, app in
            sum + app.count { if case .channelPublished(_, nil) = $0 { true } else { false } }
        }
        var refused = 0
        for manager in [VirtualApp.manager, ManagerID(rawValue: 3)] {
            for app in apps {
                if manager != VirtualApp.manager { app.ask(.createCentral(ManagerOptions()), from: manager) }
                daemon.world.run(for: .milliseconds(10))
                let logs = app.logged.count
                app.ask(.central(.scan(ScanOptions())), from: manager)
                refused += app.logged.count - logs
            }
        }
        var more = 0
        for number in 4..<12 {
            apps[0].ask(.createCentral(ManagerOptions()), from: ManagerID(rawValue: UInt32(number)))
            guard apps[0].program?.isClosed == false else { break }
            more += 1
        }
        return (channels, refused, more)
    }

    @Test(
        "a user with twenty apps that are not installed has no more channels, scans and managers than four, beside one of each for every app; another user has room"
    )
    func appsOfUsers() {
        let daemon = VirtualDaemon()
        // 320 channels, 40 scans and 68 managers are asked for. Four apps have all channels; each of the other sixteen
        // has one.
        let many = had(daemon, 1000, 20)
        #expect(many == (80, 8, 4))
        let one = had(daemon, 1001, 1)
        #expect(one == (16, 0, 8))
    }

    @Test(
        "300 requests and two cancellations in one write: the limit counts, and each cancellation finds its request, also at the limit"
    )
    func oneWrite() {
        let daemon = VirtualDaemon()
        let program = daemon.tool()
        var requests = (0..<300).map { number in
            ToolCommand.host(
                .radio(
                    .connect(
                        ConnectRequest(
                            peer: DeviceAddress(value: 0xC0FF_EE00_0000 + UInt64(number), kind: .random)))))
        }
        requests.insert(.host(.cancel(OperationID(rawValue: 1))), at: 1)
        requests.append(.host(.cancel(OperationID(rawValue: 3))))
        program.request(all: requests)
        daemon.world.run(for: .seconds(1))
        #expect(program.ends[1] == .failure(.cancelled) && program.ends[3] == .failure(.cancelled))
        #expect(program.ends[2] == .success(.done) && program.ends[302] == .success(.done))
        let refused = program.ends.values.count { $0 == .failure(.limitReached) }
        #expect(refused == program.ends.count - 4 && 43...45 ~= refused)
    }

    @Test("two programs on one device: each reads, and the one that is killed leaves the other's link as it is")
    func twoPrograms() throws {
        let daemon = VirtualDaemon()
        daemon.world.air.addPeripheral(.jellingHeart)
        let (one, two) = (daemon.tool(), daemon.tool())
        #expect(one.connect(.heart) != nil)
        let link = try #require(two.connect(.heart))
        one.leave()
        for _ in 0..<10 {
            guard case .success(.gatt(.value))? = two.end(of: .link(link, .gatt(.read(AttributeHandle(rawValue: 3)))))
            else {
                Issue.record("the read failed")
                return
            }
            daemon.world.run(for: .seconds(1))
        }
        #expect(!two.events.contains { if case .disconnected = $0 { true } else { false } })
    }

    @Test("a pairing ends with the refusal of a device that does not pair; only its client learns of it")
    func pairing() throws {
        let daemon = VirtualDaemon()
        daemon.world.air.addPeripheral(.jellingHeart)
        let (one, two) = (daemon.tool(), daemon.tool())
        let link = try #require(one.connect(.heart))
        #expect(two.connect(.heart) == link)
        #expect(
            one.failure(of: .security(.pair(link, PairingOptions())))
                == .security(.refusedByPeer(.pairingNotSupported)))
        #expect(one.events.contains { if case .pairing = $0 { true } else { false } })
        #expect(two.end(of: .cancel(OperationID(rawValue: 99))) != nil)
        #expect(!two.events.contains { if case .pairing = $0 { true } else { false } })
    }
}
