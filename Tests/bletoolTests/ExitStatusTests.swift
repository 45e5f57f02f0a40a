import Glibc
import Testing

@testable import bletool

@Suite("Exit statuses")
struct ExitStatusTests {
    @Test(
        "wrong usage is status 2, reported only on standard error",
        arguments: [
            ["nonsense"], ["gatt"], ["gatt", "Peer"], ["gatt", "Peer", "frob"], ["gatt", "Peer", "read"],
            ["gatt", "Peer", "write", "2A39", "zz"], ["gatt", "Peer", "write", "2A39", "123"],
            ["gatt", "Peer", "read", "no-uuid"], ["gatt", "Peer", "read", "0x0000"],
            ["lescan", "--duration", "soon"], ["lescan", "--duration", "-1"], ["lescan", "--count", "0"],
            ["lescan", "--no-such-option"], ["lescan", "--rssi", "-200"], ["cmd", "0x04"], ["cmd", "40", "1"],
            ["cmd", "4", "fff"], ["ledc"], ["ledc", "0x1000"], ["lecup", "64", "40", "24", "0", "42"],
            ["lerladd", "--peer", "00", "11:22:33:44:55:66"], ["lealadd", "Peer"], ["lecc"], ["ad"],
            ["ad", "decode", "0"],
            ["-t", "carrier-pigeon:1", "lescan"], ["-t", "raw:0", "--own-address", "resolvable", "lescan"],
            ["--own-address", "mine", "lescan"],
            ["bogus"], ["-t", "sim", "bogus"], ["help", "nope"], ["help", "gatt", "nope"],
            ["gatt", "C0:DE:00:00:00:ZZ", "read", "2A38"], ["leinfo", "AA:BB:CC:DD:EE:FF/foo"],
            ["-w", "file.txt", "lescan"], [], ["--record", "", "-t", "sim", "lescan", "--duration", "1"],
            ["replay", ""],
            ["-t", "sim", "--state", "", "bonds"], ["decode", ""], ["summary", ""], ["convert", "", "out.pcap"],
        ])
    func usage(_ arguments: [String]) async throws {
        let run = try await ToolRun(list: arguments)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(!run.errors.isEmpty)
    }

    @Test(
        "a mistake is named, not the parser's trouble with it",
        arguments: [
            (["bogus"], "‘bogus’ is not a command"), (["help", "nope"], "‘nope’ is not a command"),
            (["lescan", "--duration", "-1"], "'-1' is invalid"),
            (["gatt", "Peer", "subscribe", "2A37", "--count", "-1"], "'-1' is invalid"),
            (["gatt", "Peer", "--connect-timeout", "-1", "discover"], "'-1' is invalid"),
        ])
    func mistakes(_ arguments: [String], _ words: String) async throws {
        let run = try await ToolRun(list: arguments)
        #expect(run.status == 2)
        #expect(run.errors.contains(words), "\(run.errors)")
    }

    @Test(
        "a reader that wants no more ends the work, which has not failed then", .timeLimit(.minutes(10)),
        arguments: [[], ["--json"]])
    func closedPipe(form: [String]) async throws {
        // As the program does.
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        close(ends[0])
        let folder = try TestFolder()
        let errors = try folder.open("errors")
        let status = await Program.run(
            form + ["-t", "sim", "--state", folder.path, "gatt", "Jelling Heart", "subscribe", "2A37"],
            interruption: Interruption(), output: ends[1], errors: errors)
        close(ends[1])
        close(errors)
        #expect(status == 0)
        let said = try folder.read("errors")
        #expect(!said.contains("error"), "\(said)")
    }

    @Test("who looks for a daemon that is not there is not sent to a controller of their own")
    func noDaemon() async throws {
        for words in [["status"], ["app", "list"], ["app", "remove", "x"], ["alerts"]] {
            let run = try await ToolRun(list: ["-t", "bled:/nonexistent/bled.sock"] + words)
            #expect(run.status == 3 && run.errors.contains("start one with ‘bled --socket /nonexistent/bled.sock’"))
            #expect(!run.errors.contains("user:0"), "\(run.errors)")
        }
    }

    @Test("a sentence begins in lower case behind the name of the program, also with a word of one letter")
    func lowerCase() async throws {
        let run = try await ToolRun("-t", "sim", "ledc", "0xffff")
        #expect(run.errors.hasPrefix("bletool: error: a handle is at most 0x0eff"), "\(run.errors)")
    }

    @Test("without a transport, those that exist are listed")
    func offeredTransports() async throws {
        let run = try await ToolRun("-t", "carrier-pigeon:1", "lescan")
        for form in ["uart:DEVICE@BAUD", "sim:FILE", "replay:FILE"] { #expect(run.errors.contains(form)) }
    }

    @Test(
        "a transport that does not open is status 3 and named (pain 8)",
        arguments: [
            "unix:/nonexistent/hci0", "uart:/dev/nonexistent@115200",
        ])
    func transport(_ transport: String) async throws {
        let run = try await ToolRun("-t", transport, "--json", "lescan", "--duration", "1")
        #expect(run.status == 3)
        #expect(run.errors.contains("nonexistent"))
        #expect(try run.events("error").count == 1)
    }

    @Test(
        "a missing file is status 2 wherever it is named",
        arguments: [
            ["-t", "sim:/nonexistent/file", "lescan"], ["-t", "replay:/nonexistent/file", "lescan"],
            ["-t", "replay:/nonexistent/file@10", "lescan"], ["-t", "replay:/nonexistent/file@x", "lescan"],
            ["decode", "/nonexistent/file"], ["decode", "/nonexistent/file", "--summary"],
            ["convert", "/nonexistent/file", "out.pcap"], ["replay", "/nonexistent/file"],
            ["-t", "sim", "serve", "--profile", "/nonexistent/file"],
            ["-t", "sim", "gatt", "Jelling Heart", "script", "/nonexistent/file"],
            ["att-server", "--attributes", "/nonexistent/file", "--database", "x"],
        ])
    func missingFile(_ arguments: [String]) async throws {
        let run = try await ToolRun(list: ["--json"] + arguments)
        #expect(run.status == 2)
        #expect(run.errors.contains("/nonexistent/file"))
        #expect(try run.events("error").first?["code"] as? String == "usage")
    }

    @Test(
        "help and version are not failures",
        arguments: [
            ["--help"], ["gatt", "--help"], ["gatt", "Peer", "read", "-h"], ["--version"], ["help", "lescan"],
            ["help", "gatt", "read"], ["help", "scan"], ["help"],
        ])
    func help(_ arguments: [String]) async throws {
        let run = try await ToolRun(plain: arguments)
        #expect(run.status == 0)
        #expect(!run.output.isEmpty)
        #expect(run.errors.isEmpty)
    }

    @Test("completions are made for each shell", arguments: ["bash", "zsh", "fish"])
    func completions(_ shell: String) async throws {
        let run = try await ToolRun(plain: ["--generate-completion-script", shell])
        #expect(run.status == 0)
        #expect(run.output.contains("lescan"))
        #expect(run.output.contains("user:0"))
    }
}
