import BLEHost
import BLESimulator
import BLEVirtualTransports
import Testing

@testable import BLE

@Suite("Values that come together")
struct BurstTests {
    private static let rate = BluetoothUUID(UInt16(0x2A37))

    @Test("a value alone is passed on at once; those that follow in the same turn wait for each other")
    func firstAtOnce() async throws {
        let (adapter, heart) = try await connected()
        let handle = AttributeHandle(rawValue: 0x7000)
        let dropped = DropCounter()
        let (stream, source) = BoundedStream<Notifications.Value>.make(capacity: 4096, dropped: dropped)
        func value(_ number: UInt8) -> GATTClientEvent {
            .notification(GATTNotification(handle: handle, value: [number], isIndication: false, clients: []))
        }
        let begun = await adapter.linkState(heart.link) { state in
            state.add(Notifications.Source(values: source), token: 1, handle: handle)
            let first = state.handle(value(0), at: { .zero })
            return [first] + (1..<5).map { state.handle(value($0), at: { .zero }) }
        }
        #expect(begun == [handle, nil, nil, nil, nil])
        var iterator = stream.makeIterator()
        #expect(try await iterator.next(isolation: nil)?.bytes == [0])
        _ = await adapter.linkState(heart.link) { state in
            // A subscriber that comes now gets nothing of what came before.
            let (_, late) = BoundedStream<Notifications.Value>.make(capacity: 1, dropped: dropped)
            state.add(Notifications.Source(values: late), token: 2, handle: handle)
            state.endBurst(of: handle)
        }
        for number in 1..<5 as Range<UInt8> { #expect(try await iterator.next(isolation: nil)?.bytes == [number]) }
        #expect(dropped.value == 0)
        // After the burst, one value does not wait either.
        let again = await adapter.linkState(heart.link) { state in
            defer { state.endBurst(of: handle) }
            return state.handle(value(9), at: { .zero })
        }
        #expect(again == handle)
        #expect(try await iterator.next(isolation: nil)?.bytes == [9])
        await adapter.close()
    }

    @Test("a burst that ends with the link is passed on before its end")
    func endOfLink() async throws {
        let (adapter, heart) = try await connected()
        let handle = AttributeHandle(rawValue: 0x7000)
        let (stream, source) = BoundedStream<Notifications.Value>.make(capacity: 4096, dropped: DropCounter())
        _ = await adapter.linkState(heart.link) { state in
            state.add(Notifications.Source(values: source), token: 1, handle: handle)
            for number in 0..<3 as Range<UInt8> {
                let notification = GATTNotification(handle: handle, value: [number], isIndication: false, clients: [])
                _ = state.handle(.notification(notification), at: { .zero })
            }
            state.end(.controllerLost)
        }
        var iterator = stream.makeIterator()
        for number in 0..<3 as Range<UInt8> { #expect(try await iterator.next(isolation: nil)?.bytes == [number]) }
        await #expect(throws: BLEError.linkLost(.controllerLost)) { try await iterator.next(isolation: nil) }
        await adapter.close()
    }

    @Test("a sequence stays bounded when much comes at once, and tells what it dropped")
    func bounded() async throws {
        let dropped = DropCounter()
        let (stream, source) = BoundedStream<Int>.make(capacity: 100, dropped: dropped)
        source.yield(Array(0..<250)) { _ in 1 }
        #expect(dropped.value == 150)
        source.finish()
        var iterator = stream.makeIterator()
        var all: [Int] = []
        while let number = try await iterator.next(isolation: nil) { all.append(number) }
        #expect(all == Array(150..<250))
    }

    @Test("packets that come in one turn of the loop are handled in order, the last of them without waiting for more")
    func oneTurn() async throws {
        let (adapter, heart) = try await connected { FloodingTransport($0) }
        let rate = try await heart.findCharacteristic(Self.rate)
        let notifications = try await heart.notifications(of: rate)
        let counts = [1, 2, 63, 64, 65, 66, 200, 1000]
        var wanted = counts.flatMap { 0..<$0 }[...]
        var hasAsked = false
        for try await value in notifications {
            guard value.bytes.count == 4 else {
                // The sensor's own: the transport knows the link and the handle from now on.
                guard !hasAsked else { continue }
                hasAsked = true
                Task {
                    for count in counts {
                        _ = try await adapter.sendHCICommand(
                            FloodingTransport.opcode, parameters: [UInt8(count & 0xFF), UInt8(count >> 8)])
                    }
                }
                continue
            }
            let number = value.bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
            #expect(number == wanted.popFirst())
            if wanted.isEmpty { break }
        }
        #expect(wanted.isEmpty)
        #expect(notifications.droppedCount == 0)
        await adapter.close()
    }

    private func connected(
        _ wrap: @escaping @Sendable (SimulatedTransport) -> any HCITransport = { $0 }
    ) async throws -> (Adapter, Peripheral) {
        var configuration = AdapterConfiguration()
        configuration.makeVirtualTransport = { (address) throws(TransportError) in
            let air = SimulatedAir()
            _ = air.addPeripheral(.jellingHeart)
            return wrap(SimulatedTransport(air: air, controller: air.addController(), address: address))
        }
        let adapter = try await Adapter.open("sim", configuration: configuration)
        for try await discovery in adapter.scan(ScanRequest(name: "Jelling Heart")) {
            guard let address = discovery.address else { continue }
            return (adapter, try await adapter.connect(to: address))
        }
        throw BLEError.closed
    }
}

/// A controller that answers a certain command with so many notifications in one turn of the loop, numbered, of the
/// characteristic that was last subscribed to.
private final class FloodingTransport: HCITransport {
    static let opcode = HCIOpcode(rawValue: 0xFC02)

    private let base: SimulatedTransport
    private var receive: (RawSpan) -> Void = { _ in }
    private var loop: EventLoop?
    /// The link and the characteristic, as the last notification has them.
    private var beginning: [UInt8]?
    private var waiting = 0
    var address: TransportAddress { base.address }

    init(_ base: SimulatedTransport) { self.base = base }

    func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        self.loop = loop
        self.receive = receive
        try base.start(
            on: loop,
            receive: { packet in
                if packet.byte(at: 0) == 2, packet.byte(at: 9) == 0x1B {
                    self.beginning = [1, 2, 10, 11].map { packet.byte(at: $0) ?? 0 }
                }
                receive(packet)
                self.flood()
            }, closed: closed)
    }

    private func flood() {
        // The sensor notifies by itself every second.
        guard waiting > 0, let beginning else { return }
        let count = waiting
        waiting = 0
        for number in 0..<count {
            let value = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            let packet: [UInt8] =
                [2, beginning[0], beginning[1], 11, 0, 7, 0, 4, 0, 0x1B, beginning[2], beginning[3]] + value
            receive(packet.span.bytes)
        }
        let answer: [UInt8] = [4, 0x0E, 4, 1, 0x02, 0xFC, 0]
        receive(answer.span.bytes)
    }

    func send(_ packet: RawSpan) {
        guard packet.byte(at: 0) == 1, packet.byte(at: 1) == 0x02, packet.byte(at: 2) == 0xFC else {
            return base.send(packet)
        }
        waiting = Int(packet.byte(at: 4) ?? 0) | Int(packet.byte(at: 5) ?? 0) << 8
        loop?.runLater { self.flood() }
    }

    func close() { base.close() }
}
