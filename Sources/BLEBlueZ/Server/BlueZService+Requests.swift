import BLEHost
import BLEPackets

/// A write of a central whose values are with their applications.
struct ServedWrite {
    var number: Int
    /// Values that have not been answered.
    var open: Int
}

/// What centrals do with the values of applications, and what applications send them.
extension BlueZService {
    mutating func receive(_ event: GATTServerEvent, at number: Int) {
        switch event {
        case .read(let request): read(request, at: number)
        case .write(let request): write(request, at: number)
        case .subscribed(let subscription): subscribed(subscription, at: number)
        case .unsubscribed(let subscription): unsubscribed(subscription, at: number)
        case .readyToUpdate:
            for place in applications.indices where applications[place].number == number {
                for service in applications[place].services {
                    for characteristic in service.characteristics where !characteristic.updates.isEmpty {
                        sendUpdate(characteristic.path, place)
                    }
                }
            }
        case .confirmed(_, let handle): confirmed(handle, at: number)
        case .requestExpired(let id, _): servedWrites[id] = nil
        case .stored, .fellBehind: break
        }
    }

    /// The application and the object of an attribute.
    private func owner(
        of handle: AttributeHandle, at number: Int
    ) -> (application: Application, path: String, isDescriptor: Bool)? {
        for application in applications where application.number == number {
            if let found = application.path(of: handle) { return (application, found.path, found.isDescriptor) }
        }
        return nil
    }

    private func request(
        _ member: String, _ owner: (application: Application, path: String, isDescriptor: Bool), _ link: LinkID,
        _ number: Int, value: [UInt8]? = nil, offset: Int, type: String? = nil
    ) -> BusRequest {
        var options: [(name: String, value: BusValue)] = []
        if let path = adapters[number]?.links[link] {
            options.append(("device", .path(path)))
            options.append(("mtu", .uint16(UInt16(clamping: devices[path]?.attMTU ?? 23))))
        }
        options.append(("link", .string("LE")))
        if offset > 0 { options.append(("offset", .uint16(UInt16(clamping: offset)))) }
        if let type { options.append(("type", .string(type))) }
        return BusRequest(
            destination: owner.application.client, path: owner.path,
            interface: owner.isDescriptor ? InterfaceName.descriptor : InterfaceName.characteristic, member: member,
            arguments: (value.map { [.octets($0)] } ?? []) + [.properties(options)])
    }

    // MARK: Reading and writing

    private mutating func read(_ request: GATTReadRequest, at number: Int) {
        guard let owner = owner(of: request.handle, at: number) else {
            return respond(request.id, .failure(.unlikelyError), number)
        }
        ask(
            self.request("ReadValue", owner, request.link, number, offset: request.offset),
            .servedRead(request.id, number))
    }

    mutating func servedRead(_ id: GATTRequestID, _ number: Int, _ answer: Result<[BusValue], BusError>) {
        switch answer {
        case .success(let values):
            guard let value = values.first?.octets else { return respond(id, .failure(.unlikelyError), number) }
            respond(id, .value(Array(value.prefix(512))), number)
        case .failure(let error): respond(id, .failure(ATTError(error, reading: true)), number)
        }
    }

    private mutating func write(_ request: GATTWriteRequest, at number: Int) {
        let type = request.needsAnswer ? request.writes.count > 1 ? "reliable" : "request" : "command"
        var requests: [BusRequest] = []
        for write in request.writes {
            guard let owner = owner(of: write.handle, at: number) else {
                return respond(request.id, .failure(.unlikelyError, handle: write.handle), number)
            }
            requests.append(
                self.request(
                    "WriteValue", owner, request.link, number, value: write.value, offset: write.offset, type: type))
        }
        guard request.needsAnswer else {
            for request in requests { emit(.tell(request)) }
            return
        }
        servedWrites[request.id] = ServedWrite(number: number, open: requests.count)
        for one in requests { ask(one, .servedWrite(request.id)) }
    }

    mutating func servedWrite(_ id: GATTRequestID, _ answer: Result<[BusValue], BusError>) {
        guard var write = servedWrites[id] else { return }
        if case .failure(let error) = answer {
            servedWrites[id] = nil
            return respond(id, .failure(ATTError(error, reading: false)), write.number)
        }
        write.open -= 1
        servedWrites[id] = write.open > 0 ? write : nil
        if write.open == 0 { respond(id, .success, write.number) }
    }

    private mutating func respond(_ id: GATTRequestID, _ answer: GATTAnswer, _ number: Int) {
        submit(.server(.respond(id, answer)), to: number, .nothing)
    }

    // MARK: Subscribers

    private mutating func subscribed(_ subscription: GATTSubscription, at number: Int) {
        changeSubscribers(of: subscription, at: number) { subscribers in
            if !subscribers.contains(subscription.link) { subscribers.append(subscription.link) }
        }
    }

