import BLE
import Foundation
import Testing

@testable import bletool

@Suite("Help and mistakes")
struct HelpTests {
    @Test("help shows a command's own options; those of every command follow with --help-all")
    func order() async throws {
        let help = try await ToolRun(plain: ["lescan", "--help"])
        #expect(help.status == 0)
        #expect(help.output.contains("--passive"))
        #expect(!help.output.contains("--own-address"))
        #expect(help.output.contains("--help-all"))
        let all = try await ToolRun(plain: ["lescan", "--help-all"])
        #expect(all.status == 0)
        let own = try #require(all.output.firstRange(of: "--passive"))
        let common = try #require(all.output.firstRange(of: "--own-address"))
        #expect(own.lowerBound < common.lowerBound)
        let root = try await ToolRun(plain: ["--help"])
        let commands = try #require(root.output.firstRange(of: "lescan, scan"))
        #expect(commands.lowerBound < (try #require(root.output.firstRange(of: "OPTIONS OF EVERY COMMAND"))).lowerBound)
        let read = try await ToolRun(plain: ["gatt", "read", "--help"])
        let together = try #require(read.output.firstRange(of: "--together"))
        let patience = try #require(read.output.firstRange(of: "--connect-timeout"))
        #expect(together.lowerBound < patience.lowerBound)
        let usage = try await ToolRun(plain: ["cmd", "--help"])
        #expect(usage.output.contains("USAGE: bletool cmd <ogf> <ocf> [<byte> ...]"))
    }

    @Test("the usage keeps to the width of the terminal, and breaks between options", arguments: [40, 60, 80, 120])
    func widths(columns: Int) {
        let usage =
            "USAGE: bletool gatt PEER write TARGET VALUE [TARGET VALUE … --reliable] [--text | --uint8 | …] <a b>"
        let lines = HelpText.arranged("OVERVIEW: Words.\n\n" + usage, showsAll: true, columns: columns)
            .split(separator: "\n").dropFirst()
        #expect(lines.allSatisfy { $0.count <= columns })
        #expect(lines.joined(separator: " ").split(separator: " ").joined(separator: " ") == usage)
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("       ") })
        #expect(lines.contains { $0.contains("[TARGET VALUE … --reliable]") } == (columns > 35))
    }

    @Test("the shell's help fits into the terminal", arguments: [20, 40, 60, 80, 120])
    func shellWidths(columns: Int) {
        let help = ShellWords.help(columns: columns)
        let lines = help.split(separator: "\n")
        #expect(lines.allSatisfy { String($0).displayWidth <= columns } || columns < 30)
        #expect(ShellWords.verbs.allSatisfy { help.contains("\n  " + $0.name) || help.hasPrefix("  " + $0.name) })
        #expect(lines.contains { $0.contains("list what the device offers") } || columns < 40)
    }

    @Test(
        "a mistyped word gets the nearest one",
        arguments: [
            (["lescna"], "did you mean ‘lescan’?"), (["gatt", "X", "raed"], "did you mean ‘read’?"),
            (["ad", "decod", "00"], "did you mean ‘decode’?"), (["connect", "X"], "‘bletool gatt PEER discover’"),
            (["lescan", "--duratoin", "3"], "Did you mean '--duration'?"), (["xylophone"], "see ‘bletool --help’"),
            (["foo"], "see ‘bletool --help’"), (["gatt", "X"], "see ‘bletool gatt --help’"),
            (["gatt", "X", "read", "Batery"], "did you mean ‘Battery Level’?"),
            (["-t", "hci", "lescan"], "hciN, user:N"),
            (["monitor", "--duration", "x"], "--duration <seconds>"),
            (["lescan", "--rssi", "50"], "--rssi -50"), (["lescan", "--duration", "0"], "greater than 0"),
            (["link", "Lamp", "--path-loss", "60-61"], "at least 4 apart"),
        ])
    func suggestions(_ arguments: [String], _ text: String) async throws {
        let run = try await ToolRun(plain: arguments)
        #expect(run.status == 2)
        #expect(run.errors.hasPrefix("bletool: error: "))
        #expect(run.errors.contains(text))
        #expect(run.output.isEmpty)
        let json = try await ToolRun(plain: ["--json"] + arguments)
        #expect(try json.events("error").first?["code"] as? String == "usage")
    }

    @Test("an adapter is named as hciconfig does, or by its number", arguments: ["hci3", "3", "user:3"])
    func adapterNames(_ text: String) throws {
        for option in ["-t", "-i", "--transport"] {
            let command = try #require(try parse([option, text, "lescan"]) as? ScanCommand)
            #expect(command.global.transport == .userChannel(adapter: 3))
        }
        for wrong in ["hci", "hci-1", "hci65535", "3x", ""] {
            #expect(throws: (any Error).self) { try parse(["-t", wrong, "lescan"]) }
        }
    }
}

@Suite("The kernel's monitor channel")
struct MonitorRecordTests {
    @Test("a frame becomes a record that a capture reader reads; other adapters and cut frames do not")
    func record() async throws {
        // Opcode 3, an event, of hci1: Command Complete for Reset.
        let frame: [UInt8] = [3, 0, 1, 0, 6, 0, 0x0E, 4, 1, 3, 0x0C, 0]
        var bytes: [UInt8] = []
        #expect(MonitorRecord.write(frame.span.bytes, at: 951_868_799_000_007, of: nil, into: &bytes))
        let folder = try TestFolder()
        let file = folder.path + "/monitor.btsnoop"
        try Data(MonitorRecord.fileHeader + bytes).write(to: URL(filePath: file))
        let run = try await ToolRun("--json", "decode", file)
        #expect(run.status == 0)
        let packet = try #require(try run.events("packet").first)
        #expect(packet["name"] as? String == "Command Complete")
        #expect(packet["adapter"] as? Int == 1)
        #expect(packet["time"] as? Double == 951_868_799.000007)
        #expect(MonitorRecord.write(frame.span.bytes, at: 0, of: 1, into: &bytes))
        #expect(!MonitorRecord.write(frame.span.bytes, at: 0, of: 2, into: &bytes))
        for count in 0..<frame.count {
            let cut = Array(frame[..<count])
            #expect(!MonitorRecord.write(cut.span.bytes, at: 0, of: nil, into: &bytes))
        }
    }

    @Test("what only the kernel's adapters have is refused elsewhere", arguments: [["monitor"], ["power", "on"]])
    func refusal(_ arguments: [String]) async throws {
        let run = try await ToolRun(list: ["--json", "-t", "sim"] + arguments)
        #expect(run.status == 2)
        #expect(try run.events("error").count == 1)
    }
}
