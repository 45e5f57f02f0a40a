import BLEHost
import BLEPackets
import Foundation
import Testing

@testable import BLESecurity

@Suite("Bonds on disk")
struct FileBondStoreTests {
    @Test("a bond is found again by another run, with everything that belongs to it")
    func roundTrip() throws {
        let folder = try Folder()
        let bond = Self.full
        try folder.store().save(bond)
        #expect(try folder.store().load().bonds == [bond])
    }

    @Test("a bond that nobody asked for is one in the next run as well")
    func unasked() throws {
        let folder = try Folder()
        var bond = Self.full
        bond.isUnasked = true
        bond.insufficientCapability = .keyboardDisplay
        try folder.store().save(bond)
        #expect(try folder.store().load().bonds == [bond])
    }

    @Test(
        "the user for whom a bond was made is kept with it, and a line without one is a bond of nobody",
        arguments: [ClientUser(1000), ClientUser(0, isOperator: true), nil])
    func user(user: ClientUser?) throws {
        let folder = try Folder()
        var bond = Self.full
        bond.user = user
        try folder.store().save(bond)
        #expect(try folder.store().load().bonds == [bond])
        #expect(BondLine.text(bond).contains(" user=") == (user != nil))
    }

    @Test("a name is kept whatever it holds", arguments: ["Lock", "a b=c sum=d\nbond", "心拍計 🔒", "‘x’"])
    func name(name: String) throws {
        let folder = try Folder()
        var bond = Self.full
        bond.name = name
        try folder.store().save(bond)
        #expect(try folder.store().load().bonds == [bond])
    }

    @Test("a bond that would make the file longer than is read is refused, and what was kept stays")
    func tooLong() throws {
        let folder = try Folder()
        try folder.store().save(Self.full)
        var long = Bond(identity: DeviceAddress(value: 2, kind: .public))
        long.clientRecord = GATTClientRecord(
            configurations: (1...100).map { .init(handle: AttributeHandle(rawValue: $0), modes: .notifications) },
            features: 0, knownTable: 0)
        let store = FileBondStore(path: folder.path, lockTimeoutMilliseconds: 3000, longestFile: 1000)
        #expect(throws: BondStoreError.self) { try store.save(long) }
        #expect(try folder.store().load().bonds == [Self.full])
    }

    @Test("a bond with only an identity is a bond")
    func leastBond() throws {
        let folder = try Folder()
        let bond = Bond(identity: DeviceAddress(value: 1, kind: .public), keySize: 7)
        try folder.store().save(bond)
        #expect(try folder.store().load().bonds == [bond])
    }

    @Test("each identity has one bond, the last; public and random are two identities")
    func oneBondEach() throws {
        let folder = try Folder()
        let store = folder.store()
        let random = Bond(identity: DeviceAddress(value: 0xC000_0000_0001, kind: .random), keySize: 16)
        let sameValue = Bond(identity: DeviceAddress(value: 0xC000_0000_0001, kind: .public), keySize: 16)
        var renewed = random
        renewed.keySize = 12
        renewed.peerKey = LongTermKey(key: Key128(rawValue: 7))
        for bond in [random, sameValue, renewed] { try store.save(bond) }
        #expect(try folder.store().load().bonds == [renewed, sameValue])
    }

    @Test("a file that names an identity twice gives its last bond")
    func twiceInOneFile() {
        var later = Self.full
        later.keySize = 9
        let lines = [BondLine.text(Self.full), BondLine.text(later), "end lines=2"].map { BondLine.sealed($0) + "\n" }
        let text = "jelling bonds 1\n" + lines.joined()
        #expect(BondFile.read(Array(text.utf8)) == .whole(BondFile(bonds: BondList([later]))))
    }

