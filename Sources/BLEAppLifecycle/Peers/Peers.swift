import BLEHost
import BLEPackets

/// The devices around as apps know them: identifiers, names and links, and the events of the engine about them (SPEC
/// 2.3, 2.4, 5.5 rule 5).
struct Peers {
    var links = SharedLinks()
    var directory: PeerDirectory
    private var latestReport = LatestReport()

    /// - Parameters:
    ///   - limit: the maximum number of remembered devices of each kind.
    ///   - seed: entropy for identifiers.
    init(limit: Int, seed: [UInt8]) { directory = PeerDirectory(limit: limit, seed: seed) }

    // MARK: Identifiers

    func describe(
        _ identifier: PeerIdentifier, at address: DeviceAddress, _ client: ClientID, _ runtime: AppRuntime
    ) -> PeripheralDescription? {
        runtime.managers.withValue(of: client) {
            $0.central?.state.describe(identifier, name: directory.name(of: address))
        } ?? nil
    }

    mutating func identify(_ address: DeviceAddress, app: Int, _ runtime: inout AppRuntime) -> PeerIdentifier {
        let (identifier, isNew) = directory.identify(address, app: app, into: &runtime.effects)
        if isNew { forgetOldest(runtime) }
        return identifier
    }

    mutating func retainIdentity(_ identifier: PeerIdentifier, app: Int, _ runtime: inout AppRuntime) {
        if directory.retain(identifier, app: app, into: &runtime.effects) { forgetOldest(runtime) }
    }

    /// The maximum number of devices that are checked at a time whether they can be forgotten.
    private static let forgettingTries = 64

    private mutating func forgetOldest(_ runtime: AppRuntime) {
        for _ in 0..<Self.forgettingTries {
            guard let device = directory.nextToForget() else { return }
            let isHeld =
                directory.isBonded(device.address) || links.links.contains { $0.address == device.address }
                || runtime.managers.refer(to: device)
            if isHeld { directory.spare(device.address) } else { directory.forget(device.address) }
        }
    }

    mutating func identityFound(
        _ identity: DeviceAddress, behind address: DeviceAddress, _ runtime: inout AppRuntime
    ) {
        directory.rebind(address, to: identity, into: &runtime.effects)
        for client in runtime.managers.keys {
            runtime.managers[client]?.central?.state.rename(address, to: identity)
            runtime.managers[client]?.peripheral?.state.rename(address, to: identity)
        }
        links.rename(address, to: identity)
    }

    /// Restores the state of an earlier process.
    mutating func restore(_ state: PreservedState, _ runtime: inout AppRuntime) {
        for identity in state.identities {
            directory.restore(identity, app: known(identity.app, &runtime))
            forgetOldest(runtime)
        }
        for kept in state.managers where kept.hasTasks {
            let app = known(kept.app, &runtime)
            runtime.restore(kept, app)
            for peripheral in kept.peripherals where !peripheral.address.isLasting {
                directory.restore(peripheral, app: app)
            }
        }
    }

    /// The index of an app, which becomes known if it is not.
    mutating func known(_ id: AppID, _ runtime: inout AppRuntime) -> Int {
        let app = runtime.apps.known(id)
        directory.add(id, at: app)
        return app
    }

    // MARK: Discoveries

    /// One packet, and what all who scan get of it.
    private struct Sighting {
        let discovery: Discovery
        let address: DeviceAddress
        var name: String?
        /// `nil` until a manager wants it.
        var content: AdvertisementContent?
        var octets = 0
        var recipients: [SharedDiscovery.Recipient] = []
        /// Where the next manager is likely to be.
        var place = 0
    }

    /// There may be thousands of these a second, each for many apps.
    mutating func discovered(_ discovery: Discovery, _ runtime: inout AppRuntime) {
        guard let address = discovery.address else { return }
        var sighting = Sighting(discovery: discovery, address: address)
        deliver(&sighting, discovery.client, discovery.scan, &runtime)
        if !discovery.others.isEmpty {
            sighting.recipients.reserveCapacity(1 + discovery.others.count)
            for other in discovery.others { deliver(&sighting, other.client, other.scan, &runtime) }
        }
        guard !sighting.recipients.isEmpty, let content = sighting.content else { return }
        runtime.effects.emit(
            .discovered(SharedDiscovery(sighting.name, content, rssi: discovery.rssi, for: sighting.recipients)))
    }

    /// Delivers a discovery to one manager that scans.
    private mutating func deliver(
        _ sighting: inout Sighting, _ client: ClientID, _ scan: OperationID, _ runtime: inout AppRuntime
    ) {
        guard let place = runtime.managers.place(of: client, near: sighting.place) else { return }
        sighting.place = place + 1
        var scanning: Int?
        // Reading a manager copies it; changing it does not.
        runtime.managers.change(at: place) { manager in
            if manager.runs(scan) { scanning = manager.app }
        }
        guard let app = scanning else { return }
        if sighting.content == nil { parse(&sighting) }
        let identifier = identify(sighting.address, app: app, &runtime)
        let hears = runtime.apps[app].receives(.central)
        let isBehind = !runtime.apps[app].isInForeground
        var id: ManagerID?
        var mayHold = false
        var isNew = true
        var state = PeripheralState.disconnected
        let octets = sighting.octets
        runtime.managers.change(at: place) { manager in
            state = manager.state(of: identifier)
            if isBehind { isNew = manager.central?.state.recordFound(identifier) ?? true }
            let mayTake = hears && manager.queue.isEmpty && manager.hasRoom
            if mayTake, let own = manager.id {
                manager.countDelivered(octets: octets)
                id = own
            }
            mayHold = id == nil || manager.mayHoldIndications
        }
        if isBehind, id != nil { runtime.apps[app].took(at: runtime.now, runtime.settings) }
        if let id, !sighting.discovery.others.isEmpty, latestReport.isSameForAll {
            sighting.recipients.append(
                SharedDiscovery.Recipient(app: runtime.apps[app].id, manager: id, identifier: identifier, state: state))
        } else {
            let services =
                latestReport.isSameForAll
                ? nil : runtime.managers.withValue(at: place) { $0.central?.state.scannedServices } ?? nil
            let event = ClientEvent.discovered(
                PeripheralDescription(identifier: identifier, name: sighting.name, state: state),
                latestReport.content(scannedFor: services), rssi: sighting.discovery.rssi)
            // Behind, what a device changes in its advertisement waits with its other discoveries (SPEC BGC-3).
            if let id {
                runtime.effects.emit(.event(event, to: id, of: runtime.apps[app].id))
            } else {
                runtime.deliver(event, to: client, wakes: isNew)
            }
        }
        // Only this manager's place has changed.
        if mayHold { runtime.withholdConfirmations(of: client) }
    }

    private mutating func parse(_ sighting: inout Sighting) {
        if latestReport.update(sighting.discovery), let name = latestReport.localName {
            directory.setAdvertisedName(name, of: sighting.address)
        }
        let content = latestReport.content(scannedFor: nil)
        sighting.content = content
        sighting.octets = ClientEvent.approximateOctets(ofDiscovery: content)
        sighting.name = directory.name(of: sighting.address)
    }
}
