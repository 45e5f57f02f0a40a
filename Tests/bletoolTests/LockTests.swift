import Foundation
import Testing

@testable import bletool

/// The lock of the transport `sim`, as somebody tries it who reads its name.
@Suite("The lock of the simulator")
struct LockTests {
    private static let state = "6A656C6C-696E-6700-8000-000000000012"

    @Test("it is opened once it is paired with the passkey in its name, also by the next program")
    func opens() async throws {
        let folder = try TestFolder()
        func run(_ arguments: String...) async throws -> ToolRun {
            try await ToolRun(plain: ["--state", folder.path, "-t", "sim", "--json"] + arguments)
        }
        let lock = "Lock 271828"
        let closed = try await run("gatt", lock, "write", Self.state, "00")
        #expect(closed.status == 1, "\(closed.output)")
        #expect(try closed.events("error").first?["attError"] as? String == "0x05", "\(closed.output)")
        let read = try await run("gatt", lock, "read", Self.state)
        #expect(try read.events("value").first?["value"] as? String == "01", "\(read.output)")
        // Without a keyboard nobody can prove that he knows it.
        let careless = try await run("pair", lock)
        #expect(careless.status == 1, "\(careless.output)")
        let wrong = try await run("pair", lock, "--io", "keyboard", "--passkey", "271829")
        #expect(wrong.status == 1, "\(wrong.output)")
        let paired = try await run("pair", lock, "--io", "keyboard", "--passkey", "271828")
        #expect(paired.status == 0, "\(paired.output) \(paired.errors)")
        #expect(try paired.events("paired").first?["authenticated"] as? Bool == true, "\(paired.output)")
        let opened = try await run("gatt", lock, "write", Self.state, "00")
        #expect(opened.status == 0, "\(opened.output) \(opened.errors)")
    }
}
