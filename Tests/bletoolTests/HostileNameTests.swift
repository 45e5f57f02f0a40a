import BLE
import BLEScripts
import BLESecurity
import BLEText
import Foundation
import Testing

@testable import BLEDaemonClient
@testable import bletool

/// What others call themselves must not move the cursor, hide or forge anything.
@Suite("Names with control characters")
struct HostileNameTests {
    static let name =
        "\u{1B}[2J\u{9B}31m\u{202E}\u{61C}\u{200B}\u{FEFF}\u{E0041}\u{2028}a\u{301}\u{301}\u{301}  -40 dBm"

    /// Whether a person would see it as it is.
    private func isClean(_ text: String) -> Bool {
        let marks = text.unicodeScalars.filter { $0.value == 0x301 }.count
        return marks <= 2 && !text.contains("  -40 dBm")
            && text.unicodeScalars.allSatisfy {
                $0 == "\n"
                    || ($0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value)
                        && !$0.properties.isDefaultIgnorableCodePoint && !$0.properties.isBidiControl
                        && $0.value != 0x2028)
            }
    }

    private func hex(_ text: String) -> String {
        let octets = Array(text.utf8)
        return Hexadecimal.text([UInt8(octets.count + 1), 9] + octets)
    }

    @Test("in `ad decode`, as text and as JSON that is the same name")
    func advertisingData() async throws {
        let text = try await ToolRun("ad", "decode", hex(Self.name))
        #expect(isClean(text.output))
        let json = try await ToolRun("--json", "ad", "decode", hex(Self.name))
        #expect(json.output.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A })
        #expect(json.output.unicodeScalars.allSatisfy { !$0.properties.isDefaultIgnorableCodePoint })
        #expect(try json.objects.first?["localName"] as? String == Self.name)
    }

    @Test("in lescan, errors and notes")
    func scan() async throws {
        let folder = try TestFolder()
        let name = String(decoding: try JSONEncoder().encode(Self.name), as: UTF8.self)
        let file = try folder.write(
            #"{"devices":[{"name":\#(name),"address":"C0:DE:00:00:00:31/random","interval":0.1,"extended":true}]}"#,
            to: "devices.json")
        let scan = try await ToolRun("-t", "sim:\(file)", "lescan", "--count", "1", "--duration", "5")
        #expect(scan.output.contains("C0:DE:00:00:00:31"))
        #expect(isClean(scan.output), "\(scan.output)")
        let error = try await ToolRun(
            "-t", "sim:\(file)", "gatt", Self.name, "read", "2A19", "--connect-timeout", "0.2")
        #expect(error.status == 1)
        #expect(isClean(error.errors), "\(error.errors)")
    }

    @Test("in the list of bonds")
    func bonds() async throws {
        let folder = try TestFolder()
        var bond = Bond(identity: DeviceAddress(value: 0xC0DE_0000_0001, kind: .random))
        bond.name = Self.name
        try FileBondStore(path: folder.path + "/security").save(bond)
        let text = try await ToolRun(plain: ["--state", folder.path, "bonds"])
        #expect(text.output.contains("called ‘"))
        #expect(isClean(text.output))
    }

    @Test("in complaints about a command line with such a name")
    func commandLines() async throws {
        for arguments in [[Self.name], ["gatt", Self.name], ["gatt", "Lamp", Self.name]] {
            let run = try await ToolRun(list: arguments)
            #expect(run.status == 2)
            #expect(isClean(run.errors), "\(run.errors)")
        }
        // The parser's texts keep the spaces that arrange them.
        let name = Self.name.replacing("  -40 dBm", with: "")
        for arguments in [["lescan", name], ["lescan", "--duration", name]] {
            let run = try await ToolRun(list: arguments)
            #expect(run.status == 2)
            #expect(isClean(run.errors), "\(run.errors)")
        }
    }

    @Test("in the state of a daemon, as the transport of an adapter")
    func status() {
        for information in [nil, ControllerInformation()] {
            let adapter = DaemonStatus.Adapter(transport: Self.name, information: information)
            let text = StatusOutput(DaemonStatus(adapters: [adapter], clients: [], apps: [])).text
            #expect(isClean(text), "\(text)")
        }
    }

    @Test("a long name is cut for a line of the scan")
    func long() async throws {
        let octets: [UInt8] = [201, 9] + [UInt8](repeating: 0x78, count: 200)
        let run = try await ToolRun("ad", "decode", Hexadecimal.text(octets))
        #expect(run.output.count > 200)
        #expect(String(repeating: "x", count: 200).printable(limit: 64).count == 64)
    }
}
