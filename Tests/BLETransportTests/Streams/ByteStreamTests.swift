import Glibc
import Testing

@testable import BLETransport

@Suite("Streams of octets")
struct ByteStreamTests {
    /// Each write is a record at the other end.
    private func records(_ count: Int, _ body: @escaping @Sendable (ByteStream) -> Void) async throws -> [[UInt8]] {
        try await withLoop { loop in
            let pair = SocketPair(kind: SOCK_SEQPACKET)
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
