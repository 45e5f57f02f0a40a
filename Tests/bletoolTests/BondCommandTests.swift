import BLE
import BLESecurity
import Foundation
import Testing

@testable import bletool

@Suite("Bonds at the command line")
struct BondCommandTests {
    static let identity = DeviceAddress(value: 0xC1FF_EE00_0001, kind: .random)
    static let bond = Bond(
        identity: identity, identityResolvingKey: Key128(rawValue: 0x1234_ABCD_1234_ABCD), isSecureConnections: true,
        isAuthenticated: true, localKey: LongTermKey(key: Key128(rawValue: 0x1234_ABCD_1234_ABCD)))

    @Test("`bonds` prints one line per bond, without any key (DESIGN 6)")
    func list() async throws {
        let folder = try TestFolder()
        try FileBondStore(path: folder.path + "/security").save(Self.bond)
        let run = try await ToolRun(plain: ["--state", folder.path, "--json", "bonds"])
        #expect(run.status == 0)
        #expect(
            run.output.hasPrefix(
                #"{"event":"bond","secureConnections":true,"authenticated":true,"keySize":16,"#
                    + #""identity":"C1:FF:EE:00:00:01","identityType":"random","#))
        #expect(run.output.split(separator: "\n").count == 1)
        let text = try await ToolRun(plain: ["--state", folder.path, "bonds"])
        #expect(!text.output.lowercased().contains("1234abcd"))
        #expect(text.output.contains("C1:FF:EE:00:00:01 random"))
    }

    @Test("`unpair` forgets a bond, named with or without its type")
    func unpair() async throws {
        for name in ["C1:FF:EE:00:00:01/random", "C1:FF:EE:00:00:01"] {
            let folder = try TestFolder()
            let store = FileBondStore(path: folder.path + "/security")
            try store.save(Self.bond)
            let run = try await ToolRun(plain: ["--state", folder.path, "--json", "unpair", name])
            #expect(run.status == 0)
            #expect(try run.events("unpaired").first?["identity"] as? String == "C1:FF:EE:00:00:01")
            #expect(try store.bonds().isEmpty)
        }
    }

    @Test("a damaged file is reported on standard error, and what is intact is listed")
    func damaged() async throws {
        let folder = try TestFolder()
        try FileBondStore(path: folder.path + "/security").save(Self.bond)
        let file = folder.path + "/security/bonds"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try (text + "rubbish\n").write(toFile: file, atomically: false, encoding: .utf8)
        let run = try await ToolRun(plain: ["--state", folder.path, "--json", "bonds"])
        #expect(run.status == 0)
        #expect(run.errors.contains("damaged"))
        #expect(try run.events("bond").count == 1)
    }

    @Test("the numbers of pairing have their ranges", arguments: [("000000", 0), ("000007", 7), ("999999", 999_999)])
    func passkey(text: String, number: UInt32) {
        #expect(Passkey(argument: text)?.number == number)
    }

    @Test("if there may be bonds that cannot be trusted, nothing is read from a device in the clear")
    func hiddenBonds() async throws {
        let folder = try TestFolder()
        try FileBondStore(path: folder.path + "/security").save(Self.bond)
        let file = folder.path + "/security/bonds"
        try #require(unsafe chmod(file, 0o666) == 0)
        let run = try await ToolRun(
            plain: ["--state", folder.path, "-t", "sim", "--json", "gatt", "Jelling Heart", "read", "2A19"])
        #expect(run.status == 1)
        #expect(!run.output.contains(#""event":"value""#))
        #expect((run.errors + run.output).contains("chmod go-w"))
        // Where there are none and none can be kept, a value is read all the same.
        unsafe chmod(file, 0o600)
        try #require(unsafe unlink(file) == 0)
        let other = try await ToolRun(
            plain: ["--state", folder.path, "-t", "sim", "--json", "gatt", "Jelling Heart", "read", "2A19"])
        #expect(other.status == 0)
    }

    @Test("an invalid passkey is refused", arguments: ["", "1000000", "-1", "+12345", "12a456", "٣٣٣"])
    func noPasskey(text: String) {
        #expect(Passkey(argument: text) == nil)
    }

    @Test("a passkey is shown with its leading zeros")
    func leadingZeros() {
        #expect(Passkey.text(42) == "000042")
    }

    @Test("requiring protection when nothing can be shown or typed is wrong usage, with the remedy")
    func mitmWithoutIO() async throws {
        let run = try await ToolRun("pair", "Lock", "--mitm")
        #expect(run.status == 2)
        #expect(run.errors.contains("--io"))
    }

    @Test("pairing through raw: is refused, and the user channel is named")
    func raw() async throws {
        let run = try await ToolRun("-t", "raw:0", "pair", "Lock")
        #expect(run.status == 2)
        #expect(run.errors.contains("user:N"))
    }
}
