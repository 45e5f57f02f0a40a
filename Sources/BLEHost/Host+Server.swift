import BLEPackets

/// The local attribute server, of which every link is a client.
extension Host {
    /// Takes what the server wants done.
    mutating func drainServer(at now: Instant) {
        while let action = gattServer.nextAction() {
            switch action {
            case .send(let pdu, let link, let tag):
                guard let link = links[link], !link.isClosing else { continue }
                link.send(pdu, on: .attributeProtocol, tag: .server(tag), into: &effects)
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
