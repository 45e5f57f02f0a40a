import BLEHost
import BLEPackets

/// Sessions of notifying, and sockets that clients acquire.
extension BlueZService {
    private func use(_ attribute: Work.AttributeUse) -> CharacteristicUse {
        devices[attribute.device]?.database?.uses[attribute.path] ?? CharacteristicUse()
    }

    private mutating func change(_ attribute: Work.AttributeUse, _ body: (inout CharacteristicUse) -> Void) {
        devices[attribute.device]?.database?.change(attribute.path, body)
    }

    // MARK: Notify sessions

    mutating func startNotify(
        _ call: BusCall, _ attribute: Work.AttributeUse, _ characteristic: RemoteDatabase.Characteristic
    ) {
        guard characteristic.properties.subscriptionMode != nil else { return refuse(call, .notSupported) }
        let use = use(attribute)
        guard use.notifySocket == nil, !use.waiting.contains(where: { $0.member == "AcquireNotify" }) else {
            return refuse(call, .notPermitted("Notify acquired"))
        }
        if use.sessions.contains(call.sender) { return reply(to: call) }
        if use.waiting.contains(where: { $0.sender == call.sender }) {
            return refuse(call, .inProgress("In Progress"))
        }
        begin(call, attribute, characteristic)
    }

    mutating func acquireNotify(
        _ call: BusCall, _ attribute: Work.AttributeUse, _ characteristic: RemoteDatabase.Characteristic
    ) {
        guard characteristic.properties.contains(.notify) else { return refuse(call, .notSupported) }
        let use = use(attribute)
        guard use.notifySocket == nil else { return refuse(call, .notPermitted("Notify acquired")) }
        guard hasRoomForSocket(of: call.sender) else { return refuse(call, .tooManyWishes) }
        guard use.sessions.isEmpty, use.waiting.isEmpty else { return refuse(call, .inProgress("In Progress")) }
        begin(call, attribute, characteristic)
    }

    /// Without a link, a session begins with the next one.
    mutating func startNotifyLater(
        _ call: BusCall, _ attribute: Work.AttributeUse, _ characteristic: RemoteDatabase.Characteristic
    ) {
        guard characteristic.properties.subscriptionMode != nil else { return refuse(call, .notSupported) }
        guard !use(attribute).sessions.contains(call.sender) else {
            return refuse(call, .inProgress("In Progress"))
        }
        beginWish(of: call.sender)
        change(attribute) { $0.sessions.append(call.sender) }
        reply(to: call)
    }

    /// The services of a device are known again: sessions of the link before go on.
    mutating func resumeSessions(of path: String) {
        let uses = devices[path]?.database?.uses ?? [:]
        for inner in uses.keys.sorted() {
            guard let use = uses[inner], !use.sessions.isEmpty, use.subscription == .none else { continue }
            subscribe(Work.AttributeUse(device: path, path: inner))
        }
    }

    /// Notes a call, and subscribes unless that has been done.
    private mutating func begin(
        _ call: BusCall, _ attribute: Work.AttributeUse, _ characteristic: RemoteDatabase.Characteristic
    ) {
        beginWish(of: call.sender)
        change(attribute) { $0.waiting.append(call) }
        switch use(attribute).subscription {
        case .none: subscribe(attribute, for: call.user)
        // The answer to what is under way decides.
        case .starting, .stopping: break
        case .active: subscribed(attribute)
        }
    }

    private mutating func subscribe(_ attribute: Work.AttributeUse, for user: UInt32? = nil) {
        guard let device = devices[attribute.device], let link = device.link,
            let characteristic = device.database?.characteristic(attribute.path),
            let mode = characteristic.properties.subscriptionMode
        else { return }
        change(attribute) { $0.subscription = .starting }
        let (handle, configuration) = (characteristic.valueHandle, characteristic.configuration ?? .none)
        let operation =
            mode == .indications
            ? GATTOperation.subscribeConfirming(handle, configuration: configuration)
            : .subscribe(handle, configuration: configuration, mode: mode)
        submit(.link(link, .gatt(operation)), to: device.adapter, .subscribe(attribute), for: user)
    }

