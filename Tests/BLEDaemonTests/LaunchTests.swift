import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import Foundation
import Synchronization
import Testing

@testable import BLEDaemon

extension RawClient {
    func becomeOperator() throws {
        greet(session: .operator)
        guard case .welcome? = try next() else { throw POSIXError(.EACCES) }
    }

    /// An operator's request.
    func operate(_ request: OperatorRequest) throws -> OperatorAnswer {
        send(.operatorRequest(request))
        while let message = try next() {
            if case .operatorAnswer(let answer) = message { return answer }
        }
        throw POSIXError(.EPIPE)
    }
}

/// Waits until `isSo`, for up to a minute.
func comesTrue(_ isSo: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<1200 {
        if try isSo() { return true }
        usleep(50_000)
    }
    return false
}

@Suite("Launching apps")
struct LaunchTests {
    @Test("an app that hangs before its greeting is resumed at first, and later ended and launched again")
    func hanging() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apps-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("slow.json")
        let manifest = #"{"BundleIdentifier": "slow", "command": ["/bin/sleep", "1000"], "user": "\#(geteuid())"}"#
        try Data(manifest.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let stage = try DaemonStage {
            $0.appsFolder = folder.path
            $0.lifecycle.relaunchTimeout = .milliseconds(500)
        }
        let client = try stage.connect()
        try client.becomeOperator()
        func process() throws -> UInt32 { try client.operate(.list).apps.first?.process ?? 0 }
        #expect(try client.operate(.foreground("slow")).error.isEmpty)
        let first = try process()
        #expect(first != 0)
        let isAnother = try comesTrue {
            _ = try client.operate(.foreground("slow"))
            return try ![0, first].contains(process())
        }
        #expect(isAnother)
        #expect(kill(Int32(first), 0) != 0)
        #expect(try client.operate(.quit("slow")).error.isEmpty)
        #expect(try comesTrue { try process() == 0 })
    }

