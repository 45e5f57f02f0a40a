import BLE
import Testing

@testable import bletool

/// What `ad decode` and `lescan` say of sensors.
@Suite("Sensors in the output")
struct SensorOutputTests {
    @Test("ad decode shows what a sensor says, and JSON has formats and values")
    func decode() async throws {
        let text = try await ToolRun("ad", "decode", "020106 0c16d2fc40 0161 02c409 03bf13".filter { $0 != " " })
        #expect(text.status == 0)
        #expect(text.output.contains("says          BTHome v2: battery 97 %, temperature 25 °C, humidity 50.55 %\n"))
        let json = try await ToolRun("--json", "ad", "decode", "0201060a16d2fc4002c40903bf13")
        let object = try #require(try json.objects.first)
        let formats = try #require(object["formats"] as? [[String: Any]])
        #expect(formats.count == 1 && formats[0]["format"] as? String == "BTHome v2")
        #expect(formats[0]["encryption"] as? String == "none")
        let values = try #require(object["values"] as? [[String: Any]])
        #expect(values.map { $0["name"] as? String } == ["temperature", "humidity"])
        #expect(values[0]["value"] as? Double == 25 && values[1]["value"] as? Double == 50.55)
        #expect(values[0]["unit"] as? String == "°C" && values[0]["deviceClass"] as? String == "temperature")
    }

    @Test("a key opens what is encrypted, for its device only")
    func keys() async throws {
        let advertisement = "0201061216d2fc41a47266c95f730011223378237214"
        let key = "231d39c1d7cc1ab1aee224cd096db932"
        func decode(_ options: String...) async throws -> [String: Any] {
            let run = try await ToolRun(list: ["--json", "ad", "decode", advertisement] + options)
            let formats = try run.objects.first?["formats"] as? [[String: Any]]
            return formats?.first ?? [:]
        }
        let address = ["--address", "54:48:E6:8F:80:A5"]
        #expect(try await decode()["encryption"] as? String == "needsKey")
        #expect(try await decode(address[0], address[1], "--key", key)["encryption"] as? String == "decrypted")
        let other = "54:48:E6:8F:80:A6=\(key)"
        #expect(try await decode(address[0], address[1], "--key", other)["encryption"] as? String == "needsKey")
        let wrong = String(key.reversed())
        #expect(try await decode(address[0], address[1], "--key", wrong)["encryption"] as? String == "wrongKey")
        #expect(DeviceKey(argument: "12") == nil && DeviceKey(argument: "x=\(key)") == nil)
    }

    @Test("companies and services have names beside their numbers")
    func names() async throws {
        let run = try await ToolRun("ad", "decode", "03030d180319410305ff4c0010000201060303fffe")
        #expect(run.output.contains("service       180D Heart Rate\n"))
        #expect(run.output.contains("company       0x004c Apple, Inc.:1000\n"))
        #expect(run.output.contains("appearance    0x0341 "))
    }

    @Test("lescan shows what a sensor says")
    func scan() async throws {
        let folder = try TestFolder()
        let file = try folder.write(
            """
            {"devices":[{"name":"Shed","address":"C0:DE:00:00:00:31/random","interval":0.1,
              "serviceData":{"uuid":"FCD2","value":"4002c40903bf13"}}]}
            """, to: "devices.json")
        let text = try await ToolRun("-t", "sim:\(file)", "lescan", "--count", "1", "--duration", "5")
        #expect(text.output.contains("BTHome v2: temperature 25 °C, humidity 50.55 %"), "\(text.output)\(text.errors)")
        let json = try await ToolRun("-t", "sim:\(file)", "--json", "lescan", "--count", "1", "--duration", "5")
        let event = try #require(try json.events("discovered").first)
        #expect((event["values"] as? [[String: Any]])?.count == 2)
    }
}
