import BLEHost
import BLEPackets
import FoundationEssentials

extension WireAddress {
    public init(_ address: DeviceAddress) {
        self.init()
        value = address.value
        kind = UInt32(address.kind.rawValue)
    }
}

extension DeviceAddress {
    /// - Throws: `WireError.invalidField`.
    public init(_ wire: WireAddress) throws(WireError) {
        guard wire.value >> 48 == 0, let kind = DeviceAddress.Kind(rawValue: UInt8(clamping: wire.kind)) else {
            throw .invalidField
        }
        self.init(value: wire.value, kind: kind)
    }
}

extension BluetoothUUID {
    /// Decodes 2, 4 or 16 octets, the most significant first.
    init(wire octets: some Collection<UInt8>) throws(WireError) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for octet in octets {
            high = high << 8 | low >> 56
            low = low << 8 | UInt64(octet)
        }
        switch octets.count {
        case 2: self.init(UInt16(truncatingIfNeeded: low))
        case 4: self.init(UInt32(truncatingIfNeeded: low))
        case 16: self.init(high: high, low: low)
        default: throw .invalidField
        }
    }

    /// 2 octets if the UUID has a 16-bit form, else 16; the most significant first.
    var wire: [UInt8] {
        guard let short = shortValue else { return bytes }
        return [UInt8(short >> 8), UInt8(truncatingIfNeeded: short)]
    }

    /// The maximum number of UUIDs in a list of a request: everything that is found is compared with all of them, for
    /// every program.
    static let requestLimit = 512

    /// The UUIDs in a request.
    static func requested(_ wire: [some Collection<UInt8>]) throws(WireError) -> [BluetoothUUID] {
        guard wire.count <= requestLimit else { throw .invalidField }
        return try list(wire)
    }

    static func list(_ wire: [some Collection<UInt8>]) throws(WireError) -> [BluetoothUUID] {
        var uuids: [BluetoothUUID] = []
        for octets in wire { uuids.append(try BluetoothUUID(wire: octets)) }
        return uuids
    }
}

extension AttributeHandle {
    init(wire value: UInt32) throws(WireError) {
        guard let value = UInt16(exactly: value) else { throw .invalidField }
        self.init(rawValue: value)
    }

    var wire: UInt32 { UInt32(rawValue) }
}

extension WireRange {
    init(_ range: AttributeHandleRange) {
        self.init()
        first = range.first.wire
        last = range.last.wire
    }
}

extension AttributeHandleRange {
    init(_ wire: WireRange) throws(WireError) {
        self.init(try AttributeHandle(wire: wire.first), try AttributeHandle(wire: wire.last))
    }
}

extension LinkID {
    /// The value is opaque to clients.
    public init(wire value: UInt64) {
        self.init(
            handle: ConnectionHandle(rawValue: UInt16(truncatingIfNeeded: value)),
            generation: UInt32(truncatingIfNeeded: value >> 16))
    }

    public var wire: UInt64 { UInt64(generation) << 16 | UInt64(handle.rawValue) }
}

extension WireValue {
    init(_ handle: AttributeHandle, _ octets: [UInt8]) {
        self.init()
        self.handle = handle.wire
        value = Data(octets)
    }
}

extension WireController {
    public init(_ information: ControllerInformation) {
        self.init()
        if let address = information.publicAddress { publicAddress = WireAddress(address) }
        if let address = information.ownAddress { ownAddress = WireAddress(address) }
        if let address = information.identityAddress { identityAddress = WireAddress(address) }
        hciVersion = UInt32(information.hciVersion)
        hciSubversion = UInt32(information.hciSubversion)
        lmpVersion = UInt32(information.lmpVersion)
        lmpSubversion = UInt32(information.lmpSubversion)
        company = UInt32(information.companyIdentifier)
        features = information.features.rawValue
        supportedCommands = Data(information.supportedCommands)
        supportedStates = information.supportedStates
        aclDataLength = UInt32(information.aclDataLength)
        aclDataCount = UInt32(information.aclDataCount)
        filterAcceptListSize = UInt32(information.filterAcceptListSize)
        resolvingListSize = UInt32(information.resolvingListSize)
        maximumTransmitOctets = UInt32(information.maximumTransmitOctets)
        maximumTransmitMicroseconds = UInt32(information.maximumTransmitMicroseconds)
    }
}

extension ControllerInformation {
    /// - Throws: `WireError.invalidField`.
    public init(_ wire: WireController) throws(WireError) {
        self.init()
        if wire.hasPublicAddress { publicAddress = try DeviceAddress(wire.publicAddress) }
        if wire.hasOwnAddress { ownAddress = try DeviceAddress(wire.ownAddress) }
        if wire.hasIdentityAddress { identityAddress = try DeviceAddress(wire.identityAddress) }
        hciVersion = UInt8(clamping: wire.hciVersion)
        hciSubversion = UInt16(clamping: wire.hciSubversion)
        lmpVersion = UInt8(clamping: wire.lmpVersion)
        lmpSubversion = UInt16(clamping: wire.lmpSubversion)
        companyIdentifier = UInt16(clamping: wire.company)
        features = LEFeatures(rawValue: wire.features)
        supportedCommands = Array(wire.supportedCommands)
        supportedStates = wire.supportedStates
        aclDataLength = UInt16(clamping: wire.aclDataLength)
        aclDataCount = UInt16(clamping: wire.aclDataCount)
        filterAcceptListSize = UInt8(clamping: wire.filterAcceptListSize)
        resolvingListSize = UInt8(clamping: wire.resolvingListSize)
        maximumTransmitOctets = UInt16(clamping: wire.maximumTransmitOctets)
        maximumTransmitMicroseconds = UInt16(clamping: wire.maximumTransmitMicroseconds)
    }
}
