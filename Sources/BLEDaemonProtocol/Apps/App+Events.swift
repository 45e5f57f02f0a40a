import BLEAppLifecycle
import BLEHost
import BLEPackets
import FoundationEssentials

extension WireAppEvent {
    /// An event for a manager.
    public init(_ event: ClientEvent, to manager: ManagerID) {
        self.init()
        self.manager = manager.rawValue
        switch event {
        case .willRestoreCentral(let restored): willRestoreCentral = WireAppRestoredCentral(restored)
        case .willRestorePeripheral(let restored): willRestorePeripheral = WireAppRestoredPeripheral(restored)
        case .stateChanged(let state, let authorization):
            stateChanged.state = UInt32(state.rawValue)
            stateChanged.authorization = UInt32(authorization.rawValue)
        case .statePassed(let state): statePassed = UInt32(state.rawValue)
        case .eventsLost(let count): eventsLost = UInt32(clamping: count)
        case .discovered(let peripheral, let content, let rssi):
            discovered = WireAppDiscovered(content, rssi: rssi)
            discovered.peripheral = WireAppPeripheral(peripheral)
        case .connected(let peripheral, let limits):
            connected.peripheral = WireAppPeripheral(peripheral)
            connected.limits = WireAppWriteLimits(limits)
        case .connectionFailed(let peer, let error):
            connectionFailed.peer = peer.wire
            connectionFailed.error = WireAppError(error)
        case .disconnected(let peer, let error, let microseconds, let isReconnecting):
            disconnected.peer = peer.wire
            if let error { disconnected.error = WireAppError(error) }
            disconnected.microseconds = microseconds
            disconnected.isReconnecting = isReconnecting
        case .connectionEvent(let peripheral, let isConnected):
            connectionEvent.peripheral = WireAppPeripheral(peripheral)
            connectionEvent.isConnected = isConnected
        case .retrieved(let query, let peripherals):
            retrieved.query = query.rawValue
            retrieved.peripherals = peripherals.map { WireAppPeripheral($0) }
        case .peripheral(let peer, let event): peripheral = WireAppPeripheralEvent(event, of: peer)
        case .serviceAdded(let service, let error):
            serviceAdded.service = service.rawValue
            if let error { serviceAdded.error = WireAppError(error) }
        case .advertisingStarted(let error): advertisingStarted = WireAppEnded(error)
        case .readRequest(let request):
            readRequest.request = request.id.rawValue
            readRequest.central = WireAppCentral(request.central)
            readRequest.characteristic = request.characteristic.rawValue
            readRequest.offset = UInt32(clamping: request.offset)
        case .writeRequests(let group): writeRequests = WireAppWriteRequests(group)
        case .subscribed(let central, let characteristic):
            subscribed = WireAppSubscription(central, characteristic)
        case .unsubscribed(let central, let characteristic):
            unsubscribed = WireAppSubscription(central, characteristic)
        case .readyToUpdateSubscribers: readyToUpdate = WireNothing()
        case .updateQueued(let query, let isQueued):
            updateQueued.query = query.rawValue
            updateQueued.isQueued = isQueued
        case .channelPublished(let psm, let error): channelPublished = WireAppChannelPublished(psm, error)
        case .channelUnpublished(let psm, let error): channelUnpublished = WireAppChannelPublished(psm, error)
        case .channelAccepted(let id, let psm, let central):
            channelAccepted.channel = id.rawValue
            channelAccepted.psm = UInt32(psm)
            channelAccepted.central = WireAppCentral(central)
        case .channel(let id, let event):
            channel.channel = id.rawValue
            switch event {
            case .received(let octets): channel.received = Data(octets)
            case .canSend(let count): channel.canSend = UInt32(clamping: count)
            case .closed(let error): channel.closed = WireAppEnded(error)
            }
        }
    }
}

