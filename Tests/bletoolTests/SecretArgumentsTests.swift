import BLE
import Foundation
import Testing

@testable import bletool

@Suite("Secrets among the arguments, and in files")
struct SecretArgumentsTests {
    /// The arguments as others see them.
    private func seen(_ arguments: [String]) -> [String] {
        var seen = ["bletool"] + arguments
        for (number, offset) in SecretArguments.places(seen) {
            let octets = Array(seen[number].utf8)
            seen[number] =
                String(decoding: octets[..<offset], as: UTF8.self)
                + String(repeating: "*", count: octets.count - offset)
        }
        return Array(seen.dropFirst())
    }

    @Test(
        "each form of an option with a secret is hidden, also a mistyped one, and nothing else",
        arguments: [
            (["pair", "Lock", "--passkey", "123456", "--mitm"], ["pair", "Lock", "--passkey", "******", "--mitm"]),
            (["pair", "Lock", "--passkey=123456"], ["pair", "Lock", "--passkey=******"]),
            (["lescan", "--key", "00ff", "--key=11"], ["lescan", "--key", "****", "--key=**"]),
            (["lescan", "--keys", "00ff"], ["lescan", "--keys", "****"]),
            (
                ["lerladd", "-l", "00", "-p11", "--peer", "22", "C0:DE"],
                ["lerladd", "-l", "**", "-p**", "--peer", "**", "C0:DE"]
            ),
            (["serve", "--passkey-file", "lock.passkey"], ["serve", "--passkey-file", "lock.passkey"]),
            (["lescan", "--key-file=keys", "-p"], ["lescan", "--key-file=keys", "-p"]),
            (["lescan", "--key"], ["lescan", "--key"]),
            (["gatt", "Lock", "read", "2A19"], ["gatt", "Lock", "read", "2A19"]),
            ([], []),
        ])
    func places(arguments: [String], others: [String]) { #expect(seen(arguments) == others) }

    @Test("a passkey comes from the first line of a file; both forms together are refused")
    func passkeyFile() throws {
        let folder = try TestFolder()
        let path = try folder.write("001234\r\nanything\n", to: "passkey")
        let pair = try #require(
            try parse(["pair", "Lock", "--io", "keyboard", "--passkey-file", path]) as? PairCommand)
        #expect(try pair.pairing.options().passkey == 1234)
        let serve = ["serve", "--profile", path, "--passkey-file", path]
        #expect(throws: (any Error).self) { try parse(serve) }
        #expect(try parse(serve + ["--io", "display", "--mitm"]) is ServeCommand)
        do {
            _ = try parse(["pair", "Lock", "--passkey", "123456", "--passkey-file", path])
            Issue.record("parsed")
        } catch {
            let complaint = BLETool.fullMessage(for: error)
            #expect(complaint.contains("--passkey contradicts --passkey-file"), "\(complaint)")
        }
    }

    @Test("keys come from the lines of files, besides those among the arguments; comments and empty lines are none")
    func keyFile() throws {
        let folder = try TestFolder()
        let key = String(repeating: "0f", count: 16)
        let path = try folder.write("# the cellar\n\n  \(key)\n54:48:E6:8F:80:A5=\(key) \n", to: "keys")
        let scan = try #require(try parse(["lescan", "--key-file", path]) as? ScanCommand)
        #expect(try scan.keys.sensorKeys() != nil)
        #expect(try SecretFile.values(of: path, DeviceKey.self).map { $0.address == nil } == [true, false])
        let none = try folder.write("# nothing\n", to: "none")
        let empty = try #require(try parse(["lescan", "--key-file", none]) as? ScanCommand)
        #expect(try empty.keys.sensorKeys() == nil)
    }

    @Test("what a file has instead of a secret is told by its line, without a word of it")
    func mistakes() throws {
        let folder = try TestFolder()
        let path = try folder.write("12345\n", to: "passkey")
        let keys = try folder.write("# one\nc0ffee\n", to: "keys")
        func complaint(_ body: () throws -> Void) -> String {
            do { try body() } catch { return Failure(error).message }
            return ""
        }
        let passkey = complaint { _ = try SecretFile.value(of: path, Passkey.self) }
        #expect(passkey.contains("passkey’, the first line: a passkey has six digits"), "\(passkey)")
        #expect(!passkey.contains("12345"))
        let key = complaint { _ = try SecretFile.values(of: keys, DeviceKey.self) }
        #expect(key.contains("keys’, line 2: a key has 32 digits"), "\(key)")
        #expect(!key.contains("c0ffee"))
        let absent = complaint { _ = try SecretFile.value(of: path + ".absent", Passkey.self) }
        #expect(absent.contains("cannot be read"), "\(absent)")
    }
}
