import BLEPackets

/// What a beacon adds to an advertisement: its data, and the service that it lists beside them.
public struct BeaconData: Hashable, Sendable {
    /// Whose data they are.
    public enum Owner: Hashable, Sendable {
        /// Manufacturer Specific Data, behind this company identifier.
        case company(UInt16)
        /// Service Data of this UUID.
        case service(UInt16)
    }

    /// Whose data they are.
    public var owner: Owner
    /// The octets behind the company identifier or the UUID.
    public var octets: [UInt8]
    /// A service that the advertisement has to list; `nil` for none.
    public var listedService: BluetoothUUID?

    public init(_ owner: Owner, _ octets: [UInt8], listing service: BluetoothUUID? = nil) {
        self.owner = owner
        self.octets = octets
        listedService = service
    }

    /// Octets of its structure, length, type and identifier included, but without the listed service.
    public var structureByteCount: Int { 4 + octets.count }

    /// Writes the data, but not the listed service, which belongs to the list of all services.
    /// - Throws: `DoesNotFit`.
    public func append(to writer: inout AdvertisingDataWriter) throws(AdvertisingDataWriter.DoesNotFit) {
        switch owner {
        case .company(let company): try writer.append(manufacturerData: octets, company: company)
        case .service(let number): try writer.append(serviceData: octets, uuid: BluetoothUUID(number))
        }
    }
}
