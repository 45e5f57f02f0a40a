import BLEAppLifecycle
import BLEHost
import BLEPackets
import FoundationEssentials

extension WireAppRequest {
    /// - Parameter number: if not 0, the daemon reports with this number that it has accepted the request.
    public init(_ request: ClientRequest, from manager: ManagerID, number: UInt64 = 0) {
        self.init()
        self.manager = manager.rawValue
        self.number = number
        switch request {
        case .createCentral(let options): createCentral = WireAppManagerOptions(options)
        case .createPeripheral(let options): createPeripheral = WireAppManagerOptions(options)
        case .release: release = WireNothing()
        case .central(let request): set(request)
        case .peripheral(let request): set(request)
        case .channel(let id, let request):
            channel.channel = id.rawValue
            switch request {
            case .send(let octets): channel.send = Data(octets)
            case .received(let count): channel.received = UInt32(clamping: count)
            case .close: channel.close = WireNothing()
            }
        }
    }

    private mutating func set(_ request: CentralManagerRequest) {
        switch request {
        case .scan(let options): scan = WireAppScan(options)
        case .stopScan: stopScan = WireNothing()
        case .connect(let peer, let options):
            connect.peer = peer.wire
            connect.options = WireAppConnectOptions(options)
        case .cancelConnection(let peer): cancelConnection = peer.wire
        case .letGo(let peer): letGo = peer.wire
        case .retrievePeripherals(let query, let peers):
            retrievePeripherals.query = query.rawValue
            retrievePeripherals.peers = peers.map(\.wire)
        case .retrieveConnectedPeripherals(let query, let services):
            retrieveConnected.query = query.rawValue
            retrieveConnected.services = services.wire
        case .registerForConnectionEvents(let filter?):
            connectionEvents.peers = filter.peripherals.map(\.wire)
            connectionEvents.services = filter.services.wire
        case .registerForConnectionEvents(nil): endConnectionEvents = WireNothing()
        case .peripheral(let peer, let request): peripheral = WireAppPeripheralRequest(request, of: peer)
        }
    }

    private mutating func set(_ request: PeripheralManagerRequest) {
        switch request {
        case .addService(let service): addService = WireAppService(service)
        case .removeService(let service): removeService = service.rawValue
        case .removeAllServices: removeAllServices = WireNothing()
        case .startAdvertising(let advertisement): startAdvertising = WireAppAdvertisement(advertisement)
        case .stopAdvertising: stopAdvertising = WireNothing()
        case .respond(let request, let code, let value):
            respond.request = request.rawValue
            respond.code = UInt32(code)
            respond.value = Data(value)
        case .updateValue(let query, let characteristic, let value, let centrals):
            updateValue.query = query.rawValue
            updateValue.characteristic = characteristic.rawValue
            updateValue.value = Data(value)
            if let centrals { updateValue.centrals.peers = centrals.map(\.wire) }
        case .setConnectionLatency(let latency, let central):
            setLatency.central = central.wire
            setLatency.latency = UInt32(latency.rawValue)
        case .publishChannel(let isEncrypted): publishChannel = isEncrypted
        case .unpublishChannel(let psm): unpublishChannel = UInt32(psm)
        }
    }
}

extension ClientRequest {
    /// The request of an app's manager.
    /// - Throws: `WireError.invalidField`.
    public init(_ wire: WireAppRequest) throws(WireError) {
        guard let request = wire.request else { throw .invalidField }
        switch request {
        case .createCentral(let options): self = .createCentral(try ManagerOptions(options))
        case .createPeripheral(let options): self = .createPeripheral(try ManagerOptions(options))
        case .release: self = .release
        case .scan(let scan): self = .central(.scan(try ScanOptions(scan)))
        case .stopScan: self = .central(.stopScan)
        case .connect(let connect):
            self = .central(
                .connect(try PeerIdentifier(wire: connect.peer), ConnectOptions(connect.options)))
        case .cancelConnection(let peer): self = .central(.cancelConnection(try PeerIdentifier(wire: peer)))
        case .letGo(let peer): self = .central(.letGo(try PeerIdentifier(wire: peer)))
        case .retrievePeripherals(let retrieve):
            self = .central(
                .retrievePeripherals(QueryID(rawValue: retrieve.query), try PeerIdentifier.list(retrieve.peers)))
        case .retrieveConnected(let retrieve):
            self = .central(
                .retrieveConnectedPeripherals(
                    QueryID(rawValue: retrieve.query), services: try BluetoothUUID.requested(retrieve.services)))
        case .connectionEvents(let filter):
            self = .central(
                .registerForConnectionEvents(
                    ConnectionEventFilter(
                        peripherals: try PeerIdentifier.list(filter.peers),
                        services: try BluetoothUUID.requested(filter.services))))
        case .endConnectionEvents: self = .central(.registerForConnectionEvents(nil))
        case .peripheral(let request):
            self = .central(
                .peripheral(try PeerIdentifier(wire: request.peer), try PeripheralRequest(request)))
        case .addService(let service): self = .peripheral(.addService(try LocalService(service)))
        case .removeService(let service): self = .peripheral(.removeService(LocalAttributeID(wire: service)))
        case .removeAllServices: self = .peripheral(.removeAllServices)
        case .startAdvertising(let advertisement):
            self = .peripheral(.startAdvertising(try AdvertisementRequest(advertisement)))
        case .stopAdvertising: self = .peripheral(.stopAdvertising)
        case .respond(let response):
            self = .peripheral(
                .respond(
                    ATTRequestID(rawValue: response.request), code: try UInt8(wire: response.code),
                    value: Array(response.value)))
        case .updateValue(let update):
            self = .peripheral(
                .updateValue(
                    QueryID(rawValue: update.query), LocalAttributeID(wire: update.characteristic),
                    value: Array(update.value),
                    centrals: update.hasCentrals ? try PeerIdentifier.list(update.centrals.peers) : nil))
        case .setLatency(let wish):
            guard let latency = ConnectionLatency(rawValue: Int(wish.latency)) else { throw .invalidField }
            self = .peripheral(.setConnectionLatency(latency, central: try PeerIdentifier(wire: wish.central)))
        case .publishChannel(let isEncrypted): self = .peripheral(.publishChannel(isEncrypted: isEncrypted))
        case .unpublishChannel(let psm): self = .peripheral(.unpublishChannel(psm: try UInt16(wire: psm)))
        case .channel(let request):
            self = .channel(L2CAPChannelID(rawValue: request.channel), try ChannelRequest(request))
        }
    }
}

