import BLEHost
import BLEPackets

/// Remote centrals: what they ask of the services and channels of apps.
extension Peers {
    private mutating func describe(_ link: LinkID, app: Int, _ runtime: inout AppRuntime) -> CentralDescription? {
        guard let shared = links[link] else { return nil }
        return CentralDescription(
            identifier: identify(shared.address, app: app, &runtime), maximumUpdateLength: shared.attMTU - 3)
    }

    mutating func served(_ event: GATTServerEvent, _ runtime: inout AppRuntime) {
        switch event {
        case .read(let request):
            guard let manager = runtime.managers[request.owner],
                manager.peripheral?.state.characteristic(with: request.handle) != nil,
                let central = describe(request.link, app: manager.app, &runtime)
            else { return refuse(request.id, of: request.owner, &runtime) }
            if runtime.isCrowded(manager) { return refuse(request.id, .insufficientResources, &runtime) }
            runtime.withPeripheral(request.owner) { $0.read(request, by: central, into: &$2) }
        case .write(let request):
            guard let manager = runtime.managers[request.owner], manager.kind == .peripheral,
                let central = describe(request.link, app: manager.app, &runtime)
            else { return refuse(request.id, of: request.owner, &runtime) }
            if runtime.isCrowded(manager) {
                if !request.needsAnswer { runtime.managers[request.owner]?.queue.countLost() }
                return refuse(request.id, .insufficientResources, &runtime)
            }
            runtime.withPeripheral(request.owner) { $0.written(request, by: central, into: &$2) }
        case .subscribed(let subscription):
            guard let manager = runtime.managers[subscription.owner],
                manager.peripheral?.state.isNew(subscription) == true,
                let address = links[subscription.link]?.address
            else { return }
            let central = identify(address, app: manager.app, &runtime)
            runtime.withPeripheral(subscription.owner) {
                $0.subscribed(subscription, by: central, at: address, into: &$2)
            }
        case .unsubscribed(let subscription):
            guard let manager = runtime.managers[subscription.owner],
                let known = manager.peripheral?.state.known(subscription)
            else { return }
            let central = identify(known.address, app: manager.app, &runtime)
            runtime.withPeripheral(subscription.owner) { $0.unsubscribed(known, by: central, into: &$2) }
        case .readyToUpdate: runtime.forEachPeripheral { $0.readyToUpdate(into: &$2) }
        case .requestExpired(let id, _):
            for client in runtime.managers.keys
            where runtime.withPeripheral(client, { $0.expired(id, into: &$2) }) == true {
                runtime.managers[client]?.queue.removeAll { $0.question == id }
            }
        case .stored, .confirmed, .fellBehind: break
        }
    }

    /// Rejects a request that no app answers, unless its service belongs to a client that is not an app.
    private func refuse(_ id: GATTRequestID, of owner: ClientID, _ runtime: inout AppRuntime) {
        if !runtime.isForeign(owner) { refuse(id, .unlikelyError, &runtime) }
    }

    private func refuse(_ id: GATTRequestID, _ error: ATTError, _ runtime: inout AppRuntime) {
        runtime.submit(.server(.respond(id, .failure(error))), from: .system)
    }

    // MARK: Channels

    mutating func received(_ event: ChannelEvent, _ runtime: inout AppRuntime) {
        switch event {
        case .opened(let information, let client):
            guard !runtime.isForeign(client) else { return }
            guard let manager = runtime.managers[client], !runtime.isCrowded(manager),
                let central = describe(information.id.link, app: manager.app, &runtime)
            else { return runtime.submit(.channel(.close(information.id)), from: client) }
            runtime.withChannels(client) { $0.accepted(information, from: central, into: &$1) }
        // Apps receive no event about the sizes of a channel.
        case .reconfigured: break
        case .received(let channel, let octets):
            guard let client = owner(of: channel, runtime) else { return }
            runtime.withChannels(client) { $0.received(octets, on: channel, into: &$1) }
        case .closed(let channel, let end):
            guard let client = owner(of: channel, runtime) else { return }
            runtime.withChannels(client) { $0.closed(channel, end, into: &$1) }
        }
    }

    private func owner(of channel: ChannelID, _ runtime: AppRuntime) -> ClientID? {
        runtime.managers.first { $0.channels[channel] != nil }?.client
    }
}
