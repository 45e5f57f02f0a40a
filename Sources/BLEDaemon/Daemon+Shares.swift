@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import BLEPackets

/// What the programs of a user may have together.
extension Daemon {
    /// Whether a tool's request is refused, because its user would have too much with it. The tool has counted it
    /// already.
    func exceedsShare(_ command: HostCommand, of connection: Connection) -> Bool {
        // Operators may end what others have anyhow.
        guard !connection.isOperator else { return false }
        if case .security(.nameBond) = command {
            return !namings.spend(of: connection.peer.user, at: loop.nowMicroseconds)
        }
        guard let part = UserShare.Part(of: command) else { return false }
        let own = share(of: connection)
        var program = UserShare()
        program.add(connection.tool)
        if own.exceeds(configuration.limits, in: part, for: program) { return true }
        guard part == .set else { return false }
        let sets = connections.reduce(0) { $0 + ($1.isTool ? $1.tool.radio.sets.count : 0) }
        // One is for the advertisement that all share.
        return !UserShare.mayHaveSet(own: own.sets, all: sets, of: advertisingSetCount.map { $0 - 1 })
    }

    /// Whether a tool's request is refused, because too many octets would wait with it for the tool or for its user.
    func exceedsOctets(_ octets: Int, of connection: Connection) -> Bool {
        guard octets > 0 else { return false }
        let own = waitingOctets.of(connection.tool.client) + octets
        return own > configuration.limits.requestOctets || exceedsOctetsOfUser(octets, own: own, of: connection)
    }

    /// Whether too many octets would wait for all tools of a connection's user and its apps that are not installed.
    /// - Parameter own: what would wait for the connection; a little is always allowed, and not added up each time.
    private func exceedsOctetsOfUser(_ octets: Int, own: Int, of connection: Connection) -> Bool {
        let limit = configuration.limits.requestOctets
        guard !connection.isOperator, own > limit / 32 else { return false }
        var sum = waitingOctets.of(user: connection.peer.user) + octets
        for other in connections where other.peer.user == connection.peer.user {
            if let app = other.appID, installed[app] == nil { sum += lifecycle.apps.waitingOctets(of: app) }
        }
        return sum > ClientLimits.factorOfUser * limit
    }

    /// Refuses a request of an app that is not installed, if its user would have too much with it.
    /// - Returns: whether it is refused; then the app has been told, as one that has reached its own limit.
    func refuses(_ request: ClientRequest, from manager: ManagerID, of connection: Connection) -> Bool {
        guard let app = connection.appID, installed[app] == nil, !connection.isOperator else { return false }
        let (octets, now) = (request.waitingOctets, now)
        if octets > 0,
            exceedsOctetsOfUser(octets, own: octets + lifecycle.apps.waitingOctets(of: app), of: connection)
        {
            lifecycle.withApps(at: now) { $0.refuse(request, from: manager, of: app, at: now) }
            return true
        }
        guard let part = UserShare.Part(of: request) else { return false }
        let demand = lifecycle.apps.demand(of: request, from: manager, of: app)
        guard demand != AppUse() else { return false }
        var (own, program) = (share(of: connection), UserShare())
        program.add(lifecycle.apps.use(of: [app]))
        own.add(demand)
        program.add(demand)
        guard own.exceeds(configuration.limits, in: part, for: program) else { return false }
        switch part {
        case .manager:
            let limit = ClientLimits.factorOfUser * configuration.limits.managers
            connection.app?.refuse(
                .tooManyManagers, "the apps of a user that are not installed have at most \(limit) managers together")
        case .scan, .advertisement, .set, .train, .service, .channel:
            lifecycle.withApps(at: now) { $0.refuse(request, from: manager, of: app, at: now) }
        }
        return true
    }

    /// What the programs of a connection's user have together.
    private func share(of connection: Connection) -> UserShare {
        var own = UserShare()
        var apps: [AppID] = []
        for other in connections where other.peer.user == connection.peer.user {
            // What programs that have gone still ask for ends at once, and takes nothing from those that are there.
            guard connection.hasDeparted || !other.hasDeparted else { continue }
            if other.isTool {
                own.add(other.tool)
            } else if let app = other.appID, installed[app] == nil {
                apps.append(app)
            }
        }
        own.add(lifecycle.apps.use(of: apps))
        return own
    }

    /// Asks a controller with extended advertising how many sets it has.
    func askForAdvertisingSets(_ information: ControllerInformation) {
        advertisingSetCount = nil
        guard information.usesExtendedCommands else { return }
        setCountRequest = runner.submit(
            .sendHCICommand(opcode: LEReadNumberOfSupportedAdvertisingSets.opcode, parameters: []), from: .local)
    }

    /// An operation has ended.
    func hearAdvertisingSets(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        guard operation == setCountRequest else { return }
        setCountRequest = nil
        // Its status, then the number (Core 5.4, Vol 4, Part E, 7.8.58).
        guard case .success(.hciAnswer(let octets)) = result, octets.count == 2, octets[0] == 0 else { return }
        advertisingSetCount = Int(octets[1])
    }
}
