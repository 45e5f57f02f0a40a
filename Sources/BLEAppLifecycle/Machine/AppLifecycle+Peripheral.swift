import BLEHost
import BLEPackets

/// What central managers ask of remote peripherals (SPEC CEN-11 to CEN-21).
extension AppLifecycle {
    mutating func perform(
        _ request: PeripheralRequest, on identifier: PeerIdentifier, _ index: Int, at now: Instant
    ) {
        guard let place = managers[index].central.index(of: identifier),
            let link = managers[index].central.peripherals[place].link
        else { return log(.notConnected(identifier), managers[index].app) }
        let session = managers[index].central.peripherals[place]
        switch request {
        case .discoverServices(let uuids):
            ask(.discoverServices(uuids: uuids), link, .discoverServices, identifier, index)
        case .discoverIncludedServices(let uuids, let id):
            let task = PeripheralTask.discoverIncludedServices(uuids, service: id)
            guard let service = session.service(id) else { return fail(task, identifier, index, at: now) }
            ask(.discoverIncludedServices(service.range), link, task, identifier, index)
        case .discoverCharacteristics(let uuids, let id):
            let task = PeripheralTask.discoverCharacteristics(service: id)
            guard let service = session.service(id) else { return fail(task, identifier, index, at: now) }
            ask(.discoverCharacteristics(service.range, uuids: uuids), link, task, identifier, index)
        case .discoverDescriptors(let id):
            let task = PeripheralTask.discoverDescriptors(characteristic: id)
            guard let characteristic = session.characteristic(where: { $0.id == id }) else {
                return fail(task, identifier, index, at: now)
            }
            ask(.discoverDescriptors(characteristic.descriptorRange), link, task, identifier, index)
        case .readValue(let id):
            let task = PeripheralTask.read(characteristic: id)
            guard let characteristic = session.characteristic(where: { $0.id == id }) else {
                return fail(task, identifier, index, at: now)
            }
            ask(.read(AttributeHandle(rawValue: characteristic.valueHandle)), link, task, identifier, index)
        case .readDescriptor(let id):
            let task = PeripheralTask.readDescriptor(id)
            guard session.descriptor(id) != nil else { return fail(task, identifier, index, at: now) }
            ask(.read(id.handle), link, task, identifier, index)
        case .writeValue(let value, let id):
            let task = PeripheralTask.write(characteristic: id)
            guard let characteristic = session.characteristic(where: { $0.id == id }) else {
                return fail(task, identifier, index, at: now)
            }
            let handle = AttributeHandle(rawValue: characteristic.valueHandle)
            ask(.write(handle, value: value), link, task, identifier, index)
        case .writeWithoutResponse(let value, let id):
            // Nobody hears what becomes of it (SPEC CEN-20).
            guard let characteristic = session.characteristic(where: { $0.id == id }) else { return }
            let handle = AttributeHandle(rawValue: characteristic.valueHandle)
            ask(.writeCommand(handle, value: value), link, .writeWithoutResponse, identifier, index)
        case .writeDescriptor(let value, let id):
            writeDescriptor(value, id, session, link, index, at: now)
        case .setNotify(let isOn, let id): setNotify(isOn, id, session, link, index, at: now)
        case .readRSSI:
            submit(
                .readRSSI(link), from: managers[index].client,
                for: .peripheral(managers[index].client, identifier, .readRSSI))
        case .openChannel(let psm):
            submit(
                .openChannel(link, spsm: psm, ChannelSettings()), from: managers[index].client,
                for: .peripheral(managers[index].client, identifier, .openChannel(psm: psm)))
        }
    }

    private mutating func ask(
        _ operation: GATTOperation, _ link: LinkID, _ task: PeripheralTask, _ peer: PeerIdentifier, _ index: Int
    ) {
        let client = managers[index].client
        submit(.gatt(link, operation), from: client, for: .peripheral(client, peer, task))
    }

    private mutating func fail(_ task: PeripheralTask, _ peer: PeerIdentifier, _ index: Int, at now: Instant) {
        log(.unknownAttribute, managers[index].app)
        failed(task, .coreBluetooth(.invalidHandle), peer, index, at: now)
    }

    private mutating func writeDescriptor(
        _ value: [UInt8], _ id: RemoteAttributeID, _ session: PeripheralSession, _ link: LinkID, _ index: Int,
        at now: Instant
    ) {
        let task = PeripheralTask.writeDescriptor(id)
        guard let descriptor = session.descriptor(id) else {
            return fail(task, session.identifier, index, at: now)
        }
        guard descriptor.uuid != .clientCharacteristicConfiguration else {
            log(.configurationDescriptorWritten, managers[index].app)
            return failed(task, .coreBluetooth(.invalidParameters), session.identifier, index, at: now)
        }
        ask(.write(id.handle, value: value), link, task, session.identifier, index)
    }

