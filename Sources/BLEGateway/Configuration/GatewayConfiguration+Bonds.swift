import BLEHost
import BLEPackets

extension GatewayConfiguration {
    /// Adds the identities of bonded devices. An identity that the configuration has already keeps its name.
    public mutating func addIdentities(of bonds: [Bond]) {
        let keys = bonds.compactMap(\.identityResolvingKey)
        for bond in bonds {
            let isKnown = identities.contains { known in
                known.address == bond.identity.value
                    || known.irk != nil && known.irk == bond.identityResolvingKey?.mostSignificantFirst
            }
            if isKnown { continue }
            var identity = KnownIdentity(name: bond.name, irk: nil)
            identity.address = bond.identity.value
            // Some devices leave the factory with the same key: then a private address does not identify one of them.
            if let key = bond.identityResolvingKey, keys.filter({ $0 == key }).count == 1 {
                identity.irk = key.mostSignificantFirst
            }
            identities.append(identity)
        }
    }
}

extension Key128 {
    fileprivate var mostSignificantFirst: [UInt8] { octets.reversed() }
}
