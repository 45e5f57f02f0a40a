import BLEGateway
import Testing

/// Reading requests: whatever comes, in whatever pieces, is a request or is refused, with bounded memory.
@Suite struct HTTPRequestTests {
    private static let limits = HTTPLimits()

    private func read(_ text: String, _ limits: HTTPLimits = limits) -> HTTPRequestReader.Progress {
        var reader = HTTPRequestReader(limits)
        return reader.read(Array(text.utf8))
    }

    private func request(_ text: String) throws -> HTTPRequest {
        guard case .complete(let request) = read(text) else {
            Issue.record("\(read(text))")
            throw HTTPRefusal(.badRequest)
        }
        return request
    }

    @Test func `requests as clients send them`() throws {
        let plain = try request("GET /health HTTP/1.1\r\nHost: 127.0.0.1:9464\r\nUser-Agent: x\r\nAccept: */*\r\n\r\n")
        #expect(plain.method == .get && plain.path == "/health" && plain.authority == "127.0.0.1:9464")
        #expect(plain.authorization == nil && !plain.hasBody)
        let other = try request("HEAD /metrics?x=1 HTTP/1.0\n\n")
        #expect(other.method == .head && other.path == "/metrics" && other.authority == nil)
        let absolute = try request("GET http://localhost:1/health HTTP/1.1\r\nHost: other\r\n\r\n")
        #expect(absolute.path == "/health" && absolute.authority == "localhost:1")
        let token = try request("\r\nGET / HTTP/1.1\r\nHOST:\t h \t\r\nauthorization:  Bearer x \r\n\r\n")
        #expect(token.authority == "h" && token.authorization == Array("Bearer x".utf8))
        #expect(try request("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").path == nil)
        #expect(try request("GET /health HTTP/1.1\r\nHost: h\r\nX: caf\u{e9}\r\n\r\n").method == .get)
    }

    @Test(arguments: ["Content-Length: 1", "Content-Length: 99999999999999999999999999", "Transfer-Encoding: chunked"])
    func `a body is noticed and not read`(field: String) throws {
        #expect(try request("GET /health HTTP/1.1\r\nHost: h\r\n\(field)\r\n\r\n").hasBody)
        #expect(try !request("GET /health HTTP/1.1\r\nHost: h\r\nContent-Length: 00\r\n\r\n").hasBody)
    }

    @Test(arguments: [
        "GET /health\r\n\r\n",
        "GET  /health HTTP/1.1\r\n", "GET /health HTTP/1.1 \r\n", "G(T /health HTTP/1.1\r\n",
        " GET /health HTTP/1.1\r\n", "GET /health http/1.1\r\n", "GET /health HTTP/1.1x\r\n",
        "GET /health HTTP/1,1\r\n",
        "GET /he\u{1}lth", "\u{16}\u{3}\u{1}", "GET /h\u{e9}", "GET /health HTTP/1.1\rX", "\n\n\n",
        "GET /#a HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost : a\r\n",
        "GET / HTTP/1.1\r\n folded\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n", "GET / HTTP/1.1\r\n: a\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n", "GET / HTTP/1.1\r\nX: \u{0}", "GET / HTTP/1.1\r\nX: \u{7f}",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
    ])
    func `what is no request is refused`(text: String) {
        #expect(read(text) == .refused(.badRequest), "\(text.debugDescription)")
    }

    @Test func `another version is refused`() {
        #expect(read("PRI * HTTP/2.0\r\n\r\n") == .refused(.versionNotSupported))
    }

    @Test func `a request line has a limit, with and without spaces`() {
        let limit = Self.limits.requestLine
        #expect(read(String(repeating: "A", count: limit)) == .incomplete)
        #expect(read(String(repeating: "A", count: limit + 1)) == .refused(.uriTooLong))
        #expect(read("GET /" + String(repeating: "a", count: limit)) == .refused(.uriTooLong))
        let longest = "GET /" + String(repeating: "a", count: limit - 14) + " HTTP/1.1"
        #expect(longest.utf8.count == limit && read(longest + "\r\n") == .incomplete)
    }

    @Test func `fields have limits of their number and of their octets`() throws {
        let head = "GET / HTTP/1.1\r\nHost: h\r\n"
        let most = head + String(repeating: "A:\r\n", count: Self.limits.fields - 1)
        #expect(try request(most + "\r\n").path == "/")
        #expect(read(most + "A:\r\n\r\n") == .refused(.requestHeaderFieldsTooLarge))
        #expect(read(head + "A: " + String(repeating: "a", count: 9000)) == .refused(.requestHeaderFieldsTooLarge))
        let longs = String(repeating: "A: " + String(repeating: "a", count: 1000) + "\r\n", count: 9)
        #expect(read(head + longs) == .refused(.requestHeaderFieldsTooLarge))
    }

    @Test func `pieces of any size mean the same, and so does what follows`() {
        let texts = [
            "GET /health HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\n\r\n", "GET /\r\n",
            "\r\nHEAD / HTTP/1.0\nA: b\n\nGET / HTTP/1.1\r\n\r\n", String(repeating: "x", count: 3000),
        ]
        for text in texts {
            let whole = read(text)
            for size in [1, 2, 3, 7, 64, 1000] {
                var reader = HTTPRequestReader(Self.limits)
                var progress = HTTPRequestReader.Progress.incomplete
                var rest = Array(text.utf8)[...]
                while !rest.isEmpty {
                    progress = reader.read(rest.prefix(size))
                    rest = rest.dropFirst(size)
                }
                #expect(progress == whole, "\(size): \(text.prefix(40).debugDescription)")
            }
        }
    }

