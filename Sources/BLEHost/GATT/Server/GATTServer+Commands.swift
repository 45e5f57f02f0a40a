extension GATTServer {
    /// Carries out a command of a client.
    mutating func perform(
        _ command: ServerCommand, client: ClientID, at now: Instant
    ) throws(GATTPublishError) -> HostResult {
        switch command {
        case .publish(let service): return .published(try publish(service, owner: client, at: now))
        case .removeService(let handle): try remove(handle, at: now)
        case .disableServices(let error): disableServices(of: client, with: error)
        case .setDeviceName(let name): setDeviceName(name)
        case .respond(let question, let answer): return .accepted(respond(to: question, with: answer, at: now))
        case .updateValue(let handle, let value, let links):
            return .accepted(updateValue(value, of: handle, to: links, at: now))
        }
        return .done
    }
}