    /// Notifications where they are offered, else indications (SPEC 2.3, CEN-16).
    ///
    /// One call of a characteristic at a time: what the next one needs is known when the one before it has ended.
    private mutating func setNotify(
        _ isOn: Bool, _ id: RemoteAttributeID, _ session: PeripheralSession, _ link: LinkID, _ index: Int,
        at now: Instant
    ) {
        let peer = session.identifier
        guard let characteristic = session.characteristic(where: { $0.id == id }) else {
            return fail(.subscribe(characteristic: id), peer, index, at: now)
        }
        guard characteristic.mode != nil else {
            return failed(
                .subscribe(characteristic: id), .att(.requestNotSupported), peer, index, at: now)
        }
        guard let place = managers[index].central.index(of: peer) else { return }
        managers[index].central.peripherals[place].notifyCalls.append((id, isOn))
        guard !session.notifyCalls.contains(where: { $0.characteristic == id }) else { return }
        beginNotifyCall(of: id, peer, index, at: now)
    }

    /// Begins the oldest call of a characteristic, and answers those that change nothing.
    private mutating func beginNotifyCall(
        of id: RemoteAttributeID, _ peer: PeerIdentifier, _ index: Int, at now: Instant
    ) {
        guard let place = managers[index].central.index(of: peer),
            let link = managers[index].central.peripherals[place].link,
            let characteristic = managers[index].central.peripherals[place].characteristic(where: { $0.id == id })
        else { return }
        while let call = managers[index].central.peripherals[place].notifyCalls.firstIndex(where: {
            $0.characteristic == id
        }) {
            let isOn = managers[index].central.peripherals[place].notifyCalls[call].isOn
            if isOn != characteristic.isNotifying {
                if isOn { return subscribe(characteristic, link, peer, index) }
                let handle = AttributeHandle(rawValue: characteristic.valueHandle)
                return ask(.unsubscribe(handle), link, .unsubscribe(characteristic: id), peer, index)
            }
            managers[index].central.peripherals[place].notifyCalls.remove(at: call)
            tell(.notificationStateUpdated(characteristic: id, isNotifying: isOn, nil), of: peer, index, at: now)
        }
    }

    /// The call that was being carried out has been answered: the next one is due.
    private mutating func notifyCallEnded(
        of id: RemoteAttributeID, _ peer: PeerIdentifier, _ index: Int, at now: Instant
    ) {
        guard let place = managers[index].central.index(of: peer),
            let call = managers[index].central.peripherals[place].notifyCalls.firstIndex(where: {
                $0.characteristic == id
            })
        else { return }
        managers[index].central.peripherals[place].notifyCalls.remove(at: call)
        beginNotifyCall(of: id, peer, index, at: now)
    }

    private mutating func subscribe(
        _ characteristic: RemoteCharacteristic, _ link: LinkID, _ peer: PeerIdentifier, _ index: Int
    ) {
        guard let configuration = characteristic.configuration, let mode = characteristic.mode else {
            return ask(
                .discoverDescriptors(characteristic.descriptorRange), link,
                .findConfiguration(characteristic: characteristic.id), peer, index)
        }
        ask(
            .subscribe(
                AttributeHandle(rawValue: characteristic.valueHandle),
                configuration: AttributeHandle(rawValue: configuration), mode: mode), link,
            .subscribe(characteristic: characteristic.id), peer, index)
    }

    // MARK: Answers

    mutating func ended(
        _ task: PeripheralTask, _ result: Result<HostResult, HostFailure>, _ client: ClientID, _ peer: PeerIdentifier,
        at now: Instant
    ) {
        guard let index = index(of: client), let place = managers[index].central.index(of: peer),
            let link = managers[index].central.peripherals[place].link
        else { return }
        switch result {
        case .failure(.gatt(.disconnected)), .failure(.gatt(.bearerClosed)), .failure(.linkLost),
            .failure(.notConnected), .failure(.gatt(.notConnected)):
            // The disconnection is on its way and ends it all (SPEC 2.3).
            return
        case .failure(let failure):
            failed(task, failure.clientError, peer, index, at: now)
            if let id = task.notifyingCharacteristic { notifyCallEnded(of: id, peer, index, at: now) }
        case .success(.rssi(let rssi)): return tell(.rssiRead(rssi: rssi, nil), of: peer, index, at: now)
        case .success(.channel(let information)):
            guard case .openChannel(let psm) = task else { return }
            return opened(information, psm: psm, of: peer, index, at: now)
        case .success(.gatt(let result)):
            needsJournal = true
            succeeded(task, result, peer, index, place, link, at: now)
        case .success: break
        }
    }

