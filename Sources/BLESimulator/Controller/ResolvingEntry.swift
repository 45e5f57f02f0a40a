import BLEPackets

/// A line of the resolving list: a peer whose private addresses are known, and which we show it.
struct ResolvingEntry {
    /// The peer's identity address, without a mark.
    var identity: DeviceAddress
    var peerKey: Key128
    var localKey: Key128
    /// Whether the peer is still listened to when it shows its identity address.
    var mode = PrivacyMode.network
    /// The private address that we show this peer, and since when.
    var localAddress: DeviceAddress?
    var localAddressTime: Int64 = 0
    /// The private address that the peer was last seen with.
    var peerAddress: DeviceAddress?

    /// As events name an address that was resolved (Core 5.4, Vol 4, Part E, 7.7.65.10).
    var markedIdentity: DeviceAddress {
        DeviceAddress(value: identity.value, kind: identity.isRandom ? .randomIdentity : .publicIdentity)
    }
}

extension DeviceAddress {
    /// A private address made with a key (Core 5.4, Vol 6, Part B, 1.3.2.2).
    static func resolvable(key: Key128, random: UInt64) -> DeviceAddress {
        // The two upper bits of the random part say what the address is; the part is neither all zero nor all one.
        let random = (random & 0x3F_FFFE) | 0x40_0000
        return DeviceAddress(value: random << 24 | BlockCipher.addressHash(key: key, random: random), kind: .random)
    }

    /// Whether this is a private address made with the key; a key of zero makes none.
    func resolves(with key: Key128) -> Bool {
        key != .zero && randomKind == .resolvablePrivate
            && BlockCipher.addressHash(key: key, random: value >> 24) == value & 0xFF_FFFF
    }
}
