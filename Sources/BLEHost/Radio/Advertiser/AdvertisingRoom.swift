import BLEPackets

/// What of a client's advertisement finds no room beside those of other users.
///
/// Services without room are still in the overflow area, if the engine sends one (SPEC ADV-2).
public struct AdvertisingRoom: Equatable, Sendable {
    /// Services that are not visible.
    public var hiddenServices: [BluetoothUUID] = []
    /// Whether the name is not sent.
    public var hidesName = false

    /// Everything has its room.
    public init() {}
}
