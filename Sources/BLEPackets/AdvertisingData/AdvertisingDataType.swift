/// The type of an advertising-data structure (Assigned Numbers, 2.3; Core Specification Supplement, Part A).
public struct AdvertisingDataType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// One octet of `AdvertisingFlags`; never in a scan response (Supplement, Part A, 1.3).
    public static let flags = AdvertisingDataType(rawValue: 0x01)
    /// Some of the services offered, those with UUIDs of 16 bits; there are more (Supplement, Part A, 1.1).
    public static let incompleteServiceUUIDs16 = AdvertisingDataType(rawValue: 0x02)
    /// All services offered that have UUIDs of 16 bits (Supplement, Part A, 1.1).
    public static let completeServiceUUIDs16 = AdvertisingDataType(rawValue: 0x03)
    /// Some of the services offered, those with UUIDs of 32 bits; there are more (Supplement, Part A, 1.1).
    public static let incompleteServiceUUIDs32 = AdvertisingDataType(rawValue: 0x04)
    /// All services offered that have UUIDs of 32 bits (Supplement, Part A, 1.1).
    public static let completeServiceUUIDs32 = AdvertisingDataType(rawValue: 0x05)
    /// Some of the services offered, those with UUIDs of 128 bits; there are more (Supplement, Part A, 1.1).
    public static let incompleteServiceUUIDs128 = AdvertisingDataType(rawValue: 0x06)
    /// All services offered that have UUIDs of 128 bits (Supplement, Part A, 1.1).
    public static let completeServiceUUIDs128 = AdvertisingDataType(rawValue: 0x07)
    /// The beginning of the device's name, in UTF-8 (Supplement, Part A, 1.2).
    public static let shortenedLocalName = AdvertisingDataType(rawValue: 0x08)
    /// The complete name of the device, in UTF-8 (Supplement, Part A, 1.2).
    public static let completeLocalName = AdvertisingDataType(rawValue: 0x09)
    /// The transmit power of the packet: one signed octet, in dBm. The difference to the received power is the path
    /// loss (Supplement, Part A, 1.5).
    public static let txPowerLevel = AdvertisingDataType(rawValue: 0x0A)
    /// The class of a BR/EDR device: three octets, for out-of-band pairing (Supplement, Part A, 1.6).
    public static let classOfDevice = AdvertisingDataType(rawValue: 0x0D)
    /// Hash of a P-192 public key: 16 octets, for pairing out of band on BR/EDR (Supplement, Part A, 1.6).
    public static let simplePairingHash192 = AdvertisingDataType(rawValue: 0x0E)
    /// Random number to the hash of a P-192 key: 16 octets, for pairing out of band on BR/EDR (Supplement, Part A,
    /// 1.6).
    public static let simplePairingRandomizer192 = AdvertisingDataType(rawValue: 0x0F)
    /// The temporary key of LE legacy pairing: 16 octets, to be passed out of band (Supplement, Part A, 1.8).
    public static let securityManagerTKValue = AdvertisingDataType(rawValue: 0x10)
    /// One octet: what the sender of out-of-band data can do and which kind of address it has (Supplement, Part A,
    /// 1.7).
    public static let securityManagerOutOfBandFlags = AdvertisingDataType(rawValue: 0x11)
    /// The preferred connection intervals: minimum and maximum, 16 bits each, in units of 1.25 ms
    /// (Supplement, Part A, 1.9).
    public static let peripheralConnectionIntervalRange = AdvertisingDataType(rawValue: 0x12)
    /// Services that the device solicits, with UUIDs of 16 bits (Supplement, Part A, 1.10).
    public static let solicitedServiceUUIDs16 = AdvertisingDataType(rawValue: 0x14)
    /// Services that the device solicits, with UUIDs of 128 bits (Supplement, Part A, 1.10).
    public static let solicitedServiceUUIDs128 = AdvertisingDataType(rawValue: 0x15)
    /// A UUID of 16 bits, and data of that service (Supplement, Part A, 1.11).
    public static let serviceData16 = AdvertisingDataType(rawValue: 0x16)
    /// Whom the advertisement is for: public addresses of six octets each (Supplement, Part A, 1.13).
    public static let publicTargetAddress = AdvertisingDataType(rawValue: 0x17)
    /// Whom the advertisement is for: random addresses of six octets each (Supplement, Part A, 1.14).
    public static let randomTargetAddress = AdvertisingDataType(rawValue: 0x18)
    /// The appearance: a number of the Assigned Numbers, two octets (Supplement, Part A, 1.12).
    public static let appearance = AdvertisingDataType(rawValue: 0x19)
    /// How often the device advertises: two octets, in units of 0.625 ms (Supplement, Part A, 1.15).
    public static let advertisingInterval = AdvertisingDataType(rawValue: 0x1A)
    /// The device's address: six octets, and one whose lowest bit is set for a random address (Supplement, Part A,
    /// 1.16).
    public static let leDeviceAddress = AdvertisingDataType(rawValue: 0x1B)
    /// Peripheral, central or both, and which is preferred: one octet of `LERole` (Supplement, Part A, 1.17).
    public static let leRole = AdvertisingDataType(rawValue: 0x1C)
    /// Hash of a P-256 public key: 16 octets, for pairing out of band on BR/EDR (Supplement, Part A, 1.6).
    public static let simplePairingHash256 = AdvertisingDataType(rawValue: 0x1D)
    /// Random number to the hash of a P-256 key: 16 octets, for pairing out of band on BR/EDR (Supplement, Part A,
    /// 1.6).
    public static let simplePairingRandomizer256 = AdvertisingDataType(rawValue: 0x1E)
    /// Services that the device solicits, with UUIDs of 32 bits (Supplement, Part A, 1.10).
    public static let solicitedServiceUUIDs32 = AdvertisingDataType(rawValue: 0x1F)
    /// A UUID of 32 bits, and data of that service (Supplement, Part A, 1.11).
    public static let serviceData32 = AdvertisingDataType(rawValue: 0x20)
    /// A UUID of 128 bits, and data of that service (Supplement, Part A, 1.11).
    public static let serviceData128 = AdvertisingDataType(rawValue: 0x21)
    /// Confirm value over the public key: 16 octets, for LE Secure Connections out of band (Supplement, Part A, 1.6).
    public static let leSecureConnectionsConfirmation = AdvertisingDataType(rawValue: 0x22)
    /// Random number to the confirm value: 16 octets, for LE Secure Connections out of band (Supplement, Part A, 1.6).
    public static let leSecureConnectionsRandom = AdvertisingDataType(rawValue: 0x23)
    /// A URI: a code for the scheme, then the rest, in UTF-8 (Supplement, Part A, 1.18).
    public static let uri = AdvertisingDataType(rawValue: 0x24)
    /// The position of the device, for indoor positioning (Indoor Positioning Service).
    public static let indoorPositioning = AdvertisingDataType(rawValue: 0x25)
    /// On which other transports, such as BR/EDR, a service can be had (Transport Discovery Service).
    public static let transportDiscoveryData = AdvertisingDataType(rawValue: 0x26)
    /// Bits of `LEFeatures`, least significant octet first; zeros at the end may be left out (Supplement, Part A,
    /// 1.19).
    public static let leSupportedFeatures = AdvertisingDataType(rawValue: 0x27)
    /// New channels of a periodic train and the event from which they hold; the controllers see to this (Supplement,
    /// Part A, 1.20).
    public static let channelMapUpdateIndication = AdvertisingDataType(rawValue: 0x28)
    /// A part of the dialogue by which a device joins a mesh network (Mesh Profile, PB-ADV).
    public static let meshProvisioning = AdvertisingDataType(rawValue: 0x29)
    /// A message of a mesh network (Mesh Profile).
    public static let meshMessage = AdvertisingDataType(rawValue: 0x2A)
    /// The sign of a mesh network, or of a device that waits to join one (Mesh Profile).
    public static let meshBeacon = AdvertisingDataType(rawValue: 0x2B)
    /// How to follow an isochronous broadcast; the controllers see to this (BIGInfo, Supplement, Part A, 1.21).
    public static let broadcastIsochronousGroupInformation = AdvertisingDataType(rawValue: 0x2C)
    /// The code of an encrypted isochronous broadcast (Broadcast_Code, Supplement, Part A, 1.22).
    public static let broadcastCode = AdvertisingDataType(rawValue: 0x2D)
    /// Six octets by which those that know a set's key see that the device belongs to the set (Coordinated Set
    /// Identification Profile).
    public static let resolvableSetIdentifier = AdvertisingDataType(rawValue: 0x2E)
    /// The advertising interval: three or four octets, in units of 0.625 ms, if two are not enough (Supplement, Part A,
    /// 1.15).
    public static let advertisingIntervalLong = AdvertisingDataType(rawValue: 0x2F)
    /// Name of a broadcast for people: UTF-8, 4 to 32 characters (Public Broadcast Profile).
    public static let broadcastName = AdvertisingDataType(rawValue: 0x30)
    /// Other structures, encrypted: a randomizer of five octets, what was encrypted, and a check of four octets
    /// (Supplement, Part A, 1.23).
    public static let encryptedAdvertisingData = AdvertisingDataType(rawValue: 0x31)
    /// The times of the subevents and response slots of a periodic train, which controllers handle (Supplement, Part A,
    /// 1.24).
    public static let periodicAdvertisingResponseTiming = AdvertisingDataType(rawValue: 0x32)
    /// Messages to and from price labels on shelves (Electronic Shelf Label Profile).
    public static let electronicShelfLabel = AdvertisingDataType(rawValue: 0x34)
    /// Information for 3D glasses (3D Synchronization Profile).
    public static let threeDimensionalInformation = AdvertisingDataType(rawValue: 0x3D)
    /// A company identifier of two octets, and data in the company's format (Supplement, Part A, 1.4).
    public static let manufacturerSpecificData = AdvertisingDataType(rawValue: 0xFF)
}
