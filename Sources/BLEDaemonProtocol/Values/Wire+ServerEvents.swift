import BLEHost
import BLEPackets
import FoundationEssentials

extension WireServerEvent {
    init(_ event: GATTServerEvent) {
        self.init()
        switch event {
        case .read(let request):
            read.question = request.id.rawValue
            read.link = request.link.wire
            read.handle = request.handle.wire
            read.offset = UInt32(clamping: request.offset)
        case .write(let request):
            write.question = request.id.rawValue
            write.link = request.link.wire
            write.writes = request.writes.map { WireWrittenValue($0) }
            write.needsAnswer = request.needsAnswer
        case .subscribed(let subscription): subscribed = WireSubscription(subscription)
        case .unsubscribed(let subscription): unsubscribed = WireSubscription(subscription)
        case .readyToUpdate: readyToUpdate = WireNothing()
        case .stored(let link, let write):
            stored.link = link.wire
            stored.write = WireWrittenValue(write)
        case .confirmed(let link, let handle):
            confirmed.link = link.wire
            confirmed.handle = handle.wire
        case .fellBehind(let link): fellBehind = link.wire
        case .requestExpired(let id, let link):
            requestExpired.question = id.rawValue
            requestExpired.link = link.wire
        }
    }
}

extension GATTServerEvent {
    /// The event that the client's own engine would have reported.
    init(_ wire: WireServerEvent, for client: ClientID) throws(WireError) {
        switch wire.event {
        case .read(let question):
            self = .read(
                GATTReadRequest(
                    id: GATTRequestID(rawValue: question.question), link: LinkID(wire: question.link),
                    handle: try AttributeHandle(wire: question.handle), offset: Int(question.offset), owner: client))
        case .write(let question):
            var writes: [GATTWrite] = []
            for write in question.writes { writes.append(try GATTWrite(write)) }
            self = .write(
                GATTWriteRequest(
                    id: GATTRequestID(rawValue: question.question), link: LinkID(wire: question.link), writes: writes,
                    needsAnswer: question.needsAnswer, owner: client))
        case .subscribed(let subscription): self = .subscribed(try GATTSubscription(subscription, for: client))
        case .unsubscribed(let subscription): self = .unsubscribed(try GATTSubscription(subscription, for: client))
        case .readyToUpdate: self = .readyToUpdate
        case .stored(let stored): self = .stored(LinkID(wire: stored.link), try GATTWrite(stored.write))
        case .confirmed(let confirmed):
            self = .confirmed(LinkID(wire: confirmed.link), try AttributeHandle(wire: confirmed.handle))
        case .fellBehind(let link): self = .fellBehind(LinkID(wire: link))
        case .requestExpired(let expired):
            self = .requestExpired(GATTRequestID(rawValue: expired.question), LinkID(wire: expired.link))
        case nil: throw .invalidField
        }
    }
}

extension WireWrittenValue {
    fileprivate init(_ write: GATTWrite) {
        self.init()
        handle = write.handle.wire
        offset = UInt32(clamping: write.offset)
        value = Data(write.value)
    }
}

extension GATTWrite {
    fileprivate init(_ wire: WireWrittenValue) throws(WireError) {
        self.init(
            handle: try AttributeHandle(wire: wire.handle), offset: Int(wire.offset), value: Array(wire.value))
    }
}

extension WireSubscription {
    fileprivate init(_ subscription: GATTSubscription) {
        self.init()
        link = subscription.link.wire
        handle = subscription.handle.wire
        modes = UInt32(subscription.modes.rawValue)
        maximumUpdateLength = UInt32(clamping: subscription.maximumUpdateLength)
    }
}

extension GATTSubscription {
    fileprivate init(_ wire: WireSubscription, for client: ClientID) throws(WireError) {
        guard let modes = UInt16(exactly: wire.modes) else { throw .invalidField }
        self.init(
            link: LinkID(wire: wire.link), handle: try AttributeHandle(wire: wire.handle),
            modes: SubscriptionModes(rawValue: modes), maximumUpdateLength: Int(wire.maximumUpdateLength),
            owner: client)
    }
}

// MARK: Failures

extension WireFailure {
    mutating func set(_ error: GATTPublishError) {
        switch error {
        case .uuidNotAllowed(let uuid): set(.uuidNotAllowed, uuid)
        case .propertyNotAllowed(let uuid): set(.propertyNotAllowed, uuid)
        case .descriptorNotAllowed(let uuid): set(.descriptorNotAllowed, uuid)
        case .cachedValueNotReadOnly(let uuid): set(.cachedValueNotReadOnly, uuid)
        case .valueTooLong(let uuid): set(.publishedValueTooLong, uuid)
        case .includedServiceUnknown(let handle): set(.includedServiceUnknown, handle)
        case .outOfHandles: reason = .outOfHandles
        case .unknownService(let handle): set(.unknownService, handle)
        case .isIncluded(let handle, let other):
            set(.isIncluded, handle)
            number = UInt64(other.rawValue)
        case .handlesOutOfOrder(let handle): set(.handlesOutOfOrder, handle)
        }
    }

    private mutating func set(_ reason: Reason, _ uuid: BluetoothUUID) {
        self.reason = reason
        self.uuid = Data(uuid.wire)
    }

    private mutating func set(_ reason: Reason, _ handle: AttributeHandle) {
        self.reason = reason
        self.handle = handle.wire
    }
}

extension GATTPublishError {
    /// `nil` if it is a failure of another kind.
    init?(_ wire: WireFailure) throws(WireError) {
        switch wire.reason {
        case .uuidNotAllowed: self = .uuidNotAllowed(try BluetoothUUID(wire: wire.uuid))
        case .propertyNotAllowed: self = .propertyNotAllowed(try BluetoothUUID(wire: wire.uuid))
        case .descriptorNotAllowed: self = .descriptorNotAllowed(try BluetoothUUID(wire: wire.uuid))
        case .cachedValueNotReadOnly: self = .cachedValueNotReadOnly(try BluetoothUUID(wire: wire.uuid))
        case .publishedValueTooLong: self = .valueTooLong(try BluetoothUUID(wire: wire.uuid))
        case .includedServiceUnknown: self = .includedServiceUnknown(try AttributeHandle(wire: wire.handle))
        case .outOfHandles: self = .outOfHandles
        case .unknownService: self = .unknownService(try AttributeHandle(wire: wire.handle))
        case .isIncluded:
            self = .isIncluded(
                try AttributeHandle(wire: wire.handle),
                by: try AttributeHandle(wire: UInt32(clamping: wire.number)))
        case .handlesOutOfOrder: self = .handlesOutOfOrder(try AttributeHandle(wire: wire.handle))
        default: return nil
        }
    }
}
