import BLEScripts
import Foundation
import Testing

@testable import bletool

/// Devices that notify without a Client Characteristic Configuration, or with one that cannot be written.
@Suite("Values that devices send unasked")
struct UnaskedValuesTests {
    private static let world = """
        {"devices":[{"name":"Meter","address":"C0:DE:00:00:00:61/random","interval":0.1,"services":[{"uuid":"FFE0",
          "characteristics":[
            {"uuid":"FFE1","properties":["notify"],"value":"2a","notifyEvery":0.1,"configuration":false},
            {"uuid":"FFE2","properties":["indicate"],"value":"2b","notifyEvery":0.1,"configuration":false,
              "descriptors":[{"uuid":"2902","value":"0000"}]},
            {"uuid":"FFE3","properties":["read"],"value":"2c"}]}]}]}
        """

    private func run(_ target: String, count: Int = 2) async throws -> ToolRun {
        let folder = try TestFolder()
        let file = try folder.write(Self.world, to: "meter.json")
        return try await ToolRun(
            list: [
                "-t", "sim:\(file)", "--json", "gatt", "Meter", "subscribe", target, "--count", "\(count)",
                "--duration", "20",
            ])
    }

    @Test("without the descriptor, subscribe says that there is nothing to write, and prints what the device sends")
    func withoutDescriptor() async throws {
        let run = try await run("FFE1")
        #expect(run.status == 0 && run.errors.contains("has no Client Characteristic Configuration"), "\(run.errors)")
        let subscribed = try #require(try run.events("subscribed").first)
        #expect(subscribed["configured"] as? Bool == false)
        #expect(try run.events("notified").map { $0["value"] as? String } == ["2a", "2a"])
        // The same by the handle of the value.
        let handle = try #require(subscribed["handle"] as? Int)
        let again = try await self.run("\(Hexadecimal.number(UInt(handle), digits: 4))")
        #expect(again.status == 0)
        #expect(try again.events("notified").count == 2)
    }

    @Test("so does a descriptor that refuses to be written")
    func wrongDescriptor() async throws {
        let run = try await run("FFE2")
        #expect(run.status == 0 && run.errors.contains("cannot be written"), "\(run.errors)")
        #expect(try run.events("subscribed").first?["configured"] as? Bool == false)
        #expect(try run.events("indicated").map { $0["value"] as? String } == ["2b", "2b"])
    }

    @Test("a characteristic that neither notifies nor indicates is still refused")
    func neither() async throws {
        let run = try await run("FFE3")
        #expect(run.status == 1)
        #expect(try run.events("error").first?["code"] as? String == "notSubscribable")
        #expect(try run.events("subscribed").isEmpty)
    }
}
