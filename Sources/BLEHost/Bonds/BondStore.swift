import BLEPackets

/// Stores bonds from one run to the next. `BLESecurity` has a store on disk.
///
/// A change is permanent once the call has returned, whatever happens to the process afterwards.
public protocol BondStore: Sendable {
    /// Loads everything. The key with which peers resolve this device's private addresses is created at the first call.
    func load() throws(BondStoreError) -> StoredBonds

    /// Saves a bond; it replaces a bond with the same identity.
    func save(_ bond: Bond) throws(BondStoreError)

    /// Removes a bond.
    /// - Returns: whether there was such a bond.
    @discardableResult
    func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool
}

/// The content of a `BondStore`.
public struct StoredBonds: Equatable, Sendable {
    /// The bonds; each identity occurs once.
    public var bonds: [Bond]
    /// The key with which bonded peers resolve our resolvable private addresses.
    public var identityResolvingKey: Key128

    public init(bonds: [Bond], identityResolvingKey: Key128) {
        self.bonds = bonds
        self.identityResolvingKey = identityResolvingKey
    }
}

/// Why bonds could not be read or saved. It never contains their content.
public enum BondStoreError: Error, Hashable, Sendable {
    /// A file or folder could not be read or written: its path, and the system's error message.
    case system(path: String, cause: String)
    /// The file or folder is not trusted, because another user may have created or changed it, or existing bonds cannot
    /// be read: its path, and the cause with its remedy.
    case refused(path: String, cause: String)
    /// Another process has had the file locked for longer than a write can last.
    case busy(path: String)
    /// A later version of this program wrote the file; the file is left unchanged.
    case unknownVersion(path: String)
}

extension BondStoreError {
    /// Whether there may be bonds that are currently unknown. A bonded device would count as a stranger, and would
    /// be sent unencrypted what only the bonded device may receive: a program that cannot load the bonds must not
    /// continue without them.
    public var mayHideBonds: Bool {
        switch self {
        case .system: false
        case .refused, .busy, .unknownVersion: true
        }
    }
}

extension BondStoreError: CustomStringConvertible {
    /// The cause, and after a semicolon the remedy.
    public var description: String { remedy.map { "\(cause); \($0)" } ?? cause }

    /// What went wrong, without the remedy; of a refused file with it, because it depends on who refused.
    public var cause: String {
        switch self {
        case .system(let path, let cause): "bonds cannot be kept at ‘\(path)’: \(cause)"
        case .refused(let path, let cause): "‘\(path)’ \(cause)"
        case .busy(let path): "another process holds ‘\(path)’"
        case .unknownVersion(let path): "‘\(path)’ was written by a later version of this program"
        }
    }

    /// What to do about it; `nil` if the cause says it.
    public var remedy: String? {
        switch self {
        case .system: "make the place writable or name another one"
        case .refused: nil
        case .busy: "wait until it has ended, or end it"
        case .unknownVersion: "use that one, or name another place"
        }
    }
}
