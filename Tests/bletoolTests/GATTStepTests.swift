import BLE
import BLEScripts
import Testing

@testable import bletool

@Suite("Steps over a connection")
struct GATTStepTests {
    private static let handle = AttributeTarget.handle(AttributeHandle(rawValue: 3))
    private static let type = AttributeTarget.uuid(BluetoothUUID(UInt16(0x2A19)), service: nil)

    @Test("what names a handle is not repeated when the device has changed its services: it may be another attribute's")
    func handles() {
        let named: [GATTStep] = [
            .read(Self.handle), .readTogether([Self.type, Self.handle]), .write(Self.handle, [1]),
            .writeReliably([.init(target: Self.handle, value: [1])]), .subscribe(Self.handle),
        ]
        #expect(named.allSatisfy { $0.namesHandles })
        let others: [GATTStep] = [
            .read(Self.type), .readTogether([Self.type, Self.type]), .write(Self.type, [1]),
            .writeReliably([.init(target: Self.type, value: [1])]), .subscribe(Self.type), .discover(service: nil),
            .wait(count: 1, duration: nil),
        ]
        #expect(others.allSatisfy { !$0.namesHandles })
    }
}
