import BLEHost
import BLEPackets

/// A link that takes the place of one that the system lost: the app, which knows nothing of it, has what it had (SPEC
/// SPR-13, SPR-15).
///
///     connected ──▶ services ──as they were──▶ characteristics of each ──as they were──▶ configurations ──▶ subscribed
///                      └──gone or changed──▶ invalid, reported to the app ◀──┘               └──refused──▶ reported
///
/// Requests of the app wait until then: they might name attributes that no longer exist.
extension PeripheralSession {
    mutating func confirmDatabase(on link: LinkID, _ effects: inout ManagerEffects) {
        guard database.services?.isEmpty == false else { return }
        ask(.discoverServices(uuids: []), link, .confirmServices, &effects)
    }

    /// The peripheral has these services.
    mutating func confirm(_ found: [DiscoveredService], on link: LinkID, _ effects: inout ManagerEffects) {
        // Only for lookup, never iterated: a peer may have as many services as there are handles.
        let ranges = Dictionary(
            found.map { (RemoteAttributeID($0.range.first), $0) }, uniquingKeysWith: { first, _ in first })
        let kept = database.services ?? []
        invalidate(
            kept.filter { service in
                guard let now = ranges[service.id] else { return true }
                return now.uuid != service.uuid || now.range.last.rawValue != service.endHandle
            }, &effects)
        for service in database.services ?? [] where service.characteristics?.isEmpty == false {
            ask(
                .discoverCharacteristics(service.range, uuids: []), link,
                .confirmCharacteristics(service: service.id), &effects)
        }
    }

    /// A service of the peripheral has these characteristics.
    mutating func confirm(
        _ found: [DiscoveredCharacteristic], of id: RemoteAttributeID, on link: LinkID, _ effects: inout ManagerEffects
    ) {
        guard let service = database.service(id) else { return }
        // Only for lookup, never iterated.
        let present = Dictionary(
            found.map { (RemoteAttributeID($0.handle), $0) }, uniquingKeysWith: { first, _ in first })
        let characteristics = service.characteristics ?? []
        let isAsBefore = characteristics.allSatisfy { before in
            guard let now = present[before.id] else { return false }
            return now.uuid == before.uuid && now.properties.rawValue == before.properties
                && now.valueHandle.rawValue == before.valueHandle && now.endHandle.rawValue == before.endHandle
        }
        guard isAsBefore else { return invalidate([service], &effects) }
        for characteristic in characteristics where characteristic.isNotifying {
            ask(
                .discoverDescriptors(characteristic.descriptorRange), link,
                .confirmConfiguration(characteristic: characteristic.id), &effects)
        }
    }

    /// A characteristic that notified has these descriptors.
    mutating func subscribeAgain(
        to id: RemoteAttributeID, configuredAmong found: [DiscoveredDescriptor], on link: LinkID,
        _ effects: inout ManagerEffects
    ) {
        guard let characteristic = database.characteristic(id) else { return }
        guard let mode = characteristic.mode,
            let configuration = found.first(where: { $0.uuid == .clientCharacteristicConfiguration })?.handle
        else { return lostSubscription(to: id, .att(.requestNotSupported), &effects) }
        database.changeCharacteristic(id) { $0.configuration = configuration.rawValue }
        ask(
            .subscribe(
                AttributeHandle(rawValue: characteristic.valueHandle), configuration: configuration, mode: mode), link,
            .subscribeAgain(characteristic: id), &effects)
    }

    mutating func lostSubscription(
        to id: RemoteAttributeID, _ error: ClientError, _ effects: inout ManagerEffects
    ) {
        guard database.characteristic(id)?.isNotifying == true else { return }
        database.changeCharacteristic(id) { $0.isNotifying = false }
        deliver(.notificationStateUpdated(characteristic: id, isNotifying: false, error), &effects)
    }

    mutating func invalidate(_ services: [RemoteService], _ effects: inout ManagerEffects) {
        var gone: [RemoteAttributeID] = []
        for service in services { gone += database.invalidate(from: service.id.rawValue, to: service.endHandle) }
        guard !gone.isEmpty else { return }
        deliver(.servicesModified(invalidated: gone), &effects)
    }
}
