import BLE
import BLEGateway
import BLESecurity
import BLEStateFiles
import Glibc
import Logging
import Synchronization

/// The bonds of a folder, whose devices the gateway recognises under all their addresses.
final class BondedDevices: Sendable {
    /// That of the folder, which a reload may change.
    private let current: Mutex<FileBondStore>
    private var store: FileBondStore { current.withLock { $0 } }
    private let logger: Logger
    /// The bonds that were read last, for the time in which they cannot be read.
    private let known = Mutex<[Bond]>([])
    private let lastProblem = Mutex<String?>(nil)

    init(folder: String, logger: Logger) {
        self.logger = logger
        current = Mutex(Self.store(folder, logger))
    }

    private static func store(_ folder: String, _ logger: Logger) -> FileBondStore {
        FileBondStore(path: folder) { logger.warning("\($0)") }
    }

    /// Takes the bonds of another folder.
    func use(_ folder: String) {
        guard folder != store.path else { return }
        let other = Self.store(folder, logger)
        current.withLock { $0 = other }
        known.withLock { $0 = [] }
        lastProblem.withLock { $0 = nil }
    }

    /// Why the bonds could not be read; `nil` if they could be.
    var problem: String? { lastProblem.withLock { $0 } }

    var canBeRead: Bool { (try? store.bonds()) != nil }

    /// Creates the folder, so that the first bond in it is noticed. A folder that cannot be used is reported when the
    /// bonds are read.
    func makeFolder() { _ = try? SafeFolder(path: store.path, isMade: true, isPrivate: true) }

    var folder: String { store.path }

    /// A file that is replaced when bonds change.
    var watchedPath: String { store.path + "/bonds" }

    /// Reads the bonds, and adds their identities to those in the settings.
    func identified(_ settings: GatewaySettings) -> GatewaySettings {
        var settings = settings
        do throws(BondStoreError) {
            let bonds = try store.bonds()
            known.withLock { $0 = bonds }
            lastProblem.withLock { $0 = nil }
        } catch {
            lastProblem.withLock { $0 = "\(error)" }
            logger.error("\(error); bonds that are new are not recognised")
        }
        settings.gateway.addIdentities(of: known.withLock { $0 })
        return settings
    }
}