    /// The peer has answered a subscription or its end.
    mutating func subscriptionEnded(_ attribute: Work.AttributeUse, _ result: Result<HostResult, HostFailure>) {
        let before = use(attribute)
        switch (before.subscription, result) {
        case (.starting, .success):
            change(attribute) { $0.subscription = .active }
            subscribed(attribute)
        case (.starting, .failure(let failure)):
            change(attribute) {
                $0.subscription = .none
                $0.waiting = []
            }
            // Those that only wait for a link wait for the next one.
            if devices[attribute.device]?.link != nil, !failure.isOfLink { endSessions(attribute) }
            for call in before.waiting {
                endWish(of: call.sender)
                refuse(call, BusError(failure, reading: false))
            }
        case (.stopping, _):
            change(attribute) { $0.subscription = .none }
            if !before.waiting.isEmpty { subscribe(attribute) }
        case (.none, _), (.active, _): break
        }
    }

    /// The peer sends values: calls that wait for it are answered.
    private mutating func subscribed(_ attribute: Work.AttributeUse) {
        let calls = use(attribute).waiting
        if !use(attribute).sessions.isEmpty { showNotifying(true, attribute.path) }
        change(attribute) { $0.waiting = [] }
        for call in calls {
            if call.member == "AcquireNotify" {
                open(call, attribute, .notify)
            } else {
                change(attribute) { $0.sessions.append(call.sender) }
                showNotifying(true, attribute.path)
                reply(to: call)
            }
        }
        unsubscribeIfUnused(attribute)
    }

    mutating func stopNotify(_ call: BusCall, _ attribute: Work.AttributeUse) {
        let use = use(attribute)
        if let socket = use.notifySocket, sockets[socket]?.client == call.sender {
            socketClosed(socket)
            return reply(to: call)
        }
        guard let place = use.sessions.firstIndex(of: call.sender) else {
            return refuse(call, .failed("No notify session started"))
        }
        change(attribute) { $0.sessions.remove(at: place) }
        if use.sessions.count == 1 { showNotifying(false, attribute.path) }
        unsubscribeIfUnused(attribute)
        reply(to: call)
        endWish(of: call.sender)
    }

    private mutating func showNotifying(_ isNotifying: Bool, _ path: String) {
        tree.set([("Notifying", .boolean(isNotifying))], InterfaceName.characteristic, of: path)
    }

    private mutating func endSessions(_ attribute: Work.AttributeUse) {
        let clients = use(attribute).sessions
        guard !clients.isEmpty else { return }
        change(attribute) { $0.sessions = [] }
        for client in clients { endWish(of: client) }
        showNotifying(false, attribute.path)
    }

    private mutating func unsubscribeIfUnused(_ attribute: Work.AttributeUse) {
        let use = use(attribute)
        guard use.subscription == .active, use.sessions.isEmpty, use.waiting.isEmpty, use.notifySocket == nil,
            let device = devices[attribute.device], let link = device.link,
            let characteristic = device.database?.characteristic(attribute.path)
        else { return }
        change(attribute) { $0.subscription = .stopping }
        submit(
            .link(link, .gatt(.unsubscribe(characteristic.valueHandle))), to: device.adapter, .subscribe(attribute))
    }

    // MARK: Sockets

    mutating func acquireWrite(
        _ call: BusCall, _ attribute: Work.AttributeUse, _ characteristic: RemoteDatabase.Characteristic
    ) {
        guard characteristic.properties.contains(.writeWithoutResponse) else { return refuse(call, .notSupported) }
        guard use(attribute).writeSocket == nil else { return refuse(call, .notPermitted("Write acquired")) }
        guard hasRoomForSocket(of: call.sender) else { return refuse(call, .tooManyWishes) }
        beginWish(of: call.sender)
        open(call, attribute, .write)
    }

