// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth

/// A library's delegate: it conforms, and leaves everything else to its subclasses.
open class Layer: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    public private(set) var manager: CBCentralManager!
    /// The service to look for.
    public let service: CBUUID
    var device: CBPeripheral?

    public init(service: CBUUID) {
        self.service = service
        super.init()
        manager = CBCentralManager(delegate: self, queue: nil)
    }

    open func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [service]) }
    }

    public func disconnect() {
        if let device { manager.cancelPeripheralConnection(device) }
    }
}

/// Connects to the first device that has the service.
open class ConnectingLayer: Layer {
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        print("discovered \(peripheral.name ?? "?")")
        device = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        print("connected")
        peripheral.discoverServices([service])
    }
}
