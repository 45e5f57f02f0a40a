/// LE PHY Update Complete: the PHYs of a link are settled (Core 5.4, Vol 4, Part E, 7.7.65.12).
public struct LEPHYUpdateComplete: LEMetaEvent {
    public static let subevent = LESubeventCode.phyUpdateComplete

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    /// The PHY from this device to the peer.
    public var transmitPHY: PHY
    /// The PHY from the peer to this device.
    public var receivePHY: PHY

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, transmitPHY: PHY, receivePHY: PHY) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.transmitPHY = transmitPHY
        self.receivePHY = receivePHY
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        transmitPHY = PHY(rawValue: try reader.read())
        receivePHY = PHY(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(transmitPHY.rawValue)
        packet.write(receivePHY.rawValue)
    }
}
