import BLEAppLifecycle
import BLEAppState
import BLEPackets
import BLESimulator
import Foundation
import Testing

@testable import CoreBluetooth

/// Processes that end and begin again over one journal.
@Suite("Restoration and the life of an app")
struct RestorationTests {
    private let identifier = [CBCentralManagerOptionRestoreIdentifierKey: "central"]

    @Test(
        "a killed central finds its connection, services and scan again, willRestoreState first (SPEC SPR-1, SPR-8, SPR-10, SPR-12, SPR-C1, SPR-C2)"
    )
    func central() async throws {
        let stage = try Stage()
        var first: CentralProbe? = CentralProbe(stage.launch(modes: ["bluetooth-central"]), options: identifier)
        try await first!.wait(for: "state poweredOn")
        await first!.run { [probe = first!] in
            probe.manager.scanForPeripherals(withServices: [CBUUID(string: "180D")])
        }
        try await first!.wait(for: "discovered")
        await first!.run { [probe = first!] in probe.manager.connect(probe.peripheral) }
        try await first!.wait(for: "connected")
        await first!.run { [probe = first!] in probe.peripheral.discoverServices([CBUUID(string: "180D")]) }
        try await first!.wait(for: "services")
        let known = await first!.run { [probe = first!] in probe.peripheral.identifier }
        // As if killed: the transport is torn away, nothing is said.
        await first!.system.kill()
        let second = CentralProbe(stage.launch(modes: ["bluetooth-central"]), options: identifier)
        first = nil
        try await second.wait(for: "state poweredOn")
        #expect(
            second.lines.first
                == "willRestore [\"kCBRestoredPeripherals\", \"kCBRestoredScanOptions\", \"kCBRestoredScanServices\"]")
        #expect(second.lines[1].hasPrefix("restored "))
        #expect(await second.run { second.peripheral.identifier } == known)
        #expect(await second.run { second.manager.isScanning })
        try await second.wait(for: "connected")
    }

    @Test("a killed peripheral finds its services and its advertising again (SPEC SPR-P1, SPR-P2, SPR-36)")
    func peripheral() async throws {
        let stage = try Stage { _ in }
        let options = [CBPeripheralManagerOptionRestoreIdentifierKey: "peripheral"]
        let first = PeripheralProbe(stage.launch(modes: ["bluetooth-peripheral"]), options: options)
        try await first.publish(
            "FFF0", [("FFF1", [.read, .notify], .readable, nil), ("FFF2", .read, .readable, Data([4, 2]))])
        await first.system.kill()
        let second = PeripheralProbe(stage.launch(modes: ["bluetooth-peripheral"]), options: options)
        try await second.wait(for: "state poweredOn")
        #expect(second.lines[0] == "willRestore [\"kCBRestoredAdvertisement\", \"kCBRestoredServices\"]")
        #expect(second.lines[1] == "restored [\"FFF0\"] [\"kCBAdvDataLocalName\", \"kCBAdvDataServiceUUIDs\"]")
        #expect(await second.run { second.characteristics["FFF2"]!.value } == Data([4, 2]))
        let client = CentralProbe(stage.launch("org.example.client"))
        try await client.find("FFF0")
        try await client.connect(stopsScan: false)
        await client.run { client.peripheral.discoverServices(nil) }
        try await client.wait(for: "services")
        await client.run { client.peripheral.discoverCharacteristics(nil, for: client.service("FFF0")) }
        try await client.wait(for: "characteristics")
        await client.run {
            client.peripheral.readValue(for: client.characteristic("FFF2"))
            client.peripheral.readValue(for: client.characteristic("FFF1"))
        }
        #expect(try await client.wait(for: "value FFF2") == "value FFF2 0402")
        try await second.wait(for: "read FFF1")
    }

    @Test("without an identifier nothing is restored, and the state comes first (SPEC SPR-1, SPR-10, LTA-3)")
    func withoutIdentifier() async throws {
        let stage = try Stage()
        let first = CentralProbe(stage.launch(modes: ["bluetooth-central"]))
        try await first.find("180D")
        await first.system.kill()
        let second = CentralProbe(stage.launch(modes: ["bluetooth-central"]), options: identifier)
        try await second.wait(for: "state poweredOn")
        #expect(second.lines.first?.hasPrefix("state") == true)
    }

    @Test("identifiers of devices are the same in the next process (SPEC REC-3, 5.6)")
    func identifiers() async throws {
        let stage = try Stage()
        func find() async throws -> UUID {
            let probe = CentralProbe(stage.launch())
            try await probe.find("180D")
            let identifier = await probe.run { probe.peripheral.identifier }
            await probe.system.kill()
            return identifier
        }
        let first = try await find()
        #expect(try await find() == first)
        let probe = CentralProbe(stage.launch())
        try await probe.wait(for: "state poweredOn")
        #expect(
            await probe.run { probe.manager.retrievePeripherals(withIdentifiers: [first]).map(\.identifier) } == [first]
        )
    }

    @Test("a damaged journal costs what is damaged, never a crash (SPEC 5.5 rule 7)")
    func damagedJournal() async throws {
        let stage = try Stage()
        let first = CentralProbe(stage.launch(modes: ["bluetooth-central"]), options: identifier)
        try await first.find("180D")
        try await first.connect(stopsScan: false)
        await first.system.kill()
        let whole = try Data(contentsOf: URL(fileURLWithPath: stage.journalPath()))
        #expect(!whole.isEmpty)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var damaged = whole.prefix(Int.random(in: 0...whole.count, using: &generator))
            for _ in 0..<Int.random(in: 0..<8, using: &generator) where !damaged.isEmpty {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            try damaged.write(to: URL(fileURLWithPath: stage.journalPath()))
            _ = JournalFile(path: stage.journalPath(), log: { _ in }).read()
        }
        try whole.dropLast(3).write(to: URL(fileURLWithPath: stage.journalPath()))
        let second = CentralProbe(stage.launch(modes: ["bluetooth-central"]), options: identifier)
        try await second.wait(for: "state poweredOn")
    }

    @Test("damage to a journal is reported with what it cost, and the damaged file is kept (SPEC 5.5 rule 7)")
    func damageIsTold() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())").path
        let path = folder + "/app.journal"
        let said = Locked<[String]>([])
        let tell: @Sendable (String) -> Void = { line in said.with { $0.append(line) } }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let app = AppID(rawValue: "app")
        let entries = (1...3).map { number in
            JournalEntry.identity(
                app, PeerIdentifier(high: 1, low: UInt64(number)), DeviceAddress(value: UInt64(number), kind: .public))
        }
        #expect(JournalFile(path: path, log: tell).read() == PreservedState())
        let file = JournalFile(path: path, log: tell)
        for entry in entries { file.append(entry) }
        #expect(JournalFile(path: path, log: tell).read().identities.count == 3)
        #expect(said.current.isEmpty)
        var octets = try Data(contentsOf: URL(fileURLWithPath: path))
        octets[12] ^= 4
        let damaged = octets.dropLast(5)
        try damaged.write(to: URL(fileURLWithPath: path))
        #expect(JournalFile(path: path, log: tell).read().identities.map(\.identifier.low) == [2])
        #expect(
            said.current == [
                "the journal '\(path)' was damaged: 2 of 3 lines are lost, the others are restored; "
                    + "it is kept as '\(path).damaged'"
            ])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".damaged")) == damaged)
        // It is told once: the file is whole again.
        #expect(JournalFile(path: path, log: tell).read().identities.count == 1)
        #expect(said.current.count == 1)
        // What is no file at all is told as well.
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(JournalFile(path: path, log: tell).read() == PreservedState())
        #expect(said.current[1].hasPrefix("the journal ‘\(path)’ is a folder, not a file: remove it"))
    }

    @Test(
        "if a damaged journal cannot be compacted, what is appended to it is still complete (SPEC 5.5 rule 7)")
    func tornJournal() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())").path
        // The name that a new file has before it takes the old one's place is longer than any may be.
        let path = folder + "/" + String(repeating: "n", count: 240) + ".journal"
        let said = Locked<[String]>([])
        let tell: @Sendable (String) -> Void = { line in said.with { $0.append(line) } }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func entry(_ number: UInt64) -> JournalEntry {
            .identity(
                AppID(rawValue: "app"), PeerIdentifier(high: 1, low: number),
                DeviceAddress(value: number, kind: .public))
        }
        let whole = JournalFile(path: path, log: tell)
        for number in 1...2 { whole.append(entry(UInt64(number))) }
        try Data(contentsOf: URL(fileURLWithPath: path)).dropLast(4).write(to: URL(fileURLWithPath: path))
        let torn = JournalFile(path: path, log: tell)
        #expect(torn.read().identities.map(\.identifier.low) == [1])
        for number in 3...4 { torn.append(entry(UInt64(number))) }
        #expect(JournalFile(path: path, log: tell).read().identities.map(\.identifier.low) == [1, 3, 4])
        #expect(
            said.current.contains { $0.hasPrefix("state cannot be saved: ‘\(path)’ cannot be used: File name too") })
    }

    @Test("a journal that has become long is compacted while the app runs (SPEC 5.5 rule 7)")
    func longJournal() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())").path
        let path = folder + "/app.journal"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let app = AppID(rawValue: "app")
        let file = JournalFile(path: path, slack: 4096, log: { _ in })
        _ = file.read()
        func size() -> Int { (try? Data(contentsOf: URL(fileURLWithPath: path)).count) ?? 0 }
        var longest = 0
        for _ in 0..<500 {
            file.append(.managerRemoved(app, .central, restoreIdentifier: "central"))
            longest = max(longest, size())
        }
        file.append(.identity(app, PeerIdentifier(high: 1, low: 2), DeviceAddress(value: 3, kind: .public)))
        #expect(longest < 4096 + 200)
        #expect(JournalFile(path: path, log: { _ in }).read().identities.count == 1)
    }

    @Test(
        "a suspended app without a mode gets nothing until it is in the foreground again (SPEC FGO-1, FGO-4)"
    )
    func suspension() async throws {
        let stage = try Stage { _ in }
        let device = await stage.onAir { $0.addPeripheral(.jellingHeart) }
        let probe = CentralProbe(stage.launch())
        try await probe.find("180D")
        try await probe.connect()
        probe.system.move(.background)
        probe.system.move(.suspended)
        await probe.settle(probe.system)
        await stage.onAir { $0.disconnect(device) }
        await stage.pass(milliseconds: 300)
        await probe.settle(probe.system)
        #expect(!probe.lines.contains { $0.hasPrefix("disconnected") })
        probe.system.move(.foreground)
        #expect(try await probe.wait(for: "disconnected") == "disconnected CBErrorDomain 7 disconnected")
    }

    @Test("the manifest and the environment say who the app is and why it runs (SPEC 5.3, 5.5 rule 1, SPR-6)")
    func environment() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("manifest-\(UUID()).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(
            """
            {"BundleIdentifier": "org.example.lock", "UIBackgroundModes": ["bluetooth-central", "audio"],
             "initialState": "background", "launchOptions": {"centrals": ["door"]}}
            """.utf8
        ).write(to: URL(fileURLWithPath: path))
        let environment = AppEnvironment([
            "JELLING_TRANSPORT": "sim", "JELLING_STATE": "/tmp/x", "JELLING_MANIFEST": path,
            "CB_LAUNCH_PERIPHERALS": "a, b",
        ])
        #expect(environment.identifier == "org.example.lock" && environment.transport == "sim")
        #expect(environment.manifest.backgroundModes == .central && !environment.startsInForeground)
        #expect(environment.launchOptions == .init(centrals: ["door"], peripherals: ["a", "b"]))
        #expect(
            StateFolder(path: "/tmp/x").journalPath(of: "org.example.lock") == "/tmp/x/apps/org.example.lock.journal")
        #expect(StateFolder(path: "/tmp/x").journalPath(of: "../a") == "/tmp/x/apps/2e2e2f61.journal")
        #expect(AppEnvironment([:]).manifest.backgroundModes == [])
    }

    @Test(
        "a manifest with a mistake says so with its key and what is right, and its app is not authorized (SPEC 5.3)",
        arguments: [
            (#"{"authorization": "no"}"#, "‘authorization’ is ‘allowed’, ‘denied’ or ‘restricted’, not ‘no’"),
            (#"{"Authorization": "denied"}"#, "write ‘authorization’"),
            (#"{"initialState": 1}"#, "‘initialState’ is a text in quotation marks, not 1"),
            (#"{"initialState": "back"}"#, "‘initialState’ is ‘foreground’ or ‘background’, not ‘back’"),
            (#"{"UIBackgroundModes": "bluetooth-central"}"#, "‘UIBackgroundModes’ is a list of texts"),
            (#"{"UIBackgroundModes": ["bluetooth-perpheral"]}"#, "‘UIBackgroundModes’ has no ‘bluetooth-perpheral’"),
            (#"{"mayPair": false}"#, "‘mayPair’ is for installed apps"),
            (#"{"launchOptions": {"central": []}}"#, "‘launchOptions’: there is no key ‘central’; write ‘centrals’"),
            (#"{"overflow": "none"}"#, "‘overflow’ is ‘off’, ‘on’ or"), ("{", "not JSON"), ("[]", "braces"),
        ])
    func mistakes(manifest: String, words: String) throws {
        var environment = AppEnvironment([:])
        do {
            try environment.apply(manifest: Data(manifest.utf8))
            Issue.record("it is accepted")
        } catch {
            #expect("\(error)".contains(words) && !"\(error)".contains("\n"), "\(error)")
        }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("manifest-\(UUID()).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(manifest.utf8).write(to: URL(fileURLWithPath: path))
        let wrong = AppEnvironment(["JELLING_MANIFEST": path])
        #expect(wrong.manifest.authorization == .denied && wrong.overflow == .off)
        #expect(wrong.identifier == AppEnvironment([:]).identifier)
        // A path with a mistake in it is no other.
        #expect(AppEnvironment(["JELLING_MANIFEST": path + "x"]).authorization == .denied)
    }

    @Test("the environment, else the manifest, says whether the overflow area is sent; without both it is (SPEC 3.6)")
    func overflow() throws {
        #expect(AppEnvironment([:]).overflow == nil && AppEnvironment([:]).manifest.overflow == .on)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("manifest-\(UUID()).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        func environment(_ variable: String, _ key: String? = nil) throws -> AppEnvironment {
            let content = key.map { #"{"overflow": "\#($0)"}"# } ?? "{}"
            try Data(content.utf8).write(to: URL(fileURLWithPath: path))
            return AppEnvironment(["JELLING_MANIFEST": path, "JELLING_OVERFLOW": variable])
        }
        #expect(try environment("off").manifest.overflow == .off)
        #expect(try environment("on", "off").overflow == .on)
        #expect(try environment("0xFFFF").manifest.overflow == .company(0xFFFF))
        #expect(try environment("", "off").overflow == .off)
        #expect(try environment("", "0x1234").manifest.overflow == .company(0x1234))
        // Whoever writes something wanted something else than the usual.
        #expect(try environment("of").overflow == .off)
        #expect(try environment("", "none").overflow == .off)
    }
}
