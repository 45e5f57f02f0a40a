import BLEGateway
import BLEHost
import BLEJSON
import Testing

/// What requests are for, and which are refused.
@Suite struct RouteTests {
    private func request(_ head: String, body: String = "") throws -> HTTPRequest {
        var reader = HTTPRequestReader(HTTPLimits())
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        let text = head.replacing("\n", with: "\r\n") + "\r\n" + length + "\r\n" + body
        guard case .complete(let request) = reader.read(Array(text.utf8)) else {
            Issue.record("\(text)")
            throw HTTPRefusal(.badRequest)
        }
        return request
    }

    private func route(
        _ head: String, body: String = "", tokens: GatewayRoute.Tokens = .init(reading: .notNeeded)
    ) throws -> GatewayRoute {
        GatewayRoute(try request(head, body: body), hosts: HTTPHosts(), tokens: tokens)
    }

    @Test func `paths and their queries`() throws {
        let host = " HTTP/1.1\nHost: localhost"
        #expect(try route("GET /api" + host) == .description)
        #expect(try route("GET /api/devices" + host) == .devices(after: -1, limit: 1000))
        #expect(try route("GET /api/devices?after=7&limit=2" + host) == .devices(after: 7, limit: 2))
        #expect(try route("GET /api/devices?limit=1001" + host) == .refused(.badRequest))
        #expect(try route("GET /api/devices/C0%3Ade:00:00:00:01" + host) == .device("C0:de:00:00:00:01"))
        #expect(try route("GET /api/devices/a/b" + host) == .refused(.notFound))
        guard
            case .events(let filter, "r-5") = try route(
                "GET /events?event=gatt,device&device=aa%3abb" + host + "\nLast-Event-ID: r-5",
                tokens: .init(reading: .notNeeded, gatt: .notNeeded))
        else {
            Issue.record("no events")
            return
        }
        #expect(filter.kinds == [.gatt, .device] && filter.devices == ["AA:BB"])
        #expect(try route("GET /events?event=x" + host) == .refused(.badRequest))
        #expect(try route("POST /health" + host) == .refused(.methodNotAllowed, fields: ["Allow: GET, HEAD"]))
        #expect(try route("GET /api/gatt" + host) == .refused(.notFound))
    }

    @Test func `each path of the description has a page, and the other way round`() throws {
        let value = try JSONReader.value(in: Array(OpenAPIDocument.text.utf8))
        guard case .object(let paths)? = value["paths"] else {
            Issue.record("no paths")
            return
        }
        #expect(paths.count == 13)
        for path in paths {
            let target = path.key.replacing("{address}", with: "A")
            let method = path.value["post"] == nil ? "GET" : "POST"
            let found = try route(
                "\(method) \(target) HTTP/1.1\nHost: localhost", tokens: .init(reading: .notNeeded, gatt: .notNeeded))
            #expect(found != .refused(.notFound), "\(path.key)")
        }
    }

    @Test func `other sites are refused, whatever they ask for`() throws {
        for path in ["/live", "/api", "/events", "/nowhere"] {
            let head = "GET \(path) HTTP/1.1\nHost: localhost:9464\n"
            for field in [
                "Origin: http://evil", "Origin: null", "Origin: http://localhost:1", "Sec-Fetch-Site: same-site",
            ] {
                #expect(try route(head + field) == .refused(.forbidden), "\(path) \(field)")
            }
            #expect(try route("GET \(path) HTTP/1.1\nHost: evil") == .refused(.misdirectedRequest))
        }
        #expect(try route("GET /live HTTP/1.1\nHost: localhost:9464\nOrigin: http://localhost:9464") == .live)
        #expect(try route("GET /live HTTP/1.1\nHost: localhost\nSec-Fetch-Site: none") == .live)
    }

