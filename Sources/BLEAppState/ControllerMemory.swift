import BLE
import BLEHost
import BLEStateFiles
import Synchronization

/// What was learned of controllers, in a file of the state folder: a line for each, with its name and the traits that it
/// showed and those of its family that it has not.
public final class ControllerMemory: Sendable {
    private let path: String
    private let log: @Sendable (String) -> Void
    /// The adapters of one process have a thread each.
    private let changing = Mutex(())

    private static let file = "controllers"
    private static let longestFile = 64 * 1024
    private static let mostControllers = 256
    private static let longestName = 200

    /// - Parameters:
    ///   - path: the folder of all state; it need not be there.
    ///   - log: gets lines for the log.
    public init(path: String, log: @escaping @Sendable (String) -> Void) { (self.path, self.log) = (path, log) }

    // MARK: Names

    /// The name of the controller behind an adapter: on USB its place and its version, because units of one chip differ,
    /// and a new firmware may be better; otherwise its address, or its place.
    /// - Parameter address: its public address, if no other adapter has it.
    public static func name(of hardware: AdapterHardware, _ address: DeviceAddress?) -> String {
        if let usb = hardware.usb { return plain("usb:\(usb.port):\(usb.identifiers):\(usb.releaseText)") }
        if let address { return "address:\(address.addressText)" }
        return plain(hardware.place.map { "port:\($0)" } ?? "hci\(hardware.index)")
    }

    /// The name of the controller at another transport.
    public static func name(of address: TransportAddress) -> String { plain("transport:\(address)") }

    /// Without what would end a field or a line.
    private static func plain(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.prefix(longestName).map { isPlain($0) ? $0 : "_" }))
    }

    private static func isPlain(_ scalar: UnicodeScalar) -> Bool { (0x21...0x7E).contains(scalar.value) }

    // MARK: Contents

    /// What was learned of a controller; empty if nothing was, or if that cannot be read, which the log says.
    public func experience(of name: String) -> ControllerExperience {
        do throws(StateFileError) { return try learned(of: name) } catch {
            log("what was learned of controllers is not used: \(error)")
            return ControllerExperience()
        }
    }

    /// What was learned of a controller; empty if nothing was.
    /// - Throws: `StateFileError`: the file is there and cannot or must not be read.
    public func learned(of name: String) throws(StateFileError) -> ControllerExperience {
        try entries().first { $0.name == name }?.experience ?? ControllerExperience()
    }

    /// All controllers of which something was learned, oldest first.
    /// - Throws: `StateFileError`: the file is there and cannot or must not be read.
    public var all: [(name: String, experience: ControllerExperience)] {
        get throws(StateFileError) { try entries() }
    }

    private func entries() throws(StateFileError) -> [Entry] {
        try changing.withLock { (_) throws(StateFileError) in try read() }
    }

    /// Keeps what was learned of a controller, in place of what was kept before.
    public func keep(_ experience: ControllerExperience, of name: String) {
        let problem = change { entries in
            entries.removeAll { $0.name == name }
            if !experience.isEmpty { entries.append((name, experience)) }
        }
        if let problem { log("what was learned of the controller cannot be saved: \(problem)") }
    }

    /// Forgets what was learned of a controller.
    /// - Parameter name: `nil`: of all.
    /// - Returns: why it could not be forgotten.
    public func forget(_ name: String?) -> String? { change { $0.removeAll { name == nil || $0.name == name } } }

    private typealias Entry = (name: String, experience: ControllerExperience)

    /// A file that cannot be read stays as it is: what is in it may be of use to somebody.
    private func change(_ body: (inout [Entry]) -> Void) -> String? {
        changing.withLock { _ in
            do throws(StateFileError) {
                var entries = try read()
                let before = entries.count
                body(&entries)
                if entries.isEmpty, before == 0 { return nil }
                let lines = entries.suffix(Self.mostControllers).map(Self.line)
                let folder = try SafeFolder(path: path, isMade: true)
                try folder.replace(Self.file, with: Array(lines.joined().utf8))
                return nil
            } catch { return "\(error)" }
        }
    }

    private func read() throws(StateFileError) -> [Entry] {
        var octets: [UInt8] = []
        do throws(StateFileError) {
            let folder = try SafeFolder(path: path, isMade: false)
            octets = try folder.read(Self.file, limit: Self.longestFile) ?? []
        } catch {
            // Nothing was kept yet.
            if case .system(_, code: 2) = error { return [] }
            throw error
        }
        var entries: [Entry] = []
        var isDamaged = false
        for line in octets.split(separator: UInt8(ascii: "\n")) {
            guard entries.count < Self.mostControllers, let entry = Self.entry(line) else {
                isDamaged = true
                continue
            }
            entries.removeAll { $0.name == entry.name }
            entries.append(entry)
        }
        if isDamaged { log("‘\(path)/\(Self.file)’ has lines that say nothing of a controller; they are ignored") }
        return entries
    }

    /// `usb:1-2.3:0bda:8771:0200 found 2 refuted 0`: the traits are hexadecimal numbers.
    private static func line(_ entry: Entry) -> String {
        let (found, refuted) = (entry.experience.found.rawValue, entry.experience.refuted.rawValue)
        return "\(entry.name) found \(String(found, radix: 16)) refuted \(String(refuted, radix: 16))\n"
    }

    private static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
        guard let text = String(validating: line, as: UTF8.self) else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, words[1] == "found", words[3] == "refuted", let found = traits(words[2]),
            let refuted = traits(words[4]), (1...longestName).contains(words[0].unicodeScalars.count),
            words[0].unicodeScalars.allSatisfy({ isPlain($0) })
        else { return nil }
        return (String(words[0]), ControllerExperience(found: found, refuted: refuted.subtracting(found)))
    }

    private static func traits(_ digits: Substring) -> ControllerTraits? {
        guard (1...16).contains(digits.utf8.count), digits.first != "+", digits.first != "-" else { return nil }
        return UInt64(digits, radix: 16).map { ControllerTraits(rawValue: $0) }
    }
}

extension ControllerIdentity {
    /// What sysfs says of a USB device.
    public init(_ device: AdapterHardware.USBDevice) {
        self.init(usbVendor: device.vendor, usbProduct: device.product, usbRelease: device.release)
    }
}
