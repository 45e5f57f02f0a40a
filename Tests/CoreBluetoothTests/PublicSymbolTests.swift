// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Only this import: it must bring Foundation and Dispatch along, and must be enough for all that follows.
import CoreBluetooth
import Testing

/// Every public symbol of Core Bluetooth with its exact signature (SPEC section 2): what does not fit does not compile.
@Suite("Public symbols (SPEC 2)")
struct PublicSymbolTests {
    @Test("managers (SPEC MOD-7, MOD-8)")
    func managers() {
        let _: KeyPath<CBManager, CBManagerState> = \.state
        let _: CBManagerAuthorization = CBManager.authorization
        let _: CBManager.Type = CBCentralManager.self
        let _: CBManager.Type = CBPeripheralManager.self
        let _: NSObject.Type = CBManager.self
    }

    @Test("CBCentralManager")
    func centralManager() {
        typealias Delegate = (any CBCentralManagerDelegate)?
        let _: () -> CBCentralManager = { CBCentralManager() }
        let _: (Delegate, DispatchQueue?) -> CBCentralManager = CBCentralManager.init(delegate:queue:)
        let _: (Delegate, DispatchQueue?, [String: Any]?) -> CBCentralManager =
            CBCentralManager.init(delegate:queue:options:)
        let _: ReferenceWritableKeyPath<CBCentralManager, (any CBCentralManagerDelegate)?> = \.delegate
        let _: KeyPath<CBCentralManager, Bool> = \.isScanning
        let _: (CBCentralManager.Feature) -> Bool = CBCentralManager.supports
        let _: (CBCentralManager) -> ([UUID]) -> [CBPeripheral] = CBCentralManager.retrievePeripherals(withIdentifiers:)
        let _: (CBCentralManager) -> ([CBUUID]) -> [CBPeripheral] =
            CBCentralManager.retrieveConnectedPeripherals(withServices:)
        let _: (CBCentralManager) -> ([CBUUID]?, [String: Any]?) -> Void =
            CBCentralManager.scanForPeripherals(withServices:options:)
        let _: (CBCentralManager) -> () -> Void = CBCentralManager.stopScan
        let _: (CBCentralManager) -> (CBPeripheral, [String: Any]?) -> Void = CBCentralManager.connect(_:options:)
        let _: (CBCentralManager) -> (CBPeripheral) -> Void = CBCentralManager.cancelPeripheralConnection(_:)
        let _: (CBCentralManager) -> ([CBConnectionEventMatchingOption: Any]?) -> Void =
            CBCentralManager.registerForConnectionEvents(options:)
        let _: (CBCentralManager, CBPeripheral) -> Void = { central, peripheral in
            central.scanForPeripherals(withServices: nil)
            central.connect(peripheral)
            central.registerForConnectionEvents()
        }
        #expect(CBCentralManager.Feature.extendedScanAndConnect.rawValue == 1 as UInt)
    }

    @Test("CBPeripheralManager")
    func peripheralManager() {
        typealias Delegate = (any CBPeripheralManagerDelegate)?
        let _: () -> CBPeripheralManager = { CBPeripheralManager() }
        let _: (Delegate, DispatchQueue?) -> CBPeripheralManager = CBPeripheralManager.init(delegate:queue:)
        let _: (Delegate, DispatchQueue?, [String: Any]?) -> CBPeripheralManager =
            CBPeripheralManager.init(delegate:queue:options:)
        let _: ReferenceWritableKeyPath<CBPeripheralManager, (any CBPeripheralManagerDelegate)?> = \.delegate
        let _: KeyPath<CBPeripheralManager, Bool> = \.isAdvertising
        let _: (CBPeripheralManager) -> ([String: Any]?) -> Void = CBPeripheralManager.startAdvertising(_:)
        let _: (CBPeripheralManager) -> () -> Void = CBPeripheralManager.stopAdvertising
        let _: (CBPeripheralManager) -> (CBPeripheralManagerConnectionLatency, CBCentral) -> Void =
            CBPeripheralManager.setDesiredConnectionLatency(_:for:)
        let _: (CBPeripheralManager) -> (CBMutableService) -> Void = CBPeripheralManager.add(_:)
        let _: (CBPeripheralManager) -> (CBMutableService) -> Void = CBPeripheralManager.remove(_:)
        let _: (CBPeripheralManager) -> () -> Void = CBPeripheralManager.removeAllServices
        let _: (CBPeripheralManager) -> (CBATTRequest, CBATTError.Code) -> Void =
            CBPeripheralManager.respond(to:withResult:)
        let _: (CBPeripheralManager) -> (Data, CBMutableCharacteristic, [CBCentral]?) -> Bool =
            CBPeripheralManager.updateValue(_:for:onSubscribedCentrals:)
        let _: (CBPeripheralManager) -> (Bool) -> Void = CBPeripheralManager.publishL2CAPChannel(withEncryption:)
        let _: (CBPeripheralManager) -> (CBL2CAPPSM) -> Void = CBPeripheralManager.unpublishL2CAPChannel(_:)
    }

