import BLE
import Foundation
import Testing

@testable import bletool

/// Whole checks on the simulator.
@Suite("Checks of adapters")
struct CheckRunTests {
    @Test("a good controller is usable; every step has its line and the verdict is last")
    func alone() async throws {
        let run = try await ToolRun("-t", "sim", "--json", "check", "--seconds", "1.5")
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let steps = try run.events("check")
        #expect(
            steps.compactMap { $0["step"] as? String } == [
                "start", "chip", "firmware", "device", "power", "scan", "hear", "connect", "write", "latency", "notify",
                "advertise", "reset", "commands", "counters",
            ])
        let verdicts = Dictionary(
            steps.map { ($0["step"] as? String ?? "", $0["verdict"] as? String ?? "") }, uniquingKeysWith: { $1 })
        for step in ["start", "chip", "scan", "reset", "commands", "counters"] {
            #expect(verdicts[step] == "ok", "\(step)")
        }
        #expect(verdicts["connect"] == "skipped")
        #expect(try run.objects.last?["event"] as? String == "checked")
        #expect(try run.objects.last?["verdict"] as? String == "ok")
    }

    @Test("two controllers on one air hear each other, connect twice, send both ways and pair")
    func together() async throws {
        let run = try await ToolRun("-t", "sim", "--json", "check", "--with", "sim", "--seconds", "1.5", "--pair")
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let steps = try run.events("check")
        for name in ["hear", "connect", "write", "latency", "notify", "pair", "advertise", "reset"] {
            let step = try #require(steps.first { $0["step"] as? String == name }, "\(name)")
            #expect(step["verdict"] as? String == "ok", "\(step)")
        }
        let write = try #require(steps.first { $0["step"] as? String == "write" }?["figures"] as? [String: Any])
        #expect(write["packets"] as? Int == 100 && write["lost"] as? Int == 0)
    }

    @Test("a report has no address, and names the verdict")
    func report() async throws {
        let folder = try TestFolder()
        let file = folder.path + "/report.md"
        let run = try await ToolRun("-t", "sim", "check", "--with", "sim", "--seconds", "1", "--report", file)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let text = try folder.read("report.md")
        #expect(text.contains("| verdict | usable"))
        #expect(text.contains("Row for the table of controllers:"))
        #expect(CheckReport.withoutAddresses(text) == text)
        #expect(!text.contains("C0:DE") && !text.contains("Jelling Heart"))
    }

    @Test("addresses are taken out of texts, and nothing else")
    func withoutAddresses() {
        #expect(CheckReport.withoutAddresses("C0:DE:00:00:00:01/random went") == "(address)/random went")
        #expect(CheckReport.withoutAddresses("aa-bb-cc-dd-ee-ff, 00_11_22_33_44_55") == "(address), (address)")
        for kept in ["", "0bda:8771", "12:34:56", "–…‘’", "C0:DE:00:00:00:0", "C0:DE:00-00:00:01"] {
            #expect(CheckReport.withoutAddresses(kept) == kept)
        }
    }

    @Test("an adapter that hears nothing is told so, and is not called good")
    func silence() async throws {
        let folder = try TestFolder()
        let file = try folder.write(#"{"devices":[]}"#, to: "empty.json")
        let run = try await ToolRun("-t", "sim:\(file)", "check", "--seconds", "0.5")
        #expect(run.status == 0)
        #expect(run.output.contains("weak     scan"))
        #expect(run.output.contains("usable, with 1 weak point"))
    }

    @Test("lescan on a controller that leaves the scan unanswered ends with an error that names the command (A78)")
    func deafScan() async throws {
        let folder = try TestFolder()
        let device = #"{"name":"Lamp","address":"C0:DE:00:00:00:61/random","interval":0.1}"#
        let file = try folder.write(
            #"{"controller":{"unanswered":["0x2042"]},"devices":[\#(device)]}"#, to: "hangs.json")
        // Long enough for one command without an answer, too short for what the engine tries then. Where a machine is held
        // up, the first commands take as long.
        var run: ToolRun
        var tries = 0
        repeat {
            run = try await ToolRun("-t", "sim:\(file)", "--json", "lescan", "--duration", "3")
            tries += 1
        } while run.errors.contains("answer Reset") && tries < 10
        #expect(run.status == 1, "\(run.output)\(run.errors)")
        #expect(try run.events("error").first?["code"] as? String == "controllerSilent")
        #expect(run.errors.contains("LE Set Extended Scan Enable"), "\(run.errors)")
        #expect(!run.errors.contains("bletool: no device was heard"))
        // An empty place is no error.
        let empty = try folder.write(#"{"devices":[]}"#, to: "empty.json")
        let quiet = try await ToolRun("-t", "sim:\(empty)", "lescan", "--duration", "0.5")
        #expect(quiet.status == 0 && quiet.errors.contains("no device was heard"))
    }

    @Test(
        "what contradicts itself is wrong usage",
        arguments: [
            ["-t", "tcp:127.0.0.1:1", "check", "--with", "tcp:127.0.0.1:1"], ["-t", "sim", "check", "--pair"],
            ["-t", "sim", "check", "--seconds", "0"], ["-t", "sim", "check", "--with", "sim:./file.json"],
            ["-t", "sim", "check", "--with", "tcp:127.0.0.1:1"], ["-t", "bled:/nonexistent", "check", "--with", "sim"],
        ])
    func usage(arguments: [String]) async throws {
        #expect(try await ToolRun(list: arguments).status == 2)
    }
}
