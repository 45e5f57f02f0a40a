import BLEAppLifecycle
import BLEHost
import BLEPackets
import FoundationEssentials

extension PeerIdentifier {
    var wire: Data { Data(bytes) }

    /// - Throws: `WireError.invalidField`.
    public init(wire octets: Data) throws(WireError) {
        guard let identifier = PeerIdentifier(bytes: Array(octets)) else { throw .invalidField }
        self = identifier
    }

    static func list(_ wire: [Data]) throws(WireError) -> [PeerIdentifier] {
        var peers: [PeerIdentifier] = []
        for octets in wire { peers.append(try PeerIdentifier(wire: octets)) }
        return peers
    }
}

extension [BluetoothUUID] {
    var wire: [Data] { map { Data($0.wire) } }
}

extension UInt16 {
    init(wire value: UInt32) throws(WireError) {
        guard let value = UInt16(exactly: value) else { throw .invalidField }
        self = value
    }
}

extension UInt8 {
    init(wire value: UInt32) throws(WireError) {
        guard let value = UInt8(exactly: value) else { throw .invalidField }
        self = value
    }
}

extension RemoteAttributeID {
    init(wire value: UInt32) throws(WireError) { self.init(rawValue: try UInt16(wire: value)) }
    var wire: UInt32 { UInt32(rawValue) }
}

extension LocalAttributeID {
    init(wire value: UInt32) { self.init(rawValue: value) }

    static func list(_ wire: [UInt32]) -> [LocalAttributeID] { wire.map { LocalAttributeID(rawValue: $0) } }
}

// MARK: Errors

extension WireAppError {
    init(_ error: ClientError) {
        self.init()
        switch error {
        case .coreBluetooth(let code): coreBluetooth = UInt32(code.rawValue)
        case .att(let code): att = UInt32(code)
        }
    }
}

extension WireAppEnded {
    init(_ error: ClientError?) {
        self.init()
        if let error { self.error = WireAppError(error) }
    }

    var outcome: ClientError? {
        get throws(WireError) { hasError ? try ClientError(error) : nil }
    }
}

extension ClientError {
    init(_ wire: WireAppError) throws(WireError) {
        switch wire.error {
        // A code of a newer daemon that is unknown here becomes `unknown`.
        case .coreBluetooth(let code): self = .coreBluetooth(CoreBluetoothError(rawValue: Int(code)) ?? .unknown)
        case .att(let code): self = .att(code: try UInt8(wire: code))
        case nil: throw .invalidField
        }
    }
}

// MARK: Devices

extension WireAppPeripheral {
    init(_ peripheral: PeripheralDescription) {
        self.init()
        peer = peripheral.identifier.wire
        if let name = peripheral.name { self.name = name }
        state = UInt32(peripheral.state.rawValue)
    }
}

extension PeripheralDescription {
    init(_ wire: WireAppPeripheral) throws(WireError) {
        guard let state = PeripheralState(rawValue: Int(wire.state)) else { throw .invalidField }
        self.init(
            identifier: try PeerIdentifier(wire: wire.peer), name: wire.hasName ? wire.name : nil, state: state)
    }
}

extension WireAppCentral {
    init(_ central: CentralDescription) {
        self.init()
        peer = central.identifier.wire
        maximumUpdateLength = UInt32(clamping: central.maximumUpdateLength)
    }
}

extension CentralDescription {
    init(_ wire: WireAppCentral) throws(WireError) {
        self.init(
            identifier: try PeerIdentifier(wire: wire.peer), maximumUpdateLength: Int(wire.maximumUpdateLength))
    }
}

extension WireAppWriteLimits {
    init(_ limits: WriteLimits) {
        self.init()
        withResponse = UInt32(clamping: limits.withResponse)
        withoutResponse = UInt32(clamping: limits.withoutResponse)
    }
}

extension WriteLimits {
    init(_ wire: WireAppWriteLimits) {
        self.init(withResponse: Int(wire.withResponse), withoutResponse: Int(wire.withoutResponse))
    }
}

// MARK: Options

extension WireAppManagerOptions {
    init(_ options: ManagerOptions) {
        self.init()
        if let identifier = options.restoreIdentifier { restoreIdentifier = identifier }
        showsPowerAlert = options.showsPowerAlert
        continues = options.continues
        overflow = options.overflow?.rawValue ?? ""
    }
}

extension ManagerOptions {
    init(_ wire: WireAppManagerOptions) throws(WireError) {
        self.init(
            restoreIdentifier: wire.hasRestoreIdentifier ? wire.restoreIdentifier : nil,
            showsPowerAlert: wire.showsPowerAlert, continues: wire.continues)
        guard !wire.overflow.isEmpty else { return }
        guard let overflow = OverflowSetting(rawValue: wire.overflow) else { throw .invalidField }
        self.overflow = overflow
    }
}

