import BLEHost

/// A device and its key, for which packets are remembered.
struct GuardKey: Hashable, Comparable, Sendable {
    var address: UInt64
    var keyCheck: UInt32

    static func < (a: Self, b: Self) -> Bool { (a.address, a.keyCheck) < (b.address, b.keyCheck) }
}

/// What outlives the program of the packets of devices that encrypt.
extension Gateway {
    /// The maximum number of keys that the configuration no longer has and whose packets are still remembered.
    private static let retiredLimit = 64
    private static let packetsHead = Array("jelling-gateway packets 1\n".utf8)
    /// The maximum number of devices whose packets outlive the program, with 20 kB each.
    private static let packetsLimit = 1000

    /// The keys of the configuration, in the order of the addresses, and those that it had before.
    private var rememberedKeys: [GuardKey] { guardKeys.values.sorted() + retiredKeys }

    /// The counters of devices that encrypt: those of the configuration in the order of their addresses, then those
    /// with keys that it had before.
    public var replayCounters: [ReplayCounter] {
        rememberedKeys.compactMap { key in
            guard let track = guards[key]?.replays else { return nil }
            return ReplayCounter(
                address: key.address, seal: track.last, highestBefore: track.highestBefore, keyCheck: key.keyCheck)
        }
    }

    /// Takes over the counters of an earlier run, before the first packet.
    public mutating func restore(_ counters: [ReplayCounter], at now: Instant) {
        for counter in counters {
            let key = GuardKey(address: counter.address, keyCheck: counter.keyCheck)
            var device = remembered(key)
            guard device.replays == nil else { continue }
            device.replays = ReplayGuard(stored: counter.seal, highestBefore: counter.highestBefore, at: now)
            remember(device, key)
        }
    }

    /// The digests of the packets that were received of devices that encrypt, for `restore(heardPackets:)`.
    public var heardPackets: [UInt8] {
        var octets = Self.packetsHead
        for key in rememberedKeys.prefix(Self.packetsLimit) {
            guard let heard = guards[key]?.heard, !heard.isEmpty else { continue }
            octets += (0..<6).map { UInt8(truncatingIfNeeded: key.address >> UInt64(40 - 8 * $0)) }
            octets += (0..<4).map { UInt8(truncatingIfNeeded: key.keyCheck >> UInt32(24 - 8 * $0)) }
            octets += heard.octets
        }
        return octets
    }

    /// Takes over the digests of an earlier run, before the first packet.
    /// - Returns: whether the octets are whole; otherwise those of some devices are missing.
    public mutating func restore(heardPackets octets: [UInt8]) -> Bool {
        guard octets.starts(with: Self.packetsHead) else { return false }
        var rest = octets[Self.packetsHead.count...]
        while !rest.isEmpty {
            guard rest.count >= 10 else { return false }
            let address = rest.prefix(6).reduce(0) { $0 << 8 | UInt64($1) }
            let keyCheck = rest.dropFirst(6).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
            rest = rest.dropFirst(10)
            guard let heard = HeardPackets(from: &rest) else { return false }
            let key = GuardKey(address: address, keyCheck: keyCheck)
            var device = remembered(key)
            device.heard = heard
            remember(device, key)
        }
        return true
    }

    func remembered(_ key: GuardKey) -> ProtectedDevice { guards[key] ?? ProtectedDevice() }

    mutating func remember(_ device: ProtectedDevice, _ key: GuardKey) {
        guards[key] = device
        if guardKeys[key.address] != key, !retiredKeys.contains(key) { retire([key]) }
    }

    /// Finds the keys of the configuration. What was received under a key is remembered when the configuration no longer
    /// has it: an operator who corrects a mistake a day later must not let in what was recorded before.
    mutating func prepareGuards() {
        let before = guardKeys.values.sorted()
        guardKeys = [:]
        for device in configuration.devices where device.key != nil {
            guardKeys[device.address] = GuardKey(address: device.address, keyCheck: keyCheck(of: device) ?? 0)
        }
        retiredKeys.removeAll { guardKeys[$0.address] == $0 }
        retire(before.filter { guardKeys[$0.address] != $0 && guards[$0] != nil })
    }

    private mutating func retire(_ keys: [GuardKey]) {
        retiredKeys += keys
        let excess = max(0, retiredKeys.count - Self.retiredLimit)
        for key in retiredKeys.prefix(excess) { guards[key] = nil }
        retiredKeys.removeFirst(excess)
    }

    private func keyCheck(of device: KnownDevice) -> UInt32? {
        let zeros = [UInt8](repeating: 0, count: 16)
        guard let key = device.key, let encrypt,
            // The keys of MiBeacon 2 and 3 have 12 octets.
            let code = encrypt(Array((key + zeros).prefix(16)), zeros)
        else { return nil }
        return code.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
