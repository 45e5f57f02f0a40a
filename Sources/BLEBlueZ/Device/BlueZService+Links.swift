import BLEHost
import BLEPackets

/// Links to devices.
extension BlueZService {
    mutating func connect(_ call: BusCall) {
        guard let device = devices[call.path] else { return refuse(call, .unknownObject(call.path)) }
        switch device.connection {
        case .connected: reply(to: call)
        case .connecting: refuse(call, .operationInProgress)
        case .disconnecting: refuse(call, .inProgress("In Progress"))
        case .none:
            guard !device.record.isBlocked else { return refuse(call, .connectionAborted) }
            guard mayConnect(call, at: device.adapter) else { return }
            devices[call.path]?.connectCalls.append(call)
            startConnecting(call.path, for: call.user)
        }
    }

    /// Whether a connection for a call may be made; refuses the call if not. The daemon waits for all devices at once,
    /// one at a time on many controllers: what one user waits for delays all.
    mutating func mayConnect(_ call: BusCall, at number: Int) -> Bool {
        let isTrusted = clients.isTrusted(user: call.user)
        guard adapters[number]?.connections.hasRoom(for: call.user, isTrusted: isTrusted) == true else {
            refuse(call, .tooManyConnections)
            return false
        }
        return mayRequest(call, at: number)
    }

    /// - Parameter user: who wants it; `nil`: the service itself.
    mutating func startConnecting(_ path: String, for user: UInt32? = nil) {
        guard let device = devices[path] else { return }
        devices[path]?.connector = user
        if let user { adapters[device.adapter]?.connections.take(path, for: user) }
        adapters[device.adapter]?.attempts[path] = now.advanced(by: settings.connectionLimit)
        attempt(path, device)
    }

    private mutating func attempt(_ path: String, _ device: DeviceRoom) {
        let user = devices[path]?.connector
        var request = ConnectRequest(peer: device.address)
        // The daemon divides its turns among them.
        request.user = user.map { ClientUser($0) }
        let ticket = submit(.radio(.connect(request)), to: device.adapter, .connect(path), for: user)
        devices[path]?.connection = .connecting(ticket, isCancelled: false)
    }

    /// A link that could not be established is tried again, as long as the connection may take: a device that has just
    /// ended a link may need a moment before it advertises again.
    mutating func tryAgainToConnect() {
        for number in adapters.keys.sorted() {
            let due = adapters[number]?.retries.filter { $0.value <= now }.keys.sorted() ?? []
            for path in due {
                adapters[number]?.retries[path] = nil
                if let device = devices[path] { attempt(path, device) }
            }
        }
    }

    private static let retryPause = Microseconds.milliseconds(200)

    /// Takes part in a link that another program of the daemon has.
    mutating func adopt(_ peer: DeviceAddress, at number: Int) {
        let path = device(at: peer, number) ?? addDevice(peer, at: number) { _ in }
        guard let path, devices[path]?.connection == DeviceRoom.Connection.none else { return }
        startConnecting(path)
        scheduleSweep(at: number)
    }

    mutating func endConnectionsThatTookTooLong() {
        for number in adapters.keys.sorted() {
            let late = adapters[number]?.attempts.filter { $0.value <= now }.keys.sorted() ?? []
            for path in late { cancelConnecting(path, .failed("le-connection-timeout")) }
        }
    }

    /// Gives up a connection that is being made; its calls fail.
    mutating func cancelConnecting(_ path: String, _ error: BusError) {
        guard let device = devices[path], case .connecting(let ticket, false) = device.connection else { return }
        adapters[device.adapter]?.attempts[path] = nil
        guard adapters[device.adapter]?.retries.removeValue(forKey: path) == nil else {
            adapters[device.adapter]?.connections.leave(path)
            devices[path]?.connection = .none
            failConnecting(path, error)
            return finishEndOfLink(path)
        }
        devices[path]?.connection = .connecting(ticket, isCancelled: true)
        emit(.cancel(device.adapter, ticket))
        failConnecting(path, error)
    }

    private mutating func failConnecting(_ path: String, _ error: BusError) {
        guard let device = devices[path] else { return }
        devices[path]?.connectCalls = []
        for call in device.connectCalls { refuse(call, error) }
        if let pairing = device.pairing {
            devices[path]?.pairing = nil
            refuse(pairing.call, pairing.isCancelled ? .authenticationCanceled : .connectionAttemptFailed)
        }
    }

