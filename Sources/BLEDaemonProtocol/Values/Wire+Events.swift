import BLEHost
import BLEPackets
import FoundationEssentials

extension WireCompleted {
    /// - Parameter operation: the client's number.
    public init(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        self.init()
        self.operation = operation.rawValue
        switch result {
        case .failure(let failure): self.failure = WireFailure(failure)
        case .success(.done): done = WireNothing()
        case .success(.connected(let link)): self.link = link.wire
        case .success(.rssi(let rssi)): self.rssi = Int32(rssi)
        case .success(.gatt(let result)): set(result)
        case .success(.paired(let summary)): paired = WirePairingSummary(summary)
        case .success(.accepted(let isAccepted)): accepted = isAccepted
        case .success(.published(let service)): published = WirePublishedService(service)
        case .success(.listening(let spsm)): listening = UInt32(spsm)
        case .success(.channel(let information)): channel = WireOpenedChannel(information)
        case .success(.connectionParameters(let inForce)):
            parameters.interval = UInt32(inForce.interval.rawValue)
            parameters.peripheralLatency = UInt32(inForce.peripheralLatency)
            parameters.supervisionTimeout = UInt32(inForce.supervisionTimeout.rawValue)
        case .success(.channels(let opened)): channels.channels = opened.map { WireOpenedChannel($0) }
        case .success(.hciAnswer(let octets)): hciAnswer = Data(octets)
        case .success(.outOfBandData(let data)): outOfBand = WireOutOfBand(data)
        case .success(let result):
            // No command that the protocol carries ends like another one.
            if !set(procedure: result) { failure = WireFailure(.invalidRequest(.notAvailableOnSharedController)) }
        }
    }

    private mutating func set(_ result: GATTResult) {
        switch result {
        case .mtu(let mtu): self.mtu = UInt32(mtu)
        case .services(let found):
            services.services = found.map { WireService($0.uuid, $0.range, isPrimary: $0.isPrimary) }
        case .includedServices(let found):
            includedServices.services = found.map {
                var service = WireService($0.uuid, $0.range, isPrimary: false)
                service.declaration = $0.handle.wire
                return service
            }
        case .characteristics(let found):
            characteristics.characteristics = found.map { WireCharacteristic($0) }
        case .descriptors(let found):
            descriptors.descriptors = found.map { found in
                WireDescriptor.with {
                    $0.uuid = Data(found.uuid.wire)
                    $0.handle = found.handle.wire
                }
            }
        case .value(let octets): value = Data(octets)
        case .values(let list): values.values = list.map { Data($0) }
        case .attributeValues(let list): attributeValues.values = list.map { WireValue($0.handle, $0.value) }
        case .written: written = WireNothing()
        case .subscribed: subscribed = WireNothing()
        case .unsubscribed: unsubscribed = WireNothing()
        }
    }

