import BLE
import BLESecurity
import Foundation
import Testing

@testable import bletool

/// A name is whatever somebody advertises.
@Suite("Devices by their names")
struct PeerNameTests {
    private static let locks = """
        {"devices":[
          {"name":"Lock","address":"C0:DE:00:00:00:31/random","interval":0.1,"services":[{"uuid":"180F","characteristics":
            [{"uuid":"2A19","properties":["read"],"value":"31"}]}]},
          {"name":"Lock","address":"C0:DE:00:00:00:32/random","interval":0.1,"services":[{"uuid":"180F","characteristics":
            [{"uuid":"2A19","properties":["read"],"value":"32"}]}]}]}
        """

    private static func bond(_ number: UInt64, name: String?) -> Bond {
        var bond = Bond(
            identity: DeviceAddress(value: 0xC0DE_0000_0000 | number, kind: .random),
            localKey: LongTermKey(key: Key128(rawValue: 1)))
        bond.name = name
        return bond
    }

    private static let lock = """
        {"devices":[{"name":"Lock","address":"C0:DE:00:00:00:31/random","interval":0.1,"connectable":true}]}
        """

    private func run(bonds: [Bond], among devices: String = locks, _ arguments: String...) async throws -> ToolRun {
        let folder = try TestFolder()
        let file = try folder.write(devices, to: "locks.json")
        let store = FileBondStore(path: folder.path + "/security")
        for bond in bonds { try store.save(bond) }
        return try await ToolRun(
            plain: ["--state", folder.path, "-t", "sim:\(file)", "--json", "gatt"] + arguments)
    }

    @Test("case does not matter in a name, unless devices differ in nothing else")
    func cases() async throws {
        let folder = try TestFolder()
        let file = try folder.write(
            """
            {"devices":[{"name":"Lamp","address":"C0:DE:00:00:00:41/random","interval":0.1,"connectable":true},
              {"name":"LAMP","address":"C0:DE:00:00:00:42/random","interval":0.1,"connectable":true},
              {"name":"Clock","address":"C0:DE:00:00:00:43/random","interval":0.1,"connectable":true}]}
            """, to: "names.json")
        let run = try await ToolRun("-t", "sim:\(file)", "gatt", "cLOCK", "discover")
        #expect(run.status == 0)
        let exact = try await ToolRun("-t", "sim:\(file)", "gatt", "LAMP", "discover")
        #expect(exact.errors.contains("C0:DE:00:00:00:42/random"))
        #expect(exact.status == 0)
        let several = try await ToolRun("-t", "sim:\(file)", "--json", "gatt", "lamp", "discover")
        #expect(try several.events("error").first?["code"] as? String == "ambiguousName")
        let scan = try await ToolRun("-t", "sim:\(file)", "lescan", "--name", "clock", "--count", "1")
        #expect(scan.output.contains("C0:DE:00:00:00:43"))
    }

    @Test("a mistyped address is refused at once; name: takes a name that looks like one")
    func mistypedAddress() async throws {
        let folder = try TestFolder()
        let file = try folder.write(
            #"{"devices":[{"name":"11:22:33:44","address":"C0:DE:00:00:00:45/random","interval":0.1,"connectable":true}]}"#,
            to: "odd.json")
        let wrong = try await ToolRun("-t", "sim:\(file)", "gatt", "11:22:33:44", "discover")
        #expect(wrong.status == 2 && wrong.errors.contains("six pairs of hexadecimal digits, not 4"), "\(wrong.errors)")
        let named = try await ToolRun("-t", "sim:\(file)", "gatt", "name:11:22:33:44", "discover")
        #expect(named.status == 0 && named.errors.contains("C0:DE:00:00:00:45/random"), "\(named.errors)")
    }

