import BLE
import BLEAppLifecycle
import BLEHost

/// Whom the engine's events concern.
extension DaemonCore {
    mutating func handle(_ event: HostEvent) {
        tools.links.hear(event)
        log(event)
        noteWatches(event)
        switch event {
        case .completed(let operation, let result):
            let client = port.ledger.completed(operation)
            tools.waitingOctets.ended(operation)
            // The engine reports that advertising stopped only if the controller did it by itself.
            if !port.ledger.wantsAdvertising { tools.isAdvertising = false }
            if let client, case .success(let success) = result { undo(success, of: client, after: operation) }
            noteAdvertisingSets(operation, result)
            takeOutOfBandData(after: operation, result)
            answerOperator(after: operation, result)
            completeLeaving(after: operation)
        case .advertisingChanged(let isOn): tools.isAdvertising = isOn
        case .reopenTransport(resetsDevice: false): effects.append(.reopenTransport)
        case .reopenTransport(resetsDevice: true): resetDevice(for: nil)
        case .controllerLearned(let experience):
            controller.experience = experience
            effects.append(.keep(experience))
        case .faultRemains(let fault): faultRemains(fault)
        case .ready(let information): controllerIsReady(information)
        case .failed(let failure): controllerFailed(failure)
        case .connected(let link, let client) where isLostTool(client):
            // The client left while the link was being established.
            _ = submit(.link(link.id, .disconnect), from: client)
        case .connected(let link, let client): quicken(link, for: client)
        case .channel(.opened(let channel, let client)): closeUnlessWanted(channel, of: client)
        case .bondChanged, .bondRemoved:
            if let error = port.engine.takeStoreError() { logError("a bond could not be saved: \(error)") }
        case .pairing(let link, let progress): handle(progress, on: link)
        // Bluetooth is off.
        case .stopped: effects.append(.closeController)
        case .advertisingRoom(_, let client, let room): log(room, of: client)
        default: break
        }
        pass(event)
        // The controller could not be recovered: close it, and try to open it again later.
        if case .failed = event {
            effects.append(.closeController)
            effects.append(.takeNextAdapter)
        }
    }

    /// Nothing else shows an app what finds no room beside the advertisements of other users.
    private mutating func log(_ room: AdvertisingRoom, of client: ClientID) {
        var parts = room.hiddenServices.map(\.description)
        if room.hidesName { parts.append("its name") }
        guard !parts.isEmpty else { return }
        let text = "no room beside what other users advertise for " + parts.joined(separator: ", ")
        if isDebugging { debug("\(name(of: client)): \(text)") }
        if let app = apps.lifecycle.apps.manager(client)?.app { withApp(app) { $0.note(text) } }
    }

    /// What the log says of recoveries, and at its finest.
    private mutating func log(_ event: HostEvent) {
        switch event {
        case .recovering(let step):
            let (counters, links) = (port.engine.counters, tools.links.entries.count)
            if let line = controller.recoveries.line(of: step, counters, links: links, at: microseconds) { warn(line) }
        case .connected(let link, let client) where isDebugging:
            debug("\(name(of: client)) has a link to \(link.peer.addressText)")
        case .centralConnected(let link) where isDebugging: debug("the central \(link.peer.addressText) is connected")
        case .disconnected(let link, let client, let reason) where isDebugging:
            debug("\(name(of: client)) has no link any more (\(link.handle.rawValue)): \(reason)")
        case .centralDisconnected(let link, let reason) where isDebugging:
            debug("a central is disconnected (\(link.handle.rawValue)): \(reason)")
        case .completed(let operation, let result) where lookups.isLogged(.trace):
            let outcome = result.isSuccess ? "done" : "\(result)"
            effects.append(.log(.trace, "operation \(operation.rawValue) ended: \(outcome)"))
        default: break
        }
    }

    /// Passes an event to the tools that it concerns: one that many events concern must not cost the others time.
    private mutating func pass(_ event: HostEvent) {
        switch event.audience {
        case .operation(let operation):
            guard let client = tools.clientOfOperation.removeValue(forKey: operation) else { return }
            if case .completed(_, let result) = event { tools.routes.completed(result, for: client) }
            pass(event, to: client)
        case .scanners:
            guard case .discovered(let discovery) = event else { return }
            for seeker in discovery.seekers where seeker.client.isTool {
                pass(.discovered(discovery.addressed(to: seeker)), to: seeker.client)
            }
        case .client(let client):
            // Later events of a channel go to the client that it was opened for.
            if case .channel(let opened) = event { _ = tools.routes.owner(of: opened) }
            pass(event, to: client)
        case .clients(let clients): for client in clients { pass(event, to: client) }
        case .observers(let link):
            guard case .linkReport(_, let report) = event else { return }
            for client in tools.watches.clients(for: report, on: link) { pass(event, to: client) }
        case .holders(let link):
            let holders = tools.links.holders(of: link)
            for client in holders { pass(event, to: client) }
            // A tool that serves gets the events of every central's link.
            for client in tools.routes.servers where !holders.contains(client) { pass(event, to: client) }
        case .servers: for client in tools.routes.servers { pass(event, to: client) }
        case .channel:
            if case .channel(let happened) = event, let owner = tools.routes.owner(of: happened) {
                pass(event, to: owner)
            }
        case .everyone: for connection in connections.all { pass(event, to: connection) }
        // Pairings have their own way; the protocol does not carry the others.
        case .owner, .pairing, .log: break
        }
    }

    private mutating func pass(_ event: HostEvent, to client: ClientID) {
        if let connection = connections[client] { pass(event, to: connection) }
    }

    private mutating func pass(_ event: HostEvent, to connection: Connection) {
        guard let tool = connection.tool else { return }
        tool.session.hear(event, waiting: connection.outbox.waiting)
        look(at: connection)
    }

    /// Undoes what the engine has carried out for a tool that left meanwhile, whether it is gone or stays connected.
    private mutating func undo(_ result: HostResult, of client: ClientID, after operation: OperationID) {
        let isLost = isLostTool(client)
        guard isLost || connections.tool(client)?.session.hasAbandoned(operation) == true else { return }
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
    private mutating func submitUndoing(_ command: HostCommand, of client: ClientID) {
        let operation = submit(command, from: client)
        connections.tool(client)?.leaving?.pending.insert(operation)
    }

    /// A listener of a tool accepted a channel; nothing uses it if the tool left meanwhile.
    private mutating func closeUnlessWanted(_ channel: ChannelInformation, of client: ClientID) {
        let hasLeft = connections.tool(client).map {
            $0.leaving != nil && !$0.session.serving.listeners.contains(channel.spsm)
        }
        guard isLostTool(client) || hasLeft == true else { return }
        submitUndoing(.channel(.close(channel.id)), of: client)
    }

    private func isLostTool(_ client: ClientID) -> Bool { client.isTool && connections.tool(client) == nil }
}

extension Result { var isSuccess: Bool { if case .success = self { true } else { false } } }
