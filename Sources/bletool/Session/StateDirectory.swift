import BLE
import BLEStateFiles
import Glibc

/// Where the program keeps what must outlive it: `$XDG_STATE_HOME/jelling`, or `~/.local/state/jelling`.
struct StateDirectory: Sendable {
    let path: String

    /// - Parameter path: the user's choice; `nil` for the usual place.
    init(path: String?, environment: (String) -> String? = Self.environment) {
        if let path {
            self.path = path
            return
        }
        // A relative path there has no meaning (XDG Base Directory Specification).
        if let base = environment("XDG_STATE_HOME"), base.hasPrefix("/") {
            self.path = base + "/jelling"
        } else if let home = environment("HOME"), !home.isEmpty {
            self.path = home + "/.local/state/jelling"
        } else {
            self.path = "/var/lib/jelling"
        }
    }

    private static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// The stored random static address; a new one if there is none yet.
    ///
    /// Each adapter has its own, so that two adapters of one machine are two devices on the air.
    /// - Parameter index: the adapter's.
    /// - Throws: `Failure` when the address cannot be kept.
    func staticAddress(adapter index: UInt16) throws -> DeviceAddress {
        let kept: DeviceAddress
        do throws(StateFileError) { kept = try keptAddress() } catch {
            throw Failure(error.description, code: .stateUnusable)
        }
        let offset = (kept.value &+ UInt64(index)) & 0x3FFF_FFFF_FFFF
        return DeviceAddress(value: offset | 0b11 << 46, kind: .random)
    }

    private static let addressFile = "static-address"

    private func keptAddress() throws(StateFileError) -> DeviceAddress {
        let folder = try SafeFolder(path: path, isMade: true)
        if let kept = try read(folder) { return kept }
        let address = DeviceAddress.randomStatic()
        let line = Array((address.description + "\n").utf8)
        if try folder.create(Self.addressFile, with: line) { return address }
        // Another process was faster, or what is there is no address.
        if let kept = try read(folder) { return kept }
        try folder.replace(Self.addressFile, with: line)
        return address
    }

    private func read(_ folder: borrowing SafeFolder) throws(StateFileError) -> DeviceAddress? {
        guard let octets = try folder.read(Self.addressFile, limit: 256) else { return nil }
        let line = String(decoding: octets.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard let address = DeviceAddress(line), address.randomKind == .static else { return nil }
        return address
    }
}
