import ArgumentParser
import Testing

@testable import bletool

@Suite("Table of commands")
struct CommandTableTests {
    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName ?? command._commandName] + command.configuration.aliases
    }

    @Test("every command of the help is found by each of its names, and is the one that the parser would take")
    func complete() {
        var count = 0
        for command in BLETool.configuration.subcommands {
            for name in Self.names(of: command) {
                #expect(CommandTable.command(name) == command, "\(name)")
                #expect(CommandTable.command(at: [name, "--json"])?.type == command)
                for verb in command.configuration.subcommands {
                    for verbName in Self.names(of: verb) {
                        #expect(CommandTable.command(verbName, of: name) == verb, "\(name) \(verbName)")
                        let found = CommandTable.command(at: [name, verbName, "x"])
                        #expect(found?.type == verb)
                        #expect(found?.arguments == ["x"])
                        count += 1
                    }
                }
                count += 1
            }
        }
        #expect(count > 60)
        #expect(CommandTable.command("help") == nil)
        #expect(CommandTable.command("read", of: "lescan") == nil)
    }

    @Test(
        "what is wrong or asks for help is told in the words of the whole tool",
        arguments: [
            (["lescan", "--no-such-option"], "bletool lescan"), (["lescan", "--help"], "HelpCommand"),
            (["gatt", "read"], "bletool gatt read"), (["ad"], "AdCommand"), (["ad", "decode", "-h"], "HelpCommand"),
        ])
    func wholeTool(_ words: [String], _ expected: String) {
        func message(_ parse: () throws -> any ParsableCommand) -> String {
            do { return "\(type(of: try parse()))" } catch { return BLETool.fullMessage(for: error) }
        }
        let told = message { try CommandTable.parse(words) }
        #expect(told == message { try BLETool.parseAsRoot(words) })
        #expect(told.contains(expected), "\(told)")
    }
}
