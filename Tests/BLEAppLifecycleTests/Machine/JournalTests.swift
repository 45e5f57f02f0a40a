import BLEHost
import BLEPackets
import BLESimulator
import Foundation
import TestSupport
import Testing

@testable import BLEAppLifecycle

@Suite("Journal and identifiers")
struct JournalTests {
    @Test("lines are read back; a torn, damaged or foreign line costs only itself")
    func lines() {
        let payloads = [[UInt8]("{\"a\":1}".utf8), [UInt8]("{}".utf8), [UInt8]("{\"b\":2}".utf8)]
        let journal = payloads.flatMap { Journal.line($0) }
        #expect(Journal.payloads(in: journal) == payloads)
        #expect(Journal.payloads(in: journal.dropLast(3)) == Array(payloads.dropLast()))
        var damaged = journal
        damaged[Journal.line(payloads[0]).count + 9] ^= 1
        #expect(Journal.payloads(in: damaged) == [payloads[0], payloads[2]])
        #expect(Journal.payloads(in: Array("hello\n\n x\n".utf8) + journal) == payloads)
        #expect(Journal.payloads(in: []).isEmpty)
    }

    private func journal(of state: PreservedState) -> [UInt8] {
        state.entries.flatMap { entry in Journal.line([UInt8]((try? JSONEncoder().encode(entry)) ?? Data())) }
    }

    @Test("a process killed at any octet of its journal starts again and restores every complete line (SPR-4)")
    func anyOctet() throws {
        let world = World()
        world.air.addPeripheral(Profiles.belt())
        let station = AppStation(world)
        let app = TestApp(station, modes: [.central, .peripheral])
        let central = app.central(ManagerOptions(restoreIdentifier: "c"))
        let manager = app.peripheral(ManagerOptions(restoreIdentifier: "p"))
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        #expect(manager.add(Profiles.published) == nil)
        central.ask(.scan(ScanOptions(services: [Profiles.lock])))
        #expect(AppStation.state(in: station.journal).managers.count == 2)
        var whole = PreservedState()
        var line: [UInt8] = []
        for octet in station.journal {
            line.append(octet)
            if octet == UInt8(ascii: "\n") {
                let entry = try JSONDecoder().decode(JournalEntry.self, from: Data(line.dropFirst(9)))
                whole.apply(entry)
                line = []
            }
            // A line that lacks its end alone is as good as whole.
            guard line.count % 16 == 3, Journal.payloads(in: line).isEmpty else { continue }
            #expect(AppStation.state(in: journal(of: whole) + line) == whole)
        }
        #expect(whole == AppStation.state(in: station.journal))
        // What a torn journal says can be started with.
        let half = AppStation(
            World(), journal: Array(station.journal.prefix(station.journal.count / 2)), seed: 3)
        #expect(half.hostEvents.contains { if case .ready = $0 { true } else { false } })
        // A journal that was made short says the same.
        let state = AppStation.state(in: station.journal)
        var short = PreservedState()
        for entry in state.entries { short.apply(entry) }
        #expect(short == state)
    }