    private func hasRoomForSocket(of client: String) -> Bool {
        guard sockets.count < settings.sockets else { return false }
        return clients.isTrusted(client)
            || sockets.values.count { clients.areOfOneUser($0.client, client) } < settings.socketsOfUser
    }

    private mutating func open(_ call: BusCall, _ attribute: Work.AttributeUse, _ kind: SocketUse.Kind) {
        let socket = SocketID(rawValue: nextNumber())
        sockets[socket] = SocketUse(client: call.sender, user: call.user, attribute: attribute, kind: kind)
        change(attribute) { use in
            switch kind {
            case .notify: use.notifySocket = socket
            case .write: use.writeSocket = socket
            }
        }
        tree.set([(kind.property, .boolean(true))], InterfaceName.characteristic, of: attribute.path)
        let mtu = devices[attribute.device]?.attMTU ?? 23
        reply(to: call, [.descriptor(socket), .uint16(UInt16(clamping: mtu))])
    }

    /// A client has closed its end.
    mutating func socketClosed(_ socket: SocketID) {
        guard let use = sockets[socket] else { return }
        release(socket, use)
        unsubscribeIfUnused(use.attribute)
    }

    private mutating func release(_ socket: SocketID, _ use: SocketUse) {
        sockets[socket] = nil
        forgetValues(of: socket, use)
        emit(.closeSocket(socket))
        change(use.attribute) {
            switch use.kind {
            case .notify: $0.notifySocket = nil
            case .write: $0.writeSocket = nil
            }
        }
        tree.set([(use.kind.property, .boolean(false))], InterfaceName.characteristic, of: use.attribute.path)
        endWish(of: use.client)
    }

    // MARK: The end

    /// A client has left the bus.
    mutating func endNotifying(of client: String) {
        for (socket, use) in sockets.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where use.client == client {
            socketClosed(socket)
        }
        for path in devices.keys.sorted() {
            let used = devices[path]?.database?.uses.filter {
                $0.value.sessions.contains(client) || $0.value.waiting.contains { $0.sender == client }
            }
            for inner in used?.keys.sorted() ?? [] {
                let attribute = Work.AttributeUse(device: path, path: inner)
                let had = use(attribute).sessions.contains(client)
                for call in use(attribute).waiting where call.sender == client { refuse(call, .notConnected) }
                change(attribute) {
                    $0.sessions.removeAll { $0 == client }
                    $0.waiting.removeAll { $0.sender == client }
                }
                if had, use(attribute).sessions.isEmpty { showNotifying(false, inner) }
                unsubscribeIfUnused(attribute)
            }
        }
    }

    /// The link of a device is gone: sessions wait for the next one, as with BlueZ, and go on showing `Notifying`.
    mutating func suspendUse(ofAttributesOf path: String) {
        for (socket, use) in sockets.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where use.attribute.device == path {
            release(socket, use)
        }
        let uses = devices[path]?.database?.uses ?? [:]
        for inner in uses.keys.sorted() {
            guard let use = uses[inner] else { continue }
            change(Work.AttributeUse(device: path, path: inner)) {
                $0.subscription = .none
                $0.waiting = []
            }
            for call in use.waiting {
                endWish(of: call.sender)
                refuse(call, .notConnected)
            }
        }
    }

    /// What a device offers has changed, or the device goes.
    mutating func endUse(ofAttributesOf path: String) {
        suspendUse(ofAttributesOf: path)
        for inner in devices[path]?.database?.uses.keys.sorted() ?? [] {
            endSessions(Work.AttributeUse(device: path, path: inner))
        }
        devices[path]?.database?.uses = [:]
    }
}

extension HostFailure {
    /// Whether there is no link any more.
    fileprivate var isOfLink: Bool { BusError(self, reading: false) == .notConnected }
}

extension SocketUse.Kind {
    /// The property that shows it.
    var property: String {
        switch self {
        case .notify: "NotifyAcquired"
        case .write: "WriteAcquired"
        }
    }
}
