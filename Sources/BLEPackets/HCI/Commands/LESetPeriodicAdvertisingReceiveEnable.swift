/// LE Set Periodic Advertising Receive Enable: whether a train that is followed is reported (Core 5.4, Vol 4, Part E,
/// 7.8.88).
public struct LESetPeriodicAdvertisingReceiveEnable: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0059)
    public static let answer = CommandAnswer.complete

    public var synchronizationHandle: SynchronizationHandle
    public var enable: PeriodicReceiveEnable

    public init(synchronizationHandle: SynchronizationHandle, enable: PeriodicReceiveEnable) {
        self.synchronizationHandle = synchronizationHandle
        self.enable = enable
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        synchronizationHandle = SynchronizationHandle(rawValue: try reader.read())
        enable = PeriodicReceiveEnable(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(synchronizationHandle.rawValue)
        packet.write(enable.rawValue)
    }
}
