import BLEHost
import BLEPackets

extension WireBond {
    /// The bond without its keys.
    public init(_ bond: Bond) {
        self.init()
        identity = WireAddress(bond.identity)
        isSecureConnections = bond.isSecureConnections
        isAuthenticated = bond.isAuthenticated
        keySize = UInt32(bond.keySize)
        isUnasked = bond.isUnasked
        if let name = bond.name { self.name = name }
        lastUse = bond.lastUse
        if let user = bond.user {
            self.user = user.number
            isOfOperator = user.isOperator
        }
    }
}

extension Bond {
    /// A bond without keys.
    /// - Throws: `WireError.invalidField`.
    public init(_ wire: WireBond) throws(WireError) {
        self.init(
            identity: try DeviceAddress(wire.identity), isSecureConnections: wire.isSecureConnections,
            isAuthenticated: wire.isAuthenticated, keySize: UInt8(clamping: wire.keySize))
        isUnasked = wire.isUnasked
        name = wire.hasName ? wire.name : nil
        lastUse = wire.lastUse
        user = wire.hasUser ? ClientUser(wire.user, isOperator: wire.isOfOperator) : nil
    }
}
