import Glibc
import Synchronization
import Testing

@testable import BLETransport

@Suite("Streams of octets")
struct ByteStreamTests {
    /// A pair whose sockets take as much as Linux lets them by default: a host may have other defaults.
    private func sockets(kind: __socket_type) -> SocketPair {
        let pair = SocketPair(kind: kind)
        // Linux doubles it (socket(7)).
        var byteCount: Int32 = 212_992 / 2
        for descriptor in [pair.ours, pair.peer] {
            unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_SNDBUF, &byteCount, socklen_t(MemoryLayout<Int32>.size))
        }
        return pair
    }

    /// Each write is a record at the other end.
    private func records(_ count: Int, _ body: @escaping @Sendable (ByteStream) -> Void) async throws -> [[UInt8]] {
        try await withLoop { loop in
            let pair = sockets(kind: SOCK_SEQPACKET)
            let descriptor = pair.ours
            loop.run {
                let stream = ByteStream(descriptor: descriptor)
                do throws(TransportError) {
                    try stream.start(on: loop, receive: { _ in }, closed: { _ in })
                } catch {
                    Issue.record(error)
                    return
                }
                body(stream)
                // What is sent last was sent after all that `body` deferred.
                loop.runLater { loop.runAfterReady { stream.close() } }
            }
            var records: [[UInt8]] = []
            var buffer = [UInt8](repeating: 0, count: 256 * 1024)
            while records.count < count {
                let read = unsafe Glibc.read(pair.peer, &buffer, buffer.count)
                guard read > 0 else { break }
                records.append(Array(buffer[..<read]))
            }
            pair.closePeer()
            return records
        }
    }

    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    private static func send(_ octets: [UInt8], on stream: ByteStream) { stream.send(octets.span.bytes) }

    @Test("the first that is sent is written at once, what follows before the loop waits is written together")
    func together() async throws {
        let written = try await records(3) { stream in
            Self.send([1], on: stream)
            #expect(stream.waitingByteCount == 0)
            Self.send([2, 3], on: stream)
            Self.send([4], on: stream)
            #expect(stream.waitingByteCount == 3)
        }
        #expect(written == [[1], [2, 3, 4]])
    }

    @Test("what is much is written at once, in order")
    func much() async throws {
        let written = try await records(4) { stream in
            Self.send([0], on: stream)
            Self.send([3], on: stream)
            Self.send([UInt8](repeating: 1, count: 70_000), on: stream)
            #expect(stream.waitingByteCount == 0)
            Self.send([2], on: stream)
        }
        #expect(written == [[0], [3] + [UInt8](repeating: 1, count: 70_000), [2]])
    }

    @Test("each time the kernel takes some of what it did not take before, that is told", .timeLimit(.minutes(10)))
    func flushed() async throws {
        try await withLoop { loop in
            let pair = sockets(kind: SOCK_STREAM)
            let descriptor = pair.ours
            let (refusals, refused) = AsyncStream<Int>.makeStream()
            let (flushes, flushed) = AsyncStream<Void>.makeStream()
            loop.run {
                let stream = ByteStream(descriptor: descriptor)
                do throws(TransportError) {
                    try stream.start(on: loop, receive: { _ in }, closed: { _ in })
                } catch {
                    Issue.record(error)
                    refused.finish()
                    flushed.finish()
                    return
                }
                // Far more than the kernel takes twice, so that the first it takes later is not all of it.
                Self.send([UInt8](repeating: 1, count: Self.muchMoreThanTheKernelTakes), on: stream)
                refused.yield(stream.refusedByteCount)
                stream.flushed = { if stream.refusedByteCount > 0 { flushed.yield() } }
            }
            // A reader that began while the stream still writes could make room for all of it.
            let refusedByteCount = try #require(await refusals.first { _ in true })
            #expect(refusedByteCount > 0)
            let takenAtOnce = Self.muchMoreThanTheKernelTakes - refusedByteCount
            #expect(readBytes(takenAtOnce, from: pair.peer).count == takenAtOnce)
            #expect(await flushes.first { true } != nil)
            #expect(readBytes(refusedByteCount, from: pair.peer).count == refusedByteCount)
            pair.closePeer()
        }
    }

    /// As much as a stream keeps.
    private static let muchMoreThanTheKernelTakes = 1_000_000

    /// A side that is gone and whose unread octets the kernel still keeps leaves no room to write, as each does for a
    /// moment.
    @Test(
        "what the other side sent before it was gone is read, although it did not read what it was sent",
        arguments: [false, true])
    func lastWords(keepsUnread: Bool) async throws {
        try await withLoop { loop in
            let pair = sockets(kind: SOCK_STREAM)
            let descriptor = pair.ours
            // Two reads and a part of one.
            let octets = [UInt8](repeating: 1, count: 40_000)
            _ = unsafe octets.withUnsafeBytes { unsafe Glibc.write(pair.peer, $0.baseAddress, $0.count) }
            let received = Counter()
            let ends = Counter()
            loop.run {
                let stream = ByteStream(descriptor: descriptor)
                do throws(TransportError) {
                    try stream.start(
                        on: loop, receive: { received.value.add($0.byteCount, ordering: .relaxed) },
                        closed: { error in
                            #expect(error == .closedByPeer)
                            #expect(received.value.load(ordering: .relaxed) == 40_000)
                            ends.value.add(1, ordering: .relaxed)
                        })
                } catch {
                    Issue.record(error)
                    return
                }
                stream.isReading = false
                Self.send([UInt8](repeating: 2, count: 1_000_000), on: stream)
                #expect(stream.refusedByteCount > 0)
                stream.flushed = {
                    #expect(stream.refusedByteCount == 0)
                    // It is not read before its turn.
                    loop.runAfterReady {
                        #expect(received.value.load(ordering: .relaxed) == 0)
                        stream.isReading = true
                    }
                }
                if keepsUnread { shutdown(pair.peer, Int32(SHUT_RDWR)) } else { pair.closePeer() }
            }
            var attempts = 0
            while ends.value.load(ordering: .relaxed) == 0, attempts < 6000 {
                attempts += 1
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(ends.value.load(ordering: .relaxed) == 1)
            if keepsUnread { pair.closePeer() }
        }
    }

    @Test("one that still sends, but takes nothing any more, is ended")
    func closedEar() async throws {
        try await withLoop { loop in
            let pair = SocketPair(kind: SOCK_STREAM)
            let descriptor = pair.ours
            let ends = Counter()
            loop.run {
                let stream = ByteStream(descriptor: descriptor)
                do throws(TransportError) {
                    try stream.start(
                        on: loop, receive: { _ in },
                        closed: { error in
                            #expect(error != nil)
                            ends.value.add(1, ordering: .relaxed)
                        })
                } catch {
                    Issue.record(error)
                    return
                }
                shutdown(pair.peer, Int32(SHUT_RD))
                Self.send([1], on: stream)
            }
            var attempts = 0
            while ends.value.load(ordering: .relaxed) == 0, attempts < 6000 {
                attempts += 1
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(ends.value.load(ordering: .relaxed) == 1)
            pair.closePeer()
        }
    }

    @Test("what was sent before the stream is closed is written")
    func closed() async throws {
        let written = try await records(3) { stream in
            Self.send([7], on: stream)
            Self.send([8], on: stream)
            stream.close()
            Self.send([9], on: stream)
        }
        #expect(written == [[7], [8]])
    }
}
