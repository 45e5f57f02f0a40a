import BLEPackets

/// A device that advertises, accepts a link and serves its attributes.
///
///     let lamp = SimulatedPeripheral(
///         name: "Lamp", address: DeviceAddress("C0:00:00:00:00:01/random")!,
///         services: [
///             SimulatedService(
///                 BluetoothUUID(0xFFE0 as UInt16),
///                 characteristics: [SimulatedCharacteristic(BluetoothUUID(0xFFE1 as UInt16), [.read, .write], value: [0])])
///         ])
///
/// It stops advertising while it is connected and goes on afterwards. Its subscriptions end with the link.
public struct SimulatedPeripheral: Sendable {
    /// What the device is called, in Generic Access and in its scan response.
    public var name: String
    /// Under which it is heard, unless it shows private addresses.
    public var address: DeviceAddress
    /// In the order of their handles.
    public var services: [SimulatedService]
    /// `nil` for flags and the services' UUIDs with the name in the scan response.
    public var advertisement: SimulatedAdvertisement?
    /// Generic Access, which holds the name, and Generic Attribute come before `services`.
    public var hasGenericServices: Bool
    /// What it looks like (Assigned Numbers, 2.6).
    public var appearance: UInt16
    /// The strength at which it is received, in dBm.
    public var rssi: Int8
    /// The ATT_MTU that it offers, 23 to 517.
    public var maximumMTU: Int
    /// How it behaves on a link.
    public var link: SimulatedLinkBehaviour

    public init(
        name: String, address: DeviceAddress, services: [SimulatedService] = [],
        advertisement: SimulatedAdvertisement? = nil, hasGenericServices: Bool = true, appearance: UInt16 = 0,
        rssi: Int8 = -55, maximumMTU: Int = 517, link: SimulatedLinkBehaviour = .init()
    ) {
        self.name = name
        self.address = address
        self.services = services
        self.advertisement = advertisement
        self.hasGenericServices = hasGenericServices
        self.appearance = appearance
        self.rssi = rssi
        self.maximumMTU = maximumMTU
        self.link = link
    }

    var effectiveAdvertisement: SimulatedAdvertisement {
        advertisement
            ?? SimulatedAdvertisement(name: name, serviceUUIDs: services.filter(\.isPrimary).map(\.uuid))
    }

    var allServices: [SimulatedService] {
        guard hasGenericServices else { return services }
        let octets = [UInt8(truncatingIfNeeded: appearance), UInt8(truncatingIfNeeded: appearance >> 8)]
        return [
            SimulatedService(
                BluetoothUUID(0x1800 as UInt16),
                characteristics: [
                    SimulatedCharacteristic(BluetoothUUID(0x2A00 as UInt16), [.read], value: Array(name.utf8)),
                    SimulatedCharacteristic(BluetoothUUID(0x2A01 as UInt16), [.read], value: octets),
                ]),
            SimulatedService(
                BluetoothUUID(0x1801 as UInt16),
                characteristics: [
                    SimulatedCharacteristic(BluetoothUUID(0x2A05 as UInt16), [.indicate], value: [0, 0, 0, 0])
                ]),
        ] + services
    }
}

/// What the link layer and the host of a simulated device do on a link.
public struct SimulatedLinkBehaviour: Equatable, Sendable {
    /// What LE Read Remote Features tells the central.
    public var features: LEFeatures
    /// What Read Remote Version Information tells the central.
    public var version: HCIVersion
    /// Who made its controller.
    public var manufacturer: CompanyIdentifier
    /// Octets that one packet of the link layer can hold, 27 to 251.
    public var maximumDataLength: UInt16
    /// The PHYs that it agrees to.
    public var phys: PHYSet
    /// Data packets that go each way in one connection event at most.
    public var packetsPerConnectionEvent: Int
    /// From a request to its answer. Without a delay the answer comes in the same connection event, if it has room.
    public var responseDelayMicroseconds: Int64
    /// The parameters that the device requests from the central by L2CAP once connected; `nil` for no request.
    public var requestedParameters: L2CAPConnectionParameterUpdateRequest?
    /// From the connection to that request.
    public var requestDelayMicroseconds: Int64
    /// How it answers when the central's controller asks for other parameters.
    public var acceptsParameters: Bool
    /// Instead of answering this ATT request of a link, counted from 1, the device ends the link; `nil` for never.
    public var disconnectsAtRequest: Int?
    /// Keys that it shares with centrals, as after pairing; a central that asks for another gets 0x06.
    public var longTermKeys: [SimulatedLongTermKey]
    /// With a key the device shows private addresses made with it instead of its own; `nil` for no privacy.
    public var identityResolvingKey: Key128?
    /// After this time it takes another private address, at the next advertisement.
    public var privateAddressMicroseconds: Int64