    /// The result of the operation.
    /// - Throws: `WireError.invalidField`.
    public var outcome: Result<HostResult, HostFailure> {
        get throws(WireError) {
            guard let result else { throw .invalidField }
            switch result {
            case .failure(let failure): return .failure(try HostFailure(failure))
            case .done: return .success(.done)
            case .link(let link): return .success(.connected(LinkID(wire: link)))
            case .rssi(let rssi): return .success(.rssi(Int8(clamping: rssi)))
            case .mtu(let mtu): return .success(.gatt(.mtu(UInt16(clamping: mtu))))
            case .services(let list):
                var found: [DiscoveredService] = []
                for service in list.services { found.append(try DiscoveredService(service)) }
                return .success(.gatt(.services(found)))
            case .includedServices(let list):
                var found: [DiscoveredInclude] = []
                for service in list.services { found.append(try DiscoveredInclude(service)) }
                return .success(.gatt(.includedServices(found)))
            case .characteristics(let list):
                var found: [DiscoveredCharacteristic] = []
                for entry in list.characteristics { found.append(try DiscoveredCharacteristic(entry)) }
                return .success(.gatt(.characteristics(found)))
            case .descriptors(let list):
                var found: [DiscoveredDescriptor] = []
                for entry in list.descriptors {
                    found.append(
                        DiscoveredDescriptor(
                            handle: try AttributeHandle(wire: entry.handle), uuid: try BluetoothUUID(wire: entry.uuid)))
                }
                return .success(.gatt(.descriptors(found)))
            case .value(let octets): return .success(.gatt(.value(Array(octets))))
            case .values(let list): return .success(.gatt(.values(list.values.map { Array($0) })))
            case .attributeValues(let list):
                var found: [AttributeValue] = []
                for entry in list.values {
                    found.append(
                        AttributeValue(handle: try AttributeHandle(wire: entry.handle), value: Array(entry.value)))
                }
                return .success(.gatt(.attributeValues(found)))
            case .written: return .success(.gatt(.written))
            case .subscribed: return .success(.gatt(.subscribed))
            case .unsubscribed: return .success(.gatt(.unsubscribed))
            case .paired(let summary): return .success(.paired(try PairingSummary(summary)))
            case .accepted(let isAccepted): return .success(.accepted(isAccepted))
            case .published(let service): return .success(.published(try GATTPublishedService(service)))
            case .listening(let spsm): return .success(.listening(spsm: UInt16(clamping: spsm)))
            case .channel(let opened): return .success(.channel(ChannelInformation(opened)))
            case .channels(let opened): return .success(.channels(opened.channels.map { ChannelInformation($0) }))
            case .parameters(let inForce):
                return .success(
                    .connectionParameters(
                        ConnectionParameters(
                            interval: ConnectionInterval(rawValue: UInt16(clamping: inForce.interval)),
                            peripheralLatency: UInt16(clamping: inForce.peripheralLatency),
                            supervisionTimeout: SupervisionTimeout(
                                rawValue: UInt16(clamping: inForce.supervisionTimeout)))))
            case .remoteVersion(let version): return .success(.remoteVersion(RemoteVersion(version)))
            case .remoteFeatures(let features): return .success(.remoteFeatures(LEFeatures(rawValue: features)))
            case .dataLength(let length): return .success(.dataLength(DataLength(length)))
            case .phys(let phys):
                return .success(.phy(transmit: phys.both.transmit, receive: phys.both.receive))
            case .subrate(let subrate): return .success(.subrate(LinkSubrate(subrate)))
            case .transmitPower(let power): return .success(.transmitPower(TransmitPower(power)))
            case .hciAnswer(let octets): return .success(.hciAnswer(Array(octets)))
            case .outOfBand(let data): return .success(.outOfBandData(try LocalOutOfBandData(data)))
            }
        }
    }
}

extension WireService {
    init(_ uuid: BluetoothUUID, _ range: AttributeHandleRange, isPrimary: Bool) {
        self.init()
        self.uuid = Data(uuid.wire)
        self.range = WireRange(range)
        self.isPrimary = isPrimary
    }
}

extension DiscoveredService {
    init(_ wire: WireService) throws(WireError) {
        self.init(
            uuid: try BluetoothUUID(wire: wire.uuid), range: try AttributeHandleRange(wire.range),
            isPrimary: wire.isPrimary)
    }
}

extension DiscoveredInclude {
    init(_ wire: WireService) throws(WireError) {
        self.init(
            handle: try AttributeHandle(wire: wire.declaration), uuid: try BluetoothUUID(wire: wire.uuid),
            range: try AttributeHandleRange(wire.range))
    }
}

extension WireCharacteristic {
    init(_ found: DiscoveredCharacteristic) {
        self.init()
        uuid = Data(found.uuid.wire)
        handle = found.handle.wire
        valueHandle = found.valueHandle.wire
        endHandle = found.endHandle.wire
        properties = UInt32(found.properties.rawValue)
    }
}

