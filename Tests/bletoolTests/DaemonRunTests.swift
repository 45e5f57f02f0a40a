import BLE
import BLEDaemon
import BLEVirtualTransports
import Foundation
import Testing

import class BLETransport.EventLoop

@testable import bletool

@Suite("Commands through a daemon")
struct DaemonRunTests {
    @Test("lescan and gatt read print through a daemon what they print on a controller of their own")
    func sameOutput() async throws {
        let daemon = try RunningDaemon()
        for command in [["gatt", "Jelling Heart", "discover"], ["gatt", "Jelling Heart", "read", "2A38"]] {
            let shared = try await ToolRun(list: ["-t", "bled:\(daemon.path)", "--json"] + command)
            let own = try await ToolRun(list: ["-t", "sim", "--json"] + command)
            #expect(shared.status == 0 && own.status == 0)
            #expect(Self.withoutOccasion(shared.output) == Self.withoutOccasion(own.output))
            #expect(Self.withoutWaiting(shared.errors) == Self.withoutWaiting(own.errors))
        }
        let scan = ["lescan", "--name", "Jelling Heart", "--count", "1"]
        let shared = try await ToolRun(list: ["-t", "bled:\(daemon.path)"] + scan)
        let own = try await ToolRun(list: ["-t", "sim"] + scan)
        #expect(shared.status == 0)
        // The strength of the signal is never twice the same.
        #expect(Self.withoutStrength(shared.output) == Self.withoutStrength(own.output))
    }

    @Test("options for a controller of one's own are refused")
    func refusedOptions() async throws {
        for option in [["--record", "/tmp/x"], ["--own-address", "static"]] {
            let run = try await ToolRun(list: ["-t", "bled:@nobody"] + option + ["lescan", "--duration", "1"])
            #expect(run.status == 2)
            #expect(run.errors.contains("cannot be used with -t bled"))
        }
    }

    /// What a run prints, but for when and by which adapter.
    private static func withoutOccasion(_ json: String) -> String {
        json.replacing(/,"(?:time|adapter)":"[^"]*"/, with: "")
    }

    /// What a run says, but for the lines that depend on how long it waits.
    private static func withoutWaiting(_ errors: String) -> [Substring] {
        errors.split(separator: "\n").filter { !$0.contains("still ") && !$0.contains("waiting") }
    }

    private static func withoutStrength(_ text: String) -> String {
        text.split(separator: " ").filter { Int($0) == nil }.joined(separator: " ")
    }
}

private final class RunningDaemon: @unchecked Sendable {
    // @unchecked Sendable is safe because the daemon is touched only on the loop's thread.
    let path = "@jelling-\(UUID())"
    private let loop: EventLoop
    private let daemon: Daemon

    init() throws {
        loop = try EventLoop(name: "bled")
        daemon = try Daemon(
            Daemon.Configuration(
                transport: .simulator(scenario: nil),
                adapter: AdapterConfiguration(makeVirtualTransport: VirtualTransports.open), socketPath: path,
                users: [geteuid()]), on: loop)
        let loop = loop
        daemon.onStopped = { loop.stop() }
        try loop.start()
    }

    deinit {
        nonisolated(unsafe) let daemon = daemon
        loop.run { unsafe daemon.stop() }
        loop.join()
    }
}