    private mutating func unsubscribed(_ subscription: GATTSubscription, at number: Int) {
        changeSubscribers(of: subscription, at: number) { subscribers in
            subscribers.removeAll { $0 == subscription.link }
        }
    }

    /// Reports the first and the last subscriber to the application.
    private mutating func changeSubscribers(
        of subscription: GATTSubscription, at number: Int, _ body: (inout [LinkID]) -> Void
    ) {
        guard let owner = owner(of: subscription.handle, at: number), !owner.isDescriptor else { return }
        let (client, application) = (owner.application.client, owner.application.path)
        guard let place = applications.place(client, application, number) else { return }
        var (before, after) = (0, 0)
        applications[place].change(owner.path) { characteristic in
            before = characteristic.subscribers.count
            body(&characteristic.subscribers)
            after = characteristic.subscribers.count
            if after == 0 { characteristic.updates = [] }
        }
        if before == 0, after > 0 { call("StartNotify", owner.application.client, owner.path) }
        if before > 0, after == 0 { call("StopNotify", owner.application.client, owner.path) }
    }

    private mutating func call(_ member: String, _ client: String, _ path: String) {
        tell(member, [], client, path, InterfaceName.characteristic)
    }

    private mutating func confirmed(_ handle: AttributeHandle, at number: Int) {
        guard let owner = owner(of: handle, at: number), !owner.isDescriptor else { return }
        call("Confirm", owner.application.client, owner.path)
    }

    // MARK: Updates

    /// How many values of a characteristic may wait for room; the oldest ones go.
    private static let updateLimit = 256

    /// A client has changed a property of one of its objects.
    mutating func servedValueChanged(_ client: String, _ path: String, _ changes: [(name: String, value: BusValue)]) {
        guard let value = changes.first(where: { $0.name == "Value" })?.value.octets else { return }
        for place in applications.indices where applications[place].client == client {
            var isMeant = false
            applications[place].change(path) { characteristic in
                guard !characteristic.subscribers.isEmpty else { return }
                if characteristic.updates.count == Self.updateLimit { characteristic.updates.removeFirst() }
                characteristic.updates.append(Array(value.prefix(512)))
                isMeant = !characteristic.isUpdating
            }
            if isMeant { sendUpdate(path, place) }
        }
    }

    private mutating func sendUpdate(_ path: String, _ place: Int) {
        var next: (handle: AttributeHandle, value: [UInt8])?
        applications[place].change(path) { characteristic in
            guard !characteristic.isUpdating, let handle = characteristic.valueHandle,
                let value = characteristic.updates.first
            else { return }
            characteristic.isUpdating = true
            next = (handle, value)
        }
        guard let next else { return }
        let application = applications[place]
        submit(
            .server(.updateValue(next.handle, value: next.value, links: nil)), to: application.number,
            .update(application.client, application.path, path))
    }

    /// A value has been sent, or there was no room: then `readyToUpdate` follows.
    mutating func updated(
        _ client: String, _ application: String, _ path: String, at number: Int,
        _ result: Result<HostResult, HostFailure>
    ) {
        let isPending = result == .success(.accepted(false))
        guard let place = applications.place(client, application, number) else { return }
        applications[place].change(path) { characteristic in
            characteristic.isUpdating = false
            if !isPending, !characteristic.updates.isEmpty { characteristic.updates.removeFirst() }
        }
        if !isPending { sendUpdate(path, place) }
    }
}

extension ATTError {
    /// What a central gets where an application answers with an error.
    init(_ error: BusError, reading: Bool) {
        switch error.name {
        case "org.bluez.Error.Failed": self = Self.code(in: error.text) ?? .firstOfApplication
        case "org.bluez.Error.NotSupported": self = .requestNotSupported
        case "org.bluez.Error.NotAuthorized": self = .insufficientAuthorization
        case "org.bluez.Error.InvalidValueLength": self = .invalidAttributeValueLength
        case "org.bluez.Error.InvalidOffset": self = .invalidOffset
        case "org.bluez.Error.NotPermitted": self = reading ? .readNotPermitted : .writeNotPermitted
        case "org.bluez.Error.InProgress": self = .procedureAlreadyInProgress
        case "org.bluez.Error.ImproperlyConfigured":
            self = .clientCharacteristicConfigurationImproperlyConfigured
        default: self = .unlikelyError
        }
    }

    /// The application's own code, which its text may be: 0x80 to 0x9F.
    private static func code(in text: String) -> ATTError? {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : Substring(text)
        guard let code = UInt8(digits, radix: 16), code >= 0x80, code <= 0x9F else { return nil }
        return ATTError(rawValue: code)
    }
}
