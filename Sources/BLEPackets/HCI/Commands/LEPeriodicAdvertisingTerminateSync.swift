/// LE Periodic Advertising Terminate Sync: no longer follows a train (Core 5.4, Vol 4, Part E, 7.8.69).
public struct LEPeriodicAdvertisingTerminateSync: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0046)
    public static let answer = CommandAnswer.complete

    public var synchronizationHandle: SynchronizationHandle

    public init(synchronizationHandle: SynchronizationHandle) {
        self.synchronizationHandle = synchronizationHandle
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        synchronizationHandle = SynchronizationHandle(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(synchronizationHandle.rawValue)
    }
}
