import BLEAppLifecycle
import BLEHost
import BLEPackets

/// What the programs of a user may have together.
extension DaemonCore {
    /// Whether a tool's request is refused, because its user would have too much with it. The tool has counted it
    /// already.
    mutating func exceedsQuota(_ command: HostCommand, of tool: ToolClient, _ connection: Connection) -> Bool {
        // Operators may end what others have anyhow.
        guard !connection.isOperator else { return false }
        if case .security(.nameBond) = command {
            return !tools.namings.spend(of: connection.peer.user, at: microseconds)
        }
        guard let part = UserQuota.Part(of: command) else { return false }
        let own = quota(of: connection)
        var program = UserQuota()
        program.add(tool.session)
        if own.exceeds(rules.limits, in: part, for: program) { return true }
        guard part == .set else { return false }
        let sets = connections.all.reduce(0) { $0 + ($1.tool?.session.radio.sets.count ?? 0) }
        // One is for the advertisement that all share.
        return !UserQuota.mayHaveSet(own: own.sets, all: sets, of: tools.advertisingSetCount.map { $0 - 1 })
    }

    /// Whether a tool's request is refused, because too many octets would wait with it for the tool or for its user.
    func exceedsOctets(_ octets: Int, of connection: Connection) -> Bool {
        guard octets > 0 else { return false }
        let own = tools.waitingOctets.of(connection.id.client) + octets
        return own > rules.limits.requestOctets || exceedsOctetsOfUser(octets, own: own, of: connection)
    }

    /// Whether too many octets would wait for all tools of a connection's user and its apps that are not apps.installed.
    /// - Parameter own: what would wait for the connection; a little is always allowed, and not added up each time.
    private func exceedsOctetsOfUser(_ octets: Int, own: Int, of connection: Connection) -> Bool {
        let limit = rules.limits.requestOctets
        guard !connection.isOperator, own > limit / 32 else { return false }
        var sum = tools.waitingOctets.of(user: connection.peer.user) + octets
        for other in connections.all where other.peer.user == connection.peer.user {
            if let app = other.appID, apps.installed[app] == nil { sum += apps.lifecycle.apps.waitingOctets(of: app) }
        }
        return sum > ClientLimits.factorOfUser * limit
    }

    /// Refuses a request of an app that is not installed, if its user would have too much with it.
    /// - Returns: whether it is refused; the app then has the error of one that has reached its limit.
    mutating func refuses(_ request: ClientRequest, from manager: ManagerID, of connection: Connection) -> Bool {
        guard let app = connection.appID, apps.installed[app] == nil, !connection.isOperator else { return false }
        let (octets, now) = (request.waitingOctets, now)
        if octets > 0,
            exceedsOctetsOfUser(octets, own: octets + apps.lifecycle.apps.waitingOctets(of: app), of: connection)
        {
            apps.lifecycle.withApps(at: now) { $0.refuse(request, from: manager, of: app, at: now) }
            return true
        }
        guard let part = UserQuota.Part(of: request) else { return false }
        let demand = apps.lifecycle.apps.demand(of: request, from: manager, of: app)
        guard demand != AppUse() else { return false }
        var (own, program) = (quota(of: connection), UserQuota())
        program.add(apps.lifecycle.apps.use(of: [app]))
        own.add(demand)
        program.add(demand)
        guard own.exceeds(rules.limits, in: part, for: program) else { return false }
        switch part {
        case .manager:
            let limit = ClientLimits.factorOfUser * rules.limits.managers
            connection.app?.session.refuse(
                .tooManyManagers, "the apps of a user that are not installed have at most \(limit) managers together")
        case .scan, .advertisement, .set, .train, .service, .channel:
            apps.lifecycle.withApps(at: now) { $0.refuse(request, from: manager, of: app, at: now) }
        }
        return true
    }

    /// What the programs of a connection's user have together.
    private func quota(of connection: Connection) -> UserQuota {
        var own = UserQuota()
        var names: [AppID] = []
        for other in connections.all where other.peer.user == connection.peer.user {
            // What programs that have gone still ask for ends at once, and takes nothing from those that are there.
            guard hasDeparted(connection) || !hasDeparted(other) else { continue }
            if let tool = other.tool {
                own.add(tool.session)
            } else if let app = other.appID, apps.installed[app] == nil {
                names.append(app)
            }
        }
        own.add(apps.lifecycle.apps.use(of: names))
        return own
    }

    /// Asks a controller with extended advertising how many sets it has.
    mutating func askForAdvertisingSets(_ information: ControllerInformation) {
        tools.advertisingSetCount = nil
        guard information.usesExtendedCommands else { return }
        tools.setCountRequest = submit(
            .sendHCICommand(opcode: LEReadNumberOfSupportedAdvertisingSets.opcode, parameters: []), from: .local)
    }

    /// An operation has ended.
    mutating func noteAdvertisingSets(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        guard operation == tools.setCountRequest else { return }
        tools.setCountRequest = nil
        // Its status, then the number (Core 5.4, Vol 4, Part E, 7.8.58).
        guard case .success(.hciAnswer(let octets)) = result, octets.count == 2, octets[0] == 0 else { return }
        tools.advertisingSetCount = Int(octets[1])
    }
}
