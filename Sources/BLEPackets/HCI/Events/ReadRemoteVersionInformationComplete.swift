/// Read Remote Version Information Complete: who made the peer's controller (Core 5.4, Vol 4, Part E, 7.7.12).
public struct ReadRemoteVersionInformationComplete: HCIEvent {
    public static let code = HCIEventCode.readRemoteVersionInformationComplete

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    /// The version of the peer's Link Layer, or of its LMP on BR/EDR.
    public var version: HCIVersion
    /// The maker of the peer's controller.
    public var manufacturer: CompanyIdentifier
    /// The maker's own number.
    public var subversion: UInt16

    public init(
        status: HCIStatus = .success, connectionHandle: ConnectionHandle, version: HCIVersion,
        manufacturer: CompanyIdentifier, subversion: UInt16
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.version = version
        self.manufacturer = manufacturer
        self.subversion = subversion
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        version = HCIVersion(rawValue: try reader.read())
        manufacturer = CompanyIdentifier(rawValue: try reader.read())
        subversion = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(version.rawValue)
        packet.write(manufacturer.rawValue)
        packet.write(subversion)
    }
}
