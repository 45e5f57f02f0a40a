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

    @Test("a peer that writes without end costs an app that takes nothing a bounded memory, and the rest is counted")
    func bounded() async {
        let (events, source) = ServerEvents.make()
        for number in 0..<100_000 { source.tell(written(number)) }
        source.end(with: AdapterError.closed)
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
                source.tell(needed)
                expected.append(needed)
            }
            source.tell(written(number))
            if number >= ServerEvents.capacity * 2 { expected.append(written(number)) }
        }
        source.end(with: AdapterError.closed)
        #expect(await all(events) == expected)
    }

    @Test("a loop gets each event as it comes, and ends with the reason after the last")
    func follows() async throws {
        let (events, source) = ServerEvents.make()
        let loop = Task {
            var all: [ServerEvent] = []
            do {
                for try await event in events { all.append(event) }
                return (all, nil as AdapterError?)
            } catch {
                return (all, error as? AdapterError)
            }
        }
        for number in 0..<1000 {
            source.tell(written(number))
            if number % 10 == 0 { await Task.yield() }
        }
        source.end(with: AdapterError.closed)
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
        if waits { for number in 0..<100 { source.tell(written(number)) } }
        loop.cancel()
        #expect((try? await loop.value) != nil)
    }
}
