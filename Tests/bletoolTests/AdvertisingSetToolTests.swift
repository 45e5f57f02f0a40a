import BLE
import Foundation
import Testing

@testable import bletool

/// `--set`, and `sync` with `lescan` on a world with periodic advertising.
@Suite("Advertising sets and sync")
struct AdvertisingSetToolTests {
    static let world = """
        {"devices":[{"name":"Clock","address":"C0:DE:00:00:00:71/random","interval":0.1,"extended":true,"sid":7,
          "periodic":{"interval":0.05,"value":"03ff0102"}},
          {"name":"Far","address":"C0:DE:00:00:00:72/random","interval":0.1,"extended":true,"coded":true}]}
        """

    @Test("a set is read from its keys")
    func reads() throws {
        let set = try AdvertisingSetArgument.request(
            "name=Door,service=180F,interval=50,phy=coded,address=C0:DE:00:00:00:01,sid=3,duration=2.5,events=9,"
                + "periodic=100,periodic-data=0aff")
        #expect(set.data == [3, 3, 0x0F, 0x18, 5, 9] + Array("Door".utf8))
        #expect(set.interval == .milliseconds(50))
        #expect(set.primaryPHY == .leCoded && set.secondaryPHY == .leCoded)
        #expect(set.address == DeviceAddress("C0:DE:00:00:00:01/random"))
        #expect(set.identifier == 3 && set.maximumEvents == 9)
        #expect(set.duration == .milliseconds(2500))
        #expect(set.train?.data == [0x0A, 0xFF] && set.train?.interval == .milliseconds(100))
        let legacy = try AdvertisingSetArgument.request("legacy,connectable,once,response=020a00")
        #expect(legacy.usesLegacyPDUs && legacy.isConnectable && !legacy.resumesAfterConnection)
        #expect(try AdvertisingSetArgument.request("scannable,name=A").scanResponse == [2, 9, 0x41])
    }

    @Test(
        "what is unknown, out of range or contradictory is refused with its reason",
        arguments: [
            ("colour=red", "colour"), ("fast", "fast"), ("interval=5", "interval"), ("data=xyz", "hexadecimal"),
            ("connectable,scannable", "connectable and scannable"), ("phy=9m", "1m, 2m or coded"),
            ("legacy,phy=coded", "need extended"), ("connectable,periodic=100", "periodic"),
            ("primary=2m", "LE 1M or LE Coded"), ("address=nowhere", "not an address"), ("sid=99", "sid is 0 to 15"),
            ("sid=1.5", "sid is 0 to 15"), ("", "what it advertises"), ("name=A,name=B", "twice"),
            ("intervall=20", "did you mean ‘interval’?"), ("name", "name=…"), ("legacy=1", "no value"),
        ])
    func refuses(argument: String, reason: String) async throws {
        let run = try await ToolRun("-t", "sim", "advertise", "--set", argument)
        #expect(run.status == 2)
        #expect(run.errors.contains(reason), "\(run.errors)")
    }

    @Test("advertise ends when its sets have ended, and says what happened to each")
    func advertises() async throws {
        let run = try await ToolRun(
            "-t", "sim", "--json", "advertise", "--set", "data=020106,events=2", "--set", "data=020106,duration=0.5")
        #expect(run.status == 0, "\(run.errors)")
        let events = try run.events("advertisingSet")
        for number in [1, 2] {
            let states = events.filter { $0["set"] as? Int == number }.compactMap { $0["state"] as? String }
            #expect(states == ["started", "stopped", "ended"])
        }
    }

    @Test("more sets than the controller has are refused with the remedy")
    func limit() async throws {
        let sets = (0..<9).flatMap { _ in ["--set", "data=020106"] }
        let run = try await ToolRun(list: ["-t", "sim", "advertise"] + sets)
        #expect(run.status == 1)
        #expect(run.errors.contains("bletool info"))
    }

    @Test("lescan tells SID and interval of periodic advertising, and finds LE Coded with --coded")
    func scans() async throws {
        let file = try TestFolder()
        let path = try file.write(Self.world, to: "world.json")
        let near = try await ToolRun("-t", "sim:\(path)", "--json", "lescan", "--name", "Clock", "--count", "1")
        let clock = try #require(try near.events("discovered").first)
        #expect(clock["sid"] as? Int == 7)
        #expect(clock["periodicInterval"] as? Double == 50)
        let far = try await ToolRun(
            "-t", "sim:\(path)", "--json", "lescan", "--coded", "--name", "Far", "--count", "1")
        #expect(try far.events("discovered").first?["phy"] as? String == "LE Coded")
    }

    @Test("sync finds a train by name and prints its data")
    func syncs() async throws {
        let file = try TestFolder()
        let path = try file.write(Self.world, to: "world.json")
        let run = try await ToolRun("-t", "sim:\(path)", "--json", "sync", "Clock", "--count", "3")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try run.objects.compactMap { $0["event"] as? String } == ["synchronized", "train", "train", "train"])
        #expect(try run.events("train").allSatisfy { $0["data"] as? String == "03ff0102" })
        let people = try await ToolRun("-t", "sim:\(path)", "sync", "C0:DE:00:00:00:71", "--sid", "7", "--count", "1")
        #expect(people.output.contains("following C0:DE:00:00:00:71 random SID 7"))
        #expect(people.output.contains("03ff0102"))
    }

    @Test("sync says once that a train takes no responses")
    func respondsInVain() async throws {
        let file = try TestFolder()
        let path = try file.write(Self.world, to: "world.json")
        let run = try await ToolRun("-t", "sim:\(path)", "sync", "Clock", "--respond", "3=0a", "--count", "3")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.split(separator: "\n").filter { $0.contains("takes no responses") }.count == 1)
    }

    @Test("sync says that the device to tell was not connected in time")
    func receiverOutOfReach() async throws {
        let file = try TestFolder()
        let path = try file.write(Self.world, to: "world.json")
        let run = try await ToolRun(
            "-t", "sim:\(path)", "--json", "sync", "Clock", "--transfer-to", "C0:DE:00:00:00:99/random", "--duration",
            "0.2")
        #expect(run.status == 1)
        #expect(try run.events("error").first?["code"] as? String == "deviceNotReached")
        #expect(run.errors.contains("was not connected within 0.2 s: --duration includes"), "\(run.errors)")
    }

    @Test("trains are transferred only if something can be connected to; otherwise the remedy is told")
    func transfersToNobody() async throws {
        let arguments = ["-t", "sim", "--json", "advertise", "--set", "data=020106,periodic=100", "--transfer-trains"]
        let alone = try await ToolRun(list: arguments, interruptAt: ["advertisingSet"])
        #expect(alone.status == 2)
        #expect(alone.errors.contains("a --set with connectable, or --name"), "\(alone.errors)")
        let named = try await ToolRun(list: arguments + ["--name", "Door"], interruptAt: ["advertisingSet"])
        #expect(named.status == 0, "\(named.errors)")
    }

    @Test("info tells how many sets the controller has")
    func info() async throws {
        let run = try await ToolRun("-t", "sim", "info")
        #expect(run.output.contains("advertising    4 sets of 1650 bytes"))
    }
}
