import BLEHost
import BLEPackets

/// Links as all apps share them: what the system learns of each, and who hears that it is there (SPEC 2.3, 5.5 rule 5).
extension AppLifecycle {
    /// Who is at the other end of a link, and how an app knows that device: for questions of pairing.
    public mutating func peer(of link: LinkID, for app: AppID) -> (DeviceAddress, PeripheralDescription)? {
        guard let address = links.first(where: { $0.id == link })?.address else { return nil }
        let identifier = identify(address, app: known(app))
        return (
            address,
            PeripheralDescription(
                identifier: identifier, name: identities.name(of: address), state: .connected)
        )
    }

    /// A link is usable, or another manager holds it too.
    mutating func note(_ information: LinkInformation) {
        guard !links.contains(where: { $0.id == information.id }) else { return }
        links.append(
            SharedLink(
                id: information.id, address: information.peer.withoutIdentityMark, role: information.role,
                attMTU: information.attMTU))
        guard information.role == .central, settings.learnsPeers else { return }
        learn(.readUsingUUID(BluetoothUUID(UInt16(0x2A00)), .all), on: information.id, .name)
        learn(
            .discoverServices(uuids: [BluetoothUUID(UInt16(0x1801))]), on: information.id, .attributeService)
        learnWatchedServices(on: information.id)
    }

    /// Whether the peer has what connection events were asked for: nobody else may ever look for it.
    private mutating func learnWatchedServices(on link: LinkID) {
        var watched: [BluetoothUUID] = []
        for manager in managers {
            for service in manager.central.connectionEvents?.services ?? [] where !watched.contains(service) {
                watched.append(service)
            }
        }
        guard !watched.isEmpty else { return }
        learn(.discoverServices(uuids: watched), on: link, .watchedServices)
    }

    private mutating func learn(_ operation: GATTOperation, on link: LinkID, _ step: LearningStep) {
        submit(.gatt(link, operation), from: Self.system, for: .learn(link, step))
    }

    mutating func learned(_ step: LearningStep, _ result: GATTResult, on link: LinkID, at now: Instant) {
        guard let index = links.firstIndex(where: { $0.id == link }) else { return }
        switch (step, result) {
        case (.name, .attributeValues(let values)):
            guard let octets = values.first?.value, !octets.isEmpty else { return }
            let name = String(decoding: octets, as: UTF8.self)
            guard identities.setDeviceName(name, of: links[index].address) else { return }
            for (manager, session) in holders(of: link) {
                tell(.nameUpdated(name), of: session.identifier, manager, at: now)
            }
        case (.attributeService, .services(let found)):
            guard let service = found.first else { return }
            learn(
                .discoverCharacteristics(service.range, uuids: [BluetoothUUID(UInt16(0x2A05))]), on: link,
                .serviceChanged)
        case (.serviceChanged, .characteristics(let found)):
            guard let characteristic = found.first, let first = characteristic.valueHandle.next else { return }
            learn(
                .discoverDescriptors(AttributeHandleRange(first, characteristic.endHandle)), on: link,
                .configuration(characteristic.valueHandle))
        case (.configuration(let value), .descriptors(let found)):
            guard let configuration = found.first(where: { $0.uuid == .clientCharacteristicConfiguration }) else {
                return
            }
            learn(
                .subscribe(value, configuration: configuration.handle, mode: .indications), on: link,
                .subscription(value))
        case (.subscription(let value), _): links[index].serviceChanged = value
        case (.watchedServices, .services(let found)): noteServices(found.map(\.uuid), on: link, at: now)
        default: break
        }
    }

    /// Managers that hold a link, with their sessions.
    func holders(of link: LinkID) -> [(Int, PeripheralSession)] {
        managers.indices.flatMap { index in
            managers[index].central.peripherals.filter { $0.link == link }.map { (index, $0) }
        }
    }

    /// The peer's services are not what they were (SPEC 2.3 didModifyServices).
    mutating func servicesChanged(_ notification: GATTNotification, on link: LinkID, at now: Instant) {
        guard links.contains(where: { $0.id == link && $0.serviceChanged == notification.handle }) else { return }
        let (first, last) = (notification.changedHandles.first.rawValue, notification.changedHandles.last.rawValue)
        for (index, session) in holders(of: link) {
            let gone = (session.services ?? []).filter { $0.id.rawValue <= last && first <= $0.endHandle }.map(\.id)
            guard let place = managers[index].central.index(of: session.identifier) else { continue }
            managers[index].central.peripherals[place].services?.removeAll { gone.contains($0.id) }
            managers[index].central.peripherals[place].includedServices.removeAll {
                $0.id.rawValue <= last && first <= $0.endHandle
            }
            managers[index].central.peripherals[place].notifyCalls.removeAll {
                (first...last).contains($0.characteristic.rawValue)
            }
            needsJournal = true
            tell(.servicesModified(invalidated: gone), of: session.identifier, index, at: now)
        }
    }

    mutating func mtuChanged(_ mtu: UInt16, on link: LinkID, at now: Instant) {
        guard let index = links.firstIndex(where: { $0.id == link }) else { return }
        links[index].attMTU = Int(mtu)
        for (manager, session) in holders(of: link) {
            guard let place = managers[manager].central.index(of: session.identifier) else { continue }
            managers[manager].central.peripherals[place].attMTU = Int(mtu)
            let limits = managers[manager].central.peripherals[place].writeLimits
            tell(.writeLimitsChanged(limits), of: session.identifier, manager, at: now)
        }
    }

    mutating func setTakesWriteCommands(_ isReady: Bool, on link: LinkID, at now: Instant) {
        for (index, session) in holders(of: link) {
            tell(.writeWithoutResponseAvailable(isReady), of: session.identifier, index, at: now)
        }
    }

    // MARK: Connection events

    /// Whoever asked hears of a connection once, whichever app made it (SPEC 2.3 registerForConnectionEvents).
    mutating func announceConnection(_ link: LinkID, at now: Instant) {
        guard let place = links.firstIndex(where: { $0.id == link }) else { return }
        for index in managers.indices {
            let client = managers[index].client
            guard let filter = managers[index].central.connectionEvents, !links[place].observers.contains(client)
            else { continue }
            let address = links[place].address
            let identifier = identities.identifier(of: address, app: managers[index].app)
            let isNamed = identifier.map { filter.peripherals.contains($0) } ?? false
            guard isNamed || links[place].services.contains(where: { filter.services.contains($0) }) else { continue }
            links[place].observers.append(client)
            let known = identify(address, app: managers[index].app)
            tell(.connectionEvent(describe(known, address, index), isConnected: true), index, at: now)
        }
    }

    mutating func noteServices(_ uuids: [BluetoothUUID], on link: LinkID, at now: Instant) {
        guard let place = links.firstIndex(where: { $0.id == link }) else { return }
        for uuid in uuids where !links[place].services.contains(uuid) { links[place].services.append(uuid) }
        announceConnection(link, at: now)
    }

    /// The link is gone for everybody.
    mutating func forget(_ link: LinkID, at now: Instant) {
        guard let place = links.firstIndex(where: { $0.id == link }) else { return }
        let gone = links.remove(at: place)
        for client in gone.observers {
            guard let index = index(of: client), managers[index].central.connectionEvents != nil else { continue }
            let identifier = identify(gone.address, app: managers[index].app)
            tell(.connectionEvent(describe(identifier, gone.address, index), isConnected: false), index, at: now)
        }
    }
}
