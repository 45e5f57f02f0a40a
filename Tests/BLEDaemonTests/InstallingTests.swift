import BLEAppLifecycle
import BLEMessages
import BLETransport
import Foundation
import Synchronization
import Testing

@testable import BLEDaemon

@Suite("Installing apps as an operator who is not root")
struct InstallingTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apps-\(UUID())")
    /// Neither root nor the user of the daemon.
    private let user = geteuid() == 65_534 ? "daemon" : "nobody"

    private func write(_ manifest: String, to name: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(name)
        try Data(manifest.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    }

    private func manifest(of user: String, _ more: String = "") -> String {
        #"{"BundleIdentifier": "relay", "command": ["/bin/true"], "user": "\#(user)"\#(more)}"#
    }

    private var files: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path) } }

    private func account() throws -> PeerCredentials {
        let found = try #require(Accounts.user(user))
        return PeerCredentials(user: found.id, group: found.group, process: getpid())
    }

    private func install(on stage: DaemonStage) throws -> String? {
        let (file, peer) = (Array(manifest(of: user).utf8), try account())
        return stage.withDaemon { $0.install(file, for: peer) }
    }

    @Test(
        "an app of another user keeps its place while its manifest is broken, whatever adapter it has",
        arguments: ["", #", "adapter": "user:7""#])
    func broken(_ adapter: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(manifest(of: "root", adapter), to: "another-name.json")
        let path = folder.path
        let stage = try DaemonStage { $0.appsFolder = path }
        try write("{", to: "another-name.json")
        // The first one must not let it be forgotten.
        for _ in 0..<2 {
            let answer = try #require(try install(on: stage))
            #expect(answer.contains("may only install apps that run as that user"), "\(answer)")
            #expect(try files == ["another-name.json"])
            stage.withDaemon { $0.readInstalledApps() }
        }
    }

    @Test("an operator's own app whose manifest is broken may be installed again")
    func ownIsBroken() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(manifest(of: user), to: "another-name.json")
        let path = folder.path
        let stage = try DaemonStage { $0.appsFolder = path }
        try write("{", to: "another-name.json")
        #expect(try install(on: stage) == nil)
        #expect(try files.sorted() == ["another-name.json", "relay.json"])
    }

    @Test("one of the daemons of a process at a time installs or removes apps: what it has found stays so meanwhile")
    func oneAtATime() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (path, book) = (folder.path, AdapterBook())
        let stage = try DaemonStage {
            $0.appsFolder = path
            $0.adapters = book
        }
        let (file, peer) = (Array(manifest(of: user).utf8), try account())
        let answers = Mutex<[String?]>([])
        let done = DispatchSemaphore(value: 0)
        try book.installing.withLock { _ in
            stage.begin { daemon in
                let answer = daemon.install(file, for: peer)
                answers.withLock { $0.append(answer) }
                done.signal()
            }
            #expect(done.wait(timeout: .now() + .milliseconds(200)) == .timedOut)
            // What another daemon does meanwhile.
            try write(manifest(of: "root"), to: "relay.json")
        }
        done.wait()
        let answer = answers.withLock { $0[0] }
        let refusal = try #require(answer)
        #expect(refusal.contains("may only install apps that run as that user"), "\(refusal)")
        try write(manifest(of: user), to: "relay.json")
        stage.withDaemon { $0.readInstalledApps() }
        try book.installing.withLock { _ in
            stage.begin { daemon in
                let isRemoved = daemon.remove(AppID(rawValue: "relay"), for: peer)
                answers.withLock { $0.append(isRemoved ? "removed" : "refused") }
                done.signal()
            }
            #expect(done.wait(timeout: .now() + .milliseconds(200)) == .timedOut)
            try write(manifest(of: "root"), to: "relay.json")
        }
        done.wait()
        #expect(answers.withLock { $0[1] } == "refused")
        #expect(try files == ["relay.json"])
    }
}

extension Daemon {
    /// Installs an app as an operator who is not connected.
    /// - Returns: why it failed; `nil` if the manifest was written.
    fileprivate func install(_ file: [UInt8], for peer: PeerCredentials) -> String? {
        let installation = appFolder.install(file, for: peer, core.apps.installed, core.apps.owners)
        input(.installed(installation, by: ConnectionID(rawValue: 0)))
        if case .refused(let problem) = installation { return problem }
        return nil
    }

    /// Removes an app as an operator who is not connected.
    /// - Returns: whether its manifests are deleted.
    fileprivate func remove(_ app: AppID, for peer: PeerCredentials) -> Bool {
        var removal = Removal(app: app, keepsState: false)
        let (installed, owner) = (core.apps.installed, core.apps.owners[app])
        appFolder.remove(&removal, for: peer, installed, owner: owner, hasState: core.hasState(of: app))
        input(.removed(removal, by: ConnectionID(rawValue: 0)))
        return removal.refusal == nil
    }
}
