import BLEPackets

/// The local attribute server, of which every link is a client.
extension Host {
    mutating func perform(
        _ command: ServerCommand, operation: OperationID, client: ClientID, at now: Instant
    ) {
        guard configuration.ownership == .exclusive else {
            return effects.complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        var result: Result<HostResult, HostFailure> = .success(.done)
        do throws(GATTPublishError) {
            switch command {
            case .publish(let service):
                result = .success(.published(try gattServer.publish(service, owner: client, at: now)))
            case .removeService(let handle):
                try gattServer.remove(handle, at: now)
            case .disableServices(let error):
                gattServer.disableServices(of: client, with: error)
            case .setDeviceName(let name):
                gattServer.setDeviceName(name)
            case .respond(let question, let answer):
                result = .success(.accepted(gattServer.respond(to: question, with: answer, at: now)))
            case .updateValue(let handle, let value, let links):
                result = .success(.accepted(gattServer.updateValue(value, of: handle, to: links, at: now)))
            }
        } catch {
            result = .failure(.publishing(error))
        }
        // First the result: whoever published hears what he has before he hears who is subscribed to it.
        effects.complete(operation, result)
        drainServer(at: now)
    }

    /// Has the server do something, and takes what it wants done.
    mutating func withServer(at now: Instant, _ change: (inout GATTServer) -> Void) {
        change(&gattServer)
        drainServer(at: now)
    }

    mutating func drainServer(at now: Instant) {
        while let action = gattServer.nextAction() {
            switch action {
            case .send(let pdu, let link, let tag):
                guard let link = links[link], !link.isClosing else { continue }
                send(pdu, on: .attributeProtocol, link: link, tag: .server(tag), at: now)
            case .event(let event):
                effects.events.append(.server(event))
            case .disconnect(let link, _):
                guard let link = links[link] else { continue }
                close(link, reason: .remoteUserTerminatedConnection, at: now)
            case .computeHash(let message, let revision):
                // The hash's key is all zeros (Core 5.4, Vol 3, Part G, 7.3.1).
                effects.desk.ask(
                    .authenticationCode(key: [UInt8](repeating: 0, count: 16), message: message),
                    for: .databaseHash(revision: revision))
            }
        }
    }
}