extension DiscoveredCharacteristic {
    init(_ wire: WireCharacteristic) throws(WireError) {
        self.init(
            handle: try AttributeHandle(wire: wire.handle), valueHandle: try AttributeHandle(wire: wire.valueHandle),
            endHandle: try AttributeHandle(wire: wire.endHandle),
            properties: CharacteristicProperties(rawValue: UInt8(clamping: wire.properties)),
            uuid: try BluetoothUUID(wire: wire.uuid))
    }
}

extension WireDiscovery {
    /// - Parameters:
    ///   - operation: the client's number of the scan.
    ///   - lost: the number of this client's discoveries before this one that were dropped.
    public init(_ discovery: Discovery, operation: OperationID, lost: UInt32) {
        self.init()
        self.operation = operation.rawValue
        if let address = discovery.address { self.address = WireAddress(address) }
        rssi = Int32(discovery.rssi)
        isConnectable = discovery.isConnectable
        isScannable = discovery.isScannable
        advertisement = Data(discovery.advertisement)
        scanResponse = Data(discovery.scanResponse)
        txPower = Int32(discovery.txPower ?? 127)
        isExtended = discovery.isExtended
        time = discovery.time.microseconds
        self.lost = lost
        if let sid = discovery.advertisingSetIdentifier { self.sid = UInt32(sid) }
        primaryPhy = UInt32(discovery.primaryPHY.rawValue)
        secondaryPhy = UInt32(discovery.secondaryPHY?.rawValue ?? 0)
        periodicInterval = UInt32(discovery.periodicInterval?.rawValue ?? 0)
        if let target = discovery.unresolvedTarget { unresolvedTarget = WireAddress(target) }
    }

    /// - Throws: `WireError.invalidField`.
    public func discovery(by client: ClientID) throws(WireError) -> Discovery {
        var discovery = Discovery(
            scan: OperationID(rawValue: operation), client: client,
            address: hasAddress ? try DeviceAddress(address) : nil, rssi: Int8(clamping: rssi),
            isConnectable: isConnectable, isScannable: isScannable, advertisement: Array(advertisement),
            scanResponse: Array(scanResponse), txPower: txPower == 127 ? nil : Int8(clamping: txPower),
            isExtended: isExtended,
            time: Instant(microseconds: time))
        discovery.advertisingSetIdentifier = hasSid ? UInt8(clamping: sid) : nil
        discovery.primaryPHY = PHY(wire: primaryPhy) ?? .le1M
        discovery.secondaryPHY = PHY(wire: secondaryPhy)
        discovery.periodicInterval =
            periodicInterval == 0 ? nil : PeriodicAdvertisingInterval(rawValue: UInt16(clamping: periodicInterval))
        if hasUnresolvedTarget { discovery.unresolvedTarget = try DeviceAddress(unresolvedTarget) }
        return discovery
    }
}

extension WireLink {
    public init(_ information: LinkInformation) {
        self.init()
        link = information.id.wire
        peer = WireAddress(information.peer)
        isPeripheral = information.role == .peripheral
        interval = UInt32(information.parameters.interval.rawValue)
        peripheralLatency = UInt32(information.parameters.peripheralLatency)
        supervisionTimeout = UInt32(information.parameters.supervisionTimeout.rawValue)
        attMtu = UInt32(information.attMTU)
    }
}

extension LinkInformation {
    /// - Throws: `WireError.invalidField`.
    public init(_ wire: WireLink) throws(WireError) {
        self.init(
            id: LinkID(wire: wire.link), peer: try DeviceAddress(wire.peer),
            role: wire.isPeripheral ? .peripheral : .central,
            parameters: ConnectionParameters(
                interval: ConnectionInterval(rawValue: UInt16(clamping: wire.interval)),
                peripheralLatency: UInt16(clamping: wire.peripheralLatency),
                supervisionTimeout: SupervisionTimeout(rawValue: UInt16(clamping: wire.supervisionTimeout))),
            attMTU: Int(wire.attMtu))
    }
}

