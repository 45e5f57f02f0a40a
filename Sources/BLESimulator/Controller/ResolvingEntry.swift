import BLEPackets

/// An entry of the resolving list: a peer's identity and keys, and the current private addresses of both sides.
struct ResolvingEntry {
    /// The peer's identity address, with its plain address type.
    var identity: DeviceAddress
    var peerKey: Key128
    var localKey: Key128
    /// Whether the peer is accepted when it uses its identity address.
    var mode = PrivacyMode.network
    /// The own private address for this peer, and since when.
    var localAddress: DeviceAddress?
    var localAddressTime: Int64 = 0
    /// The last private address of the peer.
    var peerAddress: DeviceAddress?

    /// The identity address as events report it after resolution (Core 5.4, Vol 4, Part E, 7.7.65.10).
    var markedIdentity: DeviceAddress {
        DeviceAddress(value: identity.value, kind: identity.isRandom ? .randomIdentity : .publicIdentity)
    }
}

extension DeviceAddress {
    /// A private address made with a key (Core 5.4, Vol 6, Part B, 1.3.2.2).
    static func resolvable(key: Key128, random: UInt64) -> DeviceAddress {
        // The two upper bits of the random part give the kind of address; the rest is neither all zeros nor all ones.
        let random = (random & 0x3F_FFFE) | 0x40_0000
        return DeviceAddress(value: random << 24 | BlockCipher.addressHash(key: key, random: random), kind: .random)
    }

    /// Whether this is a private address made with the key; a key of zero makes none.
    func resolves(with key: Key128) -> Bool {
        key != .zero && randomKind == .resolvablePrivate
            && BlockCipher.addressHash(key: key, random: value >> 24) == value & 0xFF_FFFF
    }
}
