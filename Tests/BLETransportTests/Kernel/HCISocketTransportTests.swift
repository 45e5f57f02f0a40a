import BLEPackets
import Glibc
import Testing

@testable import BLETransport

/// A pair of Unix sockets stands in for the kernel's: it preserves the limits of packets, too.
@Suite("HCI sockets")
struct HCISocketTransportTests {
    private let pair = SocketPair(kind: SOCK_SEQPACKET)

    private func transport() throws -> sending HCISocketTransport {
        try HCISocketTransport(
            descriptor: pair.ours, address: .userChannel(adapter: 0),
            adapter: KernelAdapter(index: 0, name: "hci0", address: Self.noAddress))
    }

    private static let noAddress = DeviceAddress(value: 0, kind: .public)

    /// As a controller sends it: one packet with each call.
    private func write(_ packets: [[UInt8]]) {
        for packet in packets { _ = unsafe Glibc.send(pair.peer, packet, packet.count, 0) }
    }

    /// Blocks until so many packets have come.
    private func read(_ count: Int) -> [[UInt8]] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        return (0..<count).map { _ in
            let length = unsafe recv(pair.peer, &buffer, buffer.count, 0)
            return Array(buffer[..<max(0, length)])
        }
    }

    private static func packets(_ count: Int) -> [[UInt8]] {
        (0..<count).map { Sample.numberedACL($0, dataByteCount: 1 + $0 % 251) }
    }

    // MARK: Receiving

    @Test("packets that come together are delivered in order, one by one")
    func order() async throws {
        let packets = Self.packets(100)
        write(packets)
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(try transport())
            #expect(await user.nextEvents(100) == packets.map { .packet($0) })
            // What comes later is not mixed up with what lay in the same place before.
            write([Sample.commandComplete])
            #expect(await user.nextEvents(1) == [.packet(Sample.commandComplete)])
            try await user.close()
            #expect(await user.eventsUntilClosed() == [.closed(nil)])
            #expect(await user.reentrantCalls == 0)
        }
        close(pair.peer)
    }

    @Test("nothing is delivered after the transport was closed in the middle of a batch", arguments: [1, 3, 40])
    func closingInABatch(count: Int) async throws {
        let packets = Self.packets(60)
        write(packets)
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(try transport(), closingAfter: count)
            #expect(await user.eventsUntilClosed() == packets[..<count].map { .packet($0) } + [.closed(nil)])
        }
        close(pair.peer)
    }

    @Test("one packet waits for no other")
    func single() async throws {
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(try transport())
            for number in 0..<5 {
                let packet = Sample.numberedACL(number, dataByteCount: 20)
                write([packet])
                #expect(await user.nextEvents(1) == [.packet(packet)])
            }
            try await user.close()
            _ = await user.eventsUntilClosed()
        }
        close(pair.peer)
    }

    @Test("what is longer than any packet is cut, and those around it stay whole")
    func truncated() async throws {
        let longest = H4Framer.maximumPacketByteCount
        let tooLong = Sample.acl + [UInt8](repeating: 7, count: longest)
        write([Sample.acl, tooLong, Sample.commandComplete])
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(try transport())
            let expected = [Sample.acl, Array(tooLong[..<longest]), Sample.commandComplete]
            #expect(await user.nextEvents(3) == expected.map { .packet($0) })
            try await user.close()
            _ = await user.eventsUntilClosed()
        }
        close(pair.peer)
    }

    @Test("an error of the socket ends the transport once")
    func failure() async throws {
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(try transport())
            // The other side goes without having read what was sent to it.
            try await user.send([Sample.reset])
            close(pair.peer)
            let events = await user.eventsUntilClosed()
            #expect(events == [.closed(.system(call: "recvmmsg", code: ECONNRESET))])
        }
    }

    // MARK: Sending

    @Test("what the kernel does not accept waits, and is sent in order, one by one")
    func backPressure() async throws {
        let packets = Self.packets(900)
        var room: Int32 = 8192
        unsafe setsockopt(pair.ours, SOL_SOCKET, SO_SNDBUF, &room, UInt32(MemoryLayout<Int32>.size))
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(try transport())
            try await user.send(packets)
            #expect(read(packets.count) == packets)
            try await user.close()
            #expect(await user.eventsUntilClosed() == [.closed(nil)])
        }
        close(pair.peer)
    }

    @Test("too much that waits ends the transport")
    func fullQueue() async throws {
        let packets = (0..<50).map { Sample.numberedACL($0, dataByteCount: 1000) }
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(try transport())
            for _ in 0..<40 { try await user.send(packets) }
            guard case .closed(.sendQueueFull) = await user.eventsUntilClosed().last else {
                Issue.record("the transport did not end")
                return
            }
        }
        close(pair.peer)
    }

    @Test("what is sent after the end is dropped")
    func afterTheEnd() async throws {
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(try transport())
            try await user.close()
            try await user.send(Self.packets(3))
            #expect(await user.eventsUntilClosed() == [.closed(nil)])
        }
        var octet: UInt8 = 0
        #expect(unsafe recv(pair.peer, &octet, 1, 0) == 0)
        close(pair.peer)
    }
}
