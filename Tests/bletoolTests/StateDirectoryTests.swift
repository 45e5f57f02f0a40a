import BLE
import Foundation
import Testing

@testable import bletool

@Suite("The state folder")
struct StateDirectoryTests {
    @Test("the random static address is kept, for its owner alone, and each adapter has its own")
    func staticAddress() throws {
        let folder = try TestFolder()
        let state = StateDirectory(path: folder.path + "/a/b")
        let first = try state.staticAddress(adapter: 0)
        #expect(first.randomKind == .static)
        #expect(try state.staticAddress(adapter: 0) == first)
        #expect(try StateDirectory(path: folder.path + "/a/b").staticAddress(adapter: 0) == first)
        let second = try state.staticAddress(adapter: 1)
        #expect(second != first)
        #expect(second.randomKind == .static)
        let path = folder.path + "/a/b/static-address"
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/a/b") == ["static-address"])
    }

    @Test("a file that holds no such address is replaced", arguments: ["", "nonsense", "11:22:33:44:55:66/public\n"])
    func damaged(_ text: String) throws {
        let folder = try TestFolder()
        _ = try folder.write(text, to: "static-address")
        let address = try StateDirectory(path: folder.path).staticAddress(adapter: 0)
        #expect(address.randomKind == .static)
        #expect(try StateDirectory(path: folder.path).staticAddress(adapter: 0) == address)
    }

    @Test("the folder is the user's choice, else the XDG state folder, else that of the home")
    func places() {
        func path(_ choice: String?, _ environment: [String: String]) -> String {
            StateDirectory(path: choice) { environment[$0] }.path
        }
        #expect(path("/here", ["XDG_STATE_HOME": "/x"]) == "/here")
        #expect(path(nil, ["XDG_STATE_HOME": "/x", "HOME": "/home/a"]) == "/x/jelling")
        #expect(path(nil, ["XDG_STATE_HOME": "relative", "HOME": "/home/a"]) == "/home/a/.local/state/jelling")
    }

    @Test("a path that cannot be written is named")
    func unwritable() throws {
        let folder = try TestFolder()
        let file = try folder.write("", to: "file")
        do {
            _ = try StateDirectory(path: file + "/state").staticAddress(adapter: 0)
            Issue.record("written")
        } catch let failure as Failure {
            #expect(failure.message.contains("--state"))
        } catch {
            Issue.record("\(error)")
        }
    }
}
