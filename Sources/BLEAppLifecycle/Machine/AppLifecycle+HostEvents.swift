import BLEHost
import BLEPackets

/// What the engine tells.
extension AppLifecycle {
    /// Something that the engine tells; whatever is for an app follows as output.
    public mutating func receive(_ event: HostEvent, at now: Instant) {
        switch event {
        case .ready:
            controller = .ready
            stateChanged(at: now)
        case .recovering:
            controller = .resetting
            stateChanged(at: now)
        case .failed:
            controller = .failed
            stateChanged(at: now)
        case .stopped:
            controller = .starting
            stateChanged(at: now)
        case .reopenTransport, .connectionParametersChanged, .phyChanged, .dataLengthChanged, .malformedPacket: break
        case .discovered(let discovery): discovered(discovery, at: now)
        case .advertisingChanged(let isAdvertising): advertisingChanged(isAdvertising, at: now)
        case .completed(let operation, let result): completed(operation, result, at: now)
        case .connected(let information, let client):
            connected(information, client, at: now)
            announceConnection(information.id, at: now)
        case .disconnected(let link, let client, let reason):
            if reason != .releasedByClient { disconnected(link, client, reason, at: now) }
            let isServed = links.contains { $0.id == link && $0.role == .peripheral }
            if !isServed, holders(of: link).isEmpty { forget(link, at: now) }
        case .gatt(let link, .notification(let notification)): notified(notification, on: link, at: now)
        case .gatt(let link, .mtuChanged(let mtu)): mtuChanged(mtu, on: link, at: now)
        case .gatt(let link, .writeCommandsFull): setTakesWriteCommands(false, on: link, at: now)
        case .gatt(let link, .writeCommandsReady): setTakesWriteCommands(true, on: link, at: now)
        case .gatt: break
        case .centralConnected(let information): note(information)
        case .centralDisconnected(let link, _):
            centralGone(link, at: now)
            forget(link, at: now)
        case .server(let event): served(event, at: now)
        case .channel(let event): received(event, at: now)
        case .identityFound(let identity, let address): identityFound(identity, behind: address)
        case .pairing(let link, .failed(.keyMissingAtPeer)): peerLostKeys(link, at: now)
        // Pairing is the engine's and the system's, not an app's.
        case .pairing, .encryptionChanged, .ambiguousIdentity, .cleartextRefused: break
        case .bondChanged(let bond): bondChanged(bond.identity)
        case .bondRemoved(let identity): bondRemoved(identity)
        }
        planWriting(at: now)
        finish()
    }

    /// The transport is gone and may come back.
    public mutating func transportClosed(at now: Instant) {
        guard controller == .ready else { return }
        controller = .resetting
        stateChanged(at: now)
        finish()
    }

    /// The transport could not be opened, or is gone for good: there is no Bluetooth here.
    public mutating func transportFailed(at now: Instant) {
        controller = .failed
        stateChanged(at: now)
        finish()
    }

    private mutating func completed(
        _ operation: OperationID, _ result: Result<HostResult, HostFailure>, at now: Instant
    ) {
        guard let (token, purpose) = take(operation) else { return }
        switch (purpose, result) {
        case (.scan(let client), .failure): scanEnded(client, token)
        case (.advertise(let client), .failure(let failure)): advertisingEnded(client, token, failure, at: now)
        case (.advertise(let client), .success): advertisingEnded(client, token, nil, at: now)
        case (.connect(let client, let peer), .success(.connected(let link))):
            connectedUnderAnotherName(link, client, peer, token, at: now)
        case (.connect(let client, let peer), .failure(let failure)):
            connectionFailed(client, peer, token, failure, at: now)
        case (.peripheral(let client, let peer, let task), let result): ended(task, result, client, peer, at: now)
        case (.publish(let client, let service), let result): published(service, result, client, at: now)
        case (.update(let client, let query), let result): updated(query, result, client, at: now)
        case (.respond(let client), .success(.accepted(false))):
            if let index = index(of: client) { log(.requestAlreadyAnswered, managers[index].app) }
        case (.listen(let client), let result): listening(result, client, at: now)
        case (.send(let client, let channel, let count), let result):
            sent(count, on: channel, result, client, at: now)
        case (.learn(let link, let step), .success(.gatt(let value))): learned(step, value, on: link, at: now)
        default: break
        }
    }

    /// The engine gave a scan up; it is begun anew when the controller is back.
    private mutating func scanEnded(_ client: ClientID, _ token: CommandToken) {
        guard let index = index(of: client), managers[index].central.runningScan?.token == token else { return }
        managers[index].central.runningScan = nil
    }
}
