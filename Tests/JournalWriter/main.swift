import CoreBluetooth

/// Changes what is preserved as fast as it can, so that the journal is being written whenever it is killed.
final class Writer: NSObject, CBPeripheralManagerDelegate {
    private var manager: CBPeripheralManager!
    private var round = 0

    override init() {
        super.init()
        manager = CBPeripheralManager(
            delegate: self, queue: nil, options: [CBPeripheralManagerOptionRestoreIdentifierKey: "writer"])
    }

    private func tell(_ line: String) {
        print(line)
        fflush(nil)
    }

    private func next() {
        round += 1
        manager.stopAdvertising()
        manager.startAdvertising([CBAdvertisementDataLocalNameKey: "\(round)"])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let data = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any] ?? [:]
        tell("{\"event\":\"willRestore\",\"name\":\"\(data[CBAdvertisementDataLocalNameKey] as? String ?? "")\"}")
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        tell("{\"event\":\"state\",\"state\":\"\(peripheral.state)\"}")
        if peripheral.state == .poweredOn { next() }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        tell("{\"event\":\"advertising\",\"name\":\"\(round)\"}")
        next()
    }
}

let writer = Writer()
RunLoop.main.run()
_ = writer
