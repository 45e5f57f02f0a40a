import BLE
import Testing

@testable import bletool

@Suite("Order of arguments")
struct ArgumentOrderTests {
    @Test(
        "options of the program may come before the command and after it",
        arguments: [
            ["-t", "unix:/x", "--json", "lescan", "--passive"], ["lescan", "-t", "unix:/x", "--json", "--passive"],
            ["-tunix:/x", "--json", "lescan", "--passive"], ["--transport=unix:/x", "lescan", "--json", "--passive"],
        ])
    func globalOptions(_ arguments: [String]) throws {
        let command = try #require(try parse(arguments) as? ScanCommand)
        #expect(command.global.transport == .unix(path: "/x"))
        #expect(command.global.json)
        #expect(command.passive)
    }

    @Test("every option with a value may stand before the verb of gatt", arguments: ArgumentOrder.gattVerbs)
    func optionsBeforeVerbs(verb: String) async throws {
        let help = try await ToolRun(plain: ["gatt", verb, "--help-all"]).output
        let options = help.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(where: { $0.hasPrefix("<") }), words.first?.hasPrefix("-") ?? false
            else { return nil }
            return String(words[place - 1])
        }
        #expect(options.contains("--phys") && options.contains("--link-pace") && options.contains("--capture"))
        for option in options {
            let order = try ArgumentOrder.arranged(["gatt", option, "value", "Lamp", verb])
            #expect(order == ["gatt", verb, option, "value", "Lamp"])
        }
    }

    @Test("the peer comes before the verb, and options anywhere")
    func gatt() throws {
        let first = try parse(["--json", "gatt", "BumblePeer", "write", "2A39", "01", "--command"])
        let write = try #require(first as? GATTWriteCommand)
        #expect(write.peer == .name("BumblePeer"))
        #expect(write.value == "01")
        #expect(write.command)
        #expect(write.global.json)
        let second = try parse(["gatt", "--connect-timeout", "5", "-t", "sim", "C1:22:33:44:55:66/random", "discover"])
        let discover = try #require(second as? GATTDiscoverCommand)
        #expect(discover.connection.search.limit == .seconds(5))
        #expect(discover.peer == .address(try #require(DeviceAddress("C1:22:33:44:55:66/random"))))
        let third = try parse(["gatt", "Heart", "--eatt", "3", "--first", "read", "2A19"])
        let read = try #require(third as? GATTReadCommand)
        #expect(read.bearers.eatt == 3 && read.peer == .name("Heart"))
    }

    @Test(
        "a wrong word after a group of commands is named, with the one that was meant",
        arguments: [
            (["l2cap", "conect"], "connect"), (["app", "instal"], "install"), (["alerts", "answr"], "answer"),
            (["-t", "sim", "ad", "pck"], "pack"),
        ])
    func wrongWord(_ arguments: [String], meant: String) {
        let error = #expect(throws: UnknownCommand.self) { try ArgumentOrder.arranged(arguments) }
        #expect(error?.description.contains("did you mean ‘\(meant)’") == true)
    }

    @Test("a device may have the name of a verb")
    func nameLikeAVerb() throws {
        let read = try #require(try parse(["gatt", "read", "read", "2A38"]) as? GATTReadCommand)
        #expect(read.peer == .name("read"))
        #expect(read.target == [.uuid(BluetoothUUID(UInt16(0x2A38)), service: nil)])
    }

    @Test("-t after lecup is hcitool's timeout, before it the transport")
    func connectionUpdate() throws {
        let arguments = ["-t", "raw:1", "lecup", "-H", "64", "-m", "24", "-M", "40", "-l", "0", "-t", "42"]
        let command = try #require(try parse(arguments) as? LEUpdateCommand)
        #expect(command.global.transport == .rawChannel(adapter: 1))
        #expect(command.timeout?.value == 42)
    }

    @Test("nothing is made of help, versions and mistakes")
    func untouched() throws {
        for arguments in [["--help"], ["--version"], [], ["--no-such-option", "lescan"], ["-t"]] {
            #expect(try ArgumentOrder.arranged(arguments) == arguments)
        }
    }
}
