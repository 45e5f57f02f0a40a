import BLEPackets
import Testing

@testable import BLEHost

/// What a peer can cause without end does not pile up while the owner of the engine is slow.
@Suite("Event queue")
struct EventQueueTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 1), generation: 1)

    private func notification(_ count: Int) -> HostEvent {
        .gatt(
            Self.link,
            .notification(
                GATTNotification(
                    handle: 3, value: [UInt8](repeating: 7, count: count), isIndication: false, clients: [.local])))
    }

    @Test("values of peers are bounded in number and in octets, and counted; the rest stays")
    func values() {
        var queue = EventQueue(valueLimit: 10, octetLimit: 100)
        for _ in 0..<1000 { queue.append(notification(4)) }
        #expect(queue.droppedValues == 990)
        for count in 0..<1000 {
            queue.append(.server(.write(write(GATTRequestID(rawValue: UInt64(count)), needsAnswer: false))))
            queue.append(.malformedPacket(.truncated(needed: 1, remaining: 0)))
        }
        #expect(queue.droppedValues == 2990)
        queue.append(.server(.write(write(GATTRequestID(rawValue: 7), needsAnswer: true))))
        queue.append(.stopped)
        var taken: [HostEvent] = []
        while let event = queue.popFirst() { taken.append(event) }
        #expect(taken.count == 12 && taken.last == .stopped)
        // There is room again.
        queue.append(notification(60))
        queue.append(notification(60))
        #expect(queue.droppedValues == 2991)
        #expect(queue.popFirst() == notification(60) && queue.isEmpty)
    }

    @Test("response slots without a response take no room from values, and their order stays")
    func emptySlots() {
        func response(_ slot: UInt8, _ data: [UInt8]?) -> HostEvent {
            .advertisingSet(
                OperationID(rawValue: 1), .local, .response(SlotResponse(subevent: 0, slot: slot, data: data)))
        }
        var queue = EventQueue(valueLimit: 8)
        queue.append(response(0, [1]))
        for slot in 1...100 as ClosedRange<UInt8> { queue.append(response(slot, nil)) }
        #expect(queue.droppedValues == 98)
        for _ in 0..<7 { queue.append(notification(4)) }
        #expect(queue.droppedValues == 98)
        queue.append(response(101, [1]))
        #expect(queue.droppedValues == 99)
        var taken: [HostEvent] = []
        while let event = queue.popFirst() { taken.append(event) }
        #expect(Array(taken.prefix(3)) == [response(0, [1]), response(1, nil), response(2, nil)])
        #expect(taken.count == 10)
        // There is room again.
        queue.append(response(3, nil))
        #expect(queue.droppedValues == 99 && queue.popFirst() == response(3, nil))
    }

    private func write(_ id: GATTRequestID, needsAnswer: Bool) -> GATTWriteRequest {
        GATTWriteRequest(
            id: id, link: Self.link, writes: [GATTWrite(handle: 3, offset: 0, value: [1, 2])],
            needsAnswer: needsAnswer, owner: .local)
    }
}
