import BLE
import Foundation
import Testing

@testable import bletool

/// `--ibeacon`, `--eddystone-url` and the others, of `advertise`, `serve` and `ad pack`.
@Suite("Beacons of the tool")
struct BeaconToolTests {
    static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// What `ad pack` makes of options.
    static func pack(_ options: String...) async throws -> [String: Any] {
        let run = try await ToolRun(list: ["--json", "ad", "pack"] + options)
        #expect(run.status == 0, "\(run.errors)")
        return try #require(try run.objects.first)
    }

    @Test("the name and the services go where they have room")
    func packs() async throws {
        let beacon = try await Self.pack("--ibeacon", "\(Self.uuid),1,2", "--name", "Door", "--service", "180F")
        #expect(
            beacon["advertisement"] as? String
                == "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5")
        #expect(beacon["scanResponse"] as? String == "03030f180509446f6f72")
        let sensor = try await Self.pack("--bthome", "temperature=25", "--bthome", "humidity=50.55", "--name", "Shed")
        #expect(sensor["advertisement"] as? String == "0201060a16d2fc4002c40903bf13050953686564")
        #expect(sensor["scanResponse"] as? String == "")
        let page = try await Self.pack("--eddystone-url", "https://example.com/", "--service", "180F")
        #expect(page["advertisement"] as? String == "0201060503aafe0f180e16aafe10ee036578616d706c6500")
        let long = try await Self.pack(
            "--ibeacon", "\(Self.uuid),1,2", "--bthome", "battery=80", "--extended", "--name", "Door")
        #expect(
            long["advertisement"] as? String
                == "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c50616d2fc400150"
                + "0509446f6f72")
    }

    @Test(
        "a mistake is named with its remedy",
        arguments: [
            (["--ibeacon", "12,1,2"], "‘12’ is not a UUID of 32 hexadecimal digits"),
            (["--ibeacon", "\(uuid),1"], "it has 2 parts; use UUID,MAJOR,MINOR or UUID,MAJOR,MINOR,POWER"),
            (["--ibeacon", "\(uuid),1,70000"], "the minor number is 0 to 65535"),
            (["--altbeacon", "\(uuid),1,2,99"], "the power at one metre is -100 to 20 dBm, not ‘99’"),
            (["--eddystone-url", "example.com"], "use a whole address, such as https://example.com"),
            (["--eddystone-url", "https://12345678901234567890"], "takes 20 octets, and 17 are left"),
            (["--eddystone-uid", "0011,aabbccddeeff"], "the namespace has 20 hexadecimal digits"),
            (["--bthome", "temprature=3"], "did you mean ‘temperature’?; known: acceleration, battery,"),
            (["--bthome", "temperature=warm"], "temperature is a number in °C, not ‘warm’"),
            (["--bthome", "temperature"], "use NAME=VALUE"),
            (["--ibeacon", "\(uuid),1,2", "--bthome", "battery=80"], "need 37 octets with the flags"),
            (
                ["--ibeacon", "\(uuid),1,2", "--name", "A name that is too long for thirty-one octets"],
                "shorten the name"
            ),
            (["--ibeacon", "\(uuid),1,2", "--background"], "leave one of them out"),
            (["--extended"], "--extended is for beacons"),
        ])
    func mistakes(options: [String], reason: String) async throws {
        for command in [["ad", "pack"], ["-t", "sim", "advertise"]] {
            let run = try await ToolRun(list: command + options)
            #expect(run.status == 2)
            let words = run.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains(reason), "\(words)")
        }
    }

    @Test("advertise says in words what goes out, and JSON has the octets alone")
    func says() async throws {
        let text = try await ToolRun(
            "-t", "sim", "advertise", "--ibeacon", "\(Self.uuid),1,2", "--name", "Door", interruptAt: ["which says"])
        #expect(
            text.output.contains(
                "which says: name Door (in the scan response); iBeacon: uuid \(Self.uuid.uppercased()), major 1, minor 2, "
                    + "power -59 dBm; not connectable\n"), "\(text.output)")
        let plain = try await ToolRun(
            "-t", "sim", "advertise", "--name", "Lamp", "--service", "180F", interruptAt: ["which says"])
        let said = "which says: name Lamp; service 180F Battery Service; connectable\n"
        #expect(plain.output.contains(said), "\(plain.output)")
        let json = try await ToolRun(
            "-t", "sim", "--json", "advertise", "--ibeacon", "\(Self.uuid),1,2", interruptAt: ["advertising"])
        let event = try #require(try json.events("advertising").first)
        #expect(event["scanResponse"] as? String == "" && (event["advertisement"] as? String)?.count == 60)
    }

    @Test("--extended sends a set of its own")
    func extended() async throws {
        let run = try await ToolRun(
            "-t", "sim", "advertise", "--extended", "--bthome", "text=A text that no legacy advertisement has room for",
            interruptAt: ["which says"])
        #expect(run.output.contains("set 1 advertises"), "\(run.output) \(run.errors)")
    }

    @Test("an encrypted beacon is read with its key, and never has a counter twice")
    func seals() async throws {
        let key = "231d39c1d7cc1ab1aee224cd096db932"
        let folder = try TestFolder()
        let file = try folder.write(key + "\n", to: "key")
        let start = UInt32(Date().timeIntervalSince1970)
        var counters: [UInt32] = []
        for option in [["--key", key], ["--key-file", file], ["--key", key]] {
            let run = try await ToolRun(
                plain: ["--state", folder.path, "-t", "sim", "--json", "advertise", "--bthome", "temperature=25.06"]
                    + option,
                interruptAt: ["advertising"])
            let hex = try #require(try run.events("advertising").first?["advertisement"] as? String, "\(run.errors)")
            let octets = SensorOctets.octets(hex)
            #expect(octets.count == 19)
            let count = octets.dropLast(4).suffix(4)
            counters.append(count.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            let note = try #require(run.errors.firstRange(of: "encrypted for "), "\(run.errors)")
            let address = String(run.errors[note.upperBound...].prefix(17))
            let read = try await ToolRun("ad", "decode", hex, "--address", address, "--key", key)
            #expect(read.output.contains("BTHome v2: temperature 25.06 °C"), "\(read.output)")
        }
        #expect(counters[0] >= start)
        #expect(counters == counters.sorted() && Set(counters).count == 3)
        #expect(!(try folder.read("beacon-counters")).contains(key.prefix(8)))
        // A clock that was set back does not matter.
        let name = try folder.read("beacon-counters").prefix { $0 != " " }
        _ = try folder.write("\(name) 4294967294\n", to: "beacon-counters")
        let counter = BeaconCounters(state: StateDirectory(path: folder.path))
        #expect(try await counter.next(for: SensorOctets.octets(key)) == 4_294_967_295)
        await #expect(throws: Failure.self) { _ = try await counter.next(for: SensorOctets.octets(key)) }
        _ = try folder.write("damaged\n", to: "beacon-counters")
        await #expect(throws: Failure.self) { _ = try await counter.next(for: SensorOctets.octets(key)) }
    }

    @Test("a key needs measurements, and a private address has none for it")
    func wrongKeys() async throws {
        let alone = try await ToolRun("-t", "sim", "advertise", "--key", "231d39c1d7cc1ab1aee224cd096db932")
        #expect(alone.status == 2 && alone.errors.contains("add --bthome"))
        let short = try await ToolRun("-t", "sim", "advertise", "--bthome", "battery=80", "--key", "231d39")
        #expect(short.status == 2 && short.errors.contains("32 hexadecimal digits"))
        #expect(!short.errors.contains("231d39"))
        let hidden = try await ToolRun(
            "-t", "sim", "--own-address", "resolvable", "advertise", "--bthome", "battery=80", "--key",
            "231d39c1d7cc1ab1aee224cd096db932")
        #expect(hidden.status == 1 && hidden.errors.contains("--own-address public or static"), "\(hidden.errors)")
    }
}

private enum SensorOctets {
    static func octets(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
