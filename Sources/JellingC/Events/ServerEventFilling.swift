import BLEHost
import BLEPackets
import CJelling

/// Writes an event of the local server as C has it.
func fill(_ event: inout jelling_event, with news: GATTServerEvent, _ arena: inout Arena) {
    guard Features.server else { return }
    switch news {
    case .read(let request):
        unsafe event.set(JELLING_EVENT_SERVER_READ, link: request.link, client: request.owner)
        unsafe event.request.id = request.id.rawValue
        unsafe event.request.needs_answer = 1
        unsafe event.fill(writes: [GATTPart(request.handle, offset: request.offset, [])], &arena)
    case .write(let request):
        unsafe event.set(JELLING_EVENT_SERVER_WRITE, link: request.link, client: request.owner)
        unsafe event.request.id = request.id.rawValue
        unsafe event.request.needs_answer = request.needsAnswer ? 1 : 0
        unsafe event.fill(writes: request.writes.map { GATTPart($0.handle, offset: $0.offset, $0.value) }, &arena)
    case .stored(let link, let write):
        unsafe event.set(JELLING_EVENT_SERVER_STORED, link: link)
        unsafe event.fill(writes: [GATTPart(write.handle, offset: write.offset, write.value)], &arena)
    case .subscribed(let subscription):
        unsafe event.set(JELLING_EVENT_SERVER_SUBSCRIBED, link: subscription.link, client: subscription.owner)
        unsafe event.fill(subscription)
    case .unsubscribed(let subscription):
        unsafe event.set(JELLING_EVENT_SERVER_UNSUBSCRIBED, link: subscription.link, client: subscription.owner)
        unsafe event.fill(subscription)
    case .readyToUpdate: unsafe event.set(JELLING_EVENT_SERVER_READY_TO_UPDATE)
    case .confirmed(let link, let handle):
        unsafe event.set(JELLING_EVENT_SERVER_CONFIRMED, link: link, value: UInt32(handle.rawValue))
    case .fellBehind(let link): unsafe event.set(JELLING_EVENT_SERVER_FELL_BEHIND, link: link)
    case .requestExpired(let request, let link):
        unsafe event.set(JELLING_EVENT_SERVER_REQUEST_EXPIRED, link: link)
        unsafe event.request.id = request.rawValue
    }
}

/// A part of a value that is asked for or written.
private struct GATTPart {
    var handle: AttributeHandle
    var offset: Int
    var value: [UInt8]

    init(_ handle: AttributeHandle, offset: Int, _ value: [UInt8]) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }
}

extension jelling_event {
    fileprivate mutating func fill(writes: [GATTPart], _ arena: inout Arena) {
        let (items, count) = unsafe arena.copyDeep(writes) { part, arena in
            unsafe jelling_attribute_value(handle: part.handle.rawValue, value: arena.copy(part.value))
        }
        unsafe request.writes = items
        unsafe request.count = count
        unsafe request.offsets = arena.copy(writes) { UInt16(clamping: $0.offset) }.0
    }

    fileprivate mutating func fill(_ source: GATTSubscription) {
        unsafe subscription.handle = source.handle.rawValue
        unsafe subscription.modes = source.modes.rawValue
        unsafe subscription.maximum_length = UInt32(clamping: source.maximumUpdateLength)
    }
}
