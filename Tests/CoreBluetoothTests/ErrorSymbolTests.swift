// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Only this import, as in PublicSymbolTests.
import CoreBluetooth
import Testing

/// The error types and what is deprecated, with exact signatures (SPEC 2.1).
@Suite("Symbols of errors, and deprecated ones (SPEC 2.1)")
struct ErrorSymbolTests {
    @Test("CBError")
    func error() {
        let _: (CBError.Code, [String: Any]) -> CBError = CBError.init(_:userInfo:)
        let _: KeyPath<CBError, CBError.Code> = \.code
        let _: KeyPath<CBError, Int> = \.errorCode
        let _: KeyPath<CBError, [String: Any]> = \.userInfo
        let _: KeyPath<CBError, [String: Any]> = \.errorUserInfo
        let _: KeyPath<CBError, String> = \.localizedDescription
        let _: String = CBError.errorDomain
        let _: String = CBErrorDomain
        let _: any (CustomNSError & Hashable & Sendable).Type = CBError.self
        let _: any (RawRepresentable<Int> & Hashable & Sendable).Type = CBError.Code.self
        let codes: [CBError.Code] = [
            CBError.unknown, CBError.invalidParameters, CBError.invalidHandle, CBError.notConnected, CBError.outOfSpace,
            CBError.operationCancelled, CBError.connectionTimeout, CBError.peripheralDisconnected,
            CBError.uuidNotAllowed, CBError.alreadyAdvertising, CBError.connectionFailed,
            CBError.connectionLimitReached, CBError.unknownDevice, CBError.operationNotSupported,
            CBError.peerRemovedPairingInformation, CBError.encryptionTimedOut, CBError.tooManyLEPairedDevices,
            CBError.leGattExceededBackgroundNotificationLimit, CBError.leGattNearBackgroundNotificationLimit,
        ]
        #expect(codes.map(\.rawValue) == Array(0...18))
        let error = CBError(.outOfSpace, userInfo: ["key": 1])
        #expect(error.code == .outOfSpace && error.errorCode == 4 && error.userInfo["key"] as? Int == 1)
    }

    @Test("CBATTError")
    func attError() {
        let _: (CBATTError.Code, [String: Any]) -> CBATTError = CBATTError.init(_:userInfo:)
        let _: KeyPath<CBATTError, CBATTError.Code> = \.code
        let _: KeyPath<CBATTError, Int> = \.errorCode
        let _: KeyPath<CBATTError, [String: Any]> = \.userInfo
        let _: KeyPath<CBATTError, String> = \.localizedDescription
        let _: String = CBATTError.errorDomain
        let _: String = CBATTErrorDomain
        let _: any (CustomNSError & Hashable & Sendable).Type = CBATTError.self
        let _: any (RawRepresentable<Int> & Hashable & Sendable).Type = CBATTError.Code.self
        let codes: [CBATTError.Code] = [
            CBATTError.success, CBATTError.invalidHandle, CBATTError.readNotPermitted, CBATTError.writeNotPermitted,
            CBATTError.invalidPdu, CBATTError.insufficientAuthentication, CBATTError.requestNotSupported,
            CBATTError.invalidOffset, CBATTError.insufficientAuthorization, CBATTError.prepareQueueFull,
            CBATTError.attributeNotFound, CBATTError.attributeNotLong, CBATTError.insufficientEncryptionKeySize,
            CBATTError.invalidAttributeValueLength, CBATTError.unlikelyError, CBATTError.insufficientEncryption,
            CBATTError.unsupportedGroupType, CBATTError.insufficientResources,
        ]
        #expect(codes.map(\.rawValue) == Array(0...17))
    }

    @Test("numbers are enumerations of Int, options are sets of UInt, keys are String")
    func kinds() {
        let _: [any (RawRepresentable<Int> & Hashable & Sendable).Type] = [
            CBManagerState.self, CBManagerAuthorization.self, CBPeripheralState.self, CBConnectionEvent.self,
            CBCharacteristicWriteType.self, CBPeripheralManagerConnectionLatency.self,
        ]
        let _: [any (OptionSet & Sendable).Type] = [
            CBCharacteristicProperties.self, CBAttributePermissions.self, CBCentralManager.Feature.self,
        ]
        let _: [any RawRepresentable<UInt>.Type] = [
            CBCharacteristicProperties.self, CBAttributePermissions.self, CBCentralManager.Feature.self,
        ]
        let _: any (RawRepresentable<String> & Hashable & Sendable).Type = CBConnectionEventMatchingOption.self
        #expect(
            CBConnectionEventMatchingOption.serviceUUIDs.rawValue == "kCBConnectionEventMatchingOptionServiceUUIDs"
                && CBConnectionEventMatchingOption.peripheralUUIDs.rawValue
                    == "kCBConnectionEventMatchingOptionPeripheralUUIDs"
        )
        #expect(CBUUIDCharacteristicObservationScheduleString == "2910")
        for state in 0...5 { #expect(CBManagerState(rawValue: state)?.rawValue == state) }
        #expect(CBManagerState(rawValue: 6) == nil && CBPeripheralState(rawValue: 4) == nil)
    }

