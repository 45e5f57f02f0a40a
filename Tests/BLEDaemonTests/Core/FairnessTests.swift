import BLEHost
import BLEMessages
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("Programs that ask for as much as they can delay others by their turn and no more")
struct FairnessTests {
    /// Ends at once: there is no such link.
    private static let noLink = ToolCommand.host(
        .link(LinkID(handle: ConnectionHandle(rawValue: 99), generation: 1), .disconnect))

    private static func publish(_ number: Int) -> ToolCommand {
        .host(.server(.publish(GATTServiceDefinition(uuid: BluetoothUUID(UInt16(0xA000 + number))))))
    }

    /// Services get their handles in the order in which they are published.
    private func handle(_ program: VirtualProgram, _ number: UInt64) -> UInt16? {
        guard case .success(.published(let service))? = program.end(of: number) else { return nil }
        return service.range.first.rawValue
    }

    @Test("ten programs that send forty requests in one write delay another program's request by one turn of each")
    func turns() throws {
        let daemon = VirtualDaemon()
        let flooding = (0..<10).map { _ in daemon.tool() }
        let victim = daemon.tool()
        // It finds all of it at once.
        var numbers: [[UInt64]] = []
        var asked: UInt64 = 0
        daemon.whileBusy {
            numbers = flooding.map { $0.request(all: (0..<40).map(Self.publish)) }
            asked = victim.request(all: [Self.publish(0)])[0]
        }
        let own = try #require(handle(victim, asked))
        var before = 0
        for (program, numbers) in zip(flooding, numbers) {
            for number in numbers where try #require(handle(program, number)) < own { before += 1 }
        }
        #expect(before <= 10 * TurnLine.turn)
    }

    @Test(
        "ten programs that send without end and never read are not served; when they read, they get all answers in order"
    )
    func silentPrograms() throws {
        let daemon = VirtualDaemon()
        let programs = (0..<10).map { _ in daemon.tool() }
        let victim = daemon.tool()
        for program in programs { program.reads = false }
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<1000 where programs.contains(where: { !$0.isFull }) {
            for (place, program) in programs.enumerated() where !program.isFull {
                counts[place] += program.request(all: Array(repeating: Self.noLink, count: 200)).count
            }
        }
        #expect(!programs.contains { !$0.isFull })
        // Somebody else is served meanwhile, and little waits for each of them.
        #expect(victim.publish() != nil)
        #expect(daemon.status.clients.allSatisfy { $0.waitingOctets <= UInt64(ClientLimits().heardOctets) })
        for (program, count) in zip(programs, counts) {
            // Little of what it asked for has been carried out.
            #expect(program.unread < VirtualProgram.buffer + 16 * 1024)
            program.reads = true
            daemon.world.run(for: .seconds(60)) { program.ends.count == count }
            let order = program.messages.compactMap {
                if case .completed(let number, _) = $0 { Int(number.rawValue) } else { nil }
            }
            #expect(order == Array(1...count))
            #expect(program.end(of: .cancel(OperationID(rawValue: 99))) == .success(.done))
        }
    }

    @Test(
        "what a program asked for before it closed its end is done, although it read nothing and was not served any more"
    )
    func silentLeaver() throws {
        let daemon = VirtualDaemon()
        let watcher = daemon.tool()
        let first = try #require(watcher.publish()).range.first.rawValue
        let silent = daemon.tool()
        silent.reads = false
        var count = 0
        while !silent.isFull {
            // A tool may have 64 services.
            let service = count / 200 < 64 ? Self.publish(count / 200) : Self.noLink
            count += silent.request(all: [service] + Array(repeating: Self.noLink, count: 199)).count
        }
        let services = min(count / 200, 64)
        #expect(services > 3)
        silent.leave()
        daemon.world.run(for: .seconds(60)) { daemon.programs.count == 1 }
        // Each service had a place, which stays for one like it.
        // The first one has the declaration, and three attributes of its characteristic.
        let second = try #require(watcher.publish()).range.first.rawValue
        #expect(second == first + 4 + UInt16(services))
    }

    @Test("a tool that reads its reports more slowly than they come ends one of its scans, and then the other")
    func slowTool() throws {
        let daemon = VirtualDaemon()
        for number in 0..<200 {
            daemon.world.air.addBroadcaster(
                SimulatedBroadcaster(
                    address: DeviceAddress(value: 0xC000_0000_1000 + UInt64(number), kind: .random),
                    advertisement: SimulatedAdvertisement(data: [UInt8](repeating: 9, count: 20))))
        }
        let tool = daemon.tool()
        tool.reads = false
        let scan = ToolCommand.host(.radio(.scan(ScanRequest(allowsDuplicates: true))))
        let scans = [tool.request(scan), tool.request(scan)]
        daemon.world.run(for: .seconds(600)) {
            tool.unread >= VirtualProgram.buffer + ClientLimits().waitingDiscoveryOctets
        }
        #expect(tool.unread >= VirtualProgram.buffer + ClientLimits().waitingDiscoveryOctets)
        for scan in scans {
            let asked = tool.request(.cancel(OperationID(rawValue: scan)))
            var rounds = 0
            while tool.ends[asked] == nil, !tool.isClosed, rounds < 10_000 {
                rounds += 1
                tool.read(100)
                daemon.world.run(for: .milliseconds(2))
            }
            #expect(tool.ends[asked] == .success(.done))
        }
    }

    @Test(
        "programs that fill the queue of a device leave another user's one a place in it, and delay its read by one write of each user"
    )
    func sharedLink() throws {
        let daemon = VirtualDaemon()
        daemon.world.air.addPeripheral(.jellingHeart)
        let greedy = (0..<5).map { _ in daemon.tool() }
        let victim = daemon.tool(user: 1000)
        let links = try (greedy + [victim]).map { try #require($0.connect(.heart)) }
        guard
            case .success(.gatt(.attributeValues(let found)))? = victim.end(
                of: .link(links[5], .gatt(.readUsingUUID(.longValue, .all))))
        else {
            Issue.record("no characteristic")
            return
        }
        let handle = try #require(found.first).handle
        // All of it waits for the device.
        for (place, (program, link)) in zip(greedy, links).enumerated() {
            program.request(
                all: (0..<256).map { number in
                    .host(.link(link, .gatt(.write(handle, value: [UInt8(place), UInt8(number)]))))
                })
        }
        let asked = victim.request(.link(links[5], .gatt(.read(handle))))
        // One is on its way, 1,024 wait, and the read.
        #expect(daemon.status.clients.reduce(0) { $0 + $1.requests } == 1 + 1024 + 1)
        guard case .success(.gatt(.value(let value)))? = victim.end(of: asked) else {
            Issue.record("the read failed")
            return
        }
        #expect(value[1] <= 1)
    }
}
