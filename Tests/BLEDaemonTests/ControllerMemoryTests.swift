import BLE
import BLEAppState
import BLEHost
import BLEStateFiles
import BLETransport
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@Suite("What was learned of controllers, on disk")
struct ControllerMemoryTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "jelling-memory-\(UUID())").path
    private let lines = Lines()

    private final class Lines: Sendable { let all = Mutex<[String]>([]) }

    private var memory: ControllerMemory {
        let lines = lines
        return ControllerMemory(path: folder) { line in lines.all.withLock { $0.append(line) } }
    }

    private var said: [String] { lines.all.withLock { $0 } }

    private func write(_ octets: [UInt8]) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data(octets).write(to: URL(filePath: folder + "/controllers"))
        unsafe chmod(folder + "/controllers", 0o600)
    }

    private let legacy = ControllerExperience(found: [.scansWithLegacyCommands], refuted: [.cannotScanOnCodedPHY])

    @Test("what was learned of each device is found at the next start, and forgotten when it is asked for (A26)")
    func kept() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(memory.experience(of: "usb:1-2.3:0bda:8771:0200").isEmpty)
        #expect(try memory.all.isEmpty)
        memory.keep(legacy, of: "usb:1-2.3:0bda:8771:0200")
        memory.keep(ControllerExperience(found: [.flaps]), of: "address:C0:DE:00:00:00:01")
        #expect(memory.experience(of: "usb:1-2.3:0bda:8771:0200") == legacy)
        // Another port, or another release, is another device.
        #expect(memory.experience(of: "usb:1-2.4:0bda:8771:0200").isEmpty)
        #expect(memory.experience(of: "usb:1-2.3:0bda:8771:0201").isEmpty)
        // It is kept in place of what was kept before; nothing is no entry.
        memory.keep(ControllerExperience(found: [.isClone]), of: "usb:1-2.3:0bda:8771:0200")
        #expect(memory.experience(of: "usb:1-2.3:0bda:8771:0200").found == [.isClone])
        #expect(try memory.all.count == 2)
        #expect(memory.forget("usb:1-2.3:0bda:8771:0200") == nil)
        #expect(try memory.all.map(\.name) == ["address:C0:DE:00:00:00:01"])
        #expect(memory.forget(nil) == nil)
        #expect(try memory.all.isEmpty)
        #expect(said.isEmpty, "\(said)")
    }

    @Test("names are those of a place and a version on USB, else an address, else a place, else a number")
    func names() {
        var hardware = AdapterHardware(index: 3)
        let address = DeviceAddress(value: 0xC0DE_0000_0001, kind: .public)
        #expect(ControllerMemory.name(of: hardware, nil) == "hci3")
        #expect(ControllerMemory.name(of: hardware, address) == "address:C0:DE:00:00:00:01")
        hardware.bus = "serial"
        hardware.deviceName = "serial0-0"
        #expect(ControllerMemory.name(of: hardware, nil) == "port:serial0-0")
        hardware.usb = .init(vendor: 0x0A12, product: 1, release: 0x0134, port: "1-2", bus: 1, device: 4)
        #expect(ControllerMemory.name(of: hardware, address) == "usb:1-2:0a12:0001:0134")
        #expect(ControllerMemory.name(of: .unix(path: "/a b\nc")) == "transport:unix:/a_b_c")
        #expect(
            ControllerIdentity(hardware.usb!)
                == ControllerIdentity(usbVendor: 0x0A12, usbProduct: 1, usbRelease: 0x0134))
    }

    @Test(
        "a line that says nothing of a controller is ignored with a word, and the others count",
        arguments: [
            "nonsense", "x found 1 refuted", "x found -1 refuted 0", "x found 1 refuted +2",
            "x found 10000000000000000 refuted 0",
            " found 1 refuted 0", "x found g refuted 0", "x  found 1 refuted 0", "\u{1B}[2J found 1 refuted 0",
            String(repeating: "x", count: 201) + " found 1 refuted 0", "ü found 1 refuted 0",
        ])
    func hostileLines(line: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try write(Array("a found 1 refuted 0\n\(line)\nb found 2 refuted 2\n".utf8))
        let all = try memory.all
        #expect(all.map(\.name) == ["a", "b"])
        #expect(all[1].experience == ControllerExperience(found: ControllerTraits(rawValue: 2)))
        #expect(said.count == 1 && said[0].contains("ignored"), "\(said)")
        // What is kept next is whole again.
        memory.keep(legacy, of: "c")
        #expect(try memory.all.count == 3)
    }

    @Test("octets that are no text are ignored, and of too many controllers the oldest give way")
    func longFiles() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try write([0xFF, 0xFE, 0x0A, 0x00])
        #expect(try memory.all.isEmpty)
        let many = (0..<1000).map { "c\($0) found 1 refuted 0\n" }.joined()
        try write(Array(many.utf8))
        #expect(try memory.all.count == 256)
        memory.keep(legacy, of: "new")
        let all = try memory.all
        #expect(all.count == 256 && all.last?.name == "new")
    }

    /// What may be in the place of the file, and is not used.
    enum Planted: CaseIterable { case tooLong, link, folder, writable }

    @Test(
        "a file that is not used is an error for who asks, is neither replaced nor forgotten, and the log says why",
        arguments: Planted.allCases)
    func unusable(planted: Planted) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (path, other) = (folder + "/controllers", folder + "/other")
        try write(Array("a found 1 refuted 0\n".utf8))
        switch planted {
        case .tooLong: try write([UInt8](repeating: UInt8(ascii: "x"), count: 100_000))
        case .link:
            try FileManager.default.moveItem(atPath: path, toPath: other)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other)
        case .folder:
            unsafe unlink(path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .writable: unsafe chmod(path, 0o666)
        }
        let before = FileManager.default.contents(atPath: path)
        #expect(throws: StateFileError.self) { try memory.all }
        #expect(throws: StateFileError.self) { try memory.learned(of: "a") }
        #expect(memory.experience(of: "a").isEmpty)
        #expect(said.count == 1 && said[0].contains(path), "\(said)")
        #expect(memory.forget(nil)?.contains(path) == true && memory.forget("a")?.contains(path) == true)
        memory.keep(legacy, of: "a")
        #expect(said.count == 2 && said[1].contains("cannot be saved"), "\(said)")
        #expect(FileManager.default.contents(atPath: path) == before)
    }
}
