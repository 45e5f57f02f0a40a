// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation
import Testing

@testable import CoreBluetooth

/// A delegate that writes down every call, on a queue of its own.
class Probe: NSObject, @unchecked Sendable {
    // @unchecked Sendable is safe because everything but the lines is touched on `queue` alone, the lines under a lock.
    let queue = DispatchQueue(label: "probe")
    private let written = Locked<[String]>([])
    private let ownQueue = DispatchSpecificKey<Bool>()

    override init() {
        super.init()
        queue.setSpecific(key: ownQueue, value: true)
    }

    var lines: [String] { written.current }

    func note(_ line: String) {
        if DispatchQueue.getSpecific(key: ownQueue) != true { written.with { $0.append("wrong queue: \(line)") } }
        written.with { $0.append(line) }
    }

    func clear() { written.with { $0.removeAll() } }

    /// Works with the objects where the delegate is called.
    @discardableResult
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }

    /// Waits for so many lines that begin so, and gives the last of them.
    @discardableResult
    func wait(for beginning: String, count: Int = 1, seconds: Int = 300) async throws -> String {
        var found: [String] { lines.filter { $0.hasPrefix(beginning) } }
        try await waitUntil("\(found.count) of \(count) × “\(beginning)” in \(lines)", seconds: seconds) {
            found.count >= count
        }
        return found[count - 1]
    }

    /// Waits until all that was asked for before has been carried out and told.
    func settle(_ system: LocalSystem) async {
        for _ in 0..<3 {
            await system.barrier()
            await run {}
        }
    }
}

func text(_ error: (any Error)?) -> String {
    guard let error else { return "nil" }
    return "\((error as NSError).domain) \((error as NSError).code)"
}

func hex(_ data: Data?) -> String { data.map { $0.map { String(format: "%02x", $0) }.joined() } ?? "nil" }

/// An app in the central role.
final class CentralProbe: Probe, @unchecked Sendable, CBCentralManagerDelegate, CBPeripheralDelegate {
    let system: LocalSystem
    var manager: CBCentralManager!
    var peripherals: [CBPeripheral] = []
    var advertisements: [[String: Any]] = []
    /// The first one that was found.
    var peripheral: CBPeripheral! { peripherals.first }
    /// Keeps what is discovered.
    var keeps = true
    var onReady: (() -> Void)?
    var onState: ((CBCentralManager) -> Void)?

    init(_ system: LocalSystem, options: [String: Any]? = nil) {
        self.system = system
        super.init()
        CurrentSystem.$override.withValue(system) {
            manager = CBCentralManager(delegate: self, queue: queue, options: options)
        }
    }

    func characteristic(_ uuid: String) -> CBCharacteristic! {
        peripheral.services?.lazy.compactMap { $0.characteristics?.first { $0.uuid == CBUUID(string: uuid) } }.first
    }

    func service(_ uuid: String) -> CBService! { peripheral.services?.first { $0.uuid == CBUUID(string: uuid) } }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        onState?(central)
        note("state \(central.state)")
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        note("willRestore \(dict.keys.sorted())")
        for peripheral in dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? [] {
            peripherals.append(peripheral)
            peripheral.delegate = self
            note("restored \(peripheral.state) \(peripheral.services?.map(\.uuid.uuidString) ?? [])")
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if keeps, !peripherals.contains(where: { $0 === peripheral }) {
            peripherals.append(peripheral)
            peripheral.delegate = self
        }
        advertisements.append(advertisementData)
        note("discovered \(advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? "nil")")
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        note("connected \(peripheral.state)")
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        note("failed \(text(error))")
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        note("disconnected \(text(error)) \(peripheral.state)")
    }

    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        note("connectionEvent \(event)")
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) { note("name \(peripheral.name ?? "nil")") }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        note("modified \(invalidatedServices.map(\.uuid.uuidString))")
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        note("rssi \(RSSI) \(text(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        note("services \(peripheral.services?.map(\.uuid.uuidString) ?? []) \(text(error))")
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {
        note("included \(service.includedServices?.map(\.uuid.uuidString) ?? []) \(text(error))")
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        note(
            "characteristics \(service.uuid.uuidString) \(service.characteristics?.map(\.uuid.uuidString) ?? []) \(text(error))"
        )
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        note("descriptors \(characteristic.descriptors?.map(\.uuid.uuidString) ?? []) \(text(error))")
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        note("value \(characteristic.uuid.uuidString) \(error == nil ? hex(characteristic.value) : text(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        note("descriptorValue \(descriptor.uuid.uuidString) \(descriptor.value ?? "nil") \(text(error))")
    }

    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        note("written \(characteristic.uuid.uuidString) \(text(error))")
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        note("notifying \(characteristic.uuid.uuidString) \(characteristic.isNotifying) \(text(error))")
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        note("ready")
        onReady?()
    }

    let channels = Locked<[CBL2CAPChannel]>([])

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        if let channel { channels.with { $0.append(channel) } }
        note("channel \(channel.map { "\($0.psm)" } ?? "nil") \(text(error))")
    }
}