    @Test func `random octets end in a request or a refusal`() {
        var generator = SplitMix(state: 7)
        let alphabet = Array("GET HEAD/health HTTP/1.1\r\nHost:A\n\t ,;\u{0}é".utf8)
        for _ in 0..<3000 {
            var reader = HTTPRequestReader(Self.limits)
            var progress = HTTPRequestReader.Progress.incomplete
            var count = 0
            while progress == .incomplete, count < 20_000 {
                let octets = (0..<Int.random(in: 1...200, using: &generator)).map { _ in
                    Bool.random(using: &generator)
                        ? alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                        : UInt8.random(in: 0x20...0x7E, using: &generator)
                }
                count += octets.count
                progress = reader.read(octets)
            }
            // The line, the fields, and the line breaks between them.
            #expect(progress != .incomplete, "\(count) octets are not enough")
        }
    }

    @Test func `only known names and addresses are hosts`() {
        let hosts = HTTPHosts(names: ["Gateway.example", "b."])
        for name in [
            "127.0.0.1", "127.0.0.1:9464", "192.168.1.7", "[::1]", "[::1]:9464", "[fe80::1%eth0]:1", "[::ffff:1.2.3.4]",
            "localhost",
            "LOCALHOST:1", "localhost.", "a.localhost", "gateway.EXAMPLE:80", "gateway.example.", "b", "localhost:",
        ] {
            #expect(hosts.accept(name), "\(name)")
        }
        for name in [
            "", ":80", "evil.example", "127.0.0.1.evil.example", "localhost.evil", "xlocalhost", "256.0.0.1", "127.1",
            "0x7f.0.0.1",
            "1.2.3.+4", "[evil]", "[evil.example:x]", "[::%a%b:]", "[::1", "[::1]x", "localhost:a", "user@localhost",
            "a:b:c", "..", "1.2.3.4.",
            String(repeating: "a", count: 400) + ".localhost",
        ] {
            #expect(!hosts.accept(name), "\(name)")
        }
    }

    @Test func `what a request may have is decided in order: host, token, page, method, body`() throws {
        let fields = "Host: localhost\r\nAuthorization: Bearer secret\r\n"
        func route(_ text: String, _ token: GatewayRoute.Token = .octets(Array("secret".utf8))) throws -> GatewayRoute {
            GatewayRoute(try request(text + "\r\n"), hosts: HTTPHosts(), tokens: .init(reading: token))
        }
        #expect(try route("GET /health HTTP/1.1\r\n\(fields)") == .health)
        #expect(try route("HEAD /metrics?a HTTP/1.1\r\n\(fields)") == .metrics)
        #expect(try route("GET /metrics HTTP/1.0\r\n", .notNeeded) == .metrics)
        #expect(
            try route("GET /health HTTP/1.1\r\nHost: evil.example\r\n", .notNeeded) == .refused(.misdirectedRequest))
        #expect(try route("GET /health HTTP/1.1\r\nHost: evil.example\r\n") == .refused(.misdirectedRequest))
        #expect(try route("GET /nowhere HTTP/1.1\r\nHost: localhost\r\n") == .refused(.unauthorized))
        #expect(try route("GET /nowhere HTTP/1.1\r\n\(fields)") == .refused(.notFound))
        #expect(try route("GET /health/ HTTP/1.1\r\n\(fields)") == .refused(.notFound))
        #expect(
            try route("POST /health HTTP/1.1\r\nContent-Length: 3\r\n\(fields)\r\nabc")
                == .refused(.methodNotAllowed, fields: ["Allow: GET, HEAD"]))
        #expect(
            try route("get /health HTTP/1.1\r\n\(fields)") == .refused(.methodNotAllowed, fields: ["Allow: GET, HEAD"]))
        #expect(try route("GET /health HTTP/1.1\r\nContent-Length: 3\r\n\(fields)") == .refused(.contentTooLarge))
        #expect(try route("GET /health HTTP/1.1\r\n\(fields)", .unknown) == .refused(.serviceUnavailable))
        #expect(try route("GET /health HTTP/1.1\r\n\(fields)", .octets([])) == .refused(.unauthorized))
        for wrong in ["secre", "secrets", "Secret", "", "secretsecret", "Bearer secret"] {
            let text = "GET /health HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(wrong)\r\n"
            #expect(try route(text) == .refused(.unauthorized), "\(wrong)")
        }
        for scheme in ["Basic", "Bearer:", "secret"] {
            let text = "GET /health HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(scheme) secret\r\n"
            #expect(try route(text) == .refused(.unauthorized), "\(scheme)")
        }
        let text = "GET /health HTTP/1.1\r\nHost: localhost\r\nAuthorization: bearer  secret\r\n"
        #expect(try route(text) == .health)
    }
}

/// Numbers that are the same in every run (SplitMix64).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