    private mutating func succeeded(
        _ task: PeripheralTask, _ result: GATTResult, _ peer: PeerIdentifier, _ index: Int, _ place: Int,
        _ link: LinkID, at now: Instant
    ) {
        switch (task, result) {
        case (.discoverServices, .services(let found)):
            let services = managers[index].central.peripherals[place].merge(found)
            noteServices(found.map(\.uuid), on: link, at: now)
            tell(.servicesDiscovered(services, nil), of: peer, index, at: now)
        case (.discoverIncludedServices(let uuids, let id), .includedServices(let found)):
            let wanted = uuids.isEmpty ? found : found.filter { uuids.contains($0.uuid) }
            let services = managers[index].central.peripherals[place].merge(wanted, into: id)
            tell(.includedServicesDiscovered(service: id, services, nil), of: peer, index, at: now)
        case (.discoverCharacteristics(let id), .characteristics(let found)):
            let characteristics = managers[index].central.peripherals[place].merge(found, into: id)
            tell(.characteristicsDiscovered(service: id, characteristics, nil), of: peer, index, at: now)
        case (.discoverDescriptors(let id), .descriptors(let found)):
            let descriptors = managers[index].central.peripherals[place].merge(found, into: id)
            tell(.descriptorsDiscovered(characteristic: id, descriptors, nil), of: peer, index, at: now)
        case (.findConfiguration(let id), .descriptors(let found)):
            guard let configuration = found.first(where: { $0.uuid == .clientCharacteristicConfiguration }) else {
                failed(.subscribe(characteristic: id), .att(.requestNotSupported), peer, index, at: now)
                return notifyCallEnded(of: id, peer, index, at: now)
            }
            managers[index].central.peripherals[place].changeCharacteristic(id) {
                $0.configuration = configuration.handle.rawValue
            }
            guard
                let characteristic = managers[index].central.peripherals[place].characteristic(where: { $0.id == id })
            else { return }
            subscribe(characteristic, link, peer, index)
        case (.read(let id), .value(let value)):
            tell(.valueUpdated(characteristic: id, value, nil), of: peer, index, at: now)
        case (.readDescriptor(let id), .value(let value)):
            tell(.descriptorValueUpdated(id, value, nil), of: peer, index, at: now)
        case (.write(let id), _): tell(.valueWritten(characteristic: id, nil), of: peer, index, at: now)
        case (.writeDescriptor(let id), _): tell(.descriptorWritten(id, nil), of: peer, index, at: now)
        case (.subscribe(let id), _): setNotifying(true, id, peer, index, place, at: now)
        case (.unsubscribe(let id), _): setNotifying(false, id, peer, index, place, at: now)
        default: break
        }
    }

    private mutating func setNotifying(
        _ isNotifying: Bool, _ id: RemoteAttributeID, _ peer: PeerIdentifier, _ index: Int, _ place: Int,
        at now: Instant
    ) {
        managers[index].central.peripherals[place].changeCharacteristic(id) { $0.isNotifying = isNotifying }
        tell(
            .notificationStateUpdated(characteristic: id, isNotifying: isNotifying, nil), of: peer, index, at: now)
        notifyCallEnded(of: id, peer, index, at: now)
    }

    private mutating func failed(
        _ task: PeripheralTask, _ error: ClientError, _ peer: PeerIdentifier, _ index: Int, at now: Instant
    ) {
        let session = managers[index].central.index(of: peer).map { managers[index].central.peripherals[$0] }
        let event: PeripheralEvent
        switch task {
        case .discoverServices: event = .servicesDiscovered(session?.services ?? [], error)
        case .discoverIncludedServices(_, let id): event = .includedServicesDiscovered(service: id, [], error)
        case .discoverCharacteristics(let id):
            event = .characteristicsDiscovered(service: id, session?.service(id)?.characteristics ?? [], error)
        case .discoverDescriptors(let id): event = .descriptorsDiscovered(characteristic: id, [], error)
        case .read(let id): event = .valueUpdated(characteristic: id, nil, error)
        case .readDescriptor(let id): event = .descriptorValueUpdated(id, nil, error)
        case .write(let id): event = .valueWritten(characteristic: id, error)
        case .writeWithoutResponse: return
        case .writeDescriptor(let id): event = .descriptorWritten(id, error)
        case .findConfiguration(let id), .subscribe(let id), .unsubscribe(let id):
            let isNotifying = session?.characteristic { $0.id == id }?.isNotifying ?? false
            event = .notificationStateUpdated(characteristic: id, isNotifying: isNotifying, error)
        case .readRSSI: event = .rssiRead(rssi: 127, error)
        case .openChannel(let psm): event = .channelOpened(nil, psm: psm, error)
        }
        tell(event, of: peer, index, at: now)
    }

