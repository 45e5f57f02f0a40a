import BLEPackets

/// A device that advertises, accepts a link and serves its attributes.
///
///     let lamp = SimulatedPeripheral(
///         name: "Lamp", address: DeviceAddress("C0:00:00:00:00:01/random")!,
///         services: [
///             SimulatedService(
///                 BluetoothUUID(0xFFE0 as UInt16),
///                 characteristics: [
///                     SimulatedCharacteristic(BluetoothUUID(0xFFE1 as UInt16), [.read, .write], value: [0])
///                 ])
///         ])
///
/// It stops advertising while it is connected and resumes afterwards. Its subscriptions end with the link.
public struct SimulatedPeripheral: Sendable {
    /// The device name in Generic Access and in the scan response.
    public var name: String
    /// The address on the air, unless the device uses private addresses.
    public var address: DeviceAddress
    /// In the order of their handles.
    public var services: [SimulatedService]
    /// What it advertises; `nil` for flags and service UUIDs, with the name in the scan response.
    public var advertisement: SimulatedAdvertisement?
    /// Whether Generic Access, which has the name, and Generic Attribute precede `services`.
    public var hasGenericServices: Bool
    /// The appearance (Assigned Numbers, 2.6).
    public var appearance: UInt16
    /// The strength at which it is received, in dBm.
    public var rssi: Int8
    /// How it moves; `nil` for not at all. `rssi` is that at the near end.
    public var motion: SimulatedMotion?
    /// The maximum ATT_MTU, 23 to 517.
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

/// The behaviour of a simulated device's link layer and host on a link.
public struct SimulatedLinkBehaviour: Equatable, Sendable {
    /// The features that LE Read Remote Features returns to the central.
    public var features: LEFeatures
    /// The version that Read Remote Version Information returns to the central.
    public var version: HCIVersion
    /// The manufacturer of its controller.
    public var manufacturer: CompanyIdentifier
    /// The maximum octets in one packet of the link layer, 27 to 251.
    public var maximumDataLength: UInt16
    /// The PHYs that it accepts.
    public var phys: PHYSet
    /// The maximum number of data packets in each direction of a connection event.
    public var packetsPerConnectionEvent: Int
    /// The delay of an answer after its request, in microseconds. Without a delay the answer is sent in the same
    /// connection event, if there is room.
    public var responseDelayMicroseconds: Int64
    /// The parameters that the device requests from the central by L2CAP once connected; `nil` for no request.
    public var requestedParameters: L2CAPConnectionParameterUpdateRequest?
    /// The delay of that request after the connection, in microseconds.
    public var requestDelayMicroseconds: Int64
    /// Whether it accepts other parameters from the central's controller.
    public var acceptsParameters: Bool
    /// The number of the ATT request, from 1, at which the device disconnects instead of answering; `nil` for never.
    public var disconnectsAtRequest: Int?
    /// Keys that it shares with centrals, as after pairing; other keys are refused with 0x06.
    public var longTermKeys: [SimulatedLongTermKey]
    /// How it pairs; `nil` for not at all: Pairing Not Supported.
    public var pairing: SimulatedPairing?
    /// The key for its private addresses, which it then uses instead of `address`; `nil` for no privacy.
    public var identityResolvingKey: Key128?
    /// The lifetime of a private address, in microseconds.
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
    /// Identifies the key together with EDIV; both are zero for a key of LE Secure Connections.
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

/// A device whose ATT answers come from a closure, to simulate peers that misbehave.
public struct SimulatedScriptedPeer {
    /// Its address on the air.
    public var address: DeviceAddress
    /// What it advertises while it is not connected.
    public var advertisement: SimulatedAdvertisement
    /// The strength at which it is received, in dBm.
    public var rssi: Int8
    /// How its link layer behaves.
    public var link: SimulatedLinkBehaviour
    /// PDUs that are sent as soon as the link is made.
    public var greeting: [[UInt8]]
    /// Called with each PDU on channel 4; returns the PDUs to send, if any.
    public var respond: (_ pdu: [UInt8]) -> [[UInt8]]
    /// Called with each PDU on channel 4; returns PDUs to send later, each with its delay in microseconds, in order.
    public var respondLater: ((_ pdu: [UInt8]) -> [(microseconds: Int64, pdu: [UInt8])])?

    /// Called when the link has ended.
    public var linkEnded: (() -> Void)?

    /// - Parameters:
    ///   - name: the name to advertise if `advertisement` is `nil`.
    ///   - respond: called with each PDU on channel 4; returns the PDUs to send at once.
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
