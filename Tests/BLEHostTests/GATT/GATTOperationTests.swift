import BLEMessages
import BLEPackets
import Testing

@testable import BLEHost

@Suite("GATT operations")
struct GATTOperationTests {
    static let operations: [GATTOperation] = [
        .exchangeMTU(preferred: 517), .discoverServices(uuids: []),
        .discoverServices(uuids: [BluetoothUUID(UInt16(0x180D)), BluetoothUUID(high: 1, low: 2)]),
        .discoverSecondaryServices, .discoverIncludedServices(.init(1, 4)),
        .discoverCharacteristics(.all, uuids: [BluetoothUUID(UInt16(0x2A37))]), .discoverDescriptors(.init(3, 4)),
        .read(3), .readLong(3, offset: 9), .readUsingUUID(BluetoothUUID(UInt16(0x2A00)), .all),
        .readMultiple([1, 2]), .readMultipleVariable([1, 2]), .write(3, value: [1, 2]), .writeLong(3, value: []),
        .reliableWrite([.init(handle: 1, value: [1]), .init(handle: 2, value: [])]), .writeCommand(3, value: [9]),
        .subscribe(3, configuration: 4, mode: .indications), .unsubscribe(3),
    ]

    @Test("a recorded operation is the same when it is read back", arguments: operations)
    func recorded(operation: GATTOperation) throws {
        #expect(try operation.readBack() == operation)
    }

    @Test("a recording with a malformed UUID is refused")
    func brokenUUID() {
        #expect(throws: (any Error).self) {
            try GATTOperation(text: #"{"discover_services":{"uuids":["18z0"]}}"#)
        }
    }
}
