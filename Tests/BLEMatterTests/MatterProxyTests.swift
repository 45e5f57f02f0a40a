import BLEGateway
import BLEHost
import BLEJSON
import BLEPackets
import Testing

@testable import BLEMatter

/// The connection with a server: its beginning, its end, and servers that mean harm.
@Suite struct MatterProxyTests {
    private func problems(_ stage: MatterStage) -> [String] {
        stage.actions.compactMap { if case .report(let text, isProblem: true) = $0 { text } else { nil } }
    }

    private func isWaiting(_ stage: MatterStage) -> Bool { !stage.proxy.isServing && !stage.proxy.reads }

    @Test func `the request has what RFC 6455 wants, and a token; Hello is the first message`() throws {
        var stage = MatterStage()
        stage.advance(0)
        #expect(stage.actions == [.open] && !stage.proxy.reads)
        stage.proxy.opened(token: "abc", at: stage.now)
        let lines = String(decoding: stage.sent(), as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "GET /ble HTTP/1.1" && lines.suffix(2) == ["", ""])
        #expect(Set(lines).isSuperset(of: ["Host: 127.0.0.1:5580", "Authorization: Bearer abc", "Upgrade: websocket"]))
        let key = lines.first { $0.hasPrefix("Sec-WebSocket-Key: ") }!.dropFirst(19)
        for octet in MatterStage.answer(String(key)).utf8 { stage.proxy.received([octet], at: stage.now) }
        #expect(try stage.texts() == [["type": "hello", "version": 1]])
        stage.say(#"{"version":1,"type":"hello_response"}"#)
        #expect(stage.proxy.isServing && stage.actions.contains(.begin(session: 1)))
    }

    @Test(arguments: [
        ("HTTP/1.1 401 Unauthorized\r\n\r\n", "tokenFile"), ("HTTP/1.1 404 Not Found\r\n\r\n", "--ble-proxy"),
        ("SSH-2.0-x\r\n\r\n\r\n", "not HTTP"), ("HTTP/1.1 101 x\r\nUpgrade: websocket\r\n\r\n", "WebSocket"),
        (String(repeating: "a", count: 9000), "too long"), ("HTTP/1.1 200 OK\r\n\r\n", "status 200"),
    ])
    func `other answers end the attempt, with the cause`(_ answer: String, _ cause: String) {
        var stage = MatterStage()
        stage.advance(0)
        stage.proxy.opened(token: nil, at: stage.now)
        stage.proxy.received(Array(answer.utf8), at: stage.now)
        stage.settle()
        #expect(isWaiting(stage) && problems(stage).count == 1 && problems(stage)[0].contains(cause))
    }

    @Test func `without a radio there is no attempt, but a session stays`() {
        var stage = MatterStage()
        stage.proxy.setRadio(isUsable: false, at: stage.now)
        stage.advance(100)
        #expect(stage.actions.isEmpty)
        stage.proxy.setRadio(isUsable: true, at: stage.now)
        stage.advance(0)
        #expect(stage.actions == [.open])
        stage = MatterStage.serving()
        stage.proxy.setRadio(isUsable: false, at: stage.now)
        stage.advance(1)
        #expect(stage.proxy.isServing)
    }

    @Test func `pauses grow to a minute, and begin anew after a good session`() {
        var stage = MatterStage()
        var pauses: [Double] = []
        for _ in 0..<10 {
            stage.advance(0)
            stage.proxy.failed("no route", at: stage.now)
            let pause = Double(stage.now.distance(to: stage.proxy.nextDeadline).rawValue) / 1e6
            pauses.append(pause)
            stage.advance(pause - 0.001)
            stage.advance(0.002)
        }
        for (index, pause) in pauses.enumerated() {
            let full = min(60, Double(1 << index))
            #expect(pause <= full && pause >= full * 0.75)
        }
        stage.proxy.opened(token: nil, at: stage.now)
        stage.proxy.failed("no route", at: stage.now)
        stage.advance(61)
        stage.upgrade()
        stage.say(#"{"type":"hello_response","version":1}"#)
        for _ in 0..<7 {
            stage.advance(10)
            stage.proxy.received([0x8A, 0], at: stage.now)
            _ = stage.sent()
        }
        stage.proxy.failed("lost", at: stage.now)
        #expect(stage.now.distance(to: stage.proxy.nextDeadline) <= .seconds(1))
    }

    @Test func `another version is tried again late`() {
        var stage = MatterStage()
        stage.upgrade()
        stage.say(#"{"type":"hello_response","version":2,"error":"unsupported_version","message":"no"}"#)
        #expect(isWaiting(stage) && problems(stage).last?.contains("version 2") == true)
        #expect(stage.now.distance(to: stage.proxy.nextDeadline) >= .seconds(45))
    }

    @Test(arguments: [#"{"type":"hello"}"#, "no JSON", #"{"id":1,"command":"start_scan"}"#])
    func `who does not say Hello is no server`(_ text: String) {
        var stage = MatterStage()
        stage.upgrade()
        stage.say(text)
        #expect(isWaiting(stage) && stage.proxy.counters.violations == 1 && stage.proxy.counters.sessions == 0)
    }

    @Test func `each phase has its end`() {
        var stage = MatterStage()
        stage.advance(0)
        stage.advance(20)
        #expect(problems(stage).last?.contains("no connection") == true)
        stage.advance(2)
        stage.proxy.opened(token: nil, at: stage.now)
        _ = stage.sent()
        stage.advance(10)
        #expect(problems(stage).last?.contains("does not answer") == true)
        stage.advance(4)
        stage.upgrade()
        _ = stage.sent()
        stage.advance(10)
        #expect(problems(stage).last?.contains("Hello") == true)
    }

    @Test func `a ping is answered, a silent server is asked, and then left`() {
        var stage = MatterStage.serving()
        stage.proxy.received([0x89, 2, 7, 8], at: stage.now)
        var reader = WebSocketReader(limit: 100, from: .client)
        let pong = stage.sent()
        #expect(pong.first == 0x8A && reader.read(pong) == [.pong])
        stage.advance(30)
        #expect(stage.messages() == [.ping([])])
        stage.advance(44)
        #expect(stage.proxy.isServing)
        stage.advance(1)
        #expect(isWaiting(stage) && stage.actions.contains(.end(session: 1)))
    }

    @Test func `a session's end ends its links, and events of it mean nothing to the next`() throws {
        var stage = MatterStage.serving()
        try stage.connect()
        stage.proxy.received(WebSocketFrame.close(.normal), at: stage.now)
        stage.settle()
        #expect(stage.actions.contains(.end(session: 1)) && stage.proxy.linkCount == 0)
        guard case .close(let last)? = stage.actions.first(where: { if case .close = $0 { true } else { false } })
        else {
            return #expect(Bool(false))
        }
        #expect(last.first == 0x88 && last.count == 8)
        stage.advance(2)
        stage.upgrade()
        stage.say(#"{"type":"hello_response","version":1}"#)
        _ = stage.messages()
        stage.proxy.received(.connected(MatterStage.lamp.value, attMTU: 100), for: 1, at: stage.now)
        #expect(try stage.texts().isEmpty && stage.actions.contains(.begin(session: 2)))
    }

    @Test func `who does not read loses reports, then is not read, then loses the session`() {
        var limits = MatterLimits()
        (limits.advertisementOctets, limits.readingOctets, limits.octets) = (2000, 4000, 8000)
        var stage = MatterStage.serving(limits)
        stage.ask(1, "start_scan")
        for _ in 0..<100 { stage.hear() }
        #expect(stage.proxy.pending.count < 2400 && stage.proxy.counters.droppedDevices > 50)
        while stage.proxy.reads { stage.ask(2, "fly") }
        #expect(stage.proxy.pending.count < 4400 && stage.proxy.isServing)
        stage.proxy.received(
            Array([[UInt8]](repeating: [0x89, 0x7D] + [UInt8](repeating: 0, count: 125), count: 100).joined()),
            at: stage.now)
        stage.settle()
        #expect(isWaiting(stage) && stage.proxy.counters.stalls == 1 && stage.proxy.pending.isEmpty)
        stage = MatterStage.serving(limits)
        stage.ask(1, "start_scan")
        stage.advance(30)
        #expect(isWaiting(stage) && stage.proxy.counters.stalls == 1)
    }

    @Test(
        arguments: [
            [0x81, 0x85, 1, 2, 3, 4, 5, 6, 7, 8, 9], [0xC1, 0], [0x83, 0], [0x80, 0], [0x09, 0], [0x89, 0x7E, 0, 126],
            [0x81, 2, 0xFF, 0xFE], [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 1], [0x01, 0, 0x81, 0],
        ] as [[UInt8]])
    func `frames that RFC 6455 forbids end the session`(_ octets: [UInt8]) {
        var stage = MatterStage.serving()
        stage.proxy.received(octets, at: stage.now)
        stage.settle()
        #expect(isWaiting(stage) && stage.proxy.counters.violations == 1)
    }

    @Test func `a hundred thousand malformed frames leave nothing behind, and each command has one answer`() throws {
        var generator = Dice()
        var stage = MatterStage.serving()
        var answered = 0
        let names = [
            "start_scan", "stop_scan", "connect", "disconnect", "discover_services", "read_characteristic", "fly",
        ]
        let values: [JSONValue] = [
            .null, true, -1, 0, 1, 70000, "", "fff6", "AA==", [], ["fff6"], [:], "C0:DE:00:00:00:01", .number(1e300),
        ]
        let keys = ["address", "timeout", "connection_handle", "characteristic_uuid", "value", "service_uuids", "mtu"]
        for number in 0..<100_000 {
            if !stage.proxy.isServing {
                stage.advance(61)
                stage.upgrade()
                stage.say(#"{"type":"hello_response","version":1}"#)
                _ = stage.messages()
            }
            let wasServing = stage.proxy.isServing
            switch generator.next() % 8 {
            case 0: stage.give((0..<generator.next() % 8).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
            case 1: stage.say(String(values[Int(generator.next() % 14)].text.dropLast()))
            case 2 where generator.next() % 16 == 0:
                stage.proxy.received((0..<40).map { _ in UInt8(truncatingIfNeeded: generator.next()) }, at: stage.now)
            case 3: stage.hear()
            default:
                var members: [JSONValue.Member] = []
                for key in keys where generator.next() % 2 == 0 {
                    members.append(JSONValue.Member(key: key, value: values[Int(generator.next() % 14)]))
                }
                stage.ask(number, names[Int(generator.next() % 7)], .object(members))
            }
            for request in stage.requests() {
                if case .connect(let peer, _) = request { stage.report(.connectionFailed(peer.value, .timedOut)) }
            }
            for text in try stage.texts() where text["success"] != nil {
                answered += 1
                #expect(text["success"] == true || text["error"] != nil)
            }
            #expect(stage.proxy.pending.isEmpty && stage.proxy.linkCount == 0 && wasServing)
        }
        #expect(stage.proxy.counters.commands == UInt64(answered) && answered > 30_000)
    }

    private struct Dice {
        private var state: UInt64 = 88_172_645_463_325_252
        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}
