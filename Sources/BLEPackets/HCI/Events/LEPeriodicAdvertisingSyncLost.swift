/// LE Periodic Advertising Sync Lost: a train was not heard for too long (Core 5.4, Vol 4, Part E, 7.7.65.16).
public struct LEPeriodicAdvertisingSyncLost: LEMetaEvent {
    public static let subevent = LESubeventCode.periodicAdvertisingSyncLost

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
