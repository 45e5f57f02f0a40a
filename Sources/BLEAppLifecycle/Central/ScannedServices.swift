import BLEPackets

/// The services that an app scans for. There may be hundreds, and thousands of packets a second: which bit each has in
/// an overflow area (SPEC 3.2) is computed once.
struct ScannedServices: Equatable {
    private let uuids: [BluetoothUUID]
    /// In the order of the UUIDs.
    private let bits: [UInt8]
    private let area: OverflowArea

    init(_ uuids: [BluetoothUUID]) {
        self.uuids = uuids
        bits = uuids.map { UInt8(OverflowArea.bit(of: $0)) }
        area = OverflowArea(hashing: uuids)
    }

    /// Whether one of them may be in an overflow area.
    func mayBe(in other: OverflowArea) -> Bool { area.intersects(other) }

    /// Those that may be in an overflow area and are not among others, in the order of the scan (SPEC 3.6).
    func hidden(in other: OverflowArea, besides visible: Set<BluetoothUUID>) -> [BluetoothUUID] {
        var hidden: [BluetoothUUID] = []
        for place in uuids.indices where other.contains(bit: Int(bits[place])) && !visible.contains(uuids[place]) {
            hidden.append(uuids[place])
        }
        return hidden
    }
}