extension WireAppScan {
    init(_ scan: ScanOptions) {
        self.init()
        services = scan.services.wire
        allowsDuplicates = scan.allowsDuplicates
        solicitedServices = scan.solicitedServices.wire
    }
}

extension ScanOptions {
    init(_ wire: WireAppScan) throws(WireError) {
        self.init(
            services: try BluetoothUUID.requested(wire.services), allowsDuplicates: wire.allowsDuplicates,
            solicitedServices: try BluetoothUUID.requested(wire.solicitedServices))
    }
}

extension WireAppConnectOptions {
    init(_ options: ConnectOptions) {
        self.init()
        notifiesOnConnection = options.notifiesOnConnection
        notifiesOnDisconnection = options.notifiesOnDisconnection
        notifiesOnNotification = options.notifiesOnNotification
        startDelayMilliseconds = options.startDelayMilliseconds
        reconnectsAutomatically = options.reconnectsAutomatically
    }
}

extension ConnectOptions {
    /// The longest delay: a year.
    private static let longestDelayMilliseconds: Int64 = 366 * 86_400_000

    init(_ wire: WireAppConnectOptions) {
        self.init(
            notifiesOnConnection: wire.notifiesOnConnection, notifiesOnDisconnection: wire.notifiesOnDisconnection,
            notifiesOnNotification: wire.notifiesOnNotification,
            startDelayMilliseconds: max(0, min(wire.startDelayMilliseconds, Self.longestDelayMilliseconds)),
            reconnectsAutomatically: wire.reconnectsAutomatically)
    }
}

// MARK: Published attributes

extension WireAppService {
    init(_ service: LocalService) {
        self.init()
        id = service.id.rawValue
        uuid = Data(service.uuid.wire)
        isPrimary = service.isPrimary
        includedServices = service.includedServices.map(\.rawValue)
        characteristics = service.characteristics.map { WireAppCharacteristic($0) }
    }
}

extension LocalService {
    init(_ wire: WireAppService) throws(WireError) {
        var characteristics: [LocalCharacteristic] = []
        for characteristic in wire.characteristics { characteristics.append(try LocalCharacteristic(characteristic)) }
        self.init(
            id: LocalAttributeID(wire: wire.id), uuid: try BluetoothUUID(wire: wire.uuid), isPrimary: wire.isPrimary,
            includedServices: LocalAttributeID.list(wire.includedServices), characteristics: characteristics)
    }
}

extension WireAppCharacteristic {
    fileprivate init(_ characteristic: LocalCharacteristic) {
        self.init()
        id = characteristic.id.rawValue
        uuid = Data(characteristic.uuid.wire)
        properties = UInt32(characteristic.properties)
        permissions = UInt32(characteristic.permissions)
        if let value = characteristic.value { self.value = Data(value) }
        descriptors = characteristic.descriptors.map { descriptor in
            WireAppDescriptor.with {
                $0.id = descriptor.id.rawValue
                $0.uuid = Data(descriptor.uuid.wire)
                $0.value = Data(descriptor.value)
            }
        }
    }
}

extension LocalCharacteristic {
    fileprivate init(_ wire: WireAppCharacteristic) throws(WireError) {
        var descriptors: [LocalDescriptor] = []
        for descriptor in wire.descriptors {
            descriptors.append(
                LocalDescriptor(
                    id: LocalAttributeID(wire: descriptor.id), uuid: try BluetoothUUID(wire: descriptor.uuid),
                    value: Array(descriptor.value)))
        }
        self.init(
            id: LocalAttributeID(wire: wire.id), uuid: try BluetoothUUID(wire: wire.uuid),
            properties: try UInt16(wire: wire.properties), permissions: try UInt8(wire: wire.permissions),
            value: wire.hasValue ? Array(wire.value) : nil, descriptors: descriptors)
    }
}

extension WireAppAdvertisement {
    init(_ request: AdvertisementRequest) {
        self.init()
        if let name = request.localName { localName = name }
        services = request.serviceUUIDs.wire
        unsupportedKeys = request.unsupportedKeys
    }
}

extension AdvertisementRequest {
    init(_ wire: WireAppAdvertisement) throws(WireError) {
        self.init(
            localName: wire.hasLocalName ? wire.localName : nil,
            serviceUUIDs: try BluetoothUUID.requested(wire.services),
            unsupportedKeys: wire.unsupportedKeys)
    }
}