    @Test("what is deprecated is there")
    func deprecated() {
        let symbols: any DeprecatedSymbols = Symbols()
        symbols.use()
    }

    @Test("every open member can be overridden")
    func overriding() {
        let _: CBCentralManager.Type = OwnCentralManager.self
        let _: CBPeripheralManager.Type = OwnPeripheralManager.self
        let _: CBMutableCharacteristic.Type = OwnCharacteristic.self
        let _: CBMutableService.Type = OwnService.self
        let own = OwnCharacteristic(
            type: CBUUID(string: "2A37"), properties: .read, value: nil, permissions: .readable)
        #expect(own.value == Data([1]) && own.subscribedCentrals == nil)
    }
}

private protocol DeprecatedSymbols { func use() }

private struct Symbols: DeprecatedSymbols {
    @available(*, deprecated)
    func use() {
        let state: CBCentralManagerState = .poweredOn
        let other: CBPeripheralManagerState = .poweredOn
        let now = CBManagerState.poweredOn
        let same = [now == state, state == now, now == other, other == now, now == CBCentralManagerState.poweredOn]
        #expect(same.allSatisfy { $0 } && state == .poweredOn && now == .poweredOn && now.rawValue == other.rawValue)
        let differs = [now != state, state != now, now != other, now == CBPeripheralManagerState.poweredOff]
        #expect(!differs.contains(true))
        #expect(CBCentralManagerState(rawValue: now.rawValue) == state && CBCentralManagerState(rawValue: 6) == nil)
        // Types of their own: these are three functions.
        func name(_ state: CBManagerState) -> Int { 0 }
        func name(_ state: CBCentralManagerState) -> Int { 1 }
        func name(_ state: CBPeripheralManagerState) -> Int { 2 }
        #expect(name(now) == 0 && name(state) == 1 && name(other) == 2)
        switch state {
        case .unknown, .resetting, .unsupported, .unauthorized, .poweredOff: Issue.record("another state")
        case .poweredOn: break
        }
        let _: () -> CBPeripheralManagerAuthorizationStatus = CBPeripheralManager.authorizationStatus
        let statuses: [CBPeripheralManagerAuthorizationStatus] = [.notDetermined, .restricted, .denied, .authorized]
        #expect(statuses.map(\.rawValue) == Array(0...3))
        let _: KeyPath<CBManager, CBManagerAuthorization> = \.authorization
        let _: KeyPath<CBPeripheral, NSNumber?> = \.rssi
        let _: KeyPath<CBCharacteristic, Bool> = \.isBroadcasted
        let _: CBError.Code = CBError.unkownDevice
        #expect(CBError.Code.unkownDevice == .unknownDevice)
    }
}

private class OwnCentralManager: CBCentralManager {
    override var state: CBManagerState { .poweredOn }
    override class var authorization: CBManagerAuthorization { .denied }
    override class func supports(_ features: CBCentralManager.Feature) -> Bool { true }
    override var delegate: (any CBCentralManagerDelegate)? {
        get { nil }
        set {}
    }
    override var isScanning: Bool { true }
    override func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] { [] }
    override func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] { [] }
    override func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {}
    override func stopScan() {}
    override func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {}
    override func cancelPeripheralConnection(_ peripheral: CBPeripheral) {}
    override func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {}
}

private class OwnPeripheralManager: CBPeripheralManager {
    override var isAdvertising: Bool { true }
    override func startAdvertising(_ advertisementData: [String: Any]?) {}
    override func stopAdvertising() {}
    override func setDesiredConnectionLatency(
        _ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral
    ) {}
    override func add(_ service: CBMutableService) {}
    override func remove(_ service: CBMutableService) {}
    override func removeAllServices() {}
    override func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {}
    override func updateValue(
        _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool { true }
    override func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {}
    override func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {}
}

private class OwnCharacteristic: CBMutableCharacteristic {
    override var value: Data? {
        get { Data([1]) }
        set {}
    }
    override var subscribedCentrals: [CBCentral]? { nil }
    override var isNotifying: Bool { true }
    override var uuid: CBUUID { CBUUID(string: "180D") }
}

private class OwnService: CBMutableService {
    override var characteristics: [CBCharacteristic]? {
        get { nil }
        set {}
    }
    override var includedServices: [CBService]? {
        get { nil }
        set {}
    }
}