extension WireFromDaemon {
    /// The message about an event for a client that holds the link or asked; `nil` for an event that this version does
    /// not carry.
    public init?(_ event: HostEvent) {
        self.init()
        switch event {
        case .ready(let information): ready = WireController(information)
        case .recovering(let step): recovering.reopensTransport = step == .reopenTransport
        case .failed, .stopped: return nil
        case .connected(let information, _): connected = WireLink(information)
        case .disconnected(let link, _, let reason):
            disconnected.link = link.wire
            disconnected.reason = WireDisconnection(reason)
        case .gatt(let link, .notification(let value)):
            notification.link = link.wire
            notification.handle = value.handle.wire
            notification.value = Data(value.value)
            notification.isIndication = value.isIndication
        case .gatt(let link, .mtuChanged(let mtu)):
            mtuChanged.link = link.wire
            mtuChanged.mtu = UInt32(mtu)
        case .gatt(let link, .subscriptionsForgotten(let handles)):
            subscriptionsForgotten.link = link.wire
            subscriptionsForgotten.handles = handles.map(\.wire)
        case .gatt(let link, .writeCommandsFull):
            writeRoom.link = link.wire
            writeRoom.isThere = false
        case .gatt(let link, .writeCommandsReady):
            writeRoom.link = link.wire
            writeRoom.isThere = true
        case .pairing(let link, let event): pairing = WirePairingProgress(event, on: link)
        case .encryptionChanged(let link, let security):
            encryptionChanged = WireEncryptionChanged(security, on: link)
        case .advertisingChanged(let isAdvertising): advertisingChanged = isAdvertising
        case .centralConnected(let information): centralConnected = WireLink(information)
        case .centralDisconnected(let link, let reason):
            centralDisconnected.link = link.wire
            centralDisconnected.reason = WireDisconnection(reason)
        case .server(let event): server = WireServerEvent(event)
        case .channel(let event): channel = WireChannelEvent(event)
        case .connectionParametersChanged(let link, let inForce):
            parametersChanged.link = link.wire
            parametersChanged.interval = UInt32(inForce.interval.rawValue)
            parametersChanged.peripheralLatency = UInt32(inForce.peripheralLatency)
            parametersChanged.supervisionTimeout = UInt32(inForce.supervisionTimeout.rawValue)
        case .bondChanged(let bond): bondChanged = WireBond(bond)
        case .bondRemoved(let identity): bondRemoved = WireAddress(identity)
        case .phyChanged(let link, let transmit, let receive):
            physChanged.link = link.wire
            physChanged.phys = WirePHYs(transmit, receive)
        case .dataLengthChanged(let link, let length):
            dataLengthChanged.link = link.wire
            dataLengthChanged.length = WireDataLength(length)
        case .subrateChanged(let link, let subrate):
            subrateChanged.link = link.wire
            subrateChanged.subrate = WireSubrate(subrate)
        case .linkReport(let link, let report): linkReport = WireLinkReport(report, on: link)
        case .cleartextRefused(let link, let peer):
            cleartextRefused.link = link.wire
            cleartextRefused.peer = WireAddress(peer)
        // The session makes these messages itself, with the client's numbers.
        case .discovered, .completed, .advertisingSet, .advertisingRoom, .train: return nil
        case .gatt(_, .completed), .reopenTransport, .identityFound, .ambiguousIdentity, .malformedPacket: return nil
        }
    }
}

