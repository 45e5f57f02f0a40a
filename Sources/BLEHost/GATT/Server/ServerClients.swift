import BLEPackets

/// The clients of an attribute server, in the order in which their links were made.
///
/// The table lends a client by a handle that only the table makes. A handle serves the input for which it was looked
/// up: nothing keeps one, and a client leaves the table only in a separate input, the end of its link.
struct ServerClients {
    struct Handle: Equatable {
        fileprivate let place: Int
    }

    private var clients: [ServerClient] = []
    /// The place of the client whose PDU arrived last.
    private var recent = 0

    var isEmpty: Bool { clients.isEmpty }

    /// When the first client's request or indication expires.
    @inline(__always)
    var nextDeadline: Instant? {
        var earliest: Instant?
        for client in clients {
            if let deadline = client.nextDeadline { earliest = min(earliest ?? deadline, deadline) }
        }
        return earliest
    }

    // MARK: Lending

    @inline(__always)
    subscript(handle: Handle) -> ServerClient {
        _read { yield clients[handle.place] }
        _modify { yield &clients[handle.place] }
    }

    /// All clients.
    var handles: LazyMapSequence<Range<Int>, Handle> { clients.indices.lazy.map { Handle(place: $0) } }

    @inline(__always)
    func handle(of link: LinkID) -> Handle? {
        if recent < clients.count, clients[recent].link == link { return Handle(place: recent) }
        return clients.firstIndex { $0.link == link }.map { Handle(place: $0) }
    }

    /// The client whose request waits for the app's answer to this question.
    func handle(waitingFor question: GATTRequestID) -> Handle? {
        clients.firstIndex { $0.waits(for: question) }.map { Handle(place: $0) }
    }

    /// The next lookup is probably for this client.
    @inline(__always)
    mutating func recordRecent(_ handle: Handle) { recent = handle.place }

    // MARK: Coming and going

    mutating func add(_ client: ServerClient) -> Handle {
        clients.append(client)
        return Handle(place: clients.count - 1)
    }

    mutating func remove(_ handle: Handle) {
        clients.remove(at: handle.place)
        recent = 0
    }
}