    @Test func `tokens: the page needs none, requests for GATT have one of their own`() throws {
        let tokens = GatewayRoute.Tokens(reading: .octets(Array("read".utf8)), gatt: .octets(Array("gatt".utf8)))
        let host = " HTTP/1.1\nHost: localhost"
        #expect(try route("GET /live" + host, tokens: tokens) == .live)
        #expect(try route("GET /api" + host, tokens: tokens) == .refused(.unauthorized))
        #expect(try route("GET /nowhere" + host, tokens: tokens) == .refused(.unauthorized))
        #expect(try route("GET /api" + host + "\nAuthorization: Bearer read", tokens: tokens) == .description)
        let post = "POST /api/gatt" + host + "\nContent-Type: application/json; charset=utf-8\nAuthorization: Bearer "
        #expect(try route(post + "read", body: "{}", tokens: tokens) == .refused(.unauthorized))
        #expect(try route(post + "gatt", body: "{}", tokens: tokens) == .gatt(Array("{}".utf8)))
        #expect(try route(post + "gatt", tokens: tokens) == .refused(.lengthRequired))
    }

    @Test func `events of GATT need its token, by name and among all`() throws {
        let gatt = GatewayRoute.Token.octets(Array("gatt".utf8))
        let host = " HTTP/1.1\nHost: localhost"
        let ws =
            "\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13"
            + "\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
        let all = Set(GatewayEvent.Kind.allCases)
        let others = all.subtracting([.gatt])
        let read = GatewayRoute.Token.octets(Array("read".utf8))
        let cases: [(reading: GatewayRoute.Token, field: String, seen: Set<GatewayEvent.Kind>)] = [
            (.notNeeded, "", others), (.notNeeded, "gatt", all), (.notNeeded, "gatu", others),
            (read, "read", others), (read, "gatt", [.gatt]), (read, "", []), (gatt, "gatt", all),
        ]
        for (reading, field, seen) in cases {
            let tokens = GatewayRoute.Tokens(reading: reading, gatt: gatt)
            let authorization = field.isEmpty ? "" : "\nAuthorization: Bearer " + field
            for (path, more) in [("/events", ""), ("/ws", ws)] {
                for kind in GatewayEvent.Kind.allCases {
                    let named = try route(
                        "GET \(path)?event=\(kind.rawValue)" + host + more + authorization, tokens: tokens)
                    #expect((named == .refused(.unauthorized)) == !seen.contains(kind), "\(path) \(field) \(kind)")
                }
                switch try route("GET \(path)" + host + more + authorization, tokens: tokens) {
                case .events(let filter, _), .webSocket(let filter, _, _):
                    for kind in GatewayEvent.Kind.allCases {
                        #expect(filter.accepts(GatewayEvent(kind, data: [])) == seen.contains(kind), "\(field) \(kind)")
                    }
                case let other: #expect(seen.isEmpty && other == .refused(.unauthorized), "\(field)")
                }
            }
        }
        // Where no requests for GATT are taken over HTTP, nobody sees theirs.
        #expect(try route("GET /events?event=gatt" + host) == .refused(.unauthorized))
    }

    @Test func `a change to WebSocket needs all that belongs to it`() throws {
        let head = "GET /ws HTTP/1.1\nHost: localhost\nUpgrade: WebSocket\nConnection: keep-alive, Upgrade\n"
        let key = "AAAAAAAAAAAAAAAAAAAAAA=="
        guard case .webSocket(_, nil, key) = try route(head + "Sec-WebSocket-Version: 13\nSec-WebSocket-Key: \(key)")
        else {
            Issue.record("no WebSocket")
            return
        }
        #expect(try route(head + "Sec-WebSocket-Version: 8\nSec-WebSocket-Key: \(key)") == .refused(.upgradeRequired))
        #expect(try route(head + "Sec-WebSocket-Version: 13\nSec-WebSocket-Key: short") == .refused(.badRequest))
        #expect(try route("GET /ws HTTP/1.1\nHost: localhost") == .refused(.upgradeRequired))
    }
}

