import BLEHost
import BLEPackets

/// A link that all apps share.
struct SharedLink: Equatable {
    let id: LinkID
    var address: DeviceAddress
    let role: LinkRole
    var attMTU: Int
    /// The services that any app has discovered on it. Only for lookup, never iterated.
    var services: Set<BluetoothUUID> = []
    /// The handle of Service Changed's value, once it is known.
    var serviceChanged: AttributeHandle?
    /// Managers that received a connection event for it.
    var observers: [ClientID] = []
}

/// What the system learns on a new link: the device's name, and changes of its services.
///
///     name ──▶ known
///     attributeService ──▶ serviceChanged ──▶ configuration ──▶ subscription ──▶ indications of Service Changed
///                                                                    └──bonded──▶ clientFeatures ──▶ robustCaching
///     watchedServices ──▶ known
enum LearningStep: Equatable {
    case name
    case attributeService
    case serviceChanged
    case configuration(AttributeHandle)
    case subscription(AttributeHandle)
    /// What a bonded device keeps of this side as its client.
    case clientFeatures
    /// The device refuses requests that rely on attributes that have changed (Core 5.4, Vol 3, Part G, 2.5.2.1).
    case robustCaching
    /// The services of registered connection events.
    case watchedServices
}

/// The links that all apps share, in the order in which they were established, and what the system learns on each (SPEC
/// 2.3, 5.5 rule 5).
struct SharedLinks {
    /// Something learned about a device.
    enum Finding: Equatable {
        case name(String)
        case services([BluetoothUUID])
    }

    private(set) var links = OrderedTable<LinkID, SharedLink>()

    subscript(link: LinkID) -> SharedLink? { links[link] }

    /// A link is usable, or another manager uses it, too.
    /// - Parameter watched: the services of registered connection events; `nil` if nothing should be learned.
    mutating func record(_ information: LinkInformation, watched: [BluetoothUUID]?, into effects: inout ManagerEffects)
    {
        guard links[information.id] == nil else { return }
        let link = information.id
        links[link] = SharedLink(
            id: link, address: information.peer.withoutIdentityMark, role: information.role,
            attMTU: information.attMTU)
        guard information.role == .central, let watched else { return }
        learn(.readUsingUUID(BluetoothUUID(UInt16(0x2A00)), .all), on: link, .name, &effects)
        learn(.discoverServices(uuids: [BluetoothUUID(UInt16(0x1801))]), on: link, .attributeService, &effects)
        // An app may never discover these services.
        if !watched.isEmpty { learn(.discoverServices(uuids: watched), on: link, .watchedServices, &effects) }
    }

    private func learn(
        _ operation: GATTOperation, on link: LinkID, _ step: LearningStep, _ effects: inout ManagerEffects
    ) {
        effects.submit(.link(link, .gatt(operation)), from: .system, for: .learn(link, step))
    }

    /// A step has ended; the next one follows.
    /// - Parameter isBonded: whether the device has a bond, and so keeps what it learns of its client.
    mutating func learned(
        _ step: LearningStep, _ result: GATTResult, on link: LinkID, isBonded: Bool, into effects: inout ManagerEffects
    ) -> Finding? {
        guard links[link] != nil else { return nil }
        switch (step, result) {
        case (.name, .attributeValues(let values)):
            guard let octets = values.first?.value, !octets.isEmpty else { return nil }
            return .name(String(decoding: octets, as: UTF8.self))
        case (.attributeService, .services(let found)):
            guard let service = found.first else { return nil }
            learn(
                .discoverCharacteristics(service.range, uuids: [BluetoothUUID(UInt16(0x2A05))]), on: link,
                .serviceChanged, &effects)
        case (.serviceChanged, .characteristics(let found)):
            guard let characteristic = found.first, let first = characteristic.valueHandle.next else { return nil }
            learn(
                .discoverDescriptors(AttributeHandleRange(first, characteristic.endHandle)), on: link,
                .configuration(characteristic.valueHandle), &effects)
        case (.configuration(let value), .descriptors(let found)):
            guard let configuration = found.first(where: { $0.uuid == .clientCharacteristicConfiguration })
            else { return nil }
            learn(
                .subscribe(value, configuration: configuration.handle, mode: .indications), on: link,
                .subscription(value), &effects)
        case (.subscription(let value), _):
            links[link]?.serviceChanged = value
            guard isBonded else { return nil }
            learn(.readUsingUUID(BluetoothUUID(UInt16(0x2B29)), .all), on: link, .clientFeatures, &effects)
        case (.clientFeatures, .attributeValues(let found)):
            guard let features = found.first else { return nil }
            var value = features.value.isEmpty ? [0] : features.value
            // Bit 0 (Core 5.4, Vol 3, Part G, 7.2). A bit that is set stays set.
            guard value[0] & 0x01 == 0 else { return nil }
            value[0] |= 0x01
            learn(.write(features.handle, value: value), on: link, .robustCaching, &effects)
        case (.watchedServices, .services(let found)): return .services(found.map(\.uuid))
        // No other answer belongs to these steps.
        case (.name, _), (.attributeService, _), (.serviceChanged, _), (.configuration, _), (.watchedServices, _),
            (.clientFeatures, _), (.robustCaching, _):
            break
        }
        return nil
    }

    /// The most services that are kept of a link: a peer may claim others each time it is asked.
    static let serviceLimit = 1024

    mutating func recordServices(_ uuids: [BluetoothUUID], on link: LinkID) {
        links.change(link) { shared in
            for uuid in uuids where shared.services.count < Self.serviceLimit { shared.services.insert(uuid) }
        }
    }

    mutating func addObserver(_ client: ClientID, of link: LinkID) { links[link]?.observers.append(client) }
    mutating func setMTU(_ mtu: Int, of link: LinkID) { links[link]?.attMTU = mtu }
    mutating func remove(_ link: LinkID) -> SharedLink? { links.remove(link) }

    /// The identity of a private address is now known.
    mutating func rename(_ address: DeviceAddress, to identity: DeviceAddress) {
        for link in links where link.address == address { links[link.id]?.address = identity }
    }
}