    @Test("peers")
    func peers() {
        let _: KeyPath<CBPeer, UUID> = \.identifier
        let _: KeyPath<CBCentral, Int> = \.maximumUpdateValueLength
        let _: ReferenceWritableKeyPath<CBPeripheral, (any CBPeripheralDelegate)?> = \.delegate
        let _: KeyPath<CBPeripheral, String?> = \.name
        let _: KeyPath<CBPeripheral, CBPeripheralState> = \.state
        let _: KeyPath<CBPeripheral, [CBService]?> = \.services
        let _: KeyPath<CBPeripheral, Bool> = \.canSendWriteWithoutResponse
        let _: KeyPath<CBPeripheral, Bool> = \.ancsAuthorized
        let _: (CBPeripheral) -> () -> Void = CBPeripheral.readRSSI
        let _: (CBPeripheral) -> ([CBUUID]?) -> Void = CBPeripheral.discoverServices(_:)
        let _: (CBPeripheral) -> ([CBUUID]?, CBService) -> Void = CBPeripheral.discoverIncludedServices(_:for:)
        let _: (CBPeripheral) -> ([CBUUID]?, CBService) -> Void = CBPeripheral.discoverCharacteristics(_:for:)
        let _: (CBPeripheral) -> (CBCharacteristic) -> Void = CBPeripheral.discoverDescriptors(for:)
        let _: (CBPeripheral) -> (CBCharacteristic) -> Void = CBPeripheral.readValue(for:)
        let _: (CBPeripheral) -> (CBDescriptor) -> Void = CBPeripheral.readValue(for:)
        let _: (CBPeripheral) -> (CBCharacteristicWriteType) -> Int = CBPeripheral.maximumWriteValueLength(for:)
        let _: (CBPeripheral) -> (Data, CBCharacteristic, CBCharacteristicWriteType) -> Void =
            CBPeripheral.writeValue(_:for:type:)
        let _: (CBPeripheral) -> (Data, CBDescriptor) -> Void = CBPeripheral.writeValue(_:for:)
        let _: (CBPeripheral) -> (Bool, CBCharacteristic) -> Void = CBPeripheral.setNotifyValue(_:for:)
        let _: (CBPeripheral) -> (CBL2CAPPSM) -> Void = CBPeripheral.openL2CAPChannel(_:)
        let _: CBPeer.Type = CBPeripheral.self
        let _: CBPeer.Type = CBCentral.self
        let _: any NSCopying.Type = CBPeer.self
    }

    @Test("attributes")
    func attributes() {
        let _: KeyPath<CBAttribute, CBUUID> = \.uuid
        let _: KeyPath<CBService, CBPeripheral?> = \.peripheral
        let _: KeyPath<CBService, Bool> = \.isPrimary
        let _: KeyPath<CBService, [CBService]?> = \.includedServices
        let _: KeyPath<CBService, [CBCharacteristic]?> = \.characteristics
        let _: (CBUUID, Bool) -> CBMutableService = CBMutableService.init(type:primary:)
        let _: ReferenceWritableKeyPath<CBMutableService, [CBService]?> = \.includedServices
        let _: ReferenceWritableKeyPath<CBMutableService, [CBCharacteristic]?> = \.characteristics
        let _: KeyPath<CBCharacteristic, CBService?> = \.service
        let _: KeyPath<CBCharacteristic, CBCharacteristicProperties> = \.properties
        let _: KeyPath<CBCharacteristic, Data?> = \.value
        let _: KeyPath<CBCharacteristic, [CBDescriptor]?> = \.descriptors
        let _: KeyPath<CBCharacteristic, Bool> = \.isNotifying
        let _: (CBUUID, CBCharacteristicProperties, Data?, CBAttributePermissions) -> CBMutableCharacteristic =
            CBMutableCharacteristic.init(type:properties:value:permissions:)
        let _: ReferenceWritableKeyPath<CBMutableCharacteristic, CBAttributePermissions> = \.permissions
        let _: KeyPath<CBMutableCharacteristic, [CBCentral]?> = \.subscribedCentrals
        let _: ReferenceWritableKeyPath<CBMutableCharacteristic, CBCharacteristicProperties> = \.properties
        let _: ReferenceWritableKeyPath<CBMutableCharacteristic, Data?> = \.value
        let _: ReferenceWritableKeyPath<CBMutableCharacteristic, [CBDescriptor]?> = \.descriptors
        let _: KeyPath<CBDescriptor, CBCharacteristic?> = \.characteristic
        let _: KeyPath<CBDescriptor, Any?> = \.value
        let _: (CBUUID, Any?) -> CBMutableDescriptor = CBMutableDescriptor.init(type:value:)
    }

