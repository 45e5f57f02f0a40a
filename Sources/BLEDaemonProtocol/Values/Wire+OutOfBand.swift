import BLEHost
import BLEPackets
import FoundationEssentials

extension WireOutOfBandValues {
    init(random: Key128, confirm: Key128) {
        self.init()
        self.random = Data(random.octets.reversed())
        self.confirm = Data(confirm.octets.reversed())
    }

    var keys: (random: Key128, confirm: Key128) {
        get throws(WireError) {
            guard let random = Key128(mostSignificantFirst: Array(random)),
                let confirm = Key128(mostSignificantFirst: Array(confirm))
            else { throw .invalidField }
            return (random, confirm)
        }
    }
}

extension WireSetOutOfBand {
    /// - Parameter data: `nil` removes it. Of this device's own data, the private key stays with the daemon.
    init(_ data: OutOfBandData?, for peer: DeviceAddress) {
        self.init()
        self.peer = WireAddress(peer)
        guard let data else { return }
        if let key = data.temporaryKey { temporaryKey = Data(key.octets.reversed()) }
        if let values = data.peer { ofPeer = WireOutOfBandValues(random: values.random, confirm: values.confirm) }
        if let values = data.local { ofClient = WireOutOfBandValues(random: values.random, confirm: values.confirm) }
    }
}

extension OutOfBandData {
    /// The data that a client sets, without the keys that belong to its own values; `nil` if it removes them.
    /// - Throws: `WireError.invalidField`.
    init?(_ wire: WireSetOutOfBand) throws(WireError) {
        self.init()
        if !wire.temporaryKey.isEmpty {
            guard let key = Key128(mostSignificantFirst: Array(wire.temporaryKey)) else { throw .invalidField }
            temporaryKey = key
        }
        if wire.hasOfPeer {
            let (random, confirm) = try wire.ofPeer.keys
            peer = SecureConnectionsData(random: random, confirm: confirm)
        }
        if wire.hasOfClient {
            let (random, confirm) = try wire.ofClient.keys
            local = LocalOutOfBandData(random: random, confirm: confirm, privateKey: [], publicKey: .zero)
        }
        if self == OutOfBandData() { return nil }
    }
}

extension WireOutOfBand {
    /// Without the private key.
    init(_ data: LocalOutOfBandData) {
        self.init()
        values = WireOutOfBandValues(random: data.random, confirm: data.confirm)
        publicKey = Data(data.publicKey.x + data.publicKey.y)
    }
}

extension LocalOutOfBandData {
    /// The values that a daemon has made; it keeps their private key, which is empty here.
    /// - Throws: `WireError.invalidField`.
    init(_ wire: WireOutOfBand) throws(WireError) {
        let (random, confirm) = try wire.values.keys
        guard let key = P256PublicKey(x: Array(wire.publicKey.prefix(32)), y: Array(wire.publicKey.dropFirst(32)))
        else { throw .invalidField }
        self.init(random: random, confirm: confirm, privateKey: [], publicKey: key)
    }
}