extension ChannelRequest {
    fileprivate init(_ wire: WireAppChannelRequest) throws(WireError) {
        switch wire.request {
        case .send(let octets): self = .send(Array(octets))
        case .received(let count): self = .received(count: Int(count))
        case .close: self = .close
        case nil: throw .invalidField
        }
    }
}

extension WireAppPeripheralRequest {
    fileprivate init(_ request: PeripheralRequest, of peer: PeerIdentifier) {
        self.init()
        self.peer = peer.wire
        switch request {
        case .discoverServices(let uuids): discoverServices.uuids = uuids.wire
        case .discoverIncludedServices(let uuids, let service):
            discoverIncludedServices.service = service.wire
            discoverIncludedServices.uuids = uuids.wire
        case .discoverCharacteristics(let uuids, let service):
            discoverCharacteristics.service = service.wire
            discoverCharacteristics.uuids = uuids.wire
        case .discoverDescriptors(let characteristic): discoverDescriptors = characteristic.wire
        case .readValue(let characteristic): readValue = characteristic.wire
        case .readDescriptor(let descriptor): readDescriptor = descriptor.wire
        case .writeValue(let value, let characteristic): writeValue = WireValue(characteristic, value)
        case .writeWithoutResponse(let value, let characteristic):
            writeWithoutResponse = WireValue(characteristic, value)
        case .writeDescriptor(let value, let descriptor): writeDescriptor = WireValue(descriptor, value)
        case .setNotify(let isNotifying, let characteristic):
            setNotify.characteristic = characteristic.wire
            setNotify.isNotifying = isNotifying
        case .readRSSI: readRssi = WireNothing()
        case .openChannel(let psm): openChannel = UInt32(psm)
        }
    }
}

extension WireValue {
    fileprivate init(_ attribute: RemoteAttributeID, _ octets: [UInt8]) {
        self.init()
        handle = attribute.wire
        value = Data(octets)
    }
}

extension PeripheralRequest {
    fileprivate init(_ wire: WireAppPeripheralRequest) throws(WireError) {
        guard let request = wire.request else { throw .invalidField }
        switch request {
        case .discoverServices(let list): self = .discoverServices(try BluetoothUUID.requested(list.uuids))
        case .discoverIncludedServices(let search):
            self = .discoverIncludedServices(
                try BluetoothUUID.requested(search.uuids), service: try RemoteAttributeID(wire: search.service))
        case .discoverCharacteristics(let search):
            self = .discoverCharacteristics(
                try BluetoothUUID.requested(search.uuids), service: try RemoteAttributeID(wire: search.service))
        case .discoverDescriptors(let characteristic):
            self = .discoverDescriptors(characteristic: try RemoteAttributeID(wire: characteristic))
        case .readValue(let characteristic):
            self = .readValue(characteristic: try RemoteAttributeID(wire: characteristic))
        case .readDescriptor(let descriptor): self = .readDescriptor(try RemoteAttributeID(wire: descriptor))
        case .writeValue(let value):
            self = .writeValue(Array(value.value), characteristic: try RemoteAttributeID(wire: value.handle))
        case .writeWithoutResponse(let value):
            self = .writeWithoutResponse(Array(value.value), characteristic: try RemoteAttributeID(wire: value.handle))
        case .writeDescriptor(let value):
            self = .writeDescriptor(Array(value.value), try RemoteAttributeID(wire: value.handle))
        case .setNotify(let wish):
            self = .setNotify(wish.isNotifying, characteristic: try RemoteAttributeID(wire: wish.characteristic))
        case .readRssi: self = .readRSSI
        case .openChannel(let psm): self = .openChannel(psm: try UInt16(wire: psm))
        }
    }
}