extension ClientEvent {
    /// The event for a manager; `nil` for an event of a newer daemon that is unknown here.
    /// - Throws: `WireError.invalidField`.
    public init?(_ wire: WireAppEvent) throws(WireError) {
        guard let event = wire.event else { return nil }
        switch event {
        case .willRestoreCentral(let restored): self = .willRestoreCentral(try RestoredCentral(restored))
        case .willRestorePeripheral(let restored): self = .willRestorePeripheral(try RestoredPeripheral(restored))
        case .stateChanged(let change):
            guard let state = ManagerState(rawValue: Int(change.state)),
                let authorization = ManagerAuthorization(rawValue: Int(change.authorization))
            else { throw .invalidField }
            self = .stateChanged(state, authorization)
        case .statePassed(let state):
            guard let state = ManagerState(rawValue: Int(state)) else { throw .invalidField }
            self = .statePassed(state)
        case .eventsLost(let count): self = .eventsLost(count: Int(count))
        case .discovered(let found):
            self = .discovered(
                try PeripheralDescription(found.peripheral), try AdvertisementContent(found),
                rssi: Int8(clamping: found.rssi))
        case .connected(let connected):
            self = .connected(
                try PeripheralDescription(connected.peripheral), maximumWriteLength: WriteLimits(connected.limits))
        case .connectionFailed(let failed):
            self = .connectionFailed(try PeerIdentifier(wire: failed.peer), try ClientError(failed.error))
        case .disconnected(let end):
            self = .disconnected(
                try PeerIdentifier(wire: end.peer), end.hasError ? try ClientError(end.error) : nil,
                microseconds: end.microseconds, isReconnecting: end.isReconnecting)
        case .connectionEvent(let event):
            self = .connectionEvent(try PeripheralDescription(event.peripheral), isConnected: event.isConnected)
        case .retrieved(let answer):
            var found: [PeripheralDescription] = []
            for peripheral in answer.peripherals { found.append(try PeripheralDescription(peripheral)) }
            self = .retrieved(QueryID(rawValue: answer.query), found)
        case .peripheral(let event):
            guard let told = try PeripheralEvent(event) else { return nil }
            self = .peripheral(try PeerIdentifier(wire: event.peer), told)
        case .serviceAdded(let added):
            self = .serviceAdded(
                LocalAttributeID(wire: added.service), added.hasError ? try ClientError(added.error) : nil)
        case .advertisingStarted(let end): self = .advertisingStarted(try end.outcome)
        case .readRequest(let request):
            self = .readRequest(
                CentralReadRequest(
                    id: ATTRequestID(rawValue: request.request), central: try CentralDescription(request.central),
                    characteristic: LocalAttributeID(wire: request.characteristic), offset: Int(request.offset)))
        case .writeRequests(let group): self = .writeRequests(try CentralWriteRequests(group))
        case .subscribed(let subscription):
            self = .subscribed(
                try CentralDescription(subscription.central),
                characteristic: LocalAttributeID(wire: subscription.characteristic))
        case .unsubscribed(let subscription):
            self = .unsubscribed(
                try CentralDescription(subscription.central),
                characteristic: LocalAttributeID(wire: subscription.characteristic))
        case .readyToUpdate: self = .readyToUpdateSubscribers
        case .updateQueued(let answer): self = .updateQueued(QueryID(rawValue: answer.query), answer.isQueued)
        case .channelPublished(let published):
            self = .channelPublished(
                psm: try UInt16(wire: published.psm), published.hasError ? try ClientError(published.error) : nil)
        case .channelUnpublished(let published):
            self = .channelUnpublished(
                psm: try UInt16(wire: published.psm), published.hasError ? try ClientError(published.error) : nil)
        case .channelAccepted(let accepted):
            self = .channelAccepted(
                L2CAPChannelID(rawValue: accepted.channel), psm: try UInt16(wire: accepted.psm),
                try CentralDescription(accepted.central))
        case .channel(let event):
            guard let told = try ClientChannelEvent(event) else { return nil }
            self = .channel(L2CAPChannelID(rawValue: event.channel), told)
        }
    }
}

extension ClientChannelEvent {
    fileprivate init?(_ wire: WireAppChannelEvent) throws(WireError) {
        switch wire.event {
        case .received(let octets): self = .received(Array(octets))
        case .canSend(let count): self = .canSend(count: Int(count))
        case .closed(let end): self = .closed(try end.outcome)
        case nil: return nil
        }
    }
}

extension WireAppDiscovered {
    /// A discovery without its peripheral.
    init(_ content: AdvertisementContent, rssi: Int8) {
        self.init()
        self.rssi = Int32(rssi)
        if let name = content.localName { localName = name }
        if let data = content.manufacturerData { manufacturerData = Data(data) }
        serviceData = content.serviceData.map { entry in
            WireAppServiceData.with {
                $0.uuid = Data(entry.uuid.wire)
                $0.data = Data(entry.data)
            }
        }
        services = content.serviceUUIDs.wire
        overflowServices = content.overflowServiceUUIDs.wire
        solicitedServices = content.solicitedServiceUUIDs.wire
        if let power = content.txPower { txPower = Int32(power) }
        isConnectable = content.isConnectable
        microseconds = content.microseconds
    }
}

extension AdvertisementContent {
    fileprivate init(_ wire: WireAppDiscovered) throws(WireError) {
        var fields = Fields()
        fields.localName = wire.hasLocalName ? wire.localName : nil
        fields.manufacturerData = wire.hasManufacturerData ? Array(wire.manufacturerData) : nil
        for entry in wire.serviceData {
            fields.serviceData.append(
                ServiceData(uuid: try BluetoothUUID(wire: entry.uuid), data: Array(entry.data)))
        }
        fields.serviceUUIDs = try BluetoothUUID.list(wire.services)
        fields.overflowServiceUUIDs = try BluetoothUUID.list(wire.overflowServices)
        fields.solicitedServiceUUIDs = try BluetoothUUID.list(wire.solicitedServices)
        fields.txPower = wire.hasTxPower ? Int8(clamping: wire.txPower) : nil
        fields.isConnectable = wire.isConnectable
        fields.microseconds = wire.microseconds
        self.init(fields)
    }
}

extension WireAppWriteRequests {
    fileprivate init(_ group: CentralWriteRequests) {
        self.init()
        request = group.id.rawValue
        central = WireAppCentral(group.central)
        writes = group.writes.map { write in
            WireAppWrite.with {
                $0.characteristic = write.characteristic.rawValue
                $0.offset = UInt32(clamping: write.offset)
                $0.value = Data(write.value)
            }
        }
    }
}

extension CentralWriteRequests {
    fileprivate init(_ wire: WireAppWriteRequests) throws(WireError) {
        self.init(
            id: ATTRequestID(rawValue: wire.request), central: try CentralDescription(wire.central),
            writes: wire.writes.map {
                Write(
                    characteristic: LocalAttributeID(wire: $0.characteristic), offset: Int($0.offset),
                    value: Array($0.value))
            })
    }
}

extension WireAppSubscription {
    fileprivate init(_ central: CentralDescription, _ characteristic: LocalAttributeID) {
        self.init()
        self.central = WireAppCentral(central)
        self.characteristic = characteristic.rawValue
    }
}

extension WireAppChannelPublished {
    fileprivate init(_ psm: UInt16, _ error: ClientError?) {
        self.init()
        self.psm = UInt32(psm)
        if let error { self.error = WireAppError(error) }
    }
}