    @Test("spaces and zeros that fill the field of a name do not count")
    func padding() async throws {
        let folder = try TestFolder()
        let file = try folder.write(
            #"{"devices":[{"name":"Lamp    ","address":"C0:DE:00:00:00:44/random","interval":0.1,"connectable":true}]}"#,
            to: "padded.json")
        let run = try await ToolRun("-t", "sim:\(file)", "gatt", "lamp", "discover")
        #expect(run.status == 0 && run.errors.contains("C0:DE:00:00:00:44/random"))
        let scan = try await ToolRun("-t", "sim:\(file)", "lescan", "--name", "Lamp", "--count", "1")
        #expect(scan.output.contains("C0:DE:00:00:00:44"))
        for other in ["Lamp", "Lamp  ", "LAMP\0\0", "lamp \0"] { #expect(other.isSameName(as: "Lamp")) }
        for other in ["Lam", " Lamp", "Lamp 2", ""] { #expect(!other.isSameName(as: "Lamp")) }
    }

    @Test(
        "a device that is heard but accepts no connections is reported as such",
        arguments: ["Beacon", "C0:DE:00:00:00:51"])
    func unconnectable(_ peer: String) async throws {
        let folder = try TestFolder()
        let file = try folder.write(
            #"{"devices":[{"name":"Beacon","address":"C0:DE:00:00:00:51/random","interval":0.1,"connectable":false}]}"#,
            to: "beacon.json")
        for peer in [peer, peer + (peer == "Beacon" ? "" : "/random")] {
            let run = try await ToolRun(
                "-t", "sim:\(file)", "--json", "gatt", peer, "discover", "--connect-timeout", "2")
            #expect(run.status == 1)
            #expect(try run.events("error").first?["code"] as? String == "deviceNotConnectable")
            #expect(run.errors.contains("does not accept connections"))
        }
        let gone = try await ToolRun(
            "-t", "sim:\(file)", "--json", "gatt", "Nobody", "discover", "--connect-timeout", "1")
        #expect(try gone.events("error").first?["code"] as? String == "deviceNotReached")
    }

    @Test("a name that is not heard is answered with those that are, the nearest first")
    func suggestions() async throws {
        let folder = try TestFolder()
        let names = ["Clock", "Lamp 2", "\u{1B}[2JLam"] + (1...7).map { "Radiator \($0)" }
        let devices = names.enumerated().map { index, name in
            let quoted = String(decoding: try! JSONEncoder().encode(name), as: UTF8.self)
            return
                #"{"name":\#(quoted),"address":"C0:DE:00:00:01:\#(10 + index)/random","interval":0.05,"connectable":true}"#
        }
        let file = try folder.write(#"{"devices":[\#(devices.joined(separator: ","))]}"#, to: "names.json")
        let run = try await ToolRun("-t", "sim:\(file)", "gatt", "Lamb", "discover", "--connect-timeout", "1.5")
        #expect(run.status == 1)
        #expect(run.errors.contains("; heard instead: ‘Lamp 2’, "), "\(run.errors)")
        #expect(run.errors.contains("; did you mean ‘Lamp 2’?"), "\(run.errors)")
        // Eight of ten and the suggestion, and nothing that a terminal obeys.
        #expect(run.errors.contains(#"‘\u{1b}[2JLam’"#) && !run.errors.contains("\u{1B}"), "\(run.errors)")
        #expect(run.errors.split(separator: "heard instead").last?.count { $0 == "‘" } == 9, "\(run.errors)")
        let scan = try await ToolRun("-t", "sim:\(file)", "lescan", "--name", "Clokc", "--duration", "1")
        #expect(scan.errors.contains("no device called ‘Clokc’ was heard; heard instead: ‘Clock’, "), "\(scan.errors)")
        let far = try await ToolRun("-t", "sim:\(file)", "gatt", "Thermometer", "discover", "--connect-timeout", "1")
        #expect(!far.errors.contains("did you mean") && far.errors.contains("heard instead: ‘"), "\(far.errors)")
    }

    @Test("several devices of one name are an error that lists them, unless the first will do")
    func several() async throws {
        let run = try await run(bonds: [], "Lock", "read", "2A19")
        #expect(run.status == 1)
        #expect(run.errors.contains("C0:DE:00:00:00:31/random"))
        #expect(run.errors.contains("C0:DE:00:00:00:32/random"))
        #expect(run.errors.contains("--first"))
        let first = try await self.run(bonds: [], "Lock", "read", "2A19", "--first")
        #expect(first.status == 0)
        #expect(first.errors.contains("‘Lock’ is C0:DE:00:00:00:3"))
    }

    @Test("a bonded device's name means only that device, even if others have it")
    func bonded() async throws {
        // The device is not there: a stranger is not taken for it.
        let run = try await run(
            bonds: [Self.bond(0x77, name: "Lock")], "Lock", "read", "2A19", "--first", "--connect-timeout", "2")
        #expect(run.status == 1)
        #expect(run.errors.contains("C0:DE:00:00:00:77/random"))
        #expect(run.errors.contains("was not reached"))
        #expect(try run.events("value").isEmpty)
        // Of several bonds of one name those count that are heard.
        let one = try await self.run(
            bonds: [Self.bond(0x77, name: "Door"), Self.bond(0x32, name: "Door")], "Door", "discover",
            "--connect-timeout", "3")
        #expect(one.errors.contains("‘Door’ is C0:DE:00:00:00:32/random, which is bonded"))
    }

    @Test("a name that another user of bled gave chooses no device, and no other device is taken for that one")
    func anotherUsers() async throws {
        func bond(_ number: UInt64, of user: ClientUser) -> Bond {
            var bond = Self.bond(number, name: "Lock")
            bond.user = user
            return bond
        }
        let stranger = ClientUser(geteuid() + 1)
        // It names a device that is not there: what is heard under that name is not taken for it.
        let run = try await run(bonds: [bond(0x77, of: stranger)], among: Self.lock, "Lock", "discover")
        #expect(run.status == 1)
        #expect(try run.events("error").first?["code"] as? String == "ambiguousName")
        let its = try await self.run(bonds: [bond(0x31, of: stranger)], among: Self.lock, "Lock", "discover")
        #expect(its.errors.contains("‘Lock’ is C0:DE:00:00:00:31/random, which is bonded"))
        // Its name sends this user nowhere, who has paired another device under it.
        for own in [ClientUser(geteuid()), ClientUser(0, isOperator: true)] {
            let run = try await self.run(
                bonds: [bond(0x32, of: stranger), bond(0x77, of: own)], "Lock", "read", "2A19", "--connect-timeout", "2"
            )
            #expect(run.status == 1 && run.errors.contains("C0:DE:00:00:00:77/random"))
            #expect(try run.events("value").isEmpty)
        }
    }

    @Test("bonds are listed with their names, and forgotten by them; a name of two bonds is refused")
    func unpair() async throws {
        let folder = try TestFolder()
        let store = FileBondStore(path: folder.path + "/security")
        for bond in [Self.bond(1, name: "Lock"), Self.bond(2, name: "Door"), Self.bond(3, name: "Door")] {
            try store.save(bond)
        }
        let list = try await ToolRun(plain: ["--state", folder.path, "bonds"])
        #expect(list.output.split(separator: "\n").map { $0.hasSuffix(", called ‘Door’") } == [false, true, true])
        let two = try await ToolRun(plain: ["--state", folder.path, "--json", "unpair", "Door"])
        #expect(two.status == 1)
        #expect(two.errors.contains("C0:DE:00:00:00:02/random (bonded), C0:DE:00:00:00:03/random (bonded)"))
        let one = try await ToolRun(plain: ["--state", folder.path, "--json", "unpair", "Lock"])
        #expect(one.status == 0)
        #expect(try store.bonds().count == 2)
    }

    @Test("a fixed passkey without --mitm is wrong usage in `serve`, and says why")
    func fixedPasskey() async throws {
        let folder = try TestFolder()
        let profile = try folder.write(#"{"services":[]}"#, to: "profile.json")
        for io in ["display", "none"] {
            let run = try await ToolRun(
                "-t", "sim", "serve", "--profile", profile, "--io", io, "--passkey", "123456")
            #expect(run.status == 2)
            #expect(run.errors.contains("--mitm"))
        }
    }
}
