import BLE
import BLEStateFiles

/// The folder where a process keeps the state that must outlive it (SPEC 5.5 rule 7; DESIGN section 3:
/// `JELLING_STATE`).
public struct StateFolder: Sendable {
    /// The path of the folder.
    public let path: String

    public init(path: String) { self.path = path }

    /// The path of an app's journal. An app name that is not valid as a file name is written in hexadecimal.
    public func journalPath(of app: String) -> String {
        let isPlain = app.utf8.allSatisfy { octet in
            octet == UInt8(ascii: ".") || octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
        }
        let name = isPlain && !app.hasPrefix(".") ? app : app.utf8.map { String($0, radix: 16) }.joined()
        return path + "/apps/" + name.prefix(200) + ".journal"
    }

    /// The random static address of this machine: read from the folder, or generated and stored if there is none yet.
    /// If it cannot be stored, it lasts as long as the process.
    /// - Parameter log: gets the reason if the address cannot be stored.
    public func staticAddress(log: (String) -> Void) -> DeviceAddress {
        let address = DeviceAddress.randomStatic()
        do throws(StateFileError) {
            let folder = try SafeFolder(path: path, isMade: true)
            if let kept = try read(folder) { return kept }
            let line = Array((address.description + "\n").utf8)
            if try folder.create(Self.addressFile, with: line) { return address }
            // Another process was faster, or the file has no valid address.
            if let kept = try read(folder) { return kept }
            try folder.replace(Self.addressFile, with: line)
        } catch {
            log("this device's address cannot be saved: \(error)")
        }
        return address
    }

    private static let addressFile = "static-address"

    private func read(_ folder: borrowing SafeFolder) throws(StateFileError) -> DeviceAddress? {
        guard let octets = try folder.read(Self.addressFile, limit: 256) else { return nil }
        let line = String(decoding: octets.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard let address = DeviceAddress(line), address.randomKind == .static else { return nil }
        return address
    }
}
