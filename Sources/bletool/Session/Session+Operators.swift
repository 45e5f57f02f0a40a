import BLE
import BLEDaemonClient
import BLEText

/// What an operator asks of a daemon with several adapters: each of them has its socket and is asked in turn.
extension Session {
    /// The sockets of the adapters that an operator's command is for: those of the whole daemon, unless `-t` names one.
    func operatedSockets() throws -> [String] {
        let path = try operatedSocket()
        if case .daemon(_?) = transport { return [path] }
        return DaemonClient.adapterSocketPaths(of: path)
    }

    /// Asks every adapter; one that does not answer keeps nothing of the others back.
    /// - Parameter body: prints what one adapter answers, which is `Console.adapter` meanwhile; gets what to add to
    ///   lines of text so that they name it, empty if there is one adapter only.
    func operateAll(
        _ request: DaemonOperator.Request, _ body: (DaemonOperator.Answer, _ suffix: String) throws -> Void
    ) async throws {
        let sockets = try operatedSockets()
        var failure: Failure?
        for socket in sockets {
            do {
                let answer = try await operate(request, at: socket)
                let name = answer.adapterName(at: socket)
                console.adapter = name
                try body(answer, sockets.count > 1 ? "  \(name.printable)" : "")
            } catch let error as Failure {
                failure = failure ?? (sockets.count > 1 ? error.about(socket) : error)
            }
        }
        console.adapter = nil
        if let failure { throw failure }
    }

    /// Asks the adapter whose app this is.
    func operate(_ request: DaemonOperator.Request, on app: String) async throws -> DaemonOperator.Answer {
        let sockets = try operatedSockets()
        var owners: [String] = []
        try await forEachAnswer(to: .list, at: sockets) { answer, socket in
            if answer.apps.contains(where: { $0.identifier == app }) { owners.append(socket) }
        }
        // Something may be left of an app whose manifest is gone, at any adapter.
        var refusal: Failure?
        for socket in owners.isEmpty ? sockets : owners {
            do {
                let answer = try await operate(request, at: socket)
                console.adapter = answer.adapterName(at: socket)
                return answer
            } catch let error as Failure {
                refusal = refusal ?? error
            }
        }
        throw refusal ?? Failure("no app ‘\(app)’ is installed")
    }

    /// Answers an alert at the adapter whose alert it is: each adapter counts its own.
    func answerAlert(_ id: UInt32, accepts: Bool) async throws {
        let sockets = try operatedSockets()
        var owners: [String] = []
        try await forEachAnswer(to: .alerts, at: sockets) { answer, socket in
            if answer.alerts.contains(where: { $0.id == id }) { owners.append(socket) }
        }
        guard owners.count <= 1 else {
            throw Failure(
                "several adapters have an alert \(id); name one: "
                    + owners.map { "-t bled:\($0)" }.joined(separator: ", "),
                status: .usage)
        }
        _ = try await operate(.answerAlert(id, accepts: accepts), at: owners.first ?? sockets[0])
    }

    /// Asks every adapter, if there are several: a single one needs no search.
    private func forEachAnswer(
        to request: DaemonOperator.Request, at sockets: [String], _ body: (DaemonOperator.Answer, String) -> Void
    ) async throws {
        guard sockets.count > 1 else { return }
        for socket in sockets {
            do { body(try await operate(request, at: socket), socket) } catch let error as Failure {
                // What is sought may be at another adapter.
                console.note(error.about(socket).message)
            }
        }
    }

    /// What is reported to an operator who watches, until ^C.
    /// - Parameters:
    ///   - begin: gets the transports of the adapters.
    ///   - body: gets an event, and the place of its adapter among them; returns whether to go on.
    func watch(
        _ watched: DaemonOperator.Watched, begin: ([String]) throws -> Void = { _ in },
        _ body: (Int, DaemonOperator.Event) throws -> Bool
    ) async throws {
        let sockets = try operatedSockets()
        var adapters: [(transport: String, name: String)] = []
        for socket in sockets {
            let answer = try await operate(.list, at: socket)
            adapters.append((answer.adapter, answer.adapterName(at: socket)))
        }
        try begin(adapters.map(\.transport))
        do {
            for try await (place, event) in DaemonOperator.watch(watched, at: sockets) {
                console.adapter = adapters[place].name
                guard try body(place, event) else { return }
            }
        } catch let failure as DaemonOperator.Failure {
            throw Failure(failure)
        }
    }

    /// The bonds that `bonds` lists: those of the daemon, else those of the state folder.
    /// - Parameter body: called for each adapter.
    /// - Throws: `Failure`, `BondStoreError`.
    func forEachBonds(_ body: ([Bond], _ suffix: String) -> Void) async throws {
        guard daemonSocket != nil else { return body(try bondStore.bonds(), "") }
        try await operateAll(.bonds) { body($0.bonds, $1) }
    }
}

extension DaemonOperator.Answer {
    /// What the adapter is called in what the tool prints.
    fileprivate func adapterName(at socket: String) -> String {
        if adapter.isEmpty { return "bled:\(socket)" }
        return (try? TransportAddress(adapter))?.adapterName ?? adapter
    }
}

extension Failure {
    /// Says which adapter's socket it is about.
    fileprivate func about(_ socket: String) -> Failure {
        var failure = self
        failure.message = "\(socket): \(message)"
        return failure
    }
}
