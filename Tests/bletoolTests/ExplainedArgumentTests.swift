import ArgumentParser
import Foundation
import Testing

@testable import bletool

@Suite("Reasons for refused arguments")
struct ExplainedArgumentTests {
    /// The first line of the complaint; `nil` if the arguments are accepted.
    private func refusal(of arguments: [String]) -> String? {
        do {
            _ = try parse(arguments)
            return nil
        } catch {
            return HelpText.cause(of: HelpText.complaint(BLETool.fullMessage(for: error), of: arguments))
        }
    }

    @Test(
        "a refused value is told with its mistake and what is accepted",
        arguments: [
            (["advertise", "--service", "zzz"], "not a UUID of 4, 8 or 32 digits, or the assigned name of a service"),
            (["advertise", "--service", "Heart Rat"], "did you mean ‘Heart Rate’?"),
            (["lescan", "--key", "12"], "a key has 32 digits, or 24 with some sensors of MiBeacon, and not 2"),
            (["lescan", "--key", "1x"], "a key has pairs of hexadecimal digits only; use KEY, or ADDRESS=KEY"),
            (["lescan", "--key", "C0:DE=\(String(repeating: "00", count: 16))"], "is not an address; use ADDRESS=KEY"),
            (["lescan", "--key", "1=2=3"], "use KEY, or ADDRESS=KEY for one device only"),
            (
                ["lecc", "Lamp", "--phys", "1m,foo"],
                "‘foo’ is not a PHY; use 1m, 2m and coded, with commas between them"
            ),
            (["lecc", "Lamp", "--phys", ""], "‘’ is not a PHY; use 1m, 2m and coded, with commas between them"),
            (["ad", "decode", "020"], "its digits are not in pairs; use two digits for each octet, such as 0aff"),
            (["sync", "Lamp", "--sid", "x"], "use a whole number"), (["sync", "Lamp", "--sid", "300"], "is too large"),
            (["lescan", "--rssi=-300"], "the number is too small"), (["lescan", "--count", "0"], "of at least 1"),
            (["lescan", "--duration=-1"], "a time is not negative"),
            (["lescan", "--duration", "99999999999"], "the time is too long; leave it out for one without end"),
            (["lescan", "--duration", "inf"], "the time is too long"),
            (["lescan", "--duration", "nan"], "use a number of"),
            (["lescan", "--count", "99999999999999999999"], "the number is too large"),
            (["ad", "pack", "--flags", "zz"], "the flags are one octet: use a number in hexadecimal, 0 to ff"),
            (["ad", "pack", "--flags", "0106"], "the flags are one octet"),
            (["lecc", "C0:DE:00:00:00:0Z"], "‘0Z’ is not a pair of hexadecimal digits"),
            (["lecc", "C0:DE:00:00:00:01/foo"], "the type of an address is public or random"),
            (["lealadd", "C0:DE"], "an address has six pairs of hexadecimal digits, not 2"),
            (["lecc", "11:22:33:44:55"], "an address has six pairs of hexadecimal digits, not 5; use ADDRESS"),
            (["gatt", "11:22:33:44:55:GG", "discover"], "‘GG’ is not a pair of hexadecimal digits"),
            (["link", "11:22:33:44:55:66/pubic"], "the type of an address is public or random"),
            (["lecc", "11:22:33:44:55"], "a name that looks like this is written name:NAME"),
            (["lecc", "name:"], "name the device, or give its address"),
            (["lecc", " "], "name the device, or give its address"),
            (["lecc", "name:  "], "name the device, or give its address"),
            (["link", "Lamp", "--avoid", "0-36"], "two channels at least must remain"),
            (["link", "Lamp", "--parameter-policy", "30"], "use accept, reject, or bounds in ms, such as 15-50"),
            (["l2cap", "connect", "Lamp", "--psm", "1", "--reconfigure", "9"], "use the longest message, 64 to 65535"),
        ])
    func reasons(arguments: [String], reason: String) throws {
        let complaint = try #require(refusal(of: arguments))
        #expect(complaint.contains("is invalid for"))
        #expect(complaint.contains(reason), "\(complaint)")
    }

    @Test("a number below zero in place of an argument is told as what it is read as")
    func negativeNumber() throws {
        let complaint = try #require(refusal(of: ["alerts", "answer", "-1"]))
        #expect(complaint.hasSuffix("; ‘-1’ is read as an option"), "\(complaint)")
    }

