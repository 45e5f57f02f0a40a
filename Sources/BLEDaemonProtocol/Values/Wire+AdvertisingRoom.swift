import BLEHost
import BLEPackets
import FoundationEssentials

extension WireAdvertisingRoom {
    /// - Parameter operation: the client's number for the advertisement.
    public init(_ room: AdvertisingRoom, operation: OperationID) {
        self.init()
        self.operation = operation.rawValue
        hiddenServices = room.hiddenServices.map { Data($0.wire) }
        hidesName = room.hidesName
    }
}

extension AdvertisingRoom {
    /// - Throws: `WireError.invalidField`.
    public init(_ wire: WireAdvertisingRoom) throws(WireError) {
        self.init()
        hiddenServices = try BluetoothUUID.requested(wire.hiddenServices)
        hidesName = wire.hidesName
    }
}