    // MARK: What the peer sends by itself

    mutating func notified(_ notification: GATTNotification, on link: LinkID, at now: Instant) {
        if notification.clients.contains(Self.system) { servicesChanged(notification, on: link, at: now) }
        var isAlarming = false
        for client in notification.clients {
            guard let index = index(of: client),
                let session = managers[index].central.peripherals.first(where: { $0.link == link }),
                let characteristic = session.characteristic(where: { $0.valueHandle == notification.handle.rawValue })
            else { continue }
            if managers[index].id != nil, !isAlarming {
                isAlarming = true
                raiseAlert(.notification, session.address)
            }
            tell(
                .valueUpdated(characteristic: characteristic.id, notification.value, nil), of: session.identifier,
                index, at: now)
        }
    }
}

extension RemoteService {
    var range: AttributeHandleRange {
        AttributeHandleRange(id.handle, AttributeHandle(rawValue: endHandle))
    }
}

extension RemoteCharacteristic {
    /// How to subscribe; `nil` where nobody can.
    var mode: SubscriptionMode? { CharacteristicProperties(rawValue: properties).subscriptionMode }

    /// Where the descriptors stand: behind the value.
    var descriptorRange: AttributeHandleRange {
        AttributeHandleRange(
            AttributeHandle(rawValue: valueHandle &+ 1), AttributeHandle(rawValue: endHandle))
    }
}

extension PeripheralSession {
    /// What was known of a service stays known.
    /// - Returns: all services.
    mutating func merge(_ found: [DiscoveredService]) -> [RemoteService] {
        var all = services ?? []
        for service in found where !all.contains(where: { $0.id.handle == service.range.first }) {
            all.append(
                RemoteService(
                    id: RemoteAttributeID(service.range.first), uuid: service.uuid, isPrimary: service.isPrimary,
                    endHandle: service.range.last.rawValue))
        }
        all.sort { $0.id < $1.id }
        services = all
        return all
    }

    mutating func merge(_ found: [DiscoveredInclude], into id: RemoteAttributeID) -> [RemoteService] {
        let ids = found.map { RemoteAttributeID($0.range.first) }
        for include in found where service(RemoteAttributeID(include.range.first)) == nil {
            includedServices.append(
                RemoteService(
                    id: RemoteAttributeID(include.range.first), uuid: include.uuid, isPrimary: false,
                    endHandle: include.range.last.rawValue))
        }
        var all: [RemoteAttributeID] = []
        changeService(id) { service in
            all = service.includedServices ?? []
            for id in ids where !all.contains(id) { all.append(id) }
            service.includedServices = all
        }
        return all.compactMap { service($0) }
    }

    mutating func merge(_ found: [DiscoveredCharacteristic], into id: RemoteAttributeID) -> [RemoteCharacteristic] {
        var all: [RemoteCharacteristic] = []
        changeService(id) { service in
            all = service.characteristics ?? []
            for characteristic in found where !all.contains(where: { $0.id.handle == characteristic.handle }) {
                all.append(
                    RemoteCharacteristic(
                        id: RemoteAttributeID(characteristic.handle), uuid: characteristic.uuid,
                        properties: characteristic.properties.rawValue, isNotifying: false, descriptors: nil,
                        valueHandle: characteristic.valueHandle.rawValue,
                        endHandle: characteristic.endHandle.rawValue, configuration: nil))
            }
            all.sort { $0.id < $1.id }
            service.characteristics = all
        }
        return all
    }

    mutating func merge(_ found: [DiscoveredDescriptor], into id: RemoteAttributeID) -> [RemoteDescriptor] {
        let descriptors = found.map { RemoteDescriptor(id: RemoteAttributeID($0.handle), uuid: $0.uuid) }
        changeCharacteristic(id) { characteristic in
            characteristic.descriptors = descriptors
            characteristic.configuration =
                found.first { $0.uuid == .clientCharacteristicConfiguration }?.handle.rawValue
                ?? characteristic.configuration
        }
        return descriptors
    }
}
