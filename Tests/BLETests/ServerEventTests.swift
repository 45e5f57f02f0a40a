import BLEPackets
import Testing

@testable import BLE
@testable import BLEHost

@Suite("Events of the peripheral role")
struct ServerEventTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 0x40), generation: 1)

    private func written(_ number: Int, needsAnswer: Bool = false) -> ServerEvent {
        let value = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return .gatt(
            .write(
                GATTWriteRequest(
                    id: GATTRequestID(rawValue: UInt64(number)), link: Self.link,
                    writes: [GATTWrite(handle: AttributeHandle(rawValue: 3), offset: 0, value: value)],
                    needsAnswer: needsAnswer, owner: .local)))
    }

    private func all(_ events: ServerEvents) async -> [ServerEvent] {
        var all: [ServerEvent] = []
        do { for try await event in events { all.append(event) } } catch {}
        return all
    }

    @Test("a peer that writes without end uses bounded memory of an app that reads nothing, and the rest is counted")
    func bounded() async {
        let (events, source) = ServerEvents.make()
        for number in 0..<100_000 { _ = source.deliver(written(number)) }
        source.end(with: .closed)
        #expect(events.droppedCount == 100_000 - ServerEvents.capacity)
        let expected = (100_000 - ServerEvents.capacity..<100_000).map { written($0) }
        #expect(await all(events) == expected, "the newest are there, in their order")
    }

    @Test("questions, centrals that come and go, and room for updates are never dropped, and all keep their order")
    func kept() async {
        let (events, source) = ServerEvents.make()
        var expected: [ServerEvent] = []
        for number in 0..<ServerEvents.capacity * 3 {
            let needed: ServerEvent? =
                switch number % 1000 {
                case 1: .disconnected(Self.link, .controllerLost)
                case 2: .gatt(.readyToUpdate)
                case 3: written(number, needsAnswer: true)
                case 4: .gatt(.requestExpired(GATTRequestID(rawValue: UInt64(number)), Self.link))
                default: nil
                }
            if let needed {
                _ = source.deliver(needed)
                expected.append(needed)
            }
            _ = source.deliver(written(number))
            if number >= ServerEvents.capacity * 2 { expected.append(written(number)) }
        }
        source.end(with: .closed)
        #expect(await all(events) == expected)
    }

    @Test("unread questions are refused beyond a limit, in number and in octets")
    func questions() async {
        let (events, source) = ServerEvents.make()
        let taken = (0..<10_000).count { source.deliver(written($0, needsAnswer: true)) }
        #expect(taken == ServerEvents.capacity / 4)
        #expect(events.droppedCount == 10_000 - taken)
        source.end(with: .closed)
        #expect(await all(events) == (0..<taken).map { written($0, needsAnswer: true) })
        let (others, large) = ServerEvents.make()
        var request = GATTWriteRequest(
            id: GATTRequestID(rawValue: 1), link: Self.link, writes: [], needsAnswer: true, owner: .local)
        request.writes = [GATTWrite(handle: 3, offset: 0, value: [UInt8](repeating: 0, count: 4096))]
        #expect((0..<1000).count { _ in large.deliver(.gatt(.write(request))) } < 64)
        _ = others
    }

    @Test("centrals that come and go unobserved leave nothing behind, one that was reported is reported as gone")
    func passersBy() async {
        let (events, source) = ServerEvents.make()
        func link(_ number: Int) -> LinkID {
            LinkID(handle: ConnectionHandle(rawValue: 0x40), generation: UInt32(number))
        }
        func information(_ number: Int) -> LinkInformation {
            LinkInformation(
                id: link(number), peer: DeviceAddress(value: UInt64(number), kind: .random), role: .peripheral,
                parameters: ConnectionParameters(
                    interval: .init(rawValue: 24), peripheralLatency: 0, supervisionTimeout: .init(rawValue: 100)),
                attMTU: 23)
        }
        _ = source.deliver(.disconnected(link(0), .controllerLost))
        for number in 1..<100_000 {
            _ = source.deliver(.connected(information(number)))
            _ = source.deliver(.gatt(.requestExpired(GATTRequestID(rawValue: UInt64(number)), link(number))))
            _ = source.deliver(.disconnected(link(number), .controllerLost))
        }
        _ = source.deliver(.connected(information(100_000)))
        source.end(with: .closed)
        let left = await all(events)
        #expect(left.count <= ServerEvents.capacity)
        #expect(left.first == .disconnected(link(0), .controllerLost))
        #expect(left.last == .connected(information(100_000)))
        #expect(events.droppedCount == 3 * 99_999 + 2 - left.count)
    }

    @Test("waiting values are bounded in octets, too, and the end comes after them")
    func octets() async throws {
        let dropped = DropCounter()
        let (stream, source) = BoundedStream<Int>.make(capacity: 4096, dropped: dropped)
        for number in 0..<4000 { source.yield(number, octets: 1000) }
        source.finish(throwing: .closed)
        #expect(dropped.value == 4000 - 1048)
        var iterator = stream.makeIterator()
        for number in 4000 - 1048..<4000 { #expect(try await iterator.next(isolation: nil) == number) }
        await #expect(throws: BLEError.closed) { try await iterator.next(isolation: nil) }
    }

    @Test("a loop gets each event as it comes, and ends with the reason after the last")
    func follows() async throws {
        let (events, source) = ServerEvents.make()
        let loop = Task {
            var all: [ServerEvent] = []
            do {
                for try await event in events { all.append(event) }
                return (all, nil as BLEError?)
            } catch {
                return (all, error as? BLEError)
            }
        }
        for number in 0..<1000 {
            _ = source.deliver(written(number))
            if number % 10 == 0 { await Task.yield() }
        }
        source.end(with: .closed)
        let (all, error) = await loop.value
        #expect(all == (0..<1000).map { written($0) })
        #expect(error == .closed)
    }

    @Test("cancelling the task ends the loop, whether events wait or not", arguments: [true, false])
    func cancelled(waits: Bool) async {
        let (events, source) = ServerEvents.make()
        let loop = Task {
            var count = 0
            for try await _ in events { count += 1 }
            return count
        }
        if waits { for number in 0..<100 { _ = source.deliver(written(number)) } }
        loop.cancel()
        #expect((try? await loop.value) != nil)
    }
}