    @Test(
        "where an app stands is written down when it changes, and not changed by an event before it has come back (SPEC 5.4)"
    )
    func places() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apps-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("slow.json")
        let manifest = #"{"BundleIdentifier": "slow", "command": ["/bin/sleep", "1000"], "user": "\#(geteuid())"}"#
        try Data(manifest.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let list = folder.appendingPathComponent("processes").path
        func lines() throws -> [String] {
            try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        let slow = AppID(rawValue: "slow")
        let begin = {
            try DaemonStage {
                $0.appsFolder = folder.path
                $0.processesPath = list
            }
        }
        var stage: DaemonStage? = try begin()
        let client = try stage!.connect()
        try client.becomeOperator()
        #expect(try client.operate(.foreground("slow")).error.isEmpty)
        #expect(try lines().count == 1 && lines()[0].hasSuffix(" foreground slow"))
        // As at the end of its last daemon: the process goes on.
        stage = nil
        stage = try begin()
        let isInFront = stage!.withDaemon { daemon in
            daemon.withCore { core in
                core.carryOut(.relaunch(LaunchOptions(centrals: ["c"])), slow)
                return core.processes.wasInForeground[slow]
            }
        }
        #expect(isInFront == true)
        #expect(try lines()[0].hasSuffix(" foreground slow"))
        let other = try stage!.connect()
        try other.becomeOperator()
        #expect(try other.operate(.quit("slow")).error.isEmpty)
        // A child that nobody waits for would hold up the exit tests of this process.
        #expect(try comesTrue { try other.operate(.list).apps.first?.process == nil })
    }
}

@Suite("The ends of apps")
struct AppEndTests {
    @Test(
        "the log says how an app ended that nobody had ended",
        arguments: [("exit 3", "ended with status 3"), ("kill -SEGV $$", "was ended by signal 11")])
    func endings(script: String, words: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apps-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("dies.json")
        let manifest =
            #"{"BundleIdentifier": "dies", "command": ["/bin/sh", "-c", "\#(script)"], "user": "\#(geteuid())"}"#
        try Data(manifest.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let noted = Noted()
        let stage = try DaemonStage {
            $0.appsFolder = folder.path
            $0.logged = { level, line in if level == .notice { noted.add(line) } }
        }
        let client = try stage.connect()
        try client.becomeOperator()
        #expect(try client.operate(.foreground("dies")).error.isEmpty)
        #expect(comesTrue { noted.lines.contains { $0.hasPrefix("‘dies’ (process ") && $0.hasSuffix(words) } })
        #expect(noted.lines.count == 1, "\(noted.lines)")
    }

    /// What a daemon has logged.
    private final class Noted: Sendable {
        private let kept = Mutex<[String]>([])
        var lines: [String] { kept.withLock { $0 } }
        func add(_ line: String) { kept.withLock { $0.append(line) } }
    }
}

@Suite("Programs that are not installed")
struct UninstalledAppTests {
    @Test("one with background modes is told that they need an installed app; others are not")
    func backgroundModes() throws {
        let stage = try DaemonStage()
        for (modes, isTold) in [(["audio", "bluetooth-central"], true), (["audio"], false)] {
            let client = try stage.connect()
            var app = AppGreeting("org.example.relay")
            app.backgroundModes = modes
            client.send(.hello(Greeting(.app, app: app)))
            // Every app is told next how long it may run, and which features there are.
            var told: [String] = []
            while let message = try client.next() {
                guard case .appNotice(let notice) = message else { continue }
                if case .log(let line) = notice { told.append(line) }
                if case .extended = notice { break }
            }
            #expect(told.contains { $0.contains("bletool app install") } == isTold, "\(told)")
        }
    }
}

@Suite("The cgroup of an app")
struct AppGroupTests {
    /// A folder with the files of a group, to which nobody belongs.
    @Test("an app belongs to the group that was made for it, also before it has joined that: never to the daemon's own")
    func beforeJoining() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("groups-\(UUID())")
        let group = folder.appendingPathComponent("app-slow")
        try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["cgroup.procs", "cgroup.kill", "cgroup.freeze"] {
            try Data().write(to: group.appendingPathComponent(name))
        }
        let manifest = #"{"BundleIdentifier": "slow", "command": ["/bin/sleep", "1000"], "user": "\#(geteuid())"}"#
        let process = try AppProcess.launch(
            InstalledApp(file: Data(manifest.utf8)), socket: "@none", groups: folder.path, LaunchOptions())
        defer {
            process.kill()
            var status: Int32 = 0
            unsafe waitpid(process.facts.number, &status, 0)
        }
        #expect(process.facts.kind == .cgroup)
        func frozen() throws -> String {
            try String(contentsOf: group.appendingPathComponent("cgroup.freeze"), encoding: .utf8)
        }
        #expect(try frozen() == "0")
        #expect(process.stop())
        #expect(try frozen() == "1")
        process.resume()
        #expect(try frozen() == "0")
    }
}

@Suite("The watchdog")
struct WatchdogTests {
    private static let device = DeviceAddress(value: 0xC0FF_EE00_0001, kind: .random)

    /// A disk that hangs until it is told to go on.
    private struct HangingStore: BondStore {
        let hasBegun = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)

        func load() throws(BondStoreError) -> StoredBonds {
            StoredBonds(
                bonds: [Bond(identity: device, localKey: LongTermKey(key: Key128(rawValue: 1)))],
                identityResolvingKey: Key128(rawValue: 3))
        }

        func save(_ bond: Bond) throws(BondStoreError) {}

        func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool {
            hasBegun.signal()
            mayEnd.wait()
            return true
        }
    }

    @Test("bled shows no life while a disk that hangs holds up its programs, and does again afterwards")
    func hangingDisk() throws {
        let beats = Mutex(0)
        let store = HangingStore()
        let stage = try DaemonStage {
            $0.adapter.bondStore = store
            $0.aliveMicroseconds = 20_000
            $0.savingMicroseconds = 200_000
            $0.alive = { beats.withLock { $0 += 1 } }
        }
        #expect(comesTrue { beats.withLock { $0 } > 2 })
        let client = try stage.connect()
        try client.becomeOperator()
        client.send(.operatorRequest(.removeBond(Self.device)))
        #expect(store.hasBegun.wait(timeout: .now() + 60) == .success)
        usleep(1_000_000)
        let count = beats.withLock { $0 }
        usleep(500_000)
        #expect(beats.withLock { $0 } == count)
        store.mayEnd.signal()
        #expect(comesTrue { beats.withLock { $0 } > count })
    }
}
