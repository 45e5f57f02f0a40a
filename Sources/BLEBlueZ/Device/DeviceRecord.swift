import BLEPackets

/// What is kept of a device: what people have set, and what is needed to show a bonded device before it is seen again.
struct DeviceRecord: Equatable {
    var name: String?
    var alias: String?
    var isTrusted = false
    var isBlocked = false
    var mayWake: Bool?
    var appearance: UInt16?
    var uuids: [BluetoothUUID] = []

    /// Whether somebody has set something.
    var isWorthKeeping: Bool { alias != nil || isTrusted || isBlocked || mayWake != nil }
}
