import BLEPackets

/// Keeps bonds from one run to the next. `BLESecurity` has one on disk.
///
/// A change that has returned survives whatever happens to the process afterwards.
public protocol BondStore: Sendable {
    /// What is kept. The key by which peers know this device's private addresses is made when it is first asked for.
    func load() throws(BondStoreError) -> StoredBonds

    /// Keeps a bond, in the place of one with the same identity.
    func save(_ bond: Bond) throws(BondStoreError)

    /// - Returns: whether there was such a bond.
    @discardableResult
    func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool
}

/// What a `BondStore` holds.
public struct StoredBonds: Equatable, Sendable {
    /// Each identity once.
    public var bonds: [Bond]
    /// By which peers that are bonded know our resolvable private addresses.
    public var identityResolvingKey: Key128

    public init(bonds: [Bond], identityResolvingKey: Key128) {
        self.bonds = bonds
        self.identityResolvingKey = identityResolvingKey
    }
}

/// Why bonds could not be read or kept. It never shows what is in them.
public enum BondStoreError: Error, Hashable, Sendable {
    /// A file or folder could not be read or written: its path, and what the system says.
    case system(path: String, cause: String)
    /// What stands there is not used, as another user may have put it there or changed it, or bonds that are there
    /// cannot be read: its path, and the cause with its remedy.
    case refused(path: String, cause: String)
    /// Another process holds the file for longer than a write can take.
    case busy(path: String)
    /// A later version of this program wrote the file; it is not changed.
    case unknownVersion(path: String)
}

extension BondStoreError {
    /// Whether there may be bonds that are not known now. A device that has one would be taken for a stranger, and told
    /// in the clear what only the bonded one should hear: who cannot load them does not go on without.
    public var mayHideBonds: Bool {
        switch self {
        case .system: false
        case .refused, .busy, .unknownVersion: true
        }
    }
}

extension BondStoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .system(let path, let cause):
            "bonds cannot be kept at ‘\(path)’: \(cause); make the place writable or name another one (--state)"
        case .refused(let path, let cause): "‘\(path)’ \(cause)"
        case .busy(let path): "another process holds ‘\(path)’; wait until it has ended, or end it"
        case .unknownVersion(let path):
            "‘\(path)’ was written by a later version of this program; use that one, or name another place (--state)"
        }
    }
}
