import BLEHost
import BLEPackets

/// What can be done on a link. Those of GATT are carried out in their order.
public enum LinkOperation: Equatable, Sendable {
    /// Ends with `services`.
    case discoverServices
    /// A characteristic's value or a descriptor. Ends with `value`.
    case read(AttributeHandle)
    /// A characteristic's value or a descriptor. Without a response it ends when the controller has the value.
    case write(AttributeHandle, [UInt8], withResponse: Bool)
    /// Values that the device sends for this handle come as `LinkEvent.notified`. Nothing is written to the device: what
    /// it needs for that is an operation of its own.
    case receive(AttributeHandle)
    case stopReceiving(AttributeHandle)
    /// Ends at once if the link is encrypted with a bond.
    case pair
    case updateParameters(ConnectionParameterRequest)
    case readRSSI

    /// Whether it waits for those before it.
    public var isOrdered: Bool {
        switch self {
        case .discoverServices, .read, .write, .receive, .stopReceiving: true
        case .pair, .updateParameters, .readRSSI: false
        }
    }
}

/// What an operation has found.
public enum LinkAnswer: Equatable, Sendable {
    case done
    case services([ServiceContents])
    case value([UInt8])
    case rssi(Int8)
    /// Whether there was a bond to forget.
    case forgotten(Bool)
}
