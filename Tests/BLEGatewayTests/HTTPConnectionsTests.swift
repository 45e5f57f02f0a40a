import BLEGateway
import BLEHost
import Testing

/// The connections of the HTTP server: each ends, none takes the place of all others.
@Suite struct HTTPConnectionsTests {
    private typealias Peer = HTTPConnections.Peer

    private static let request = Array("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    private static let local = Peer(address: [127, 0, 0, 1])
    private var limits = HTTPLimits()

    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1e6)) }

    private func status(_ octets: some Sequence<UInt8>) -> String {
        String(String(decoding: Array(octets), as: UTF8.self).dropFirst(9).prefix(3))
    }

    @Test func `a request is answered, and its connection ends when the client has read`() {
        var server = HTTPConnections()
        let id = server.accept(Self.local, at: at(0))
        #expect(server.interest(of: id) == (true, false))
        server.received(Self.request.prefix(10), on: id, at: at(1))
        #expect(server.drainActions().isEmpty)
        server.received(Self.request.dropFirst(10) + Self.request, on: id, at: at(2))
        guard case .request(id, let request)? = server.drainActions().first else {
            Issue.record("no request")
            return
        }
        #expect(request.path == "/health" && server.interest(of: id) == (false, false))
        server.answer(HTTPAnswer(.ok, contentType: "text/plain", body: "fine"), to: id, at: at(3))
        server.answer(HTTPAnswer(.notFound), to: id, at: at(3))
        #expect(server.interest(of: id) == (false, true))
        let output = server.output(of: id)
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.contains("\r\nContent-Length: 4\r\n"))
        #expect(text.hasSuffix("\r\nConnection: close\r\n\r\nfine"))
        server.wrote(5, on: id, at: at(3))
        #expect(Array(server.output(of: id)) == Array(output.dropFirst(5)))
        server.wrote(output.count - 5, on: id, at: at(3))
        #expect(server.drainActions() == [.finishWriting(id)])
        // The second request is read and forgotten.
        server.received(Self.request, on: id, at: at(3))
        #expect(server.drainActions().isEmpty)
        server.ended(id, at: at(3))
        #expect(server.drainActions() == [.close(id, lastOctets: [])])
        #expect(server.open.isEmpty && server.nextDeadline == nil)
    }

    @Test func `HEAD has the same head and no body`() {
        var server = HTTPConnections()
        let id = server.accept(Self.local, at: at(0))
        server.received(Array("HEAD /health HTTP/1.0\r\n\r\n".utf8), on: id, at: at(0))
        server.answer(HTTPAnswer(.ok, contentType: "text/plain", body: "fine"), to: id, at: at(0))
        let output = String(decoding: server.output(of: id), as: UTF8.self)
        #expect(output.contains("Content-Length: 4\r\n") && output.hasSuffix("\r\n\r\n"))
    }

    @Test func `streams without a token make room for those with one`() {
        let other = Peer(address: [10, 0, 0, 1])
        for (anonymousPeer, peers) in [
            (Self.local, [Self.local]), (Self.local, [other]), (other, [Self.local, other]),
        ] {
            var limits = HTTPLimits()
            (limits.streams, limits.streamsOfAddress) = (5, 3)
            var server = HTTPConnections(limits)
            func stream(_ peer: Peer, isAuthorised: Bool) -> HTTPConnections.ID? {
                let id = server.accept(peer, at: at(0))
                server.received(Self.request, on: id, at: at(0))
                guard server.takeStreamPlace(id, isAuthorised: isAuthorised) else {
                    server.failed(id)
                    return nil
                }
                server.beginStream(HTTPAnswer(.ok, contentType: "a/b", octets: []), pulse: [10], on: id, at: at(0))
                return id
            }
            var anonymous = (0..<4).compactMap { _ in stream(anonymousPeer, isAuthorised: false) }
            let more = Peer(address: [10, 0, 0, 2])
            anonymous += (0..<4).compactMap { _ in stream(more, isAuthorised: false) }
            #expect(anonymous.count == 5)
            for count in 1...3 {
                let id = stream(peers[count % peers.count], isAuthorised: true)
                #expect(id.map { server.isStreaming($0) } == true)
                #expect(server.open.count <= 5)
            }
            #expect(stream(anonymousPeer, isAuthorised: false) == nil)
            // Those with a token do not send each other away.
            let more2 = (0..<9).compactMap { _ in stream(other, isAuthorised: true) }
            #expect(server.open.count <= 5 && more2.count <= 3 && more2.allSatisfy { server.isStreaming($0) })
        }
    }

    @Test func `a client that has ended its side still gets its answer`() {
        var server = HTTPConnections()
        let id = server.accept(Self.local, at: at(0))
        server.received(Self.request, on: id, at: at(0))
        server.ended(id, at: at(0))
        _ = server.drainActions()
        server.answer(HTTPAnswer(.ok), to: id, at: at(0))
        server.wrote(server.output(of: id).count, on: id, at: at(0))
        #expect(server.drainActions() == [.close(id, lastOctets: [])])
        let half = server.accept(Self.local, at: at(0))
        server.received(Self.request.prefix(20), on: half, at: at(0))
        server.ended(half, at: at(0))
        #expect(status(server.output(of: half)) == "400")
    }

    @Test func `each phase has its time`() {
        var server = HTTPConnections()
        let silent = server.accept(Self.local, at: at(0))
        let slow = server.accept(Self.local, at: at(0))
        let unanswered = server.accept(Self.local, at: at(0))
        server.received(Self.request, on: unanswered, at: at(0))
        _ = server.drainActions()
        // An octet each second does not help.
        for second in 1...4 {
            server.received([UInt8(ascii: "G")], on: slow, at: at(Double(second)))
            server.advance(to: at(Double(second)))
        }
        #expect(server.drainActions().isEmpty && server.nextDeadline == at(5))
        server.advance(to: at(5))
        #expect(server.drainActions() == [.close(silent, lastOctets: [])])
        #expect(status(server.output(of: slow)) == "408")
        server.wrote(server.output(of: slow).count, on: slow, at: at(5))
        #expect(server.drainActions() == [.finishWriting(slow)])
        server.advance(to: at(7))
        #expect(server.drainActions() == [.close(slow, lastOctets: [])])
        server.advance(to: at(10))
        #expect(status(server.output(of: unanswered)) == "503")
        // It never reads.
        server.advance(to: at(20))
        #expect(server.drainActions() == [.close(unanswered, lastOctets: [])] && server.nextDeadline == nil)
    }

    @Test func `what comes after an answer has a limit`() {
        var server = HTTPConnections()
        let id = server.accept(Self.local, at: at(0))
        server.received([UInt8](repeating: 65, count: 10_000), on: id, at: at(0))
        #expect(status(server.output(of: id)) == "414")
        server.wrote(10_000, on: id, at: at(0))
        _ = server.drainActions()
        for _ in 0..<4 { server.received([UInt8](repeating: 65, count: 1 << 20), on: id, at: at(0)) }
        #expect(server.drainActions().isEmpty)
        server.received([65], on: id, at: at(0))
        #expect(server.drainActions() == [.close(id, lastOctets: [])])
    }

    @Test func `the oldest unfinished connection of an address makes room for a new one of it`() {
        var server = HTTPConnections()
        let other = server.accept(Peer(address: [10, 0, 0, 1]), at: at(0))
        let ids = (0..<limits.connectionsOfAddress).map { server.accept(Self.local, at: at(Double($0) / 100)) }
        #expect(server.drainActions().isEmpty)
        let new = server.accept(Self.local, at: at(1))
        guard case .close(ids[0], let octets)? = server.drainActions().first else {
            Issue.record("the oldest was not closed")
            return
        }
        #expect(status(octets) == "503" && server.open.contains(other) && server.open.contains(new))
        #expect(server.open.count == limits.connectionsOfAddress + 1)
    }

    @Test func `of connections with a request the oldest makes room, but after all others`() {
        var server = HTTPConnections()
        for _ in 0..<limits.connectionsOfAddress {
            let id = server.accept(Self.local, at: at(0))
            server.received(Self.request, on: id, at: at(0))
        }
        _ = server.drainActions()
        let first = server.open[0]
        let new = server.accept(Self.local, at: at(1))
        guard case .close(first, let octets)? = server.drainActions().first else {
            Issue.record("the oldest was not closed")
            return
        }
        #expect(status(octets) == "503" && server.open.contains(new))
        // What has sent no request goes first.
        let next = server.accept(Self.local, at: at(1))
        guard case .close(new, _)? = server.drainActions().first else {
            Issue.record("another one was closed")
            return
        }
        // And before that, what is only waiting for the client's end.
        let old = server.open[3]
        server.answer(HTTPAnswer(.ok), to: old, at: at(1))
        server.wrote(1000, on: old, at: at(1))
        _ = server.drainActions()
        _ = server.accept(Self.local, at: at(1))
        #expect(server.drainActions() == [.close(old, lastOctets: [])] && server.open.contains(next))
    }

    @Test func `in all, the address with the most connections makes room`() {
        var server = HTTPConnections()
        let few = server.accept(Peer(address: [10, 0, 0, 1]), at: at(0))
        for number in 0..<(limits.connections - 1) {
            _ = server.accept(Peer(address: number < 31 ? [10, 0, 0, 2] : [10, 0, 0, 3]), at: at(0))
        }
        #expect(server.open.count == limits.connections && server.drainActions().isEmpty)
        _ = server.accept(Peer(address: [10, 0, 0, 4]), at: at(1))
        #expect(server.open.count == limits.connections && server.open.contains(few))
    }

    @Test func `addresses of one network of IPv6 count as one, and IPv4 in IPv6 as IPv4`() {
        let first: [UInt8] = [0x20, 1, 0xD, 0xB8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
        #expect(Peer(address: first) == Peer(address: first.prefix(15) + [9]))
        #expect(Peer(address: first) != Peer(address: [0x20, 1, 0xD, 0xB8, 0, 0, 0, 2] + first.suffix(8)))
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1]
        #expect(Peer(address: mapped) == Peer(address: [10, 0, 0, 1]))
        #expect(Peer(address: mapped) != Peer(address: mapped.dropLast() + [2]))
    }

    @Test func `any sequence of events ends with no connection`() {
        var generator = SplitMix(state: 11)
        for _ in 0..<200 {
            var server = HTTPConnections()
            var now = 0.0
            var open: Set<HTTPConnections.ID> = []
            for _ in 0..<300 {
                now += Double.random(in: 0...0.5, using: &generator)
                let id = server.open.randomElement(using: &generator)
                switch Int.random(in: 0..<8, using: &generator) {
                case 0, 1:
                    let address = UInt8.random(in: 0..<4, using: &generator)
                    open.insert(server.accept(Peer(address: [10, 0, 0, address]), at: at(now)))
                case 2: if let id { server.received(Self.request, on: id, at: at(now)) }
                case 3:
                    let octet = UInt8.random(in: 0...255, using: &generator)
                    if let id { server.received([octet], on: id, at: at(now)) }
                case 4: if let id { server.ended(id, at: at(now)) }
                case 5: if let id { server.answer(HTTPAnswer(.ok), to: id, at: at(now)) }
                case 6: if let id { server.wrote(min(90, server.output(of: id).count), on: id, at: at(now)) }
                default: server.advance(to: at(now))
                }
                for case .close(let id, _) in server.drainActions() { #expect(open.remove(id) != nil) }
                #expect(open == Set(server.open) && open.count <= limits.connections)
            }
            var rounds = 0
            while let deadline = server.nextDeadline, rounds < 1000 {
                server.advance(to: deadline)
                rounds += 1
            }
            #expect(server.open.isEmpty)
        }
    }
}