    @Test("a removed bond is gone, and removing it again says that there was none")
    func removal() throws {
        let folder = try Folder()
        try folder.store().save(Self.full)
        #expect(try folder.store().remove(Self.full.identity))
        #expect(try !folder.store().remove(Self.full.identity))
        #expect(try folder.store().load().bonds.isEmpty)
    }

    @Test("the key of our private addresses is made once")
    func ownKey() throws {
        let folder = try Folder()
        let first = try folder.store().load().identityResolvingKey
        try folder.store().save(Self.full)
        #expect(try folder.store().load().identityResolvingKey == first)
        #expect(first != .zero)
    }

    @Test("looking for bonds that do not exist creates nothing")
    func lookingMakesNothing() throws {
        let folder = try Folder()
        #expect(try FileBondStore(path: folder.path + "/none").bonds().isEmpty)
        #expect(try !FileBondStore(path: folder.path + "/none").remove(Self.full.identity))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/none"))
    }

    @Test("only the owner can read the file and the folder")
    func modes() throws {
        let folder = try Folder()
        unsafe chmod(folder.path, 0o755)
        try folder.store().save(Self.full)
        #expect(try folder.mode("") == 0o700)
        #expect(try folder.mode("/bonds") == 0o600)
        unsafe chmod(folder.path + "/bonds", 0o644)
        _ = try folder.store().load()
        #expect(try folder.mode("/bonds") == 0o600)
    }

    @Test("a damaged file is set aside and reported, and its intact part is kept")
    func damage() throws {
        let folder = try Folder()
        try folder.store().save(Self.full)
        var other = Self.full
        other.identity = DeviceAddress(value: 2, kind: .public)
        try folder.store().save(other)
        var text = try folder.read("/bonds")
        // One digit of the last line, which is the other's.
        let place = try #require(text.range(of: "size=16", options: .backwards))
        text.replaceSubrange(place, with: "size=15")
        try folder.write(text, "/bonds")

        let told = Told()
        #expect(try FileBondStore(path: folder.path, onDamage: told.take).load().bonds == [Self.full])
        #expect(told.all.count == 1)
        #expect(told.all.first?.keptBonds == 1)
        let aside = try #require(told.all.first?.setAsideAs)
        #expect(try String(contentsOfFile: aside, encoding: .utf8) == text)
        // What was kept is whole: it is not told of again.
        #expect(try FileBondStore(path: folder.path, onDamage: told.take).load().bonds == [Self.full])
        #expect(told.all.count == 1)
    }