/// An app in the peripheral role.
final class PeripheralProbe: Probe, @unchecked Sendable, CBPeripheralManagerDelegate {
    let system: LocalSystem
    var manager: CBPeripheralManager!
    var characteristics: [String: CBMutableCharacteristic] = [:]
    var services: [CBMutableService] = []
    var centrals: [CBCentral] = []
    var onRead: (CBPeripheralManager, CBATTRequest) -> Void = { $0.respond(to: $1, withResult: .success) }
    var onWrite: (CBPeripheralManager, [CBATTRequest]) -> Void = { $0.respond(to: $1[0], withResult: .success) }
    var onReady: (() -> Void)?

    init(_ system: LocalSystem, options: [String: Any]? = nil) {
        self.system = system
        super.init()
        CurrentSystem.$override.withValue(system) {
            manager = CBPeripheralManager(delegate: self, queue: queue, options: options)
        }
    }

    /// Publishes one service and advertises it.
    /// - Parameter change: what else is done to the service before.
    func publish(
        _ uuid: String, _ offered: [(String, CBCharacteristicProperties, CBAttributePermissions, Data?)],
        name: String? = "Jelling Peer", change: @escaping @Sendable (CBMutableService) -> Void = { _ in }
    ) async throws {
        try await wait(for: "state poweredOn")
        let offered = UncheckedBox(offered)
        await run { [self] in
            let service = CBMutableService(type: CBUUID(string: uuid), primary: true)
            service.characteristics = offered.value.map { entry in
                let characteristic = CBMutableCharacteristic(
                    type: CBUUID(string: entry.0), properties: entry.1, value: entry.3, permissions: entry.2)
                characteristics[entry.0] = characteristic
                return characteristic
            }
            change(service)
            services.append(service)
            manager.add(service)
        }
        try await wait(for: "added \(uuid) nil")
        await run { [self] in
            var data: [String: Any] = [CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: uuid)]]
            if let name { data[CBAdvertisementDataLocalNameKey] = name }
            manager.startAdvertising(data)
        }
        try await wait(for: "advertising nil true")
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { note("state \(peripheral.state)") }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        note("willRestore \(dict.keys.sorted())")
        services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        for case let characteristic as CBMutableCharacteristic in services.flatMap({ $0.characteristics ?? [] }) {
            characteristics[characteristic.uuid.uuidString] = characteristic
        }
        let advertisement = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any] ?? [:]
        note("restored \(services.map(\.uuid.uuidString)) \(advertisement.keys.sorted())")
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        note("advertising \(text(error)) \(peripheral.isAdvertising)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        note("added \(service.uuid.uuidString) \(text(error))")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        centrals.append(central)
        note("subscribed \(characteristic.uuid.uuidString) \(central.maximumUpdateValueLength)")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        note("unsubscribed \(characteristic.uuid.uuidString)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        note("read \(request.characteristic.uuid.uuidString) \(request.offset)")
        onRead(peripheral, request)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        let texts = requests.map { "\($0.characteristic.uuid.uuidString)@\($0.offset)=\($0.value?.count ?? -1)" }
        note("write \(texts.joined(separator: ","))")
        onWrite(peripheral, requests)
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        note("ready")
        onReady?()
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        note("published \(PSM) \(text(error))")
    }

    let channels = Locked<[CBL2CAPChannel]>([])

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        if let channel { channels.with { $0.append(channel) } }
        note("channel \(channel.map { "\($0.psm)" } ?? "nil") \(text(error))")
    }
}

struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