    @Test(
        "what an app is told is in the journal by then: killed at that moment, it is restored to that state (SPR-4, SPR-11)"
    )
    func writtenFirst() throws {
        let world = World()
        world.air.addPeripheral(Profiles.belt())
        let station = AppStation(world)
        let app = TestApp(station, modes: [.central, .peripheral])
        let central = app.central(ManagerOptions(restoreIdentifier: "c"))
        let manager = app.peripheral(ManagerOptions(restoreIdentifier: "p"))
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        #expect(central.explore(peer, Profiles.heartRate).count == 3)
        #expect(manager.add(Profiles.published) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        world.run(for: .seconds(1))
        func kept(_ name: String, _ isIt: (ClientEvent) -> Bool) -> PreservedManager? {
            station.preserved(when: isIt)?.managers.first { $0.restoreIdentifier == name }
        }
        let discovered = try #require(
            station.preserved { if case .discovered = $0 { true } else { false } })
        #expect(discovered.identities.map(\.identifier) == [peer])
        let connected = try #require(kept("c") { if case .connected = $0 { true } else { false } })
        #expect(connected.peripherals.map(\.isConnected) == [true])
        let explored = kept("c") { if case .peripheral(_, .characteristicsDiscovered) = $0 { true } else { false } }
        #expect(explored?.peripherals.first?.services?.first?.characteristics?.count == 3)
        let added = kept("p") { if case .serviceAdded = $0 { true } else { false } }
        #expect(added?.services.map(\.id) == [Profiles.published.id])
        let advertised = kept("p") { if case .advertisingStarted = $0 { true } else { false } }
        #expect(advertised?.advertisement?.localName == "Door")
    }

    @Test("complete lines with nonsense do not keep a process from starting (SPR-4)")
    func nonsense() throws {
        let world = World()
        world.air.addPeripheral(Profiles.belt())
        let station = AppStation(world)
        let app = TestApp(station, modes: [.central, .peripheral])
        let central = app.central(ManagerOptions(restoreIdentifier: "c"))
        let manager = app.peripheral(ManagerOptions(restoreIdentifier: "p"))
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer, ConnectOptions(startDelayMilliseconds: 5)))
        #expect(central.explore(peer, Profiles.heartRate).count == 3)
        #expect(manager.add(Profiles.published) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door", serviceUUIDs: [Profiles.lock])))
        central.ask(.scan(ScanOptions(services: [Profiles.lock])))
        let payloads = Journal.payloads(in: station.journal).map { String(decoding: $0, as: UTF8.self) }
        var entropy = EntropySource(seed: [UInt8](repeating: 5, count: 32))
        func pick(_ count: Int) -> Int { Int(entropy.next() % UInt64(max(1, count))) }
        let numbers = ["0", "-1", "255", "65535", "65536", "4294967296", "9223372036854775807", "-9223372036854775808"]
        var restored = 0
        for _ in 0..<80 {
            var lines = payloads
            for _ in 0...pick(3) {
                let line = pick(lines.count)
                let places = lines[line].ranges(of: /[0-9]+/)
                guard !places.isEmpty else { continue }
                lines[line].replaceSubrange(places[pick(places.count)], with: numbers[pick(numbers.count)])
            }
            let journal = lines.flatMap { Journal.line([UInt8]($0.utf8)) }
            let other = World()
            other.air.addPeripheral(Profiles.belt())
            let again = AppStation(other, journal: journal, seed: 3)
            let same = TestApp(again, modes: [.central, .peripheral])
            let managers = [
                same.central(ManagerOptions(restoreIdentifier: "c")),
                same.peripheral(ManagerOptions(restoreIdentifier: "p")),
            ]
            other.run(for: .seconds(2))
            for manager in managers { #expect(manager.states == [.poweredOn]) }
            restored += managers.count { $0.events.first?.isRestoration == true }
        }
        #expect(restored > 80, "most of what was changed could still be read: \(restored)")
    }

    @Test("an identifier is the same after a restart, and different for each app (REC-3, REC-4)")
    func lasting() throws {
        let world = World()
        let belt = world.air.addPeripheral(Profiles.belt())
        let station = AppStation(world)
        let peer = try #require(TestApp(station, "org.example.one").central().discover([Profiles.heartRate]))
        let foreign = try #require(TestApp(station, "org.example.two").central().discover([Profiles.heartRate]))
        #expect(peer != foreign)
        world.remove(station)
        world.air.closeTransport(of: station.controller)
        let again = AppStation(world, journal: station.journal, seed: 9)
        let central = TestApp(again, "org.example.one").central()
        central.ask(.retrievePeripherals(QueryID(rawValue: 1), [peer, foreign]))
        guard case .retrieved(_, let known)? = central.events.last else {
            Issue.record("no answer")
            return
        }
        #expect(known.map(\.identifier) == [peer])
        #expect(central.connect(peer))
        #expect(world.air.statistics(of: belt).connections == 1)
    }

    @Test("the key stream is ChaCha20 (RFC 8439, appendix A.1, test vector 1), and identifiers are of version 4")
    func entropy() {
        var source = EntropySource(seed: [UInt8](repeating: 0, count: 32))
        var words: [UInt64] = []
        for _ in 0..<8 { words.append(source.next()) }
        // The block is taken from its end; each number is two words of four octets.
        let block: [UInt32] = [
            0xADE0_B876, 0x903D_F1A0, 0xE56A_5D40, 0x28BD_8653, 0xB819_D2BD, 0x1AED_8DA0, 0xCCEF_36A8, 0xC70D_778B,
            0x7C59_41DA, 0x8D48_5751, 0x3FE0_2477, 0x374A_D8B8, 0xF4B8_436A, 0x1CA1_1815, 0x69B6_87C3, 0x8665_EEB2,
        ]
        let expected = stride(from: 15, to: 0, by: -2).map { UInt64(block[$0]) << 32 | UInt64(block[$0 - 1]) }
        #expect(words == expected)
        let identifier = source.nextIdentifier()
        #expect(identifier.bytes[6] >> 4 == 4)
        #expect(identifier.bytes[8] >> 6 == 2)
    }
}
