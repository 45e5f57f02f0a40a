import BLEHost
import BLEPackets

/// A bond in octets, for a caller that saves it without reading it.
///
///     "JB" · version · flags · identity (6) and its type · key size · keys, as the flags say · client record
///     · name · last use · capability that was not sufficient · check
///
/// What a flag does not announce is absent, so that what earlier versions wrote stays readable. All numbers stand least significant octet first. The check finds damage, it proves nothing: who can write the file
/// can make any bond.
enum BondBlob {
    /// A client may have configured each handle; no bond is larger.
    static let maximumLength = 1 << 20

    private static let magic: [UInt8] = [0x4A, 0x42]
    private static let version: UInt8 = 1

    private struct Flags: OptionSet {
        let rawValue: UInt16

        static let isSecureConnections = Flags(rawValue: 1 << 0)
        static let isAuthenticated = Flags(rawValue: 1 << 1)
        static let isUnasked = Flags(rawValue: 1 << 2)
        static let resolvingKey = Flags(rawValue: 1 << 3)
        static let localKey = Flags(rawValue: 1 << 4)
        static let peerKey = Flags(rawValue: 1 << 5)
        static let localSigningKey = Flags(rawValue: 1 << 6)
        static let peerSigningKey = Flags(rawValue: 1 << 7)
        static let clientRecord = Flags(rawValue: 1 << 8)
        static let name = Flags(rawValue: 1 << 9)
        static let insufficientCapability = Flags(rawValue: 1 << 10)
        static let all = Flags(rawValue: (1 << 11) - 1)
    }

    // MARK: Writing

    static func octets(of bond: Bond) -> [UInt8] {
        var flags: Flags = []
        if bond.isSecureConnections { flags.insert(.isSecureConnections) }
        if bond.isAuthenticated { flags.insert(.isAuthenticated) }
        if bond.isUnasked { flags.insert(.isUnasked) }
        if bond.identityResolvingKey != nil { flags.insert(.resolvingKey) }
        if bond.localKey != nil { flags.insert(.localKey) }
        if bond.peerKey != nil { flags.insert(.peerKey) }
        if bond.localSigningKey != nil { flags.insert(.localSigningKey) }
        if bond.peerSigningKey != nil { flags.insert(.peerSigningKey) }
        if bond.clientRecord != nil { flags.insert(.clientRecord) }
        if bond.name != nil { flags.insert(.name) }
        if bond.insufficientCapability != nil { flags.insert(.insufficientCapability) }
        var packet = PacketWriter(reservingCapacity: 256)
        packet.write(bytes: magic)
        packet.write(version)
        packet.write(flags.rawValue)
        bond.identity.encodeOctets(into: &packet)
        packet.write(UInt8(bond.identity.isRandom ? 1 : 0))
        packet.write(bond.keySize)
        if let key = bond.identityResolvingKey { write(key, into: &packet) }
        for key in [bond.localKey, bond.peerKey] {
            guard let key else { continue }
            write(key.key, into: &packet)
            packet.write(key.encryptedDiversifier)
            packet.write(key.randomNumber)
        }
        for key in [bond.localSigningKey, bond.peerSigningKey] {
            guard let key else { continue }
            write(key.key, into: &packet)
            packet.write(key.counter)
        }
        if let record = bond.clientRecord { write(record, into: &packet) }
        if let name = bond.name {
            let octets = name.utf8Prefix(255)
            packet.write(UInt8(truncatingIfNeeded: octets.count))
            packet.write(bytes: octets)
        }
        packet.write(bond.lastUse)
        if let capability = bond.insufficientCapability { packet.write(capability.rawValue) }
        packet.write(check(packet.bytes))
        return packet.bytes
    }

    private static func write(_ key: Key128, into packet: inout PacketWriter) { packet.write(bytes: key.octets) }

    private static func write(_ record: GATTClientRecord, into packet: inout PacketWriter) {
        packet.write(record.features)
        packet.write(record.knownTable)
        packet.write(UInt16(clamping: record.configurations.count))
        for configuration in record.configurations.prefix(0xFFFF) {
            packet.write(configuration.handle.rawValue)
            packet.write(configuration.modes.rawValue)
            packet.write(UInt8(configuration.owner == nil ? 0 : 1))
            packet.write(configuration.owner ?? 0)
        }
    }

    /// FNV-1a.
    private static func check(_ octets: [UInt8]) -> UInt32 {
        var hash: UInt32 = 0x811C_9DC5
        for octet in octets { hash = (hash ^ UInt32(octet)) &* 0x0100_0193 }
        return hash
    }

    // MARK: Reading

