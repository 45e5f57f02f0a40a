import BLE
import BLEAppLifecycle
import Foundation

/// Where a process keeps what must outlive it (SPEC 5.5 rule 7; DESIGN section 3: `JELLING_STATE`).
struct StateFolder: Sendable {
    let path: String

    /// One journal for each app; a name that is no file's is spelled out in hexadecimal.
    func journalPath(of app: String) -> String {
        let isPlain = app.utf8.allSatisfy { octet in
            octet == UInt8(ascii: ".") || octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
        }
        let name = isPlain && !app.hasPrefix(".") ? app : app.utf8.map { String($0, radix: 16) }.joined()
        return path + "/apps/" + name.prefix(200) + ".journal"
    }

    /// The random static address of this machine: kept, and made where there is none yet. Where nothing can be kept it
    /// lasts as long as the process.
    func staticAddress() -> DeviceAddress {
        let file = path + "/static-address"
        if let address = read(file) { return address }
        let address = DeviceAddress.randomStatic()
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data((address.description + "\n").utf8).write(
                to: URL(fileURLWithPath: file), options: .withoutOverwriting)
        } catch {
            // Another process may have been faster.
            if let address = read(file) { return address }
            MisuseLog.write("the device's address cannot be kept in '\(file)': \(error)")
        }
        return address
    }

    private func read(_ file: String) -> DeviceAddress? {
        guard let data = FileManager.default.contents(atPath: file) else { return nil }
        let line = String(decoding: data.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard let address = DeviceAddress(line), address.randomKind == .static else { return nil }
        return address
    }
}
