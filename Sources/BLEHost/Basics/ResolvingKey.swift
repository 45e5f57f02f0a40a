import BLEPackets

/// Resolves the private addresses of a bonded device.
struct ResolvingKey: Equatable {
    var identity: DeviceAddress
    var key: Key128
}
