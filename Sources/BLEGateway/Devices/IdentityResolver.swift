import BLEPackets
import BLESensors

/// Finds the identity behind resolvable private addresses (Core 5.4, Vol 6, Part B, 1.3.2.3).
struct IdentityResolver: Sendable {
    private let keys: [[UInt8]]
    private let encrypt: SensorKeys.Encrypt?

    init(identities: [KnownIdentity], encrypt: SensorKeys.Encrypt?) {
        keys = identities.map(\.irk)
        self.encrypt = encrypt
    }

    /// The index of the identity whose key resolves the address; `nil` if there is none.
    func identity(of address: DeviceAddress) -> Int? {
        guard let encrypt, address.randomKind == .resolvablePrivate else { return nil }
        let random = (0..<3).map { UInt8(truncatingIfNeeded: address.value >> UInt64(40 - 8 * $0)) }
        let hash = (0..<3).map { UInt8(truncatingIfNeeded: address.value >> UInt64(16 - 8 * $0)) }
        let block = [UInt8](repeating: 0, count: 13) + random
        return keys.firstIndex { key in encrypt(key, block).map { Array($0.suffix(3)) == hash } ?? false }
    }
}
