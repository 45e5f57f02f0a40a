// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth

/// Collects the text that a transfer peripheral sends, and answers each text with one of its own.
class TransferCentral: NSObject {
    var centralManager: CBCentralManager!
    var source: CBPeripheral?
    var transferCharacteristic: CBCharacteristic?
    var answersSent = 0
    let answersWanted = 5
    var data = Data()

    override init() {
        super.init()
        centralManager = CBCentralManager(
            delegate: self, queue: nil, options: [CBCentralManagerOptionShowPowerAlertKey: true])
    }

    private func report(_ line: String) {
        print(line)
        unsafe fflush(stdout)
    }

    private func findSource() {
        let linked = centralManager.retrieveConnectedPeripherals(
            withServices: [TransferService.serviceUUID])
        if let known = linked.last {
            self.source = known
            centralManager.connect(known, options: nil)
        } else {
            centralManager.scanForPeripherals(
                withServices: [TransferService.serviceUUID],
                options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        }
    }

    private func finish() {
        guard let source = source, case .connected = source.state else {
            return
        }
        for service in (source.services ?? [] as [CBService]) {
            for characteristic in (service.characteristics ?? [] as [CBCharacteristic]) {
                if characteristic.uuid == TransferService.characteristicUUID && characteristic.isNotifying {
                    self.source?.setNotifyValue(false, for: characteristic)
                }
            }
        }
        centralManager.cancelPeripheralConnection(source)
    }

    private func sendAnswers() {
        guard let source = source, let transferCharacteristic = transferCharacteristic
        else { return }
        while answersSent < answersWanted && source.canSendWriteWithoutResponse {
            let mtu = source.maximumWriteValueLength(for: .withoutResponse)
            let bytesToCopy: size_t = min(mtu, data.count)
            var octets = [UInt8](data.prefix(bytesToCopy))
            let answer = unsafe Data(bytes: &octets, count: bytesToCopy)
            source.writeValue(answer, for: transferCharacteristic, type: .withoutResponse)
            answersSent += 1
        }
        if answersSent == answersWanted {
            source.setNotifyValue(false, for: transferCharacteristic)
        }
    }
}

extension TransferCentral: CBCentralManagerDelegate {
    internal func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .poweredOn: findSource()
        default: return
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard RSSI.intValue >= -90 else { return }
        if source != peripheral {
            source = peripheral
            report("{\"event\":\"discovered\",\"rssi\":\(RSSI.intValue)}")
            centralManager.connect(peripheral, options: nil)
        }
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        finish()
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        report("{\"event\":\"connected\"}")
        centralManager.stopScan()
        answersSent = 0
        data.removeAll(keepingCapacity: false)
        peripheral.delegate = self
        peripheral.discoverServices([TransferService.serviceUUID])
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        report("{\"event\":\"disconnected\",\"error\":\"\(error?.localizedDescription ?? "none")\"}")
        exit(data.isEmpty ? 1 : 0)
    }
}

extension TransferCentral: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        for service in invalidatedServices where service.uuid == TransferService.serviceUUID {
            peripheral.discoverServices([TransferService.serviceUUID])
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        if error != nil {
            finish()
            return
        }
        guard let peripheralServices = peripheral.services else { return }
        for service in peripheralServices {
            peripheral.discoverCharacteristics([TransferService.characteristicUUID], for: service)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        if error != nil {
            finish()
            return
        }
        guard let serviceCharacteristics = service.characteristics else { return }
        for characteristic in serviceCharacteristics where characteristic.uuid == TransferService.characteristicUUID {
            transferCharacteristic = characteristic
            peripheral.setNotifyValue(true, for: characteristic)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        if error != nil {
            finish()
            return
        }
        guard let characteristicData = characteristic.value,
            let text = String(data: characteristicData, encoding: .utf8)
        else { return }
        if text == "EOM" {
            report("{\"event\":\"text\",\"bytes\":\(data.count)}")
            sendAnswers()
        } else {
            data.append(characteristicData)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
    ) {
        if let error = error {
            report("{\"event\":\"error\",\"message\":\"\(error.localizedDescription)\"}")
            return
        }
        guard characteristic.uuid == TransferService.characteristicUUID else { return }
        if characteristic.isNotifying {
            report("{\"event\":\"notifying\"}")
        } else {
            finish()
        }
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { sendAnswers() }
}
