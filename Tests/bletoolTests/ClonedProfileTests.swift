import BLE
import Foundation
import Testing

@testable import bletool

/// `gatt PEER discover --profile FILE` and `serve --profile FILE`.
@Suite("A device is cloned")
struct ClonedProfileTests {
    static let original = """
        {"services": [
          {"uuid": "180F", "characteristics": [
            {"uuid": "2A19", "properties": ["read", "notify"], "value": "57",
             "descriptors": [{"uuid": "2904", "value": "0400ad270106010000"}]}]},
          {"uuid": "6E400001-B5A3-F393-E0A9-E50E24DCCA9E", "includes": ["180F", "180A"], "characteristics": [
            {"uuid": "6E400002-B5A3-F393-E0A9-E50E24DCCA9E", "properties": ["write", "writeWithoutResponse"],
             "descriptors": [{"uuid": "2901", "value": "696e"}]},
            {"uuid": "6E400003-B5A3-F393-E0A9-E50E24DCCA9E", "properties": ["read", "indicate"], "value": "0102030405"}]},
          {"uuid": "180A", "primary": false, "characteristics": [
            {"uuid": "2A24", "properties": ["read"], "value": "4a31"}]}]}
        """

    /// Serves a profile on one simulated controller, and clones it by the other.
    private static func clone(_ path: String, to file: String) async throws -> String {
        let air = try ToolAir(controllers: 2)
        let server = try ToolTask(
            "-t", air.transports[1], "serve", "--profile", path, "--name", "Original")
        try await server.prints("which says")
        let run = try await ToolRun(
            "-t", air.transports[0], "gatt", "Original", "discover", "--profile", file)
        #expect(run.status == 0, "\(run.errors)")
        server.interrupt()
        #expect(await server.status == 0)
        return run.output
    }

    @Test("what is served from the clone of a device is discovered as the device was")
    func clones() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.original, to: "original.json")
        let first = try await Self.clone(path, to: folder.path + "/clone.json")
        let second = try await Self.clone(folder.path + "/clone.json", to: folder.path + "/again.json")
        #expect(first == second && first.contains("6E400003"))
        let text = try folder.read("clone.json")
        #expect(text == (try folder.read("again.json")))
        #expect(try ServedProfile(Array(text.utf8)) == ServedProfile(Array(Self.original.utf8)))
    }
}
