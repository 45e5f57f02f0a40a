import BLEPackets
import BLEStateFiles

/// The folder for what people have set, a file for each adapter.
final class StateFolder {
    /// `nil`: nothing is kept.
    private let folder: SafeFolder?
    private static let sizeLimit = 4 << 20

    /// - Parameter path: `nil`: nothing is kept.
    init(path: String?) throws(StateFileError) {
        guard let path else {
            folder = nil
            return
        }
        folder = try SafeFolder(path: path, isMade: true, isPrivate: true)
    }

    /// What is kept for an adapter; `nil`: nothing, or nothing that can be read.
    func content(for adapter: DeviceAddress) -> [UInt8]? {
        do throws(StateFileError) { return try read(Self.name(adapter)) } catch {
            Notes.write("\(error)")
            return nil
        }
    }

    private func read(_ name: String) throws(StateFileError) -> [UInt8]? {
        switch folder {
        case .some(let folder): try folder.read(name, limit: Self.sizeLimit)
        case .none: nil
        }
    }

    func save(_ octets: [UInt8], for adapter: DeviceAddress) {
        do throws(StateFileError) { try replace(Self.name(adapter), octets) } catch { Notes.write("\(error)") }
    }

    private func replace(_ name: String, _ octets: [UInt8]) throws(StateFileError) {
        switch folder {
        case .some(let folder): try folder.replace(name, with: octets)
        case .none: break
        }
    }

    private static func name(_ adapter: DeviceAddress) -> String { adapter.addressText + ".json" }
}