    @Test("requests and channels")
    func requests() {
        let _: KeyPath<CBATTRequest, CBCentral> = \.central
        let _: KeyPath<CBATTRequest, CBCharacteristic> = \.characteristic
        let _: KeyPath<CBATTRequest, Int> = \.offset
        let _: ReferenceWritableKeyPath<CBATTRequest, Data?> = \.value
        let _: KeyPath<CBL2CAPChannel, CBPeer?> = \.peer
        let _: KeyPath<CBL2CAPChannel, InputStream?> = \.inputStream
        let _: KeyPath<CBL2CAPChannel, OutputStream?> = \.outputStream
        let _: KeyPath<CBL2CAPChannel, CBL2CAPPSM> = \.psm
    }

    @Test("CBUUID")
    func uuid() {
        let _: (String) -> CBUUID = CBUUID.init(string:)
        let _: (Data) -> CBUUID = CBUUID.init(data:)
        let _: (UUID) -> CBUUID = CBUUID.init(nsuuid:)
        let _: KeyPath<CBUUID, Data> = \.data
        let _: KeyPath<CBUUID, String> = \.uuidString
        let _: any NSCopying.Type = CBUUID.self
        let _: any Sendable.Type = CBUUID.self
    }

    @Test("delegates: every method can be implemented with Apple's signature")
    func delegates() {
        let _: any CBCentralManagerDelegate.Type = EveryMethod.self
        let _: any CBPeripheralDelegate.Type = EveryMethod.self
        let _: any CBPeripheralManagerDelegate.Type = EveryMethod.self
        let _: any (CBCentralManagerDelegate & CBPeripheralDelegate & CBPeripheralManagerDelegate).Type = FewMethods
            .self
    }

    @Test("numbers (SPEC 2.1)")
    func numbers() {
        let states: [CBManagerState] = [.unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn]
        #expect(states.map(\.rawValue) == Array(0...5))
        let authorizations: [CBManagerAuthorization] = [.notDetermined, .restricted, .denied, .allowedAlways]
        #expect(authorizations.map(\.rawValue) == Array(0...3))
        let links: [CBPeripheralState] = [.disconnected, .connecting, .connected, .disconnecting]
        #expect(links.map(\.rawValue) == Array(0...3))
        #expect([CBConnectionEvent.peerDisconnected, .peerConnected].map(\.rawValue) == [0, 1])
        #expect([CBCharacteristicWriteType.withResponse, .withoutResponse].map(\.rawValue) == [0, 1])
        #expect([CBPeripheralManagerConnectionLatency.low, .medium, .high].map(\.rawValue) == [0, 1, 2])
        let properties: [CBCharacteristicProperties] = [
            .broadcast, .read, .writeWithoutResponse, .write, .notify, .indicate, .authenticatedSignedWrites,
            .extendedProperties, .notifyEncryptionRequired, .indicateEncryptionRequired,
        ]
        #expect(properties.map(\.rawValue) == (0...9).map { 1 << $0 })
        let permissions: [CBAttributePermissions] = [
            .readable, .writeable, .readEncryptionRequired, .writeEncryptionRequired,
        ]
        #expect(permissions.map(\.rawValue) == [1, 2, 4, 8])
        let psm: CBL2CAPPSM = 0x0080
        #expect(type(of: psm) == UInt16.self)
        let time: CFAbsoluteTime = 0
        #expect(type(of: time) == Double.self)
    }

    @Test("errors (SPEC 2.1)")
    func errors() {
        let errors: [CBError.Code] = [
            .unknown, .invalidParameters, .invalidHandle, .notConnected, .outOfSpace, .operationCancelled,
            .connectionTimeout, .peripheralDisconnected, .uuidNotAllowed, .alreadyAdvertising, .connectionFailed,
            .connectionLimitReached, .unknownDevice, .operationNotSupported, .peerRemovedPairingInformation,
            .encryptionTimedOut, .tooManyLEPairedDevices, .leGattExceededBackgroundNotificationLimit,
            .leGattNearBackgroundNotificationLimit,
        ]
        #expect(errors.map(\.rawValue) == Array(0...18))
        let attErrors: [CBATTError.Code] = [
            .success, .invalidHandle, .readNotPermitted, .writeNotPermitted, .invalidPdu, .insufficientAuthentication,
            .requestNotSupported, .invalidOffset, .insufficientAuthorization, .prepareQueueFull, .attributeNotFound,
            .attributeNotLong, .insufficientEncryptionKeySize, .invalidAttributeValueLength, .unlikelyError,
            .insufficientEncryption, .unsupportedGroupType, .insufficientResources,
        ]
        #expect(attErrors.map(\.rawValue) == Array(0...17))
        let _: CBError.Code = CBError.connectionTimeout
        let _: CBATTError.Code = CBATTError.readNotPermitted
        #expect(CBErrorDomain == "CBErrorDomain" && CBError.errorDomain == CBErrorDomain)
        #expect(CBATTErrorDomain == "CBATTErrorDomain" && CBATTError.errorDomain == CBATTErrorDomain)
    }

