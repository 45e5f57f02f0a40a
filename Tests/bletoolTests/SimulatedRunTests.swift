import Foundation
import Testing

@testable import bletool

/// Whole runs of the program on the built-in simulator.
@Suite("Runs on the simulator")
struct SimulatedRunTests {
    static let heart = "Jelling Heart"

    @Test("lescan prints one object per line with the keys of the contract")
    func scan() async throws {
        let none = try await ToolRun("-t", "sim", "lescan", "--name", "nobody", "--duration", "0.5")
        #expect(none.status == 0 && none.output.isEmpty)
        #expect(none.errors.contains("no device called ‘nobody’ was heard"), "\(none.errors)")
        let run = try await ToolRun("-t", "sim", "--json", "lescan", "--name", Self.heart, "--count", "1")
        #expect(run.status == 0)
        let event = try #require(try run.objects.first)
        #expect(try run.objects.count == 1)
        #expect(
            Set(event.keys) == [
                "event", "address", "addressType", "rssi", "connectable", "name", "serviceUUIDs", "hashedServiceUUIDs",
                "manufacturerData", "serviceData", "txPower", "advertisement", "scanResponse",
                "time", "adapter",
            ])
        #expect(event["event"] as? String == "discovered")
        #expect(event["address"] as? String == "C0:DE:00:00:00:01")
        #expect(event["addressType"] as? String == "random")
        #expect(event["serviceUUIDs"] as? [String] == ["180D", "180F"])
        #expect(event["connectable"] as? Bool == true)
    }

    @Test("the controller behind a transport is listed as the only adapter")
    func devices() async throws {
        let run = try await ToolRun("-t", "sim", "--json", "dev")
        #expect(run.status == 0)
        let adapter = try #require(try run.objects.first)
        #expect(adapter["name"] as? String == "sim")
        #expect(adapter["up"] as? Bool == true)
        #expect((adapter["address"] as? String)?.utf8.count == 17)
    }

    @Test("a scan for people names address, type, strength and services, one line per device")
    func scanForPeople() async throws {
        let run = try await ToolRun("-t", "sim", "lescan", "--name", Self.heart, "--count", "1")
        #expect(run.output.hasPrefix("C0:DE:00:00:00:01 random"))
        #expect(run.output.contains("dBm  Jelling Heart  180D Heart Rate,180F Battery Service"))
        #expect(run.errors.isEmpty)
    }

    @Test("sync says what it waits for, also where nobody sees progress")
    func syncWaits() async throws {
        let said = "still looking for the periodic advertising of C0:DE:00:00:00:77 with SID 1"
        let run = try await ToolRun("-t", "sim", "sync", "C0:DE:00:00:00:77/random", "--sid", "1", interruptAt: [said])
        #expect(run.output.isEmpty && run.errors.contains("bletool: \(said)\n"), "\(run.errors)")
    }

    @Test("^C ends a scan with status 0")
    func interruptedScan() async throws {
        let run = try await ToolRun("-t", "sim", "--json", "lescan", interruptAt: ["discovered"])
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
    }

    @Test("discover prints every service with handles and properties")
    func discover() async throws {
        let run = try await ToolRun("-t", "sim", "--json", "gatt", Self.heart, "discover")
        #expect(run.status == 0)
        let database = try #require(try run.objects.first)
        #expect(database["mtu"] as? Int == 517)
        let services = try #require(database["services"] as? [[String: Any]])
        let service = try #require(services.first { $0["uuid"] as? String == "180D" })
        // The contract's keys, and behind them the name that the number has.
        #expect(Set(service.keys) == ["uuid", "handle", "endHandle", "primary", "includes", "characteristics", "name"])
        #expect(service["name"] as? String == "Heart Rate")
        let characteristics = try #require(service["characteristics"] as? [[String: Any]])
        #expect(characteristics.first?["properties"] as? [String] == ["notify"])
        let descriptors = try #require(characteristics.first?["descriptors"] as? [[String: Any]])
        #expect(descriptors.first?["uuid"] as? String == "2902")
        #expect(descriptors.first?["name"] as? String == "Client Characteristic Configuration")
    }

    @Test("discover shows people the names of services, characteristics and descriptors")
    func discoverNames() async throws {
        let run = try await ToolRun("-t", "sim", "gatt", Self.heart, "discover")
        #expect(run.output.contains("service 180D Heart Rate  "))
        #expect(run.output.contains("  characteristic 2A37 Heart Rate Measurement  "))
        #expect(run.output.contains("    descriptor 2902 Client Characteristic Configuration  "))
    }

    @Test("a script runs over one connection, and its first failing line ends it with its number")
    func script() async throws {
        let folder = try TestFolder()
        let file = try folder.write(
            """
            # the sensor
            read 2A38
            subscribe 180D/2A37
            wait --count 2 --duration 20   # two values
            read 2A37
            read 2A38
            """, to: "script")
        let run = try await ToolRun("-t", "sim", "--json", "gatt", Self.heart, "script", file)
        #expect(run.status == 1)
        #expect(
            try run.objects.compactMap { $0["event"] as? String } == [
                "value", "subscribed", "notified", "notified", "error",
            ])
        let error = try #require(try run.events("error").first)
        #expect(error["attError"] as? String == "0x02")
        #expect(error["handle"] is Int)
        #expect(error["line"] as? Int == 5)
        #expect(run.errors.contains("line 5"))
    }

    @Test("^C ends a subscription without a limit as done")
    func interruptedSubscription() async throws {
        let run = try await ToolRun(
            "-t", "sim", "--json", "gatt", Self.heart, "subscribe", "2A37", interruptAt: ["\"notified\""])
        #expect(run.status == 0)
        #expect(try run.events("notified").count > 0)
    }

    @Test("a second subscription to the same values does not double them")
    func subscribedTwice() async throws {
        let folder = try TestFolder()
        let file = try folder.write("subscribe 2A37\nsubscribe 180D/2A37\nwait --count 3", to: "script")
        let capture = folder.path + "/walk.btsnoop"
        let run = try await ToolRun("-t", "sim", "--json", "-w", capture, "gatt", Self.heart, "script", file)
        #expect(run.status == 0)
        #expect(try run.events("subscribed").count == 2)
        #expect(try run.events("notified").count == 3)
        // The ATT channel and the opcode of a notification: as many came over the air as were printed.
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: capture)))
        let sent = bytes.indices.filter { bytes[$0...].starts(with: [0x04, 0x00, 0x1B]) }
        #expect(sent.count >= 3)
    }

    @Test("too few values in the time given are a failure that says how many arrived")
    func tooFewValues() async throws {
        let run = try await ToolRun(
            "-t", "sim", "--json", "gatt", Self.heart, "subscribe", "2A37", "--count", "1000", "--duration", "0.2")
        #expect(run.status == 1)
        let message = try #require(try run.events("error").first?["message"] as? String)
        #expect(message.hasSuffix(" of 1000 values arrived within 0.2 s"))
    }

    @Test("leinfo --static shows the random static address that is kept (hcitool leinfo --static)")
    func staticInformation() async throws {
        let run = try await ToolRun("-t", "sim", "--json", "leinfo", "--static", Self.heart)
        #expect(run.status == 0)
        #expect(try run.objects.first?["features"] is [String])
    }

    @Test("a device that is not reached in time is an error of the operation")
    func unreached() async throws {
        let run = try await ToolRun(
            "-t", "sim", "--json", "gatt", "C1:22:33:44:55:66/random", "--connect-timeout", "0.3", "discover")
        #expect(run.status == 1)
        #expect(try run.events("error").count == 1)
        #expect(run.errors.contains("within 0.3 s"))
    }

    @Test("a recording replays; a changed packet is reported, with status 1")
    func recording() async throws {
        let folder = try TestFolder()
        let name = folder.path + "/session"
        let capture = folder.path + "/session.pcapng"
        let run = try await ToolRun(
            "-t", "sim", "--json", "--record", name, "-w", capture, "gatt", Self.heart, "read", "2A38")
        #expect(run.status == 0)
        #expect(FileManager.default.fileExists(atPath: capture))
        let replay = try await ToolRun("--json", "replay", name)
        #expect(replay.status == 0)
        #expect(try replay.objects.first?["event"] as? String == "replayed")
        #expect(try replay.objects.first?["mismatches"] as? Int == 0)

        var bytes = try Data(contentsOf: URL(fileURLWithPath: name + ".btsnoop"))
        bytes[16 + 24] ^= 0xFF  // the type of the first packet, a command
        try bytes.write(to: URL(fileURLWithPath: name + ".btsnoop"))
        let changed = try await ToolRun("--json", "replay", name)
        #expect(changed.status == 1)
        // One packet below the other.
        let lines = changed.errors.split(separator: "\n")
        let recorded = try #require(lines.firstIndex { $0.hasPrefix("  recorded  fe ") })
        #expect(lines[recorded - 1].hasPrefix("bletool: packet 0 of the host, at "))
        #expect(lines[recorded + 1].hasPrefix("  now       01 ") && lines[recorded + 2] == "            ^^")
    }

    @Test("existing files are kept when the transport does not open, and none are left behind")
    func keptFiles() async throws {
        let folder = try TestFolder()
        let name = folder.path + "/session"
        let capture = try folder.write("precious", to: "walk.pcap")
        let inputs = try folder.write("precious", to: "session.inputs.jsonl")
        let run = try await ToolRun("-t", "unix:/nonexistent/hci", "-w", capture, "--record", name, "lescan")
        #expect(run.status == 3)
        #expect(try folder.read("walk.pcap") == "precious")
        #expect(try folder.read("session.inputs.jsonl") == "precious")
        #expect(!FileManager.default.fileExists(atPath: name + ".btsnoop"))

        let taken = try await ToolRun("-t", "sim", "-w", capture, "--record", name, "lescan", "--count", "1")
        #expect(taken.status == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: capture)).starts(with: Data("precious".utf8)) == false)
        #expect(try Data(contentsOf: URL(fileURLWithPath: inputs)).starts(with: Data("precious".utf8)) == false)
        #expect(try await ToolRun("replay", name).status == 0)
    }

    @Test("a file that cannot be written is reported before the transport is opened")
    func unwritableCapture() async throws {
        let run = try await ToolRun("-t", "unix:/nonexistent/hci", "-w", "/nonexistent/walk.pcap", "lescan")
        #expect(run.status == 1)
        #expect(run.errors.contains("walk.pcap"))
    }

    @Test("a recording with truncated inputs does not count as repeated")
    func cutRecording() async throws {
        let folder = try TestFolder()
        let name = folder.path + "/session"
        let run = try await ToolRun("-t", "sim", "--record", name, "gatt", Self.heart, "read", "2A38")
        #expect(run.status == 0)
        let lines = try folder.read("session.inputs.jsonl").split(separator: "\n")
        _ = try folder.write(lines.prefix(4).joined(separator: "\n") + "\n", to: "session.inputs.jsonl")
        let replay = try await ToolRun("replay", name)
        #expect(replay.status == 1)
        #expect(replay.errors.contains("the recording ends early"))
    }

    @Test("an operator's own command prints what the controller answers; a refusal is status 1")
    func ownCommand() async throws {
        let run = try await ToolRun("-t", "sim", "--json", "cmd", "0x04", "0x0001")
        #expect(run.status == 0)
        let answer = try #require(try run.objects.first)
        #expect(answer["opcode"] as? String == "0x1001")
        #expect(answer["status"] as? Int == 0)
        #expect((answer["parameters"] as? String)?.hasPrefix("00") == true)
        let refused = try await ToolRun("-t", "sim", "--json", "cmd", "08", "0013", "ff", "0e")
        #expect(refused.status == 1)
        #expect(try refused.events("error").count == 1)
    }

    @Test("info names version, features and buffers")
    func info() async throws {
        let run = try await ToolRun("-t", "sim", "--json", "info")
        let info = try #require(try run.objects.first)
        for key in ["version", "manufacturer", "address", "features", "commands", "aclLength", "aclCount"] {
            #expect(info[key] != nil, "\(key)")
        }
    }
}
