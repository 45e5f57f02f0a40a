import Glibc
import Testing

@testable import BLETransport

@Suite("Stream transport")
struct StreamTransportTests {
    typealias Event = TransportUser.Event
    static let stream = Array(Sample.packets.joined())

    @Test("packets arrive whole and in order wherever the stream is split (DESIGN 3)")
    func splitAnywhere() async throws {
        try await withLoop { loop in
            for position in 0...Self.stream.count {
                let pair = SocketPair()
                let user = TransportUser(loop: loop)
                try await user.start(pair.transport())
                pair.write(Array(Self.stream[..<position]))
                // The loop has read the first part once it has answered.
                _ = await user.reentrantCalls
                pair.write(Array(Self.stream[position...]))
                #expect(await user.nextEvents(3) == Sample.packets.map { .packet($0) })
                try await user.close()
                pair.closePeer()
            }
        }
    }

    @Test("the socket closing after any byte ends the transport once, after the packets before it")
    func closedAnywhere() async throws {
        try await withLoop { loop in
            for position in 0...Self.stream.count {
                let pair = SocketPair()
                let user = TransportUser(loop: loop)
                try await user.start(pair.transport())
                pair.write(Array(Self.stream[..<position]))
                pair.closePeer()
                var expected: [Event] = []
                var end = 0
                for packet in Sample.packets {
                    end += packet.count
                    if end <= position { expected.append(.packet(packet)) }
                }
                #expect(await user.eventsUntilClosed() == expected + [.closed(.closedByPeer)])
                #expect(await user.reentrantCalls == 0)
            }
        }
    }

    @Test("closing ends the transport once, without an error, and never from within the call")
    func ownClose() async throws {
        try await withLoop { loop in
            let pair = SocketPair()
            let user = TransportUser(loop: loop)
            try await user.start(pair.transport())
            try await user.close()
            try await user.close()
            try await user.send([Sample.reset])
            #expect(await user.eventsUntilClosed() == [.closed(nil)])
            #expect(await user.reentrantCalls == 0)
            #expect(readBytes(1, from: pair.peer).isEmpty)
            pair.closePeer()
        }
    }

    @Test("a transport that is closed while it delivers reports nothing more but its end")
    func closeWhileReceiving() async throws {
        try await withLoop { loop in
            let pair = SocketPair()
            pair.write(Self.stream)
            let user = TransportUser(loop: loop)
            try await user.start(pair.transport(), closingAfter: 1)
            #expect(await user.eventsUntilClosed() == [.packet(Sample.packets[0]), .closed(nil)])
            pair.closePeer()
        }
    }

    @Test("each packet goes out in one write")
    func onePacketPerWrite() async throws {
        try await withLoop { loop in
            let pair = SocketPair(kind: SOCK_SEQPACKET)
            let user = TransportUser(loop: loop)
            try await user.start(pair.transport())
            try await user.send([Sample.reset, Sample.acl])
            var buffer = [UInt8](repeating: 0, count: 1024)
            for packet in [Sample.reset, Sample.acl] {
                let count = unsafe read(pair.peer, &buffer, buffer.count)
                #expect(Array(buffer[..<count]) == packet)
            }
            try await user.close()
            pair.closePeer()
        }
    }

    @Test("data that waits for a stalled reader is sent later, whole and in order")
    func stalledReader() async throws {
        try await withLoop { loop in
            let pair = SocketPair()
            var size: Int32 = 8 * 1024
            unsafe setsockopt(pair.ours, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            let packets = (0..<200).map { Sample.numberedACL($0, dataByteCount: 1_000 + $0) }
            let user = TransportUser(loop: loop)
            try await user.start(pair.transport())
            try await user.send(packets)
            let expected = Array(packets.joined())
            #expect(readBytes(expected.count, from: pair.peer) == expected)
            // Once all is out, the loop waits for reading only.
            _ = await user.reentrantCalls
            let before = loop.wakeUpCount
            pair.write(Sample.commandComplete)
            #expect(await user.nextEvents(1) == [.packet(Sample.commandComplete)])
            #expect(loop.wakeUpCount <= before + 3)
            try await user.close()
            pair.closePeer()
        }
    }

    @Test("a reader that never reads ends the transport with an error: memory stays bounded")
    func queueFull() async throws {
        try await withLoop { loop in
            let pair = SocketPair()
            let user = TransportUser(loop: loop)
            try await user.start(pair.transport())
            for number in 0..<200 {
                try await user.send([Sample.numberedACL(number, dataByteCount: 60_000)])
            }
            let events = await user.eventsUntilClosed()
            guard case .closed(.sendQueueFull(let byteCount))? = events.first else {
                Issue.record("the transport went on: \(events)")
                return
            }
            #expect(byteCount <= SendQueue.maximumByteCount)
            #expect(await user.reentrantCalls == 0)
            pair.closePeer()
        }
    }

    @Test("sending to a peer that is gone ends the transport with an error, not the process by SIGPIPE")
    func sendToClosed() async throws {
        try await withLoop { loop in
            let pair = SocketPair()
            let user = TransportUser(loop: loop)
            try await user.start(pair.transport())
            pair.closePeer()
            try await user.send([Sample.reset, Sample.reset])
            #expect(await user.eventsUntilClosed() == [.closed(.closedByPeer)])
            #expect(await user.reentrantCalls == 0)
        }
    }

    @Test("a stream out of step is a transport error, after the packets before it")
    func framingLost() async throws {
        try await withLoop { loop in
            let pair = SocketPair()
            pair.write(Sample.commandComplete + [0x47] + Sample.commandComplete)
            let user = TransportUser(loop: loop)
            try await user.start(pair.transport())
            #expect(
                await user.eventsUntilClosed()
                    == [.packet(Sample.commandComplete), .closed(.framingLost(packetType: 0x47))])
            pair.closePeer()
        }
    }

    @Test("the largest ACL packet passes in both directions")
    func largest() async throws {
        try await withLoop { loop in
            let pair = SocketPair()
            let packet = Sample.numberedACL(7, dataByteCount: 0xFFFF)
            let user = TransportUser(loop: loop)
            try await user.start(pair.transport())
            let peer = pair.peer
            async let written: Void = Task.detached { writeAll(packet, to: peer) }.value
            #expect(await user.nextEvents(1) == [.packet(packet)])
            await written
            try await user.send([packet])
            #expect(readBytes(packet.count, from: pair.peer) == packet)
            try await user.close()
            pair.closePeer()
        }
    }

    @Test("an open transport on which nothing happens causes no wake-up (DESIGN 7)")
    func idle() async throws {
        try await withLoop { loop in
            let pair = SocketPair()
            let user = TransportUser(loop: loop)
            try await user.start(pair.transport())
            try await user.send([Sample.reset])
            _ = await user.reentrantCalls
            let before = loop.wakeUpCount
            try await Task.sleep(for: .milliseconds(200))
            #expect(loop.wakeUpCount == before)
            try await user.close()
            pair.closePeer()
        }
    }
}
