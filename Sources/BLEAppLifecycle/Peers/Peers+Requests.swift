import BLEHost
import BLEPackets

/// Requests of managers in which devices are named, and the completions of their commands.
extension Peers {
    mutating func perform(
        _ request: CentralManagerRequest, _ client: ClientID, _ app: Int, _ runtime: inout AppRuntime
    ) {
        let state = runtime.state(app)
        let isOn = state == .poweredOn
        var peer: CentralManager.KnownPeer?
        switch request {
        // These need no Bluetooth.
        case .retrievePeripherals(let query, let identifiers):
            return runtime.deliver(.retrieved(query, known(identifiers, client, app, &runtime)), to: client)
        case .retrieveConnectedPeripherals(let query, let services):
            return runtime.deliver(.retrieved(query, connected(with: services, client, app, &runtime)), to: client)
        case .connect(let identifier, _):
            let mayConnect = isOn || state == .resetting || state == .poweredOff
            guard mayConnect, let address = directory.address(of: identifier, app: app) else { break }
            retainIdentity(identifier, app: app, &runtime)
            peer = CentralManager.KnownPeer(address: address, name: directory.name(of: address))
        case .stopScan:
            if isOn { runtime.managers[client]?.queue.removeDiscoveries() }
        case .scan, .cancelConnection, .letGo, .registerForConnectionEvents, .peripheral: break
        }
        runtime.withCentral(client) { $0.perform(request, of: peer, $1, into: &$2) }
    }

    /// The devices with these identifiers that the app knows.
    private mutating func known(
        _ identifiers: [PeerIdentifier], _ client: ClientID, _ app: Int, _ runtime: inout AppRuntime
    ) -> [PeripheralDescription] {
        var known: [PeripheralDescription] = []
        for identifier in identifiers {
            guard let address = directory.address(of: identifier, app: app) else { continue }
            retainIdentity(identifier, app: app, &runtime)
            if let description = describe(identifier, at: address, client, runtime) { known.append(description) }
        }
        return known
    }

    private mutating func connected(
        with services: [BluetoothUUID], _ client: ClientID, _ app: Int, _ runtime: inout AppRuntime
    ) -> [PeripheralDescription] {
        // Every peripheral has the Generic Access service (Core 5.4, Vol 3, Part C, 12), whether it was discovered or
        // not.
        let isForAll = services.contains(BluetoothUUID(UInt16(0x1800)))
        var found: [PeripheralDescription] = []
        for link in links.links
        where isForAll && link.role == .central || services.contains(where: { link.services.contains($0) }) {
            let identifier = identify(link.address, app: app, &runtime)
            if let description = describe(identifier, at: link.address, client, runtime) { found.append(description) }
        }
        return found
    }

    /// The links of the centrals in a request.
    func links(namedIn request: PeripheralManagerRequest, _ app: Int) -> [LinkID]? {
        switch request {
        case .updateValue(_, _, _, let centrals?):
            return links.links.filter { link in
                directory.identifier(of: link.address, app: app).map { centrals.contains($0) } ?? false
            }.map(\.id)
        case .setConnectionLatency(_, let central):
            guard let address = directory.address(of: central, app: app) else { return [] }
            return links.links.first { $0.address == address }.map { [$0.id] } ?? []
        default: return nil
        }
    }

    /// A command of a manager or the system has ended.
    mutating func completed(
        _ operation: OperationID, _ result: Result<HostResult, HostFailure>, _ runtime: inout AppRuntime
    ) {
        guard let (token, purpose) = runtime.effects.commands.remove(operation) else { return }
        switch purpose {
        case .scan(let client):
            if case .failure = result { runtime.withCentral(client) { manager, _, _ in manager.scanEnded(token) } }
        case .advertise(let client):
            var failure: HostFailure?
            if case .failure(let error) = result { failure = error }
            runtime.withPeripheral(client) { $0.advertisingEnded(token, failure, into: &$2) }
        case .connect(let client, let peer):
            HostAnswer.link.pass(result) { connectEnded(token, client, peer, $0, &runtime) }
        case .peripheral(let client, let peer, let task): ended(task, of: peer, client, result, &runtime)
        case .publish(let client, let service):
            HostAnswer.published.pass(result) { runtime.published(service, client, $0) }
        case .update(let client, let query):
            HostAnswer.accepted.pass(result) { isAccepted in
                runtime.withPeripheral(client) { $0.updated(query, isAccepted, into: &$2) }
            }
        case .respond(let client):
            guard result == .success(.accepted(false)), let app = runtime.managers[client]?.app else { break }
            runtime.log(.requestAlreadyAnswered, app)
        case .listen(let client): HostAnswer.listening.pass(result) { runtime.listening($0, client) }
        case .send(let client, let channel, let count):
            if case .success = result { runtime.withChannels(client) { $0.sent(count, on: channel, into: &$1) } }
        case .learn(let link, let step):
            if case .success(let result) = result {
                HostAnswer.gatt.pass(result) { learned(step, $0, on: link, &runtime) }
            }
        case .none: break
        }
    }
}

extension AppRuntime {
    /// The engine has published or rejected a service.
    fileprivate mutating func published(
        _ service: LocalAttributeID, _ client: ClientID, _ result: Result<GATTPublishedService, HostFailure>
    ) {
        let isTaken = withPeripheral(client) { $0.published(service, result, $1, into: &$2) } != nil
        guard !isTaken, case .success(let service) = result else { return }
        submit(.server(.removeService(service.range.first)), from: client)
    }

    /// The engine has opened or refused a listener.
    fileprivate mutating func listening(_ result: Result<UInt16, HostFailure>, _ client: ClientID) {
        guard managers[client] == nil else { return withChannels(client) { $0.listening(result, into: &$1) } }
        if case .success(let spsm) = result { submit(.channel(.stopListening(spsm: spsm)), from: client) }
    }
}
