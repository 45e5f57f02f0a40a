// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEPackets
import Foundation
import Testing

@testable import BLEAppLifecycle
@testable import CoreBluetooth

/// What a peripheral manager asks the system for, and what its delegate makes of what the system tells.
@Suite("What peripheral managers ask and tell")
struct PeripheralRequestTests {
    private let system = ScriptedSystem()
    private static let heart = BluetoothUUID(UInt16(0x180D))
    private static let remote = CentralDescription(
        identifier: PeerIdentifier(high: 1, low: 2), maximumUpdateLength: 100)
    private static let second = CentralDescription(
        identifier: PeerIdentifier(high: 3, low: 4), maximumUpdateLength: 20)

    private func make(_ options: [String: Any]? = nil) -> Listener {
        let listener = Listener()
        listener.manager = CurrentSystem.$override.withValue(system) {
            CBPeripheralManager(delegate: listener, queue: listener.queue, options: options)
        }
        return listener
    }

    /// A manager that has been told that it is on.
    private func powered() -> Listener {
        let listener = make()
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        listener.settle()
        return listener
    }

    /// A manager that has published one service with one dynamic characteristic, with nothing asked for since.
    private func published() -> (Listener, CBMutableCharacteristic) {
        let listener = powered()
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: "2A37"), properties: [.read, .write, .notify], value: nil,
            permissions: [.readable, .writeable])
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        service.characteristics = [characteristic]
        listener.manager.add(service)
        listener.settle()
        for case .peripheral(.addService(let service)) in system.takeRequests() {
            system.deliver(.serviceAdded(service.id, nil))
        }
        listener.settle()
        #expect(listener.calls == ["state poweredOn", "added 180D nil"])
        listener.forget()
        return (listener, characteristic)
    }

    private func id(_ characteristic: CBMutableCharacteristic) -> LocalAttributeID {
        characteristic.publication.current?.id ?? LocalAttributeID(rawValue: 0)
    }

    @Test("a peripheral manager reports each state after it was made, on the main queue if none is given (SPEC PER-1)")
    func states() async throws {
        let listener = make([
            CBPeripheralManagerOptionRestoreIdentifierKey: "door",
            CBPeripheralManagerOptionShowPowerAlertKey: true,
        ])
        #expect(
            system.takeRequests() == [
                .createPeripheral(ManagerOptions(restoreIdentifier: "door", showsPowerAlert: true))
            ])
        #expect(listener.manager.state == .unknown && listener.calls.isEmpty)
        for state in [ManagerState.poweredOff, .poweredOn] { system.deliver(.stateChanged(state, .allowedAlways)) }
        listener.settle()
        #expect(listener.calls == ["state poweredOff", "state poweredOn"])

        let onMain = Listener()
        onMain.manager = CurrentSystem.$override.withValue(system) { CBPeripheralManager(delegate: onMain, queue: nil) }
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        try await waitUntil("a call on the main queue") { onMain.wasOnMain.current }
    }

    @Test("what the app says about the overflow area holds for the managers that it creates afterwards (SPEC 3.6)")
    func overflowArea() {
        let app = CBApplication(system: { [system] in system })
        #expect(app.overflowArea == .on)
        for area in [CBOverflowArea.off, .company(0xFFFF), .on] {
            app.overflowArea = area
            #expect(app.overflowArea == area)
            _ = make()
            #expect(system.takeRequests().first == .createPeripheral(ManagerOptions(overflow: OverflowSetting(area))))
        }
    }

    @Test(
        "a service is published with all that is in it, the characteristics that it was given among it (SPEC PER-2, PER-6, MOD-10, MOD-11)"
    )
    func publishes() throws {
        let listener = powered()
        listener.forget()
        let cached = CBMutableCharacteristic(
            type: CBUUID(string: "2A38"), properties: .read, value: Data([1]), permissions: .readable)
        let secret = CBMutableCharacteristic(
            type: CBUUID(string: "2A37"), properties: [.read, .notifyEncryptionRequired, .indicateEncryptionRequired],
            value: nil, permissions: [.readEncryptionRequired, .writeEncryptionRequired])
        secret.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Beats")]
        let inner = CBMutableService(type: CBUUID(string: "180F"), primary: false)
        let outer = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        outer.characteristics = [cached, secret]
        outer.includedServices = [inner]
        listener.manager.add(inner)
        listener.manager.add(outer)
        var services: [LocalService] = []
        for case .peripheral(.addService(let service)) in system.takeRequests() { services.append(service) }
        try #require(services.count == 2)
        #expect(services.map(\.isPrimary) == [false, true])
        #expect(services[1].includedServices == [services[0].id])
        let characteristics = services[1].characteristics
        #expect(characteristics.map(\.uuid) == [0x2A38, 0x2A37].map { BluetoothUUID(UInt16($0)) })
        #expect(characteristics.map(\.properties) == [0x02, 0x302])
        #expect(characteristics.map(\.permissions) == [0x01, 0x0C])
        #expect(characteristics.map(\.value) == [[1], nil])
        #expect(characteristics[1].descriptors.map(\.value) == [Array("Beats".utf8)])

        system.deliver(.serviceAdded(services[0].id, nil))
        system.deliver(.serviceAdded(services[1].id, .coreBluetooth(.uuidNotAllowed)))
        listener.settle()
        #expect(listener.calls == ["added 180F nil", "added 180D CBErrorDomain 8"])
    }

    @Test("requests below poweredOn change nothing, neither here nor there (SPEC 2.4)")
    func belowPoweredOn() {
        let listener = make()
        let service = CBMutableService(type: CBUUID(string: "180F"), primary: true)
        _ = system.takeRequests()
        listener.manager.add(service)
        #expect(system.takeRequests().isEmpty && !service.isPublished)
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        listener.settle()
        listener.manager.add(service)
        #expect(system.takeRequests().count == 1 && service.isPublished)
        system.deliver(.advertisingStarted(nil))
        system.deliver(.stateChanged(.poweredOff, .allowedAlways))
        listener.settle()
        listener.manager.remove(service)
        listener.manager.removeAllServices()
        listener.manager.stopAdvertising()
        #expect(system.takeRequests().isEmpty && service.isPublished && listener.manager.isAdvertising)
        let line = "API MISUSE: <CBPeripheralManager> can only accept this command while in the powered on state"
        #expect(system.logs == [String](repeating: line, count: 4))
    }

    @Test(
        "name and services are advertised, other keys are passed on to be refused, and stopping stops (SPEC PER-8, PER-9, PER-10, PER-12)"
    )
    func advertises() {
        let (listener, _) = published()
        listener.manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Heart", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
        ])
        system.deliver(.advertisingStarted(nil))
        listener.settle()
        #expect(listener.manager.isAdvertising)
        listener.manager.stopAdvertising()
        #expect(!listener.manager.isAdvertising)
        let keys = [
            CBAdvertisementDataIsConnectable, CBAdvertisementDataManufacturerDataKey,
            CBAdvertisementDataOverflowServiceUUIDsKey, CBAdvertisementDataServiceDataKey,
            CBAdvertisementDataSolicitedServiceUUIDsKey, CBAdvertisementDataTxPowerLevelKey, "mine",
        ]
        for key in keys { listener.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "Heart", key: 1]) }
        system.deliver(.advertisingStarted(.coreBluetooth(.invalidParameters)))
        listener.settle()
        #expect(!listener.manager.isAdvertising)
        #expect(listener.calls == ["advertising nil", "advertising CBErrorDomain 1"])
        #expect(
            system.takeRequests()
                == .peripheral(
                    [
                        .startAdvertising(AdvertisementRequest(localName: "Heart", serviceUUIDs: [Self.heart])),
                        .stopAdvertising,
                    ] + keys.map { .startAdvertising(AdvertisementRequest(localName: "Heart", unsupportedKeys: [$0])) })
        )
    }

    @Test(
        "a read is asked with its central, characteristic and offset; the answer is the app's value and code (SPEC PER-13, PER-15, PER-16)"
    )
    func reads() throws {
        let (listener, characteristic) = published()
        for number in 1...2 {
            system.deliver(
                .readRequest(
                    CentralReadRequest(
                        id: ATTRequestID(rawValue: UInt64(number)), central: Self.remote,
                        characteristic: id(characteristic),
                        offset: number)))
        }
        listener.settle()
        try #require(listener.requests.count == 2)
        #expect(listener.requests.allSatisfy { $0.characteristic === characteristic && $0.value == nil })
        #expect(
            listener.requests.map(\.central.identifier) == [UUID(Self.remote.identifier), UUID(Self.remote.identifier)])
        #expect(listener.requests.map(\.offset) == [1, 2])
        listener.requests[0].value = Data([7, 8])
        listener.manager.respond(to: listener.requests[0], withResult: .success)
        listener.requests[1].value = Data([9])
        listener.manager.respond(to: listener.requests[1], withResult: .invalidOffset)
        #expect(
            system.takeRequests()
                == .peripheral([
                    .respond(ATTRequestID(rawValue: 1), code: 0, value: [7, 8]),
                    .respond(ATTRequestID(rawValue: 2), code: 7, value: []),
                ]))
    }

    @Test(
        "writes are one array with all values and offsets, answered by its first; a stranger among them refuses all (SPEC PER-17, PER-18, PER-19)"
    )
    func writes() throws {
        let (listener, characteristic) = published()
        func group(_ number: UInt64, _ last: LocalAttributeID) -> ClientEvent {
            .writeRequests(
                CentralWriteRequests(
                    id: ATTRequestID(rawValue: number), central: Self.remote,
                    writes: [
                        .init(characteristic: id(characteristic), offset: 0, value: [1, 2]),
                        .init(characteristic: last, offset: 2, value: [3]),
                    ]))
        }
        system.deliver(group(1, id(characteristic)))
        listener.settle()
        #expect(listener.calls == ["write 2"])
        #expect(listener.requests.map(\.offset) == [0, 2])
        #expect(listener.requests.map(\.value) == [Data([1, 2]), Data([3])])
        listener.manager.respond(to: try #require(listener.requests.first), withResult: .insufficientResources)
        #expect(system.takeRequests() == .peripheral([.respond(ATTRequestID(rawValue: 1), code: 17, value: [])]))
        listener.forget()
        system.deliver(group(2, LocalAttributeID(rawValue: 99)))
        listener.settle()
        #expect(listener.calls.isEmpty)
        #expect(system.takeRequests() == .peripheral([.respond(ATTRequestID(rawValue: 2), code: 14, value: [])]))
    }

    @Test(
        "an update is for all or for those named; the result says whether it was accepted, and room is reported (SPEC PER-20, PER-21, PER-22)"
    )
    func updates() {
        let (listener, characteristic) = published()
        for central in [Self.remote, Self.second] {
            system.deliver(.subscribed(central, characteristic: id(characteristic)))
        }
        listener.settle()
        #expect(listener.centrals.map(\.maximumUpdateValueLength) == [100, 20])
        #expect(characteristic.subscribedCentrals == listener.centrals)
        system.answer { request in
            guard case .peripheral(.updateValue(let query, _, let value, _)) = request else { return nil }
            return .updateQueued(query, value != [2])
        }
        #expect(listener.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
        #expect(
            !listener.manager.updateValue(
                Data([2]), for: characteristic, onSubscribedCentrals: [listener.centrals[1]]))
        let query = QueryID(rawValue: 1)
        #expect(
            system.takeRequests()
                == .peripheral([
                    .updateValue(query, id(characteristic), value: [1], centrals: nil),
                    .updateValue(query, id(characteristic), value: [2], centrals: [Self.second.identifier]),
                ]))
        system.deliver(.readyToUpdateSubscribers)
        system.deliver(.unsubscribed(Self.remote, characteristic: id(characteristic)))
        listener.settle()
        #expect(listener.calls == ["subscribed 2A37", "subscribed 2A37", "ready", "unsubscribed 2A37"])
        #expect(characteristic.subscribedCentrals == [listener.centrals[1]])
    }

    @Test(
        "the restoration dictionary holds the services whole, who subscribed, and what was advertised (SPEC SPR-P1 to SPR-P3, SPR-12, SPR-36)"
    )
    func restoration() throws {
        let listener = make([CBPeripheralManagerOptionRestoreIdentifierKey: "door"])
        let inner = LocalService(
            id: LocalAttributeID(rawValue: 1), uuid: BluetoothUUID(UInt16(0x180F)), isPrimary: false)
        let measurement = LocalAttributeID(rawValue: 3)
        let outer = LocalService(
            id: LocalAttributeID(rawValue: 2), uuid: Self.heart, includedServices: [inner.id],
            characteristics: [
                LocalCharacteristic(
                    id: measurement, uuid: BluetoothUUID(UInt16(0x2A37)), properties: 0x110, permissions: 0x04,
                    descriptors: [
                        LocalDescriptor(
                            id: LocalAttributeID(rawValue: 4), uuid: BluetoothUUID(UInt16(0x2901)),
                            value: Array("Beats".utf8))
                    ]),
                LocalCharacteristic(
                    id: LocalAttributeID(rawValue: 5), uuid: BluetoothUUID(UInt16(0x2A38)), properties: 0x02,
                    permissions: 0x01, value: [1]),
            ])
        system.deliver(
            .willRestorePeripheral(
                RestoredPeripheral(
                    services: [inner, outer],
                    subscriptions: [.init(characteristic: measurement, centrals: [Self.remote, Self.second])],
                    advertisement: AdvertisementRequest(localName: "Heart", serviceUUIDs: [Self.heart]))))
        listener.settle()
        let services = try #require(listener.restored["kCBRestoredServices"] as? [CBMutableService])
        try #require(services.count == 2)
        #expect(services.map(\.uuid.uuidString) == ["180F", "180D"])
        #expect(services.map(\.isPrimary) == [false, true])
        #expect(services[1].includedServices?.map { $0 === services[0] } == [true])
        let characteristics = try #require(services[1].characteristics as? [CBMutableCharacteristic])
        try #require(characteristics.count == 2)
        #expect(characteristics.map(\.uuid.uuidString) == ["2A37", "2A38"])
        #expect(characteristics[0].properties == [.notify, .notifyEncryptionRequired])
        #expect(characteristics[0].permissions == .readEncryptionRequired)
        #expect(characteristics.map(\.value) == [nil, Data([1])])
        #expect(characteristics[0].descriptors?.map { $0.value as? String } == ["Beats"])
        #expect(
            characteristics[0].subscribedCentrals?.map(\.identifier)
                == [UUID(Self.remote.identifier), UUID(Self.second.identifier)])
        #expect(characteristics[1].subscribedCentrals?.isEmpty == true)
        let data = try #require(listener.restored["kCBRestoredAdvertisement"] as? [String: Any])
        #expect(data.count == 2)
        #expect(data[CBAdvertisementDataLocalNameKey] as? String == "Heart")
        #expect(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180D")])
        #expect(listener.manager.isAdvertising)
        // What is restored is published: requests for it find it, and it is not added again.
        system.deliver(
            .readRequest(
                CentralReadRequest(
                    id: ATTRequestID(rawValue: 1), central: Self.remote, characteristic: measurement, offset: 0)))
        listener.settle()
        #expect(listener.requests.first?.characteristic === characteristics[0])
        _ = system.takeRequests()
        listener.manager.add(services[1])
        #expect(system.takeRequests().isEmpty)
    }

    /// A delegate that keeps what it is told, on a queue of its own.
    private final class Listener: NSObject, @unchecked Sendable, CBPeripheralManagerDelegate {
        // @unchecked Sendable is safe because a test looks only after `settle`, but for what is under a lock.
        let queue = DispatchQueue(label: "listener")
        let wasOnMain = Locked(false)
        var manager: CBPeripheralManager!
        private(set) var calls: [String] = []
        private(set) var requests: [CBATTRequest] = []
        private(set) var centrals: [CBCentral] = []
        private(set) var restored: [String: Any] = [:]

        /// Waits until everything that was told before has been handed over.
        func settle() { manager.channel.queue.sync {} }

        func forget() {
            calls = []
            requests = []
        }

        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
            calls.append("state \(peripheral.state)")
            if MainQueue.isCurrent { wasOnMain.with { $0 = true } }
        }

        func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
            restored = dict
        }

        func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
            calls.append("advertising \(text(error))")
        }

        func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
            calls.append("added \(service.uuid.uuidString) \(text(error))")
        }

        func peripheralManager(
            _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
        ) {
            centrals.append(central)
            calls.append("subscribed \(characteristic.uuid.uuidString)")
        }

        func peripheralManager(
            _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
        ) {
            calls.append("unsubscribed \(characteristic.uuid.uuidString)")
        }

        func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
            requests.append(request)
        }

        func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
            calls.append("write \(requests.count)")
            self.requests += requests
        }

        func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { calls.append("ready") }
    }
}
