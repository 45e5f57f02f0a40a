import BLEPackets
import BLESensors

/// Finds the identity behind an address: resolvable private addresses by the identity resolving key (Core 5.4, Vol 6,
/// Part B, 1.3.2.3), and identity addresses.
struct IdentityResolver: Sendable {
    private struct Entry {
        var identity: Int
        var key: [UInt8]
    }

    private let entries: [Entry]
    private let identityOfAddress: [UInt64: Int]
    private let encrypt: SensorKeys.Encrypt?

    init(identities: [KnownIdentity], encrypt: SensorKeys.Encrypt?) {
        entries = identities.enumerated().compactMap { index, known in
            known.irk.map { Entry(identity: index, key: $0) }
        }
        identityOfAddress = Dictionary(
            identities.enumerated().compactMap { index, known in known.address.map { ($0, index) } },
            uniquingKeysWith: { first, _ in first })
        self.encrypt = encrypt
    }

    /// The index of the identity that uses the address; `nil` if there is none.
    func identity(of address: DeviceAddress) -> Int? {
        guard address.withoutIdentityMark.randomKind == .resolvablePrivate else {
            return identityOfAddress[address.value]
        }
        guard let encrypt else { return nil }
        let random = (0..<3).map { UInt8(truncatingIfNeeded: address.value >> UInt64(40 - 8 * $0)) }
        let hash = (0..<3).map { UInt8(truncatingIfNeeded: address.value >> UInt64(16 - 8 * $0)) }
        let block = [UInt8](repeating: 0, count: 13) + random
        return entries.first { encrypt($0.key, block).map { Array($0.suffix(3)) == hash } ?? false }?.identity
    }
}