extension HostEvent {
    /// The event that the client's own engine would have reported; `nil` for messages that are not events of an engine.
    /// - Throws: `WireError.invalidField`.
    public init?(_ message: WireFromDaemon.OneOf_Message, for client: ClientID) throws(WireError) {
        switch message {
        case .welcome, .refusal, .lost, .appWelcome, .appEvent, .appTaken, .appNotice, .appPairing,
            .operatorAnswer, .packet, .alert:
            return nil
        case .advertisingSet(let event):
            self = .advertisingSet(OperationID(rawValue: event.operation), client, try AdvertisingSetEvent(event))
        case .advertisingRoom(let told):
            self = .advertisingRoom(OperationID(rawValue: told.operation), client, try AdvertisingRoom(told))
        case .train(let event): self = .train(OperationID(rawValue: event.operation), client, try TrainEvent(event))
        case .physChanged(let change):
            let phys = change.phys.both
            self = .phyChanged(LinkID(wire: change.link), transmit: phys.transmit, receive: phys.receive)
        case .dataLengthChanged(let change):
            self = .dataLengthChanged(LinkID(wire: change.link), DataLength(change.length))
        case .subrateChanged(let change): self = .subrateChanged(LinkID(wire: change.link), LinkSubrate(change.subrate))
        case .linkReport(let report): self = .linkReport(LinkID(wire: report.link), try LinkReport(report))
        case .cleartextRefused(let told):
            self = .cleartextRefused(LinkID(wire: told.link), try DeviceAddress(told.peer))
        case .advertisingChanged(let isAdvertising): self = .advertisingChanged(isAdvertising: isAdvertising)
        case .centralConnected(let link): self = .centralConnected(try LinkInformation(link))
        case .centralDisconnected(let end):
            self = .centralDisconnected(LinkID(wire: end.link), reason: try DisconnectionReason(end.reason))
        case .server(let event): self = .server(try GATTServerEvent(event, for: client))
        case .channel(let event): self = .channel(try ChannelEvent(event, for: client))
        case .parametersChanged(let change):
            self = .connectionParametersChanged(
                LinkID(wire: change.link),
                ConnectionParameters(
                    interval: ConnectionInterval(rawValue: UInt16(clamping: change.interval)),
                    peripheralLatency: UInt16(clamping: change.peripheralLatency),
                    supervisionTimeout: SupervisionTimeout(rawValue: UInt16(clamping: change.supervisionTimeout))))
        case .bondChanged(let bond): self = .bondChanged(try Bond(bond))
        case .bondRemoved(let identity): self = .bondRemoved(try DeviceAddress(identity))
        case .completed(let end): self = .completed(OperationID(rawValue: end.operation), try end.outcome)
        case .discovered(let discovery): self = .discovered(try discovery.discovery(by: client))
        case .connected(let link): self = .connected(try LinkInformation(link), client)
        case .disconnected(let end):
            self = .disconnected(LinkID(wire: end.link), client, reason: try DisconnectionReason(end.reason))
        case .notification(let value):
            self = .gatt(
                LinkID(wire: value.link),
                .notification(
                    GATTNotification(
                        handle: try AttributeHandle(wire: value.handle), value: Array(value.value),
                        isIndication: value.isIndication, clients: [client])))
        case .mtuChanged(let change):
            self = .gatt(LinkID(wire: change.link), .mtuChanged(UInt16(clamping: change.mtu)))
        case .subscriptionsForgotten(let list):
            var handles: [AttributeHandle] = []
            for handle in list.handles { handles.append(try AttributeHandle(wire: handle)) }
            self = .gatt(LinkID(wire: list.link), .subscriptionsForgotten(handles))
        case .writeRoom(let room):
            self = .gatt(LinkID(wire: room.link), room.isThere ? .writeCommandsReady : .writeCommandsFull)
        case .recovering(let step): self = .recovering(step.reopensTransport ? .reopenTransport : .reset)
        case .pairing(let progress): self = .pairing(LinkID(wire: progress.link), try progress.progress)
        case .encryptionChanged(let change):
            self = .encryptionChanged(LinkID(wire: change.link), try LinkSecurity(change))
        case .ready(let controller): self = .ready(try ControllerInformation(controller))
        }
    }
}
