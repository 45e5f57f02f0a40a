import BLEPackets

/// By which the private addresses of a bonded device are resolved.
struct ResolvingKey: Equatable {
    var identity: DeviceAddress
    var key: Key128
}