    public init(
        features: LEFeatures = SimulatedControllerConfiguration.allFeatures, version: HCIVersion = .core53,
        manufacturer: CompanyIdentifier = CompanyIdentifier(rawValue: 0xFFFF), maximumDataLength: UInt16 = 251,
        phys: PHYSet = [.le1M, .le2M], packetsPerConnectionEvent: Int = 6, responseDelayMicroseconds: Int64 = 0,
        requestedParameters: L2CAPConnectionParameterUpdateRequest? = nil, requestDelayMicroseconds: Int64 = 1_000_000,
        acceptsParameters: Bool = true, disconnectsAtRequest: Int? = nil, longTermKeys: [SimulatedLongTermKey] = [],
        identityResolvingKey: Key128? = nil, privateAddressMicroseconds: Int64 = 900_000_000
    ) {
        self.features = features
        self.version = version
        self.manufacturer = manufacturer
        self.maximumDataLength = maximumDataLength
        self.phys = phys
        self.packetsPerConnectionEvent = packetsPerConnectionEvent
        self.responseDelayMicroseconds = responseDelayMicroseconds
        self.requestedParameters = requestedParameters
        self.requestDelayMicroseconds = requestDelayMicroseconds
        self.acceptsParameters = acceptsParameters
        self.disconnectsAtRequest = disconnectsAtRequest
        self.longTermKeys = longTermKeys
        self.identityResolvingKey = identityResolvingKey
        self.privateAddressMicroseconds = privateAddressMicroseconds
    }
}

/// A key that a simulated device shares with a central.
public struct SimulatedLongTermKey: Hashable, Sendable {
    /// The long term key.
    public var key: Key128
    /// What the central names the key by: both zero for one of LE Secure Connections.
    public var randomNumber: UInt64
    /// EDIV; see `randomNumber`.
    public var encryptedDiversifier: UInt16
    /// Whether pairing was protected against a man in the middle.
    public var isAuthenticated: Bool

    public init(
        key: Key128, randomNumber: UInt64 = 0, encryptedDiversifier: UInt16 = 0, isAuthenticated: Bool = false
    ) {
        self.key = key
        self.randomNumber = randomNumber
        self.encryptedDiversifier = encryptedDiversifier
        self.isAuthenticated = isAuthenticated
    }
}

/// A device whose ATT answers are given by a closure, so that peers can be played that no server would be.
public struct SimulatedScriptedPeer {
    /// Under which it is heard.
    public var address: DeviceAddress
    /// What it advertises while it is not connected.
    public var advertisement: SimulatedAdvertisement
    /// The strength at which it is received, in dBm.
    public var rssi: Int8
    /// How its link layer behaves.
    public var link: SimulatedLinkBehaviour
    /// PDUs that are sent as soon as the link stands.
    public var greeting: [[UInt8]]
    /// Gets each PDU of channel 4 and gives those to send, none or many.
    public var respond: (_ pdu: [UInt8]) -> [[UInt8]]
    /// Gets each PDU too and gives those to send later, by microseconds from now, in order.
    public var respondLater: ((_ pdu: [UInt8]) -> [(microseconds: Int64, pdu: [UInt8])])?

    /// - Parameters:
    ///   - name: what the device advertises where `advertisement` is `nil`.
    ///   - respond: gets each PDU of channel 4 and gives those to send at once.
    public init(
        name: String, address: DeviceAddress, advertisement: SimulatedAdvertisement? = nil, rssi: Int8 = -55,
        link: SimulatedLinkBehaviour = .init(), greeting: [[UInt8]] = [],
        respond: @escaping (_ pdu: [UInt8]) -> [[UInt8]]
    ) {
        self.address = address
        self.advertisement = advertisement ?? SimulatedAdvertisement(name: name)
        self.rssi = rssi
        self.link = link
        self.greeting = greeting
        self.respond = respond
    }
}