    @Test("texts (SPEC 2.2)")
    func texts() {
        let texts = [
            CBAdvertisementDataLocalNameKey: "kCBAdvDataLocalName",
            CBAdvertisementDataManufacturerDataKey: "kCBAdvDataManufacturerData",
            CBAdvertisementDataServiceDataKey: "kCBAdvDataServiceData",
            CBAdvertisementDataServiceUUIDsKey: "kCBAdvDataServiceUUIDs",
            CBAdvertisementDataOverflowServiceUUIDsKey: "kCBAdvDataHashedServiceUUIDs",
            CBAdvertisementDataTxPowerLevelKey: "kCBAdvDataTxPowerLevel",
            CBAdvertisementDataIsConnectable: "kCBAdvDataIsConnectable",
            CBAdvertisementDataSolicitedServiceUUIDsKey: "kCBAdvDataSolicitedServiceUUIDs",
            CBCentralManagerScanOptionAllowDuplicatesKey: "kCBScanOptionAllowDuplicates",
            CBCentralManagerScanOptionSolicitedServiceUUIDsKey: "kCBScanOptionSolicitedServiceUUIDs",
            CBCentralManagerOptionShowPowerAlertKey: "kCBInitOptionShowPowerAlert",
            CBCentralManagerOptionRestoreIdentifierKey: "kCBInitOptionRestoreIdentifier",
            CBCentralManagerOptionDeviceAccessForMedia: "kCBInitOptionDeviceAccessForMedia",
            CBConnectPeripheralOptionNotifyOnConnectionKey: "kCBConnectOptionNotifyOnConnection",
            CBConnectPeripheralOptionNotifyOnDisconnectionKey: "kCBConnectOptionNotifyOnDisconnection",
            CBConnectPeripheralOptionNotifyOnNotificationKey: "kCBConnectOptionNotifyOnNotification",
            CBConnectPeripheralOptionStartDelayKey: "kCBConnectOptionStartDelay",
            CBConnectPeripheralOptionEnableTransportBridgingKey: "kCBConnectOptionEnableTransportBridging",
            CBConnectPeripheralOptionRequiresANCS: "kCBConnectOptionRequiresANCS",
            CBConnectPeripheralOptionEnableAutoReconnect: "kCBConnectOptionEnableAutoReconnect",
            CBCentralManagerRestoredStatePeripheralsKey: "kCBRestoredPeripherals",
            CBCentralManagerRestoredStateScanServicesKey: "kCBRestoredScanServices",
            CBCentralManagerRestoredStateScanOptionsKey: "kCBRestoredScanOptions",
            CBPeripheralManagerRestoredStateServicesKey: "kCBRestoredServices",
            CBPeripheralManagerRestoredStateAdvertisementDataKey: "kCBRestoredAdvertisement",
            CBUUIDCharacteristicExtendedPropertiesString: "2900",
            CBUUIDCharacteristicUserDescriptionString: "2901",
            CBUUIDClientCharacteristicConfigurationString: "2902",
            CBUUIDServerCharacteristicConfigurationString: "2903",
            CBUUIDCharacteristicFormatString: "2904",
            CBUUIDCharacteristicAggregateFormatString: "2905",
            CBUUIDCharacteristicValidRangeString: "2906",
            CBUUIDL2CAPPSMCharacteristicString: "ABDD3056-28FA-441D-A470-55A75A52553A",
        ]
        for (symbol, value) in texts { #expect(symbol == value) }
        #expect(CBPeripheralManagerOptionShowPowerAlertKey == CBCentralManagerOptionShowPowerAlertKey)
        #expect(CBPeripheralManagerOptionRestoreIdentifierKey == CBCentralManagerOptionRestoreIdentifierKey)
        let matching: [CBConnectionEventMatchingOption: Any] = [.serviceUUIDs: [CBUUID](), .peripheralUUIDs: [UUID]()]
        #expect(matching.count == 2)
    }
}

private final class FewMethods: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, CBPeripheralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {}
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
}

private final class EveryMethod: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, CBPeripheralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {}
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {}
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}
    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {}
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {}
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {}
    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {}
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) {}
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {}
    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {}
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {}
    func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?)
    {}
    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
    }
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {}
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {}
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
    ) {}
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {}
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {}
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {}
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {}
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {}

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {}
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {}
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {}
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {}
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {}
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {}
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {}
}