    @Test(
        "what is wrong with a key is told without the key, wherever it was mistyped",
        arguments: [
            ["lescan", "--key", "5ec2e70123456789abcdef0123456"], ["lescan", "--key=5ec2e70x23456789abcdef0123456789"],
            ["lescan", "--key", "C0:DE:00:00:00=5ec2e70123456789abcdef0123456789"],
            ["lescan", "--key", "5ec2e701=23456789abcdef0123456789"],
            ["lescan", "--key", "5ec2e701=C0:DE:00:00:00:01"], ["lescan", "--key", "a=b=5ec2e701"],
            ["lescan", "--key", "00112233445566778899aabbccddeeff", "5ec2e701"],
            ["lescan", "--key", "0011 2233", "5ec2", "e701"], ["lescan", "--key5ec2e70123456789abcdef0123456789"],
            ["lescan", "--keys", "5ec2e70123456789abcdef0123456789"], ["lescan", "5ec2e70123456789abcdef0123456789"],
            ["lescan", "key=5ec2e70123456789abcdef0123456789"], ["lescan", "--json=5ec2e70123456789abcdef0123456789"],
            ["ad", "decode", "020106", "--key", "5ec2e701"],
            ["lerladd", "--peer", "5ec2e701", "24:6F:28:AA:BB:CC"], ["lerladd", "-l", "5ec2e70z", "24:6F:28:AA:BB:CC"],
            ["lerladd", "24:6F:28:AA:BB:CC", "-p", "00112233", "5ec2e701"],
            ["-t", "sim", "lescan", "--key", "5ec2e701"], ["--key", "5ec2e70123456789abcdef0123456789", "lescan"],
        ])
    func keys(arguments: [String]) async throws {
        for json in [[], ["--json"]] {
            let run = try await ToolRun(list: arguments + json)
            #expect(run.status == 2)
            for text in [run.output, run.errors].map({ $0.lowercased() }) {
                #expect(!text.contains("5ec2") && !text.contains("e701"), "\(arguments): \(text)")
            }
        }
    }

    @Test("a passkey that is refused is not shown either")
    func shownPasskeys() async throws {
        let run = try await ToolRun("pair", "Lock", "--passkey", "90210")
        #expect(run.status == 2 && !run.errors.contains("9021"), "\(run.errors)")
        let words = try await ToolRun("pair", "Lock", "--passkey", "902", "104")
        #expect(words.status == 2 && !words.errors.contains("104"), "\(words.errors)")
    }

    @Test("words that are no keys are told as before")
    func otherWords() {
        #expect(refusal(of: ["lescan", "face"]) == "unexpected argument 'face'")
        #expect(refusal(of: ["dev", "C0:DE:00:00:00:01"]) == "unexpected argument 'C0:DE:00:00:00:01'")
        #expect(HelpText.withoutKeys("Error: ’5ec2e70123456789abcdef’ is wrong", []).contains("5ec2e7"))
    }

    @Test("a passkey has six digits; a shorter one is not filled up", arguments: ["pair", "serve"])
    func passkeys(command: String) throws {
        let rest = command == "pair" ? ["Lock"] : ["--profile", "x.json", "--io", "display", "--mitm"]
        for wrong in ["", "12", "12345", "1234567", "12345x", "+12345", "１２３４５６"] {
            let complaint = try #require(refusal(of: [command, "--passkey", wrong] + rest))
            #expect(complaint.hasSuffix("a passkey has six digits, leading zeros included, such as 001234"), "\(wrong)")
        }
        #expect(refusal(of: [command, "--passkey", "000012"] + rest) == nil)
        #expect(Passkey(argument: "000012")?.number == 12)
    }

    /// One argument of a command, as the parser describes it.
    private struct Described: Decodable {
        struct Name: Decodable { let kind, name: String }
        struct Argument: Decodable {
            let kind: String
            let names: [Name]?
            let valueName: String?
        }
        struct Command: Decodable {
            let commandName: String
            let arguments: [Argument]?
            let subcommands: [Command]?
        }
        let command: Command
    }

    @Test("every option and argument of every command explains what it refuses")
    func completeness() throws {
        let dump = Data(BLETool._dumpHelp().utf8)
        var refused = 0
        // Many commands share options.
        var seen: Set<String> = []
        func check(_ command: Described.Command, _ path: [String]) {
            let positionals = (command.arguments ?? []).filter { $0.kind == "positional" }.count
            var lines = (0..<positionals).map { Array(repeating: "?", count: $0 + 1) }
            for argument in command.arguments ?? [] where argument.kind == "option" {
                guard let name = argument.names?.first(where: { $0.kind == "long" })?.name,
                    seen.insert("\(name) \(argument.valueName ?? "")").inserted
                else { continue }
                lines.append(Array(repeating: "Lamp", count: positionals) + ["--\(name)", "?"])
            }
            for line in lines {
                guard let text = refusal(of: path + line), text.contains("is invalid for") else { continue }
                refused += 1
                #expect(text.contains(">': ") || text.contains("Please provide one of"), "\(path + line): \(text)")
            }
            for subcommand in command.subcommands ?? [] where subcommand.commandName != "help" {
                check(subcommand, path + [subcommand.commandName])
            }
        }
        check(try JSONDecoder().decode(Described.self, from: dump).command, [])
        #expect(refused > 30)
    }
}
