@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost

/// Who hears of the engine's events.
extension Daemon {
    func hear(_ event: HostEvent) {
        links.hear(event)
        log(event)
        hearOfWatches(event)
        switch event {
        case .completed(let operation, let result):
            let client = port.ledger.completed(operation)
            waitingOctets.ended(operation)
            // The engine reports that advertising stopped only if the controller did it by itself.
            if !port.ledger.wantsAdvertising { isAdvertising = false }
            if let client, case .success(let success) = result { undo(success, of: client, after: operation) }
            hearAdvertisingSets(operation, result)
            takeOutOfBandData(after: operation, result)
            operatorHears(operation, result)
            leaverHears(operation)
        case .advertisingChanged(let isOn): isAdvertising = isOn
        case .reopenTransport: runner.reopenTransport()
        case .ready(let information): controllerIsReady(information)
        case .failed(let failure): configuration.logError("the controller failed: \(failure)")
        case .connected(let link, let client) where isLostTool(client):
            // The client left while the link was being established.
            _ = runner.submit(.link(link.id, .disconnect), from: client)
        case .connected(let link, let client): quicken(link, for: client)
        case .channel(.opened(let channel, let client)): closeUnlessWanted(channel, of: client)
        case .bondChanged, .bondRemoved:
            if let error = runner.takeStoreError() { configuration.logError("a bond could not be saved: \(error)") }
        case .pairing(let link, let progress): pairing(progress, on: link)
        // Bluetooth is off.
        case .stopped: runner.close()
        case .advertisingRoom(_, let client, let room): log(room, of: client)
        default: break
        }
        tell(event)
        // The controller could not be recovered: close it, and try to open it again later.
        if case .failed = event { runner.close() }
    }

    /// An app cannot be told otherwise of what finds no room beside the advertisements of other users.
    private func log(_ room: AdvertisingRoom, of client: ClientID) {
        var parts = room.hiddenServices.map(\.description)
        if room.hidesName { parts.append("its name") }
        guard !parts.isEmpty else { return }
        let text = "no room beside what other users advertise for " + parts.joined(separator: ", ")
        configuration.debug("\(name(of: client)): \(text)")
        if let app = lifecycle.apps.manager(client)?.app { withApp(app) { $0.note(text) } }
    }

    /// What the log says at its finest.
    private func log(_ event: HostEvent) {
        switch event {
        case .connected(let link, let client):
            configuration.debug("\(name(of: client)) has a link to \(link.peer.addressText)")
        case .centralConnected(let link): configuration.debug("the central \(link.peer.addressText) is connected")
        case .disconnected(let link, let client, let reason):
            configuration.debug("\(name(of: client)) has no link any more (\(link.handle.rawValue)): \(reason)")
        case .centralDisconnected(let link, let reason):
            configuration.debug("a central is disconnected (\(link.handle.rawValue)): \(reason)")
        case .completed(let operation, let result):
            configuration.trace("operation \(operation.rawValue) ended: \(result.isSuccess ? "done" : "\(result)")")
        default: break
        }
    }

    /// Tells the tools whom an event concerns: one that many events concern must not cost the others time.
    private func tell(_ event: HostEvent) {
        switch event.audience {
        case .operation(let operation):
            guard let client = asked.removeValue(forKey: operation) else { return }
            if case .completed(_, let result) = event { routes.completed(result, for: client) }
            tell(event, to: tools[client])
        case .scanners:
            guard case .discovered(let discovery) = event else { return }
            for seeker in discovery.seekers where seeker.client.isTool {
                tell(.discovered(discovery.addressed(to: seeker)), to: tools[seeker.client])
            }
        case .client(let client):
            // Later events of a channel go to the client that it was opened for.
            if case .channel(let opened) = event { _ = routes.owner(of: opened) }
            tell(event, to: tools[client])
        case .clients(let clients): for client in clients { tell(event, to: tools[client]) }
        case .observers(let link):
            guard case .linkReport(_, let report) = event else { return }
            for client in watches.clients(for: report, on: link) { tell(event, to: tools[client]) }
        case .holders(let link):
            let holders = links.holders(of: link)
            for client in holders { tell(event, to: tools[client]) }
            // A tool that serves hears of every central's link.
            for client in routes.servers where !holders.contains(client) { tell(event, to: tools[client]) }
        case .servers: for client in routes.servers { tell(event, to: tools[client]) }
        case .channel:
            if case .channel(let happened) = event, let owner = routes.owner(of: happened) {
                tell(event, to: tools[owner])
            }
        case .everyone: for connection in connections { tell(event, to: connection) }
        // `pairing` tells those whom it concerns; the protocol does not carry the others.
        case .owner, .pairing, .log: break
        }
    }

    private func tell(_ event: HostEvent, to connection: Connection?) {
        guard let connection, connection.isTool else { return }
        connection.tool.hear(event, waiting: connection.stream.waitingByteCount)
        look(at: connection)
    }

    /// Undoes what the engine has carried out for a tool that left meanwhile, whether it is gone or stays connected.
    private func undo(_ result: HostResult, of client: ClientID, after operation: OperationID) {
        let isLost = isLostTool(client)
        guard isLost || tools[client]?.tool.hasAbandoned(operation) == true else { return }
        switch result {
        case .published(let service): submitUndoing(.server(.removeService(service.range.first)), of: client)
        case .listening(let spsm): submitUndoing(.channel(.stopListening(spsm: spsm)), of: client)
        case .channel(let channel): submitUndoing(.channel(.close(channel.id)), of: client)
        case .channels(let opened): for channel in opened { submitUndoing(.channel(.close(channel.id)), of: client) }
        // That of a tool that is gone ends with the event of its connection.
        case .connected(let link): if !isLost { submitUndoing(.link(link, .disconnect), of: client) }
        case .done, .gatt, .accepted, .paired, .outOfBandData, .rssi, .remoteVersion, .remoteFeatures,
            .connectionParameters, .dataLength, .phy, .subrate, .transmitPower, .hciAnswer:
            break
        }
    }

    /// A tool that stays connected has left when this has been done, too.
    private func submitUndoing(_ command: HostCommand, of client: ClientID) {
        let operation = runner.submit(command, from: client)
        tools[client]?.leaving?.pending.insert(operation)
    }

    /// A listener of a tool accepted a channel; nobody uses it if the tool left meanwhile.
    private func closeUnlessWanted(_ channel: ChannelInformation, of client: ClientID) {
        let hasLeft = tools[client].map { $0.leaving != nil && !$0.tool.serving.listeners.contains(channel.spsm) }
        guard isLostTool(client) || hasLeft == true else { return }
        submitUndoing(.channel(.close(channel.id)), of: client)
    }

    private func isLostTool(_ client: ClientID) -> Bool {
        client.isTool && tools[client]?.isTool != true
    }
}

extension ClientID {
    /// Whether this is the number of a connection as a tool; managers of apps have lower ones.
    var isTool: Bool { rawValue >= 0x8000_0000 && rawValue != .max }
}

extension Result {
    var isSuccess: Bool { if case .success = self { true } else { false } }
}
