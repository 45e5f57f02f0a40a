import BLEPackets

/// This device's identity for bonded peers (Core 5.4, Vol 3, Part H, 3.6.4 and 3.6.5).
public struct LocalIdentity: Equatable, Sendable {
    /// A public or static random address.
    public var address: DeviceAddress
    /// The key with which peers resolve our resolvable private addresses.
    public var resolvingKey: Key128

    public init(address: DeviceAddress, resolvingKey: Key128) {
        self.address = address.withoutIdentityMark
        self.resolvingKey = resolvingKey
    }
}

/// The keys that this side has after pairing.
struct PairingOutcome: Equatable {
    let isSecureConnections: Bool
    let isAuthenticated: Bool
    /// Our capability, if a side asked for authentication and the capabilities did not provide it.
    let insufficientCapability: IOCapability?
    /// Whether both sides want to store the keys.
    let isBonding: Bool
    let keySize: UInt8
    var localKey: LongTermKey?
    var peerKey: LongTermKey?
    /// The key that the peer distributed; `nil` for a key of zeros, which resolves nothing.
    var identityResolvingKey: Key128?
    var identity: DeviceAddress?
    var localSigningKey: SigningKey?
    var peerSigningKey: SigningKey?

    /// An outcome without any keys yet.
    init(_ agreement: PairingMachine.Agreement, capability: IOCapability) {
        isSecureConnections = agreement.isSecureConnections
        isAuthenticated = agreement.model.isAuthenticated
        isBonding =
            agreement.initiator.features.authentication.isBonding
            && agreement.responder.features.authentication.isBonding
        let wishes = agreement.initiator.features.authentication.union(agreement.responder.features.authentication)
        insufficientCapability = !isAuthenticated && wishes.contains(.mitm) ? capability : nil
        keySize = agreement.keySize
    }

    /// - Parameter address: of the link, for a peer that distributed no identity.
    func bond(address: DeviceAddress) -> Bond {
        var bond = Bond(
            identity: identity ?? address, identityResolvingKey: identityResolvingKey,
            isSecureConnections: isSecureConnections, isAuthenticated: isAuthenticated, keySize: keySize,
            localKey: localKey, peerKey: peerKey, localSigningKey: localSigningKey, peerSigningKey: peerSigningKey)
        bond.insufficientCapability = insufficientCapability
        return bond
    }
}

extension Bond {
    /// Why a new pairing must not replace this bond; `nil` if it may.
    func refusal(secureConnections: Bool, authenticated: Bool, keySize size: UInt8) -> PairingFailedReason? {
        if isSecureConnections, !secureConnections { return .authenticationRequirements }
        if isAuthenticated, !authenticated { return .authenticationRequirements }
        return size < keySize ? .encryptionKeySize : nil
    }
}

extension LocalIdentity: CustomStringConvertible {
    public var description: String { "identity \(address)" }
}

#if !hasFeature(Embedded)
extension LocalIdentity: CustomReflectable {
    /// Empty, so that code that prints the parts of a value never prints a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
