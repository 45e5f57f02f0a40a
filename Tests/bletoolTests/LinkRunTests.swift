import BLE
import Foundation
import Testing

@testable import bletool

@Suite("The end of a watched link")
struct LinkRunTests {
    @Test("link tells why the link ended")
    func reason() async throws {
        let air = try ToolAir(controllers: 2)
        let adapter = try await Adapter.open(air.transports[1])
        let advertising = Task {
            try await adapter.advertise(AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [])))
        }
        defer { advertising.cancel() }
        let tool = try ToolTask("-t", air.transports[0], "--json", "link", "Lamp", "--connect-timeout", "0")
        try await tool.prints("\"radio\"")
        await adapter.close()
        #expect(await tool.status == 1)
        let said = try tool.errors
        #expect(said.contains("bletool: error: the link ended: ") && !said.contains("connect first"), "\(said)")
        #expect(try tool.output.contains("\"code\":\"linkLost\""))
    }

    @Test("if the adapter is lost with the link, its error is told")
    func lostAdapter() async throws {
        let folder = try TestFolder()
        let file = try folder.write(
            """
            {"devices":[{"name":"Lamp","address":"C0:DE:00:00:00:61/random","interval":0.1,"connectable":true}],
             "faults":[{"at":5,"kind":"transportClosed"}]}
            """, to: "lost.json")
        let run = try await ToolRun("-t", "sim:\(file)", "--json", "link", "Lamp", "--connect-timeout", "0")
        // Where the machine is so slow that there is no link yet, the adapter could not be opened again.
        #expect([1, 3].contains(run.status))
        #expect(try run.events("error").first?["code"] as? String == "transportLost", "\(run.errors)")
    }

    @Test("an event that never comes does not hold up link: what it would say is left out")
    func silentController() async throws {
        // LE Transmit Power Reporting, with which a controller answers LE Read Remote Transmit Power Level.
        let air = try ToolAir(controllers: 2) { $0.count > 3 && $0[0] == 0x04 && $0[1] == 0x3E && $0[3] == 0x21 }
        let adapter = try await Adapter.open(air.transports[1])
        let advertising = Task {
            try await adapter.advertise(AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [])))
        }
        defer { advertising.cancel() }
        let begin = ContinuousClock.now
        let run = try await ToolRun(
            "-t", air.transports[0], "--json", "link", "Lamp", "--connect-timeout", "0", "--duration", "1")
        // The engine waits 40 s for the event.
        #expect(begin.duration(to: .now) < .seconds(38))
        #expect(run.status == 0, "\(run.errors)")
        let radio = try #require(try run.events("radio").first)
        #expect(radio["peersPower"] is NSNull && radio["rssi"] is Int)
        await adapter.close()
    }
}