/// Connections whose answer goes on.
@Suite struct StreamTests {
    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1e6)) }

    private func stream(_ server: inout HTTPConnections, at now: Instant, webSocket: Bool = false) -> HTTPConnections.ID
    {
        let id = server.accept(.init(address: [127, 0, 0, 1]), at: now)
        server.received(Array("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), on: id, at: now)
        if webSocket {
            server.beginWebSocket(accept: "x", on: id, at: now)
        } else {
            server.beginStream(
                HTTPAnswer(.ok, contentType: "text/event-stream", body: ""), pulse: Array(":".utf8), on: id, at: now)
        }
        _ = server.drainActions()
        server.wrote(server.output(of: id).count, on: id, at: now)
        return id
    }

    @Test func `a stream lives as long as its client reads, and says so`() {
        var server = HTTPConnections()
        let id = stream(&server, at: at(0))
        for second in stride(from: 15.0, through: 600, by: 15) {
            server.advance(to: at(second))
            #expect(Array(server.output(of: id)) == Array(":".utf8))
            server.wrote(1, on: id, at: at(second))
        }
        server.send(Array("event".utf8), on: id, at: at(601))
        server.wrote(2, on: id, at: at(602))
        server.advance(to: at(611))
        #expect(server.isStreaming(id) && Array(server.output(of: id)) == Array("ent".utf8))
        server.advance(to: at(612))
        #expect(server.drainActions() == [.close(id, lastOctets: [])] && server.open.isEmpty)
    }

    @Test func `a client by WebSocket that answers nothing is gone`() {
        var server = HTTPConnections()
        let id = stream(&server, at: at(0), webSocket: true)
        for second in [15.0, 30, 45] {
            server.advance(to: at(second))
            #expect(Array(server.output(of: id)) == [0x89, 0])
            server.wrote(2, on: id, at: at(second))
        }
        server.received([0x8A, 0x80, 0, 0, 0, 0], on: id, at: at(46))
        server.advance(to: at(51))
        #expect(server.isStreaming(id))
        server.advance(to: at(60))
        server.wrote(2, on: id, at: at(60))
        server.advance(to: at(96))
        #expect(server.open.isEmpty)
    }

    @Test func `what a stream ends with is written before it ends`() {
        var server = HTTPConnections()
        let id = stream(&server, at: at(0))
        server.send(Array("last".utf8), on: id, at: at(1))
        server.endStream(id, at: at(1))
        server.send(Array("more".utf8), on: id, at: at(1))
        #expect(
            !server.isStreaming(id) && Array(server.output(of: id)) == Array("last".utf8)
                && server.drainActions().isEmpty)
        server.wrote(4, on: id, at: at(1))
        #expect(server.drainActions() == [.finishWriting(id)])
        let socket = stream(&server, at: at(1), webSocket: true)
        server.received([0x88, 0x80, 0, 0, 0, 0], on: socket, at: at(1))
        #expect(Array(server.output(of: socket)) == [0x88, 2, 3, 0xE8])
        let other = stream(&server, at: at(1))
        server.ended(other, at: at(1))
        #expect(server.drainActions() == [.close(other, lastOctets: [])])
    }

    @Test func `streams leave room for others, and one who talks where nothing is expected is closed`() {
        var server = HTTPConnections()
        let ids = (0..<16).map { _ in stream(&server, at: at(0)) }
        let next = server.accept(.init(address: [127, 0, 0, 1]), at: at(0))
        var isTaken = server.takeStreamPlace(next, isAuthorised: false)
        #expect(!isTaken)
        server.received([UInt8](repeating: 0x61, count: 9000), on: ids[0], at: at(0))
        isTaken = server.takeStreamPlace(next, isAuthorised: false)
        #expect(!server.open.contains(ids[0]) && isTaken)
    }

    @Test func `bodies are read up to their length, and no further`() {
        var reader = HTTPRequestReader(HTTPLimits())
        let head = "POST /api/gatt HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n"
        #expect(reader.read(Array((head + "ab").utf8)) == .incomplete)
        guard case .complete(let request) = reader.read(Array("cdeGET".utf8)) else {
            Issue.record("no request")
            return
        }
        #expect(request.body == .octets(Array("abcde".utf8)))
        var long = HTTPRequestReader(HTTPLimits())
        guard
            case .complete(let refused) = long.read(
                Array("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\n\r\n".utf8))
        else {
            Issue.record("no request")
            return
        }
        #expect(refused.body == .unread)
    }
}