    /// The operation that connects has ended.
    mutating func connected(_ path: String, _ result: Result<HostResult, HostFailure>) {
        guard let device = devices[path] else { return }
        guard case .connecting(_, let isCancelled) = device.connection else {
            adapters[device.adapter]?.connections.leave(path)
            return
        }
        if case .failure(.connectionFailed) = result, !isCancelled {
            adapters[device.adapter]?.retries[path] = now.advanced(by: Self.retryPause)
            return
        }
        adapters[device.adapter]?.attempts[path] = nil
        adapters[device.adapter]?.connections.leave(path)
        guard case .success(.connected(let link)) = result else {
            devices[path]?.connection = .none
            if !isCancelled { failConnecting(path, BusError(connecting: result)) }
            finishEndOfLink(path)
            return
        }
        let information = adapters[device.adapter]?.newLinks.removeValue(forKey: link)
        adapters[device.adapter]?.links[link] = path
        devices[path]?.attMTU = information?.attMTU ?? 23
        devices[path]?.lastSeen = now
        guard !isCancelled else {
            devices[path]?.connection = .connected(link)
            return startDisconnecting(path)
        }
        devices[path]?.connection = .connected(link)
        setConnected(true, path)
        devices[path]?.connectCalls = []
        for call in device.connectCalls { reply(to: call, call.member == "ConnectDevice" ? [.path(path)] : []) }
        startResolving(path)
        if device.pairing != nil { startPairing(path) }
    }

    // MARK: The end

    mutating func disconnect(_ call: BusCall) {
        guard let device = devices[call.path] else { return refuse(call, .unknownObject(call.path)) }
        switch device.connection {
        case .none: reply(to: call)
        case .connecting(_, let isCancelled):
            devices[call.path]?.disconnectCalls.append(call)
            if !isCancelled { cancelConnecting(call.path, .connectionAborted) }
        case .connected:
            devices[call.path]?.disconnectCalls.append(call)
            startDisconnecting(call.path)
        case .disconnecting: devices[call.path]?.disconnectCalls.append(call)
        }
    }

    mutating func startDisconnecting(_ path: String) {
        guard let device = devices[path], case .connected(let link) = device.connection else { return }
        devices[path]?.connection = .disconnecting(link)
        submit(.link(link, .disconnect), to: device.adapter, .disconnect(path, link))
        // The first one only releases the services of a central.
        if device.isCentral { submit(.link(link, .disconnect), to: device.adapter, .disconnect(path, link)) }
    }

    /// The operation that ends a link has ended. If it was refused, the link goes on, and those who wait may try again.
    mutating func disconnected(_ path: String, _ link: LinkID, _ result: Result<HostResult, HostFailure>) {
        guard case .failure(let failure) = result, let device = devices[path],
            device.connection == .disconnecting(link)
        else { return }
        switch failure {
        // The end of the link is reported.
        case .notConnected, .linkLost: return
        default: break
        }
        let error = BusError.failed("The link could not be ended; try again")
        devices[path]?.connection = .connected(link)
        devices[path]?.disconnectCalls = []
        devices[path]?.removeCalls = []
        for call in device.disconnectCalls + device.removeCalls { refuse(call, error) }
        setConnected(true, path)
    }

    /// Ends a link, whatever its state is.
    mutating func endConnection(_ path: String, because error: BusError) {
        cancelConnecting(path, error)
        startDisconnecting(path)
    }

    /// A link has ended, by whichever side.
    mutating func linkEnded(_ link: LinkID, at number: Int, because reason: DisconnectionReason) {
        adapters[number]?.newLinks[link] = nil
        guard let path = adapters[number]?.links.removeValue(forKey: link) else { return }
        linkEnded(path, because: reason)
    }

    /// What a device offers stays, unless the device goes: programs find it again at the next link.
    mutating func linkEnded(_ path: String, because reason: DisconnectionReason? = nil) {
        guard let device = devices[path] else { return }
        devices[path]?.connection = .none
        devices[path]?.isCentral = false
        devices[path]?.discovery = nil
        devices[path]?.areServicesResolved = false
        devices[path]?.batteryHandle = nil
        devices[path]?.lastSeen = now
        suspendUse(ofAttributesOf: path)
        tree.remove(InterfaceName.battery, of: path)
        tree.set([("ServicesResolved", .boolean(false))], InterfaceName.device, of: path)
        devices[path]?.disconnectCalls = []
        for call in device.disconnectCalls { reply(to: call) }
        setConnected(false, path, because: reason)
        answerPairCalls(path)
        endPairing(ofLinkOf: path)
        finishEndOfLink(path)
    }

    /// There is no link, and none is being made.
    private mutating func finishEndOfLink(_ path: String) {
        guard let device = devices[path] else { return }
        devices[path]?.disconnectCalls = []
        for call in device.disconnectCalls { reply(to: call) }
        if !device.removeCalls.isEmpty { return finishRemoving(path) }
        if device.isTemporary { scheduleSweep(at: device.adapter) }
    }
}

extension BusError {
    /// Why no connection could be made.
    init(connecting result: Result<HostResult, HostFailure>) {
        guard case .failure(let failure) = result else {
            self = .failed("le-connection-unknown")
            return
        }
        switch failure {
        case .controllerLost, .controllerUnresponsive, .controllerFault: self = .notReady
        case .limitReached: self = .failed("le-connection-concurrent-connection-limit")
        case .connectionFailed: self = .failed("le-connection-refused")
        case .cancelled: self = .connectionAborted
        default: self = .failed("le-connection-unknown")
        }
    }
}
