import BLEPackets
import Testing

@testable import BLEHost

@Suite("What a scan is for")
struct ScanFilterTests {
    /// Whether a request matches a device with this advertisement.
    private func matches(_ request: ScanRequest, _ advertisement: [UInt8]) -> Bool {
        var table = DeviceTable(capacity: 1, maximumAge: .seconds(60))
        let key = DeviceTable.Key(HostRig.peer(1), advertisingSet: 0xFF)
        guard case .added(let slot) = table.slot(for: key, at: .zero) else { return false }
        table[slot].advertisement = advertisement
        return ScanFilter(request).matches(table[slot])
    }

    private func uuid(_ generator: inout SplitMix) -> BluetoothUUID {
        BluetoothUUID(UInt16.random(in: 0...2000, using: &generator))
    }

    private func uuids(_ count: Int, _ generator: inout SplitMix) -> [BluetoothUUID] {
        var uuids: [BluetoothUUID] = []
        for _ in 0..<count { uuids.append(uuid(&generator)) }
        return uuids
    }

    /// A structure with 16-bit UUIDs.
    private func list(_ uuids: [BluetoothUUID], type: UInt8) -> [UInt8] {
        var packet = PacketWriter()
        for uuid in uuids { uuid.encode(into: &packet) }
        return [UInt8(packet.bytes.count + 1), type] + packet.bytes
    }

    @Test(
        "among hundreds of services, each matches as it would alone: shown, solicited or hashed (SPEC CEN-4, 3.6)",
        arguments: [1, 2, 9, 40, 512])
    func manyServices(count: Int) {
        var generator = SplitMix(state: UInt64(count))
        var matched = 0
        for round in 0..<200 {
            let wanted = uuids(count, &generator)
            var request = ScanRequest(serviceUUIDs: wanted)
            if round % 3 == 0 { request.solicitedServiceUUIDs = uuids(count, &generator) }
            // One in two is a device of a wanted service.
            let other = round % 2 == 0 ? wanted[Int.random(in: 0..<count, using: &generator)] : uuid(&generator)
            let (shown, solicited) = (uuids(2, &generator), uuids(2, &generator) + (round % 4 == 0 ? [other] : []))
            let area = OverflowArea(hashing: round % 5 == 0 ? [] : [other])
            let advertisement =
                list(shown, type: 0x03) + list(solicited, type: 0x14) + [20, 0xFF, 0x4C, 0x00, 0x01] + area.mask
            let isMatch =
                shown.contains { wanted.contains($0) }
                || solicited.contains { request.solicitedServiceUUIDs?.contains($0) ?? false }
                || wanted.contains { area.contains($0) }
            #expect(matches(request, advertisement) == isMatch)
            if isMatch { matched += 1 }
        }
        #expect(matched > 0 && (count > 40 || matched < 200))
    }

    @Test("filters select alike if they name the same, whatever else their scans are like")
    func selections() {
        let (one, other) = (BluetoothUUID(UInt16(0x180D)), BluetoothUUID(UInt16(0x180F)))
        let requests = [
            ScanRequest(serviceUUIDs: [one]), ScanRequest(serviceUUIDs: [other]),
            ScanRequest(serviceUUIDs: [one, other]), ScanRequest(), ScanRequest(name: "A"), ScanRequest(name: "B"),
            ScanRequest(address: HostRig.peer(1)),
        ]
        for (place, request) in requests.enumerated() {
            for (otherPlace, other) in requests.enumerated() {
                #expect(ScanFilter(request).selects(like: ScanFilter(other)) == (place == otherPlace))
            }
            var changed = request
            changed.allowsDuplicates = true
            changed.isInBackground = true
            #expect(ScanFilter(request).selects(like: ScanFilter(changed)))
        }
    }
}
