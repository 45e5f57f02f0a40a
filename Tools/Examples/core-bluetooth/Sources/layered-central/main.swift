import CoreBluetooth
import LayeredBluetooth

/// Subscribes to all that a service notifies, and adds to the library's delegate what it does not do.
class SubscribingLayer: ConnectingLayer {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?
    ) {
        for characteristic in service.characteristics ?? [] where characteristic.properties.contains(.notify) {
            peripheral.setNotifyValue(true, for: characteristic)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
    ) {
        print("subscribed \(characteristic.uuid.uuidString)")
    }
}

/// Ends after a number of values.
final class CountingLayer<Value>: SubscribingLayer {
    private var values: [Value] = []
    private let read: (Data) -> Value

    init(service: CBUUID, read: @escaping (Data) -> Value) {
        self.read = read
        super.init(service: service)
    }
}

extension CountingLayer {
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        guard let data = characteristic.value else { return }
        values.append(read(data))
        print("value \(values.count)")
        if values.count == 2 { disconnect() }
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        print("disconnected")
        exit(0)
    }
}

let layer = CountingLayer(service: CBUUID(string: "180D")) { $0.count }
RunLoop.main.run()
