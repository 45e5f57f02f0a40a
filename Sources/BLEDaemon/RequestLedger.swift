import BLEHost

/// What clients have asked the engine for and has not ended: scans, advertisements and connections, and what must be
/// undone if its client leaves meanwhile.
struct RequestLedger {
    struct Entry {
        var client: ClientID
        var command: HostCommand
    }

    /// For lookup; in order through `radio` only.
    private var entries: [OperationID: Entry] = [:]
    private var advertisements = 0

    mutating func note(_ command: HostCommand, as operation: OperationID, from client: ClientID) {
        switch command {
        case .radio(.changeScan(let scan, let request)): change(scan, to: .scan(request))
        case .radio(.changeAdvertising(let advertising, let request)): change(advertising, to: .advertise(request))
        case .radio(.changeAdvertisingSet(let set, let request)): change(set, to: .advertiseSet(request))
        case .radio: enter(command, operation, client)
        // What others leave behind is the client's own, or nothing.
        default: if command.scarceResource != nil { enter(command, operation, client) }
        }
    }

    private mutating func enter(_ command: HostCommand, _ operation: OperationID, _ client: ClientID) {
        entries[operation] = Entry(client: client, command: command)
        if case .radio(.advertise) = command { advertisements += 1 }
    }

    /// A client may name any of its operations; the engine makes no request another kind of request.
    private mutating func change(_ operation: OperationID, to command: RadioCommand) {
        switch (entries[operation]?.command, command) {
        case (.radio(.scan), .scan), (.radio(.advertise), .advertise), (.radio(.advertiseSet), .advertiseSet):
            entries[operation]?.command = .radio(command)
        default: break
        }
    }

    /// - Returns: the client of an operation in the ledger.
    mutating func completed(_ operation: OperationID) -> ClientID? {
        guard let entry = entries.removeValue(forKey: operation) else { return nil }
        if case .radio(.advertise) = entry.command { advertisements -= 1 }
        return entry.client
    }

    /// Whether a client wants to advertise.
    var wantsAdvertising: Bool { advertisements > 0 }

    /// What is wanted of the radio, in the order of the requests.
    var radio: [(client: ClientID, command: RadioCommand)] {
        entries.sorted { $0.key < $1.key }.compactMap { entry in
            if case .radio(let command) = entry.value.command { (entry.value.client, command) } else { nil }
        }
    }
}
