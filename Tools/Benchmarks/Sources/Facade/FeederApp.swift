import CoreBluetooth
import Glibc

/// Takes the notifications of `Feeder` as its standard input asks for them, and answers each line with a line of JSON:
/// `stream OCTETS LENGTH PART` or `latency COUNT MICROSECONDS`.
final class FeederApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // @unchecked Sendable holds because everything is used on its queue only.
    private let queue = DispatchQueue(label: "app")
    private var manager: CBCentralManager!
    private var peer: CBPeripheral?
    private var control: CBCharacteristic?
    private var task = Task.none

    private enum Task {
        case none
        case stream(octets: Int, length: Int, part: Int, received: Int, asked: Int, count: Int, began: UInt64)
        case latency(count: Int, [UInt64])
    }

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    private static func number(_ index: Int) -> CBUUID {
        CBUUID(string: "6B7A000\(String(index, radix: 16))-9D1C-4F5E-8A2B-3C4D5E6F7081")
    }

    // MARK: Getting there

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi number: NSNumber
    ) {
        guard peer == nil else { return }
        central.stopScan()
        peer = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([Self.number(1)])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let service = peripheral.services?.first {
            peripheral.discoverCharacteristics([Self.number(8), Self.number(9)], for: service)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        control = service.characteristics?.first { $0.uuid == Self.number(8) }
        if let values = service.characteristics?.first(where: { $0.uuid == Self.number(9) }) {
            peripheral.setNotifyValue(true, for: values)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        say(#"{"event":"ready"}"#)
        DispatchQueue(label: "input").async {
            while let line = readLine() { self.queue.async { self.begin(line.split(separator: " ")) } }
            exit(0)
        }
    }

    private func say(_ line: String) {
        // Another thread waits for standard input, and has its lock: `fflush(nil)` would wait for that.
        let octets = Array((line + "\n").utf8)
        _ = write(STDOUT_FILENO, octets, octets.count)
    }

    // MARK: Tasks

    private func begin(_ words: [Substring]) {
        let numbers = words.dropFirst().compactMap { Int($0) }
        if words.first == "stream", numbers.count == 3 {
            task = .stream(
                octets: numbers[0], length: numbers[1], part: numbers[2], received: 0, asked: 0, count: 0,
                began: SocketController.nanoseconds)
            goOn()
        } else if words.first == "latency", numbers.count == 2 {
            task = .latency(count: numbers[0], [])
            ask([2], UInt32(numbers[0]), UInt32(numbers[1]))
        }
    }

    private func goOn() {
        guard case .stream(let octets, let length, let part, let received, let asked, let count, let began) = task
        else { return }
        let next = min(part, octets - asked)
        guard next > 0 else {
            let time = Double(SocketController.nanoseconds - began) / 1e6
            task = .none
            return say(#"{"event":"streamed","ms":\#(time),"octets":\#(received),"notifications":\#(count)}"#)
        }
        task = .stream(
            octets: octets, length: length, part: part, received: received, asked: asked + next, count: count,
            began: began)
        ask([1], UInt32(next), UInt16(length))
    }

    private func ask<Number: FixedWidthInteger>(_ code: [UInt8], _ first: UInt32, _ second: Number) {
        guard let control else { return }
        let request =
            code + withUnsafeBytes(of: first.littleEndian) { [UInt8]($0) }
            + withUnsafeBytes(of: second.littleEndian) { [UInt8]($0) }
        peer?.writeValue(Data(request), for: control, type: .withResponse)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        guard let value = characteristic.value else { return }
        switch task {
        case .none: break
        case .stream(let octets, let length, let part, let received, let asked, let count, let began):
            task = .stream(
                octets: octets, length: length, part: part, received: received + value.count, asked: asked,
                count: count + 1, began: began)
            if received + value.count == asked { goOn() }
        case .latency(let count, var latencies):
            let now = SocketController.nanoseconds
            task = .none
            latencies.append(now - value.prefix(8).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
            guard latencies.count == count else {
                task = .latency(count: count, latencies)
                return
            }
            latencies.sort()
            let (median, most) = (latencies[count / 2], latencies[count * 99 / 100])
            say(#"{"event":"latencies","median":\#(median),"most":\#(most)}"#)
        }
    }
}
