import Foundation
import Testing

@testable import bletool

@Suite("Captures at the command line")
struct DecodeRunTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures").path
    private let session = fixtures + "/bumble-session.btsnoop"

    @Test("the summary has the keys of the contract")
    func summary() async throws {
        let run = try await ToolRun("--json", "decode", session, "--summary")
        #expect(run.status == 0)
        let counts = try #require(try run.objects.first)
        #expect(counts["frames"] as? Int == 142)
        #expect((counts["by_packet_type"] as? [String: Int])?["acl"] == 62)
        #expect((counts["att_opcodes"] as? [String: Int])?["0x08"] == 10)
        #expect((counts["l2cap_cids"] as? [String: Int]) == ["0x0004": 53])
        #expect(counts["malformed"] as? Int == 0)
        for key in ["commands_by_opcode", "events_by_code", "le_subevents", "smp_opcodes"] {
            #expect(counts[key] is [String: Any])
        }
    }

    @Test("the connections of a capture, for people and for programs")
    func connections() async throws {
        let run = try await ToolRun("--json", "summary", session)
        #expect(run.status == 0)
        let link = try #require(try run.objects.first)
        #expect(try run.objects.count == 1)
        #expect(link["event"] as? String == "linkSummary")
        #expect(link["address"] as? String == "F2:F1:F0:00:00:02")
        #expect(link["reason"] as? String == "0x13")
        #expect(link["mtu"] as? Int == 517)
        #expect(link["requests"] as? Int == 25)
        #expect(link["answers"] as? Int == 25)
        #expect(link["values"] as? Int == 3)
        let counts = try #require(try await ToolRun("--json", "decode", session, "--summary").objects.first)
        #expect((counts["links"] as? [[String: Any]])?.first?["mtu"] as? Int == 517)
        let text = try await ToolRun("summary", session)
        #expect(text.output.contains("ended: remote user terminated the connection (0x13)"))
        #expect(text.output.contains("MTU 517, PHY 1M, interval 15 ms"))
        #expect(text.errors.contains("1 connection"))
        #expect(try await ToolRun("summary", session, "--troubled").output == "")
        #expect(try await ToolRun("summary", session, "--address", "F2:F1:F0:00:00:03").output == "")
        #expect(try await ToolRun("summary", "/nonexistent").status == 2)
    }

    @Test("a connection of BR/EDR has no ATT_MTU")
    func classic() async throws {
        let folder = try TestFolder()
        let file = folder.path + "/classic.pklg"
        // Connection Complete, under PacketLogger's header: the length behind it, seconds, microseconds, an event.
        let event: [UInt8] = [3, 11, 0, 0x0B, 0, 6, 5, 4, 3, 2, 1, 1, 0]
        let record: [UInt8] = [0, 0, 0, 9 + UInt8(event.count), 0x65, 0, 0, 0, 0, 0, 0, 0, 1]
        try Data(record + event).write(to: URL(filePath: file))
        let run = try await ToolRun("--json", "summary", file)
        #expect(run.status == 0)
        let link = try #require(try run.objects.first)
        #expect(link["mtu"] is NSNull)
        let text = try await ToolRun("summary", file)
        #expect(text.output.contains("BR/EDR, not encrypted") && !text.output.contains("MTU"))
    }

    @Test("each packet is an object of JSON, without colours in what is piped")
    func packets() async throws {
        let run = try await ToolRun("--json", "decode", session)
        #expect(try run.objects.count == 142)
        #expect(try run.objects.allSatisfy { $0["frame"] is Int && $0["name"] is String })
        #expect(!(try await ToolRun("decode", session)).output.contains("\u{1B}"))
    }

    @Test("filters that belong to no summary are wrong usage")
    func usage() async throws {
        #expect(try await ToolRun("decode", session, "--summary", "--kind", "att").status == 2)
        #expect(try await ToolRun("decode", session, "--address", "12:34").status == 2)
        #expect(try await ToolRun("convert", session, "/tmp/out.txt").status == 2)
        #expect(try await ToolRun("convert", session, "/tmp/out.pklg", "--link", "201").status == 2)
    }

    @Test("a damaged file is shown as far as it can be read, with the place of the damage, and the status is 1")
    func damaged() async throws {
        let folder = try TestFolder()
        let file = folder.path + "/cut.btsnoop"
        try Data(contentsOf: URL(filePath: session)).prefix(3000).write(to: URL(filePath: file))
        let run = try await ToolRun("decode", file, "--summary")
        #expect(run.status == 1)
        #expect(run.output.contains("frames"))
        #expect(run.errors.contains("the file ends early"))
        // For programs it is one object, counts and damage together.
        let json = try await ToolRun("--json", "decode", file, "--summary")
        #expect(json.status == 1)
        #expect(try json.objects.count == 1)
        #expect(try (json.objects.first?["error"] as? String)?.contains("the file ends early") == true)
        #expect(json.errors.contains("the file ends early"))
        let converted = try await ToolRun("convert", file, folder.path + "/cut.pcapng")
        #expect(converted.status == 1)
        #expect(try await ToolRun("decode", folder.path + "/cut.pcapng").status == 0)
        #expect(try await ToolRun("decode", folder.path + "/none").status == 2)
    }

    /// A pcapng file whose interfaces have these link types, with a packet of each: an HCI Reset.
    private static func pcapng(links: [UInt8]) -> Data {
        var file: [UInt8] = [0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0]
        file += [UInt8](repeating: 0xFF, count: 8) + [28, 0, 0, 0]
        for link in links { file += [1, 0, 0, 0, 20, 0, 0, 0, link, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0] }
        for number in links.indices {
            file += [6, 0, 0, 0, 40, 0, 0, 0, UInt8(number), 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0]
            file += [0, 0, 0, 0, 1, 3, 12, 0, 40, 0, 0, 0]
        }
        return Data(file)
    }

    @Test("a capture without HCI is refused by its kind, and no file is written; a mixed one says what it lacks")
    func foreignInterfaces() async throws {
        let folder = try TestFolder()
        let (file, output) = (folder.path + "/wireless.pcapng", folder.path + "/out.btsnoop")
        try Self.pcapng(links: [105]).write(to: URL(filePath: file))
        let commands = [
            ["decode", file], ["decode", file, "--summary"], ["summary", file], ["convert", file, output],
        ]
        for arguments in commands {
            let run = try await ToolRun(list: arguments)
            #expect(run.status == 1)
            #expect(run.errors.contains("link type 105 (Wi-Fi) carries no HCI packets"))
        }
        #expect(!FileManager.default.fileExists(atPath: output))
        let replay = try await ToolRun("-t", "replay:" + file, "lescan", "--duration", "1")
        #expect(replay.status == 2 && replay.errors.contains("carries no HCI packets"))

        try Self.pcapng(links: [1, 201, 1]).write(to: URL(filePath: file))
        let decoded = try await ToolRun("decode", file)
        #expect(decoded.status == 0 && decoded.output.contains("Reset"))
        #expect(decoded.errors.contains("2 records were left out: link type 1 (Ethernet) carries no HCI packets"))
        let converted = try await ToolRun("--json", "convert", file, output)
        #expect(converted.status == 0 && converted.errors.contains("2 records were left out"))
        #expect(try converted.objects.first?["records"] as? Int == 1)
        #expect(try converted.objects.first?["leftOut"] as? Int == 2)
    }

    @Test("a capture from a pipe is read once, from its beginning to its end")
    func pipe() async throws {
        let folder = try TestFolder()
        let content = try Data(contentsOf: URL(filePath: session))
        let pipe = Pipe()
        let writing = Thread {
            pipe.fileHandleForWriting.write(content)
            try? pipe.fileHandleForWriting.close()
        }
        writing.start()
        let run = try await ToolRun(
            "--json", "convert", "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)", folder.path + "/out.pcapng")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try run.objects.first?["records"] as? Int == 142)
    }

    @Test("a page never takes the place of the capture that it shows")
    func pageOntoItself() async throws {
        let folder = try TestFolder()
        let file = folder.path + "/a.btsnoop"
        try FileManager.default.copyItem(atPath: session, toPath: file)
        let run = try await ToolRun("decode", file, "--html", file)
        #expect(run.status == 1 && run.errors.contains("is the input file; choose another output"))
        #expect(try Data(contentsOf: URL(filePath: file)) == Data(contentsOf: URL(filePath: session)))
    }

    @Test("a command about a connection belongs to its device (--address)")
    func commandsOfAddress() async throws {
        let file = Self.fixtures + "/btvirt-encrypt-with-a-bond.btsnoop"
        let all = try await ToolRun("--json", "decode", file, "--kind", "command")
        let opened = try await ToolRun("--json", "decode", file, "--kind", "acl")
        let handle = try #require(try opened.objects.first?["connectionHandle"] as? Int)
        let events = try await ToolRun("--json", "decode", file, "--kind", "event")
        let connected = try #require(
            try events.objects.first { (($0["name"] as? String) ?? "").contains("Connection Complete") })
        let address = try #require((connected["fields"] as? [String: Any])?["peerAddress"] as? String)
        let shown = try await ToolRun("--json", "decode", file, "--kind", "command", "--address", address)
        #expect(try shown.objects.contains { $0["name"] as? String == "LE Enable Encryption" })
        #expect(try shown.objects.count < all.objects.count && handle >= 0)
    }

    @Test("a capture is never converted onto itself")
    func ontoItself() async throws {
        let folder = try TestFolder()
        let file = folder.path + "/a.btsnoop"
        try FileManager.default.copyItem(atPath: session, toPath: file)
        #expect(try await ToolRun("convert", file, file).status == 1)
        #expect(try Data(contentsOf: URL(filePath: file)).count > 3000)
    }
}
