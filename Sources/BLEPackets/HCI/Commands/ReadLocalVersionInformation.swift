/// Read Local Version Information: who made the controller, and to which version of the specification (Core 5.4, Vol 4,
/// Part E, 7.4.1).
public struct ReadLocalVersionInformation: HCICommand {
    public static let opcode = HCIOpcode(group: .informationalParameters, command: 0x0001)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// The version of HCI.
        public var hciVersion = HCIVersion(rawValue: 0)
        /// The maker's own number.
        public var hciSubversion: UInt16 = 0
        /// The version of the Link Layer, or of LMP on BR/EDR.
        public var lmpVersion = HCIVersion(rawValue: 0)
        /// The maker of the controller.
        public var manufacturer = CompanyIdentifier(rawValue: 0)
        /// The maker's own number.
        public var lmpSubversion: UInt16 = 0

        public init(
            status: HCIStatus = .success, hciVersion: HCIVersion = HCIVersion(rawValue: 0), hciSubversion: UInt16 = 0,
            lmpVersion: HCIVersion = HCIVersion(rawValue: 0),
            manufacturer: CompanyIdentifier = CompanyIdentifier(rawValue: 0), lmpSubversion: UInt16 = 0
        ) {
            self.status = status
            self.hciVersion = hciVersion
            self.hciSubversion = hciSubversion
            self.lmpVersion = lmpVersion
            self.manufacturer = manufacturer
            self.lmpSubversion = lmpSubversion
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            hciVersion = HCIVersion(rawValue: try reader.read())
            hciSubversion = try reader.read()
            lmpVersion = HCIVersion(rawValue: try reader.read())
            manufacturer = CompanyIdentifier(rawValue: try reader.read())
            lmpSubversion = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(hciVersion.rawValue)
            packet.write(hciSubversion)
            packet.write(lmpVersion.rawValue)
            packet.write(manufacturer.rawValue)
            packet.write(lmpSubversion)
        }
    }
}