    /// `nil` for what is no bond, is damaged, or was written by a later version.
    static func bond(_ octets: [UInt8]) -> Bond? {
        guard octets.count >= 4, check(Array(octets.dropLast(4))) == number(octets.suffix(4)) else { return nil }
        var reader = PacketReader(octets.span.bytes)
        do throws(DecodingError) { return try bond(&reader) } catch { return nil }
    }

    private static func number(_ octets: ArraySlice<UInt8>) -> UInt32 {
        octets.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func bond(_ reader: inout PacketReader) throws(DecodingError) -> Bond? {
        for octet in magic + [version] {
            let found: UInt8 = try reader.read()
            guard found == octet else { return nil }
        }
        let flags = Flags(rawValue: try reader.read())
        guard flags.isSubset(of: .all) else { return nil }
        guard var bond = try unkeyed(flags, &reader) else { return nil }
        try readKeys(of: &bond, flags, &reader)
        try readRest(of: &bond, flags, &reader)
        if flags.contains(.insufficientCapability) {
            guard let capability = IOCapability(rawValue: try reader.read()) else { return nil }
            bond.insufficientCapability = capability
        }
        _ = try reader.read(UInt32.self)
        return reader.remainingCount == 0 ? bond : nil
    }

    // Not inlined, this and the following two: on RISC-V one function of them had a frame of 2.5 kB.
    @inline(never)
    private static func unkeyed(_ flags: Flags, _ reader: inout PacketReader) throws(DecodingError) -> Bond? {
        let value = UInt64(try reader.read(UInt32.self)) | UInt64(try reader.read(UInt16.self)) << 32
        let type: UInt8 = try reader.read()
        let keySize: UInt8 = try reader.read()
        guard type < 2, (7...16).contains(keySize) else { return nil }
        var bond = Bond(
            identity: DeviceAddress(value: value, kind: type == 1 ? .random : .public),
            isSecureConnections: flags.contains(.isSecureConnections),
            isAuthenticated: flags.contains(.isAuthenticated), keySize: keySize)
        bond.isUnasked = flags.contains(.isUnasked)
        return bond
    }

    @inline(never)
    private static func readKeys(
        of bond: inout Bond, _ flags: Flags, _ reader: inout PacketReader
    ) throws(DecodingError) {
        if flags.contains(.resolvingKey) { bond.identityResolvingKey = try key(&reader) }
        if flags.contains(.localKey) { bond.localKey = try longTermKey(&reader) }
        if flags.contains(.peerKey) { bond.peerKey = try longTermKey(&reader) }
        if flags.contains(.localSigningKey) { bond.localSigningKey = try signingKey(&reader) }
        if flags.contains(.peerSigningKey) { bond.peerSigningKey = try signingKey(&reader) }
    }

    @inline(never)
    private static func readRest(
        of bond: inout Bond, _ flags: Flags, _ reader: inout PacketReader
    ) throws(DecodingError) {
        if flags.contains(.clientRecord) { bond.clientRecord = try clientRecord(&reader) }
        if flags.contains(.name) {
            let count: UInt8 = try reader.read()
            bond.name = String(validating: try reader.readBytes(Int(count)).copied(), as: UTF8.self)
        }
        bond.lastUse = try reader.read()
    }

    private static func key(_ reader: inout PacketReader) throws(DecodingError) -> Key128 {
        Key128(leastSignificantFirst: try reader.readBytes(16).copied()) ?? .zero
    }

    private static func longTermKey(_ reader: inout PacketReader) throws(DecodingError) -> LongTermKey {
        LongTermKey(
            key: try key(&reader), encryptedDiversifier: try reader.read(), randomNumber: try reader.read())
    }

    private static func signingKey(_ reader: inout PacketReader) throws(DecodingError) -> SigningKey {
        SigningKey(key: try key(&reader), counter: try reader.read())
    }

    private static func clientRecord(_ reader: inout PacketReader) throws(DecodingError) -> GATTClientRecord {
        let features: UInt8 = try reader.read()
        let knownTable: UInt64 = try reader.read()
        let count: UInt16 = try reader.read()
        var configurations: [GATTClientRecord.Configuration] = []
        for _ in 0..<count {
            let handle = AttributeHandle(rawValue: try reader.read())
            let modes = SubscriptionModes(rawValue: try reader.read())
            let hasOwner: UInt8 = try reader.read()
            let owner: UInt64 = try reader.read()
            configurations.append(.init(handle: handle, modes: modes, owner: hasOwner == 0 ? nil : owner))
        }
        return GATTClientRecord(configurations: configurations, features: features, knownTable: knownTable)
    }
}
