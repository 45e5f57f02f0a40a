import CoreBluetooth

/// Sends a text to every subscriber, in pieces that fit into one update, and `EOM` at the end.
class TransferPeripheral: NSObject {
    var peripheralManager: CBPeripheralManager!
    var characteristic: CBMutableCharacteristic?
    var reader: CBCentral?
    var message = Data()
    var position: Int = 0
    let text: String
    private var owesEnd = false

    init(text: String) {
        self.text = text
        super.init()
        peripheralManager = CBPeripheralManager(
            delegate: self, queue: nil, options: [CBPeripheralManagerOptionShowPowerAlertKey: true])
    }

    private func report(_ line: String) {
        print(line)
        unsafe fflush(stdout)
    }

    private func sendMore() {
        guard let characteristic = characteristic else { return }
        if owesEnd {
            let isSent = peripheralManager.updateValue(
                "EOM".data(using: .utf8)!, for: characteristic, onSubscribedCentrals: nil)
            if isSent {
                owesEnd = false
                report("{\"event\":\"sent\",\"bytes\":\(message.count)}")
            }
            return
        }
        if position >= message.count { return }
        var isSent = true
        while isSent {
            var count = message.count - position
            if let mtu = reader?.maximumUpdateValueLength {
                count = min(count, mtu)
            }
            let chunk = message.subdata(in: position..<(position + count))
            isSent = peripheralManager.updateValue(chunk, for: characteristic, onSubscribedCentrals: nil)
            if !isSent { return }
            position += count
            if position >= message.count {
                owesEnd = true
                let isEndSent = peripheralManager.updateValue(
                    "EOM".data(using: .utf8)!, for: characteristic, onSubscribedCentrals: nil)
                if isEndSent {
                    owesEnd = false
                    report("{\"event\":\"sent\",\"bytes\":\(message.count)}")
                }
                return
            }
        }
    }

    private func publish() {
        let characteristic = CBMutableCharacteristic(
            type: TransferService.characteristicUUID, properties: [.notify, .writeWithoutResponse], value: nil,
            permissions: [.readable, .writeable])
        let service = CBMutableService(type: TransferService.serviceUUID, primary: true)
        service.characteristics = [characteristic]
        peripheralManager.add(service)
        self.characteristic = characteristic
    }
}

extension TransferPeripheral: CBPeripheralManagerDelegate {
    internal func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        switch peripheral.state {
        case .poweredOn:
            publish()
        case .poweredOff, .resetting, .unauthorized, .unknown, .unsupported:
            return
        @unknown default:
            return
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
        if let error = error {
            report("{\"event\":\"error\",\"message\":\"\(error.localizedDescription)\"}")
            return
        }
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [TransferService.serviceUUID]])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
        report("{\"event\":\"advertising\",\"error\":\"\(error?.localizedDescription ?? "none")\"}")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        report("{\"event\":\"subscribed\",\"length\":\(central.maximumUpdateValueLength)}")
        message = text.data(using: .utf8)!
        position = 0
        reader = central
        sendMore()
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        report("{\"event\":\"unsubscribed\"}")
        reader = nil
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        sendMore()
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        for request in requests {
            guard let octets = request.value,
                let text = String(data: octets, encoding: .utf8)
            else { continue }
            report("{\"event\":\"received\",\"text\":\"\(text)\"}")
        }
    }
}
