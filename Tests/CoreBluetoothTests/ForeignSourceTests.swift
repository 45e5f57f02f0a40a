// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEAppLifecycle
import CoreBluetooth.CBCentralManager
import CoreBluetooth.CBPeripheral
import CoreBluetooth.CBUUID
import Foundation
import Testing

@testable import CoreBluetooth

/// What foreign sources use besides the classes themselves.
@Suite("What libraries for Apple's system expect")
struct ForeignSourceTests {
    private let system = ScriptedSystem()

    private final class Delegate: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
        // @unchecked Sendable is safe because the list is touched on the manager's queue alone.
        var calls: [String] = []
        var onState: ((CBCentralManager) -> Void)?
        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            calls.append("\(central.state)")
            if calls.count < 50 { onState?(central) }
        }
        func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?) { calls.append("rssi") }
    }

    private func manager(_ delegate: Delegate?) -> CBCentralManager {
        CurrentSystem.$override.withValue(system) {
            CBCentralManager(delegate: delegate, queue: DispatchQueue(label: "manager"))
        }
    }

    private func settle(_ manager: CBCentralManager) {
        for _ in 0..<3 { manager.channel.queue.sync {} }
    }

    @Test("setting the delegate does not report the state again, not even from within the call that reported it")
    func delegateSetAgain() {
        let delegate = Delegate()
        delegate.onState = { $0.delegate = delegate }
        let manager = manager(delegate)
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        settle(manager)
        manager.delegate = delegate
        let other = Delegate()
        manager.delegate = other
        manager.delegate = delegate
        settle(manager)
        #expect(delegate.calls == ["poweredOn"] && other.calls.isEmpty)
        system.deliver(.stateChanged(.poweredOff, .allowedAlways))
        settle(manager)
        #expect(delegate.calls == ["poweredOn", "poweredOff"])
    }

    @Test("the first delegate gets the state, once, even if it is set after the first state")
    func lateDelegate() {
        let manager = manager(nil)
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        settle(manager)
        let delegate = Delegate()
        manager.delegate = delegate
        manager.delegate = delegate
        settle(manager)
        #expect(delegate.calls == ["poweredOn"])
    }

    @Test("names of Core Foundation and Apple's other initializers")
    func names() {
        let span: CFTimeInterval = 1
        #expect(abs(CFAbsoluteTimeGetCurrent() - Date().timeIntervalSinceReferenceDate) < span)
        #expect(CBUUID().data == Data(count: 16))
        let text = "71DA3FD1-7E10-41C1-B16F-4430B506CDE7"
        #expect(CFUUIDCreateFromString(nil, text).map { CBUUID(cfuuid: $0) } == CBUUID(string: text))
        #expect(CFUUIDCreateFromString(nil, "x") == nil && CFUUIDCreate(nil) != nil)
        #expect(CBUUID(cfuuid: CFUUIDCreate(nil)) != CBUUID(cfuuid: CFUUIDCreate(nil)))
        let queue: dispatch_queue_t? = DispatchQueue(label: "older")
        #expect(queue?.label == "older")
    }

    @Test(
        "a UUID describes itself by its assigned name, but not by a company's",
        arguments: [
            ("180D", "Heart Rate"), ("2A19", "Battery Level"), ("2A29", "Manufacturer Name String"),
            ("FFF0", "FFF0"), ("FEAA", "FEAA"),
            ("71DA3FD1-7E10-41C1-B16F-4430B506CDE7", "71DA3FD1-7E10-41C1-B16F-4430B506CDE7"),
        ])
    func descriptions(text: String, name: String) {
        #expect("\(CBUUID(string: text))" == name)
        #expect(CBUUID(string: text).uuidString == text)
    }

    @Test("objects are arguments of formats, and have properties by name")
    func keys() {
        let manager = manager(nil)
        let identifier = PeerIdentifier(high: 1, low: 2)
        let peripheral = CBPeripheral(
            PeripheralDescription(identifier: identifier, name: "Belt"), channel: manager.channel, table: manager.known)
        #expect(String(format: "%@ at %d", peripheral, 3) == "\(peripheral) at 3")
        let many = (0..<300).map { _ in String(format: "%@ %@", peripheral, CBUUID(string: "180D")) }
        #expect(Set(many) == ["\(peripheral) Heart Rate"])
        #expect(peripheral.value(forKey: "identifier") as? UUID == peripheral.identifier)
        #expect((peripheral.value(forKey: "identifier") as! NSUUID) as UUID == peripheral.identifier)
        #expect(peripheral.value(forKey: "name") as? String == "Belt")
        #expect(peripheral.value(forKey: "state") as? Int == 0)
        #expect((peripheral.value(forKey: "mtuLength") as! NSNumber).intValue == 23)
        #expect(peripheral.value(forKey: "nonsense") == nil)
        #expect(manager.value(forKey: "isScanning") as? Bool == false)
    }

    @Test("services and descriptors have properties by name")
    func keysOfAttributes() {
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        let included = CBMutableService(type: CBUUID(string: "180F"), primary: false)
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: "2A37"), properties: .notify, value: nil, permissions: .readable)
        let descriptor = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "pulse")
        characteristic.descriptors = [descriptor]
        #expect(service.value(forKey: "characteristics") == nil && service.value(forKey: "peripheral") == nil)
        service.characteristics = [characteristic]
        service.includedServices = [included]
        #expect(service.value(forKey: "UUID") as? CBUUID == CBUUID(string: "180D"))
        #expect(service.value(forKey: "isPrimary") as? Bool == true)
        #expect(included.value(forKey: "primary") as? Bool == false)
        #expect((service.value(forKey: "characteristics") as? [CBCharacteristic])?.first === characteristic)
        #expect((service.value(forKey: "includedServices") as? [CBService])?.first === included)
        #expect(descriptor.value(forKey: "UUID") as? CBUUID == CBUUID(string: "2901"))
        #expect(descriptor.value(forKey: "value") as? String == "pulse")
        #expect(descriptor.value(forKey: "characteristic") as? CBCharacteristic === characteristic)
        #expect(descriptor.value(forKey: "nonsense") == nil && service.value(forKey: "nonsense") == nil)
    }

    @Test("a peripheral's state can be followed without key-value observing, and its RSSI by the older method")
    func states() async throws {
        let delegate = Delegate()
        let manager = manager(delegate)
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        let description = PeripheralDescription(identifier: PeerIdentifier(high: 1, low: 2))
        var peripheral: CBPeripheral? = manager.known.object(of: description.identifier) {
            CBPeripheral(description, channel: manager.channel, table: manager.known)
        }.0
        peripheral?.delegate = delegate
        let states = try #require(peripheral).states
        settle(manager)
        manager.connect(try #require(peripheral))
        system.deliver(.connected(description, maximumWriteLength: WriteLimits()))
        system.deliver(.peripheral(description.identifier, .rssiRead(rssi: -52, nil)))
        settle(manager)
        #expect(peripheral?.value(forKey: "RSSI") as? NSNumber == -52)
        #expect(delegate.calls.last == "rssi")
        system.deliver(.disconnected(description.identifier, nil, microseconds: 0, isReconnecting: false))
        settle(manager)
        peripheral = nil
        var seen: [CBPeripheralState] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.disconnected, .connecting, .connected, .disconnected])
    }

    @Test("an ATT error without a name is still one, whatever made it", arguments: [0x12, 0x80, 0x9F, 0xFF])
    func errors(octet: Int) throws {
        let foreign = NSError(domain: CBATTErrorDomain, code: octet)
        #expect(CBATTError(_nsError: foreign).code.rawValue == octet)
        #expect(CBATTError(foreign)?.code == CBATTError.Code(rawValue: octet))
        let told = ClientError.att(code: UInt8(octet)).publicError
        let error = try #require(told as? CBATTError)
        #expect(error.code == .unnamed(octet) && error.errorCode == octet && (told as NSError).code == octet)
        #expect((told as NSError).domain == CBATTErrorDomain && error.localizedDescription == "Unknown ATT error.")
        switch told {
        case CBATTError.insufficientEncryption: Issue.record("not this one")
        default: break
        }
        #expect(CBError(_nsError: NSError(domain: CBErrorDomain, code: 100 + octet)).code == .unknown)
    }

    @Test("every named octet stays what it was")
    func named() {
        for octet in 0x00...0x11 {
            let code = CBATTError.Code(rawValue: octet)
            #expect(code?.rawValue == octet)
            if case .unnamed? = code { Issue.record("\(octet) has a name") }
        }
    }
}
