/// LE Remove Device From Filter Accept List: disallowed while scanning, advertising or initiating uses the list (Core
/// 5.4, Vol 4, Part E, 7.8.17).
public struct LERemoveDeviceFromFilterAcceptList: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0012)
    public static let answer = CommandAnswer.complete

    /// Of kind public, random or anonymous.
    public var address: ReportedAddress

    public init(address: ReportedAddress) {
        self.address = address
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        address = try ReportedAddress(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        address.encode(into: &packet)
    }

    /// Removes a device by its address; the list knows no identity marks, so a mark is left away.
    public init(address: DeviceAddress) { self.init(address: ReportedAddress(address.withoutIdentityMark)) }
}