    @Test("a file cut anywhere never yields half a bond, and never a crash")
    func cutAnywhere() throws {
        var file = BondFile(identityResolvingKey: Key128(rawValue: 5))
        file.bonds.set(Self.full)
        var other = Self.full
        other.identity = DeviceAddress(value: 2, kind: .public)
        file.bonds.set(other)
        let bytes = Array(file.text.utf8)
        for length in 0..<bytes.count {
            guard case .damaged(let rest) = BondFile.read(Array(bytes[..<length])) else {
                Issue.record("\(length) octets were taken for a whole file")
                continue
            }
            for bond in rest.bonds.all { #expect(bond == file.bonds.bond(for: bond.identity)) }
        }
    }

    @Test("a file with any octet changed never yields a bond that was not written")
    func flippedAnywhere() throws {
        var file = BondFile(identityResolvingKey: Key128(rawValue: 5))
        file.bonds.set(Self.full)
        let bytes = Array(file.text.utf8)
        for index in bytes.indices {
            for bit in [UInt8(0x01), 0x10, 0x80] {
                var changed = bytes
                changed[index] ^= bit
                switch BondFile.read(changed) {
                case .whole(let rest): Issue.record("octet \(index) was not missed: \(rest.bonds)")
                case .damaged(let rest): for bond in rest.bonds.all { #expect(bond == Self.full) }
                case .unknownVersion: #expect(index < BondFile.heading.utf8.count + 1)
                }
            }
        }
    }

    @Test("garbage is set aside, many times over")
    func garbage() throws {
        let folder = try Folder()
        for text in ["", "\n", "jelling", "{\"bonds\":[]}\n", "jelling bonds x\n", "\0\0\0\0\0\0\0\0"] {
            try folder.write(text, "/bonds")
            let told = Told()
            #expect(try FileBondStore(path: folder.path, onDamage: told.take).load().bonds.isEmpty)
            #expect(told.all.count == 1)
        }
        try folder.store().save(Self.full)
        #expect(try folder.store().load().bonds == [Self.full])
    }

    @Test("the file of a later version is left alone")
    func laterVersion() throws {
        let folder = try Folder()
        let text = "jelling bonds 2\nsomething new\n"
        try folder.write(text, "/bonds")
        #expect(throws: BondStoreError.unknownVersion(path: folder.path + "/bonds")) { try folder.store().load() }
        #expect(throws: BondStoreError.unknownVersion(path: folder.path + "/bonds")) {
            try folder.store().save(Self.full)
        }
        #expect(try folder.read("/bonds") == text)
    }

    @Test("an unusable path is reported with the remedy")
    func unwritable() throws {
        let folder = try Folder()
        try folder.write("a file", "/taken")
        do throws(BondStoreError) {
            try FileBondStore(path: folder.path + "/taken/bonds").save(Self.full)
            Issue.record("saved")
        } catch {
            #expect(error.description.contains("/taken"))
            #expect(error.description.contains("is a file, not a folder: remove it"))
        }
    }

    @Test("a bond that another process removed is not brought back by a new counter, but by new keys")
    func removedElsewhere() throws {
        let folder = try Folder()
        let here = folder.store()
        try here.save(Self.full)
        try folder.store().remove(Self.full.identity)
        var counted = Self.full
        counted.localSigningKey?.counter += 1
        counted.clientRecord = nil
        try here.save(counted)
        #expect(try folder.store().load().bonds.isEmpty)
        counted.peerKey = LongTermKey(key: Key128(rawValue: 99))
        try here.save(counted)
        #expect(try folder.store().load().bonds == [counted])
    }

    @Test("two stores that write at the same time lose nothing of each other")
    func together() async throws {
        let folder = try Folder()
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                group.addTask {
                    let store = FileBondStore(path: folder.path)
                    for number in 0..<10 {
                        let identity = DeviceAddress(value: UInt64(part * 100 + number + 1), kind: .public)
                        do {
                            try store.save(Bond(identity: identity, keySize: 16))
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
        }
        #expect(try folder.store().load().bonds.count == 40)
    }

    @Test("a process that finds the lock taken gets it when its holder releases it")
    func lockIsLetGo() throws {
        let folder = try Folder()
        let store = FileBondStore(path: folder.path, lockTimeoutMilliseconds: 600_000)
        let lock = unsafe open(folder.path + "/lock", O_RDWR | O_CREAT, 0o600)
        #expect(flock(lock, LOCK_EX) == 0)
        // Lets go while the store waits, or before: both must do.
        Thread.detachNewThread {
            usleep(20_000)
            close(lock)
        }
        try store.save(Self.full)
        #expect(try folder.store().load().bonds == [Self.full])
    }

    @Test(
        "a lock that is never released ends in an error, and each later change in one at once, until it is free again")
    func lockIsKept() throws {
        let folder = try Folder()
        let store = FileBondStore(path: folder.path, lockTimeoutMilliseconds: 30)
        let lock = unsafe open(folder.path + "/lock", O_RDWR | O_CREAT, 0o600)
        #expect(flock(lock, LOCK_EX) == 0)
        for _ in 0..<3 {
            #expect(throws: BondStoreError.busy(path: folder.path + "/lock")) { try store.save(Self.full) }
        }
        close(lock)
        // The wait that was left behind may have the lock for a moment.
        try FileBondStore(path: folder.path, lockTimeoutMilliseconds: 600_000).save(Self.full)
        #expect(try folder.store().load().bonds == [Self.full])
    }

    @Test("descriptions and errors show no key (SEC)")
    func secrets() throws {
        let bond = Self.full
        let texts = ["\(bond)", String(reflecting: bond), "\(bond.peerKey as Any)", "\(bond.localSigningKey as Any)"]
        for text in texts {
            #expect(!text.contains("1234"))
            #expect(!text.contains(String(0x1234_5678_9ABC)))
        }
    }

    @Test("a writer that is killed at any moment leaves a file that is whole", .timeLimit(.minutes(10)))
    func killed() throws {
        let writer = try #require(
            Folder.product("bond-store-writer"),
            "bond-store-writer is missing beside the tests: swift build --build-tests")
        let folder = try Folder()
        var generator = SystemRandomNumberGenerator()
        for round in 0..<60 {
            let process = Process()
            process.executableURL = writer
            process.arguments = [folder.path, String(round + 1)]
            process.standardOutput = Pipe()
            try process.run()
            usleep(UInt32.random(in: 3_000..<60_000, using: &generator))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal)

            let told = Told()
            let bonds = try FileBondStore(path: folder.path, onDamage: told.take).load().bonds
            #expect(told.all.isEmpty)
            #expect(Set(bonds.map(\.identity)).count == bonds.count)
            for bond in bonds {
                #expect(bond.peerKey == bond.localKey && bond.peerKey?.key == bond.identityResolvingKey)
            }
        }
        // The temporary file of the last one is no obstacle, and none are heaped up.
        try folder.store().save(Self.full)
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder.path)) == ["bonds", "lock"])
        #expect(try folder.store().load().bonds.contains(Self.full))
    }

    static let full = Bond(
        identity: DeviceAddress(value: 0xC1FF_EE00_0001, kind: .random),
        identityResolvingKey: Key128(rawValue: 0x1234_5678_9ABC), isSecureConnections: false, isAuthenticated: true,
        keySize: 16,
        localKey: LongTermKey(key: Key128(rawValue: 0x1234_0000), encryptedDiversifier: 0xFFFF, randomNumber: .max),
        peerKey: LongTermKey(key: Key128(rawValue: .max), encryptedDiversifier: 1, randomNumber: 2),
        localSigningKey: SigningKey(key: Key128(rawValue: 0x1234), counter: 5),
        peerSigningKey: SigningKey(key: Key128(rawValue: 0x12341), counter: .max),
        clientRecord: GATTClientRecord(
            configurations: [
                .init(handle: AttributeHandle(rawValue: 3), modes: SubscriptionModes(rawValue: 1)),
                .init(
                    handle: AttributeHandle(rawValue: 0xFFFF), modes: SubscriptionModes(rawValue: 2), owner: .max - 1),
            ], features: 7, knownTable: .max))
}

/// What a store told of damage.
private final class Told: @unchecked Sendable {
    // Written from within calls of the test's own thread only.
    private(set) var all: [DamagedBonds] = []
    @Sendable func take(_ damage: DamagedBonds) { all.append(damage) }
}

/// A folder that goes with its test.
private final class Folder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("bonds-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func store() -> FileBondStore { FileBondStore(path: path) }

    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + name)
        return attributes[.posixPermissions] as? Int ?? -1
    }

    func read(_ name: String) throws -> String { try String(contentsOfFile: path + name, encoding: .utf8) }

    func write(_ text: String, _ name: String) throws {
        try text.write(toFile: path + name, atomically: false, encoding: .utf8)
    }

    /// A program of this package, which is built into the folder of the tests.
    static func product(_ name: String) -> URL? {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0])
        for folder in [bundle.deletingLastPathComponent(), Bundle.main.bundleURL] {
            let program = folder.appendingPathComponent(name)
            if FileManager.default.isExecutableFile(atPath: program.path) { return program }
        }
        return nil
    }
}
