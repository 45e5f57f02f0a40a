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
    /// - Parameter name: the arguments that name the device; a clone has a name of its own.
    private static func clone(_ path: String, _ name: [String] = [], to file: String) async throws -> String {
        let air = try ToolAir(controllers: 2)
        let server = try ToolTask(
            list: ["-t", air.transports[1], "serve", "--profile", path] + name)
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
        let first = try await Self.clone(path, ["--name", "Original"], to: folder.path + "/clone.json")
        let second = try await Self.clone(folder.path + "/clone.json", to: folder.path + "/again.json")
        #expect(first == second && first.contains("6E400003"))
        let text = try folder.read("clone.json")
        #expect(text == (try folder.read("again.json")))
        let cloned = try ServedProfile(Array(text.utf8))
        #expect(try cloned.services == ServedProfile(Array(Self.original.utf8)).services)
        #expect(cloned.name == "Original")
    }

    @Test("a clone is played by the simulator, where it is discovered and read as the device was")
    func plays() async throws {
        let folder = try TestFolder()
        let file = folder.path + "/clone.json"
        let first = try await ToolRun("-t", "sim", "gatt", "Jelling Heart", "discover", "--profile", file)
        #expect(first.status == 0, "\(first.errors)")
        let scan = try await ToolRun("-t", "sim:\(file)", "lescan", "--count", "1", "--duration", "5")
        #expect(scan.output.contains("Jelling Heart"), "\(scan.output)")
        let again = folder.path + "/again.json"
        let second = try await ToolRun("-t", "sim:\(file)", "gatt", "Jelling Heart", "discover", "--profile", again)
        #expect(second.status == 0 && second.output == first.output, "\(second.errors)")
        #expect(try folder.read("again.json") == folder.read("clone.json"))
    }

    @Test("services that include others are played with them")
    func includes() async throws {
        let folder = try TestFolder()
        let file = try folder.write(Self.original, to: "original.json")
        let run = try await ToolRun("-t", "sim:\(file)", "--json", "gatt", "Profile", "discover")
        #expect(run.output.contains(#""includes":["180F","180A"]"#), "\(run.output)")
        let wrong = try folder.write(#"{"services":[{"uuid":"180F","includes":["180A"]}]}"#, to: "wrong.json")
        let refused = try await ToolRun("-t", "sim:\(wrong)", "lescan")
        #expect(refused.status == 2 && refused.errors.contains("services[0].includes"), "\(refused.errors)")
    }
}
