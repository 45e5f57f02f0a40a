import BLEPackets
import Glibc
import Synchronization

@testable import BLETransport

/// A value that closures on the loop share.
final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// Counts from any thread.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
}

/// An actor on a loop that owns a transport, as the adapter's does, and tells what the transport tells.
actor TransportUser {
    enum Event: Equatable {
        case packet([UInt8])
        case prepared
        case lost
        case closed(TransportError?)
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private var transport: (any HCITransport)?
    private var packetsUntilClose = Int.max
    /// Set while this actor calls into the transport: callbacks must not come then.
    private var isCalling = false
    private(set) var reentrantCalls = 0

    init(loop: EventLoop) {
        self.loop = loop
        (events, continuation) = AsyncStream.makeStream()
    }

    func start(_ opened: sending any HCITransport, closingAfter packetCount: Int = .max) throws {
        transport = opened
        opened.prepared = { [continuation] in continuation.yield(.prepared) }
        opened.packetsLost = { [continuation] in continuation.yield(.lost) }
        packetsUntilClose = packetCount
        try call { transport in
            try transport.start(
                on: loop, receive: { self.received($0.copied()) }, closed: { self.closed($0) })
        }
    }

    func send(_ packets: [[UInt8]]) throws {
        for packet in packets { try call { $0.send(packet.span.bytes) } }
    }

    func close() throws { try call { $0.close() } }

    private func call(_ body: (any HCITransport) throws -> Void) throws {
        guard let transport else { return }
        isCalling = true
        defer { isCalling = false }
        try body(transport)
    }

    private func received(_ packet: [UInt8]) {
        if isCalling { reentrantCalls += 1 }
        continuation.yield(.packet(packet))
        packetsUntilClose -= 1
        if packetsUntilClose == 0 { try? close() }
    }

    private func closed(_ error: TransportError?) {
        if isCalling { reentrantCalls += 1 }
        continuation.yield(.closed(error))
    }

    /// Everything up to the end of the transport, which must come once.
    nonisolated func eventsUntilClosed() async -> [Event] {
        var seen: [Event] = []
        for await event in events {
            seen.append(event)
            if case .closed = event { break }
        }
        return seen
    }

    nonisolated func nextEvents(_ count: Int) async -> [Event] {
        var seen: [Event] = []
        for await event in events {
            seen.append(event)
            if seen.count == count { break }
            // Nothing follows: a test that waits for more would never end.
            if case .closed = event { break }
        }
        return seen
    }
}

/// Runs `body` with a loop that is started, and ends it afterwards.
func withLoop<Result>(_ body: (EventLoop) async throws -> Result) async throws -> Result {
    let loop = try EventLoop(name: "test")
    try loop.start()
    do {
        let result = try await body(loop)
        loop.stop()
        await loop.waitUntilStopped()
        return result
    } catch {
        loop.stop()
        await loop.waitUntilStopped()
        throw error
    }
}

/// Two ends of a stream inside this process; `ours` goes to a transport, which closes it.
struct SocketPair {
    let ours: Int32
    let peer: Int32

    init(kind: __socket_type = SOCK_STREAM) {
        var ends: [Int32] = [-1, -1]
        unsafe socketpair(AF_UNIX, Int32(kind.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        (ours, peer) = (ends[0], ends[1])
    }

    func transport() -> sending StreamTransport {
        StreamTransport(descriptor: ours, isSocket: true, address: .unix(path: "@pair"))
    }

    func write(_ bytes: [UInt8]) { writeAll(bytes, to: peer) }
    func closePeer() { Glibc.close(peer) }
}

func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}

/// Blocks until so many bytes have come, or the stream has ended.
func readBytes(_ count: Int, from descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < count {
        let read = unsafe Glibc.read(descriptor, &buffer, min(buffer.count, count - bytes.count))
        guard read > 0 else { break }
        bytes += buffer[..<read]
    }
    return bytes
}

/// Packets as a controller sends them.
enum Sample {
    static let commandComplete: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
    static let acl: [UInt8] = [0x02, 0x40, 0x20, 0x07, 0x00, 0x03, 0x00, 0x04, 0x00, 0x0B, 0x01, 0x02]
    static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    static let packets = [commandComplete, acl, commandComplete]

    /// An ACL packet whose data tell its number.
    static func numberedACL(_ number: Int, dataByteCount: Int) -> [UInt8] {
        let count = UInt16(dataByteCount)
        return [0x02, 0x40, 0x00, UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
            + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: dataByteCount)
    }
}
