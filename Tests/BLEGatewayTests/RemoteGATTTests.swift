import BLEGateway
import BLEHost
import BLEJSON
import BLEPackets
import Testing

/// Requests for GATT: each is answered in order, ends once, and nobody keeps the others waiting.
@Suite struct RemoteGATTTests {
    private typealias ID = RemoteGATT.SessionID

    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1e6)) }

    private static let level = DiscoveredCharacteristic(
        handle: AttributeHandle(rawValue: 2), valueHandle: AttributeHandle(rawValue: 3),
        endHandle: AttributeHandle(rawValue: 4),
        properties: [.read, .notify], uuid: BluetoothUUID(UInt16(0x2A19)))
    private static let services = [
        ServiceContents(
            service: DiscoveredService(
                uuid: BluetoothUUID(UInt16(0x180F)),
                range: AttributeHandleRange(AttributeHandle(rawValue: 1), AttributeHandle(rawValue: 9)), isPrimary: true
            ),
            characteristics: [
                .init(
                    characteristic: level,
                    descriptors: [
                        DiscoveredDescriptor(handle: AttributeHandle(rawValue: 4), uuid: BluetoothUUID(UInt16(0x2902)))
                    ])
            ])
    ]

    /// A machine with links that answer at once.
    private struct Desk {
        var machine: RemoteGATT
        var now = Instant.zero
        /// The answers, and whether they are the last.
        var answers: [(id: String, value: JSONValue, isLast: Bool)] = []
        var notices: [String] = []
        var begun: [ID] = []
        var finished: [ID] = []
        /// What becomes of attempts to connect.
        var connects: LinkEvent?
        var asked: [LinkRequest] = []
        var isSilent = false

        init(sessions: Int = 8) {
            var limits = GATTLimits()
            limits.sessions = sessions
            machine = RemoteGATT(limits)
        }

        mutating func submit(
            _ text: String, door: GATTDoor = .broker, client: ClientAddress = ClientAddress(address: [127, 0, 0, 1])
        ) throws {
            let request = try GATTRequest(Array(text.utf8), defaultID: nil)
            let peer = DeviceAddress(value: request.address, kind: .public)
            try machine.submit(request, to: peer, from: door, client: client, at: now)
            work()
        }

        mutating func work() {
            while true {
                let actions = machine.drainActions()
                if actions.isEmpty { return }
                for action in actions { perform(action) }
            }
        }

        mutating func receive(_ event: LinkEvent, _ id: ID) {
            machine.received(event, for: id, at: now)
            work()
        }

        mutating func advance(to next: Instant) {
            now = next
            machine.advance(to: now)
            work()
        }

        private mutating func perform(_ action: RemoteGATT.Action) {
            switch action {
            case .begin(let id, _): begun.append(id)
            case .finish(let id): finished.append(id)
            case .answer(_, let id, let value, let isLast): answers.append((id, value, isLast))
            case .notify(_, let id, _, let value): notices.append(id + " " + value.text)
            case .ask(let id, let request):
                asked.append(request)
                if isSilent { return }
                switch request {
                case .connect(let peer, _):
                    machine.received(connects ?? .connected(peer.value, attMTU: 100), for: id, at: now)
                case .disconnect(let address): machine.received(.disconnected(address, reason: 0x16), for: id, at: now)
                case .perform(let operation, let address, let tag):
                    let answer: LinkAnswer =
                        switch operation {
                        case .discoverServices: .services(RemoteGATTTests.services)
                        case .read: .value([87])
                        default: .done
                        }
                    machine.received(.ended(tag: tag, address: address, .success(answer)), for: id, at: now)
                case .forgetBond: break
                }
            }
        }

        func events(_ id: String) -> [String] {
            answers.filter { $0.id == id }.map { answer in
                if answer.isLast { return answer.value["ok"] == true ? "done" : "failed" }
                if case .string(let name)? = answer.value["error"]?["name"] { return "! " + name }
                if case .string(let event)? = answer.value["event"] { return event }
                return "?"
            }
        }
    }

    private func request(_ id: String, _ steps: String, address: Int = 1, more: String = "") -> String {
        "{\"id\": \"\(id)\", \"address\": \"00:00:00:00:00:0\(address)\", \"steps\": [\(steps)]\(more)}"
    }

    @Test func `steps are answered in their order, and the link ends after them`() throws {
        var desk = Desk()
        try desk.submit(
            request("a", #"{"read": "2A19"}, "write 2A19 01", {"subscribe": "2A19"}, {"discover": true}, "disconnect""#)
        )
        #expect(desk.events("a") == ["value", "written", "subscribed", "database", "disconnected", "done"])
        #expect(desk.answers[0].value["text"] == "87 %" && desk.answers[0].value["step"] == 0)
        #expect(desk.begun == desk.finished && desk.begun.count == 1 && desk.machine.nextDeadline == nil)
        let writes = desk.asked.compactMap {
            if case .perform(.write(let handle, let value, let confirmed), _, _) = $0 {
                (handle.rawValue, value, confirmed)
            } else {
                nil
            }
        }
        #expect(writes.map(\.0) == [3, 4] && writes.map(\.1) == [[1], [1, 0]] && writes.allSatisfy(\.2))
    }

    @Test func `the first step that fails is the last`() throws {
        var desk = Desk()
        try desk.submit(request("a", #"{"read": "2A19"}, {"read": "2A6E"}, {"read": "2A19"}"#))
        #expect(desk.events("a") == ["value", "! attributeNotFound", "failed"])
        desk.connects = .connectionFailed(2, .connectionFailed(0x3E))
        try desk.submit(request("b", #""connect""#, address: 2))
        #expect(desk.events("b") == ["! connectionFailed", "failed"] && desk.finished.count == 2)
        desk.connects = nil
        try desk.submit(request("c", #"{"wait": true}"#, address: 3))
        #expect(desk.events("c") == ["! usage", "failed"])
    }

    @Test func `values come before, during and after a wait, each once`() throws {
        var desk = Desk()
        try desk.submit(
            request("a", #"{"subscribe": "2A19"}, {"wait": {"count": 2, "duration": 5}}"#, more: ", \"keep\": 100"),
            door: .broker)
        let id = desk.begun[0]
        let handle = AttributeHandle(rawValue: 3)
        desk.receive(.notified(1, handle, [1]), id)
        #expect(desk.events("a") == ["subscribed"])
        desk.receive(.notified(1, handle, [2]), id)
        #expect(desk.events("a") == ["subscribed", "waited", "done"] && desk.notices.count == 2)
        desk.receive(.notified(1, handle, [3]), id)
        #expect(desk.notices.count == 3 && desk.notices[2].contains(#""value":"03""#))
        desk.receive(.notified(1, AttributeHandle(rawValue: 77), [3]), id)
        #expect(desk.notices.count == 3)
        // The same link, and nothing is discovered again.
        let asked = desk.asked.count
        try desk.submit(
            request("b", #"{"read": "2A19"}, {"wait": {"count": 9, "duration": 2}}"#, more: ", \"keep\": 100"))
        #expect(desk.asked.count == asked + 1 && desk.begun.count == 1)
        desk.advance(to: at(2))
        #expect(desk.events("b") == ["value", "! timeout", "failed"])
        desk.advance(to: at(102))
        #expect(desk.finished == [id] && desk.notices.last?.contains("disconnected") == true)
    }

    @Test func `a request is carried out once`() throws {
        var desk = Desk()
        try desk.submit(request("a", #""connect""#))
        #expect(throws: RemoteGATT.Refusal.repeated) { try desk.submit(self.request("a", #""connect""#)) }
        #expect(desk.events("a") == ["connected", "done"])
    }

    @Test func `at its time a request fails, whatever it waits for`() throws {
        var desk = Desk(sessions: 1)
        desk.isSilent = true
        try desk.submit(request("a", #""connect""#, more: ", \"timeout\": 5"))
        try desk.submit(request("b", #""connect""#, address: 2, more: ", \"timeout\": 3"))
        desk.advance(to: at(3))
        #expect(desk.events("b") == ["! noSlot", "failed"] && desk.events("a").isEmpty)
        desk.advance(to: at(5))
        #expect(
            desk.events("a") == ["! timeout", "failed"] && desk.finished.count == 1 && desk.machine.nextDeadline == nil)
    }

    @Test func `without a slot a request waits for one, and is told why it had none`() throws {
        var desk = Desk()
        desk.connects = .connectionFailed(1, .noSlot)
        try desk.submit(request("a", #""connect""#, more: ", \"timeout\": 10"))
        try desk.submit(request("b", #""connect""#, address: 2, more: ", \"timeout\": 4"))
        desk.advance(to: at(4))
        #expect(desk.events("b") == ["! noSlot", "failed"])
        desk.connects = nil
        desk.receive(.slots(LinkSlots(limit: 3)), desk.begun[0])
        #expect(desk.events("a") == ["connected", "done"])
    }

    @Test func `each requester has its turn`() throws {
        var desk = Desk(sessions: 1)
        for number in 0..<4 {
            try desk.submit(
                request(
                    "m\(number)", #"{"wait": 1}, "disconnect""#, address: number,
                    more: ", \"requester\": \"many\", \"timeout\": 100"))
        }
        try desk.submit(
            request("f", #"{"wait": 1}, "disconnect""#, address: 9, more: ", \"requester\": \"few\", \"timeout\": 100"))
        for second in 1...20 { desk.advance(to: at(Double(second))) }
        let order = desk.answers.filter(\.isLast).map(\.id)
        #expect(
            order.count == 5 && (order.firstIndex(of: "f") ?? 9) <= 2
                && order.filter { $0 != "f" } == ["m0", "m1", "m2", "m3"])
    }

    @Test func `a link that is only kept makes room for one who has fewer`() throws {
        var desk = Desk(sessions: 3)
        for number in 0..<2 {
            try desk.submit(
                request("m\(number)", #""connect""#, address: number, more: ", \"requester\": \"many\", \"keep\": 1000")
            )
        }
        #expect(desk.finished.isEmpty)
        try desk.submit(request("f", #""connect""#, address: 9, more: ", \"requester\": \"few\", \"keep\": 1000"))
        #expect(desk.events("f") == ["connected", "done"] && desk.finished == [desk.begun[0]])
        // Now each has one: nobody's goes.
        try desk.submit(request("g", #""connect""#, address: 8, more: ", \"requester\": \"few\", \"timeout\": 3"))
        #expect(desk.events("g").isEmpty && desk.finished.count == 1)
    }

    @Test func `names give nobody more than a share of the places`() throws {
        var server = HTTPConnections()
        let here = ClientAddress(address: [127, 0, 0, 1])
        let there = ClientAddress(address: [10, 0, 0, 1])
        for isBrokerGreedy in [true, false] {
            var desk = Desk()
            desk.isSilent = true
            func submit(_ id: String, isBroker: Bool, client: ClientAddress) -> Bool {
                let text =
                    "{\"id\": \"\(id)\", \"address\": \"00:00:00:00:\(id.prefix(2)):\(id.suffix(2))\", "
                    + "\"requester\": \"\(id)\", \"timeout\": 300, \"steps\": [\"connect\"]}"
                let door: GATTDoor = isBroker ? .broker : .http(server.accept(client, at: at(0)))
                return (try? desk.submit(text, door: door, client: client)) != nil
            }
            let taken = (0..<200).filter { submit("\(1000 + $0)", isBroker: isBrokerGreedy, client: here) }.count
            // Six places for links of eight; the others wait.
            #expect(desk.begun.count == 6 && taken == (isBrokerGreedy ? 6 + 64 : 6 + 16))
            // The other door, and the same from elsewhere.
            #expect(submit("2000", isBroker: !isBrokerGreedy, client: there) && desk.begun.count == 7)
            #expect(submit("2001", isBroker: false, client: there))
            // Identifiers of others are no repetition.
            #expect(submit("1000", isBroker: !isBrokerGreedy, client: here))
        }
    }

    @Test func `a link is not ended by the same name from another address or door`() throws {
        var desk = Desk()
        var server = HTTPConnections()
        let owner = ClientAddress(address: [127, 0, 0, 1])
        let other = ClientAddress(address: [10, 0, 0, 1])
        let more = ", \"requester\": \"one\", \"keep\": 1000"
        try desk.submit(
            request("a", #""connect""#, more: more), door: .http(server.accept(owner, at: at(0))), client: owner)
        let end = request("b", #""disconnect""#, more: ", \"requester\": \"one\"")
        try desk.submit(end, door: .http(server.accept(other, at: at(0))), client: other)
        try desk.submit(end)
        #expect(desk.machine.list.map(\.state) == ["kept"] && !desk.finished.contains(desk.begun[0]))
        #expect(!desk.asked.contains(.disconnect(1)))
        try desk.submit(end, door: .http(server.accept(owner, at: at(0))), client: owner)
        #expect(desk.machine.list.isEmpty && desk.asked.contains(.disconnect(1)))
    }

    @Test func `an attempt that takes too long is made again in the time of the request`() throws {
        var desk = Desk()
        desk.connects = .connectionFailed(1, .timedOut)
        try desk.submit(request("a", #""connect""#, more: ", \"timeout\": 60"))
        #expect(desk.events("a").isEmpty)
        desk.connects = nil
        desk.advance(to: at(2))
        #expect(desk.events("a") == ["connected", "done"])
    }

    @Test func `one who goes gets nothing more`() throws {
        var desk = Desk()
        var server = HTTPConnections()
        let client = server.accept(.init(address: [127, 0, 0, 1]), at: at(0))
        try desk.submit(
            request("a", #"{"subscribe": "2A19"}, {"wait": 100}"#, more: ", \"timeout\": 200"), door: .http(client))
        #expect(desk.finished.isEmpty)
        desk.machine.gone(.http(client), at: at(1))
        desk.work()
        #expect(desk.finished == desk.begun && desk.events("a") == ["subscribed"] && desk.machine.nextDeadline == nil)
        try desk.submit(request("b", #""connect""#, more: ", \"keep\": 100"))
        desk.machine.unwanted(id: "b", at: at(1))
        desk.work()
        #expect(desk.finished == desk.begun)
    }

    @Test func `a link that is lost ends the step with its reason, and a kept one is reported`() throws {
        var desk = Desk()
        try desk.submit(request("a", #"{"subscribe": "2A19"}, {"wait": 100}"#, more: ", \"timeout\": 200"))
        desk.receive(.disconnected(1, reason: 0x08), desk.begun[0])
        #expect(
            desk.events("a") == ["subscribed", "! linkLost", "failed"] && desk.answers[1].value["error"]?["code"] == 8)
        try desk.submit(request("b", #""connect""#, more: ", \"keep\": 100"))
        desk.receive(.disconnected(1, reason: 0x13), desk.begun[1])
        #expect(desk.notices == [#"b {"event":"disconnected","reason":19,"done":true}"#] && desk.finished == desk.begun)
    }

    @Test func `random requests and events end each request once`() throws {
        var generator = SplitMix(state: 4)
        for _ in 0..<100 {
            var desk = Desk(sessions: 2)
            var accepted: Set<String> = []
            for number in 0..<60 {
                desk.isSilent = Int.random(in: 0..<3, using: &generator) == 0
                let steps = [
                    #""connect""#, #"{"read": "2A19"}"#, #"{"wait": 1}"#, #""disconnect""#, #"{"subscribe": "2A19"}"#,
                    #"{"read": "2A00"}"#,
                ]
                let chosen = (0..<Int.random(in: 1...4, using: &generator)).compactMap { _ in
                    steps.randomElement(using: &generator)
                }
                let requester = Int.random(in: 0..<3, using: &generator)
                let text = request(
                    "r\(number)", chosen.joined(separator: ", "), address: Int.random(in: 1...3, using: &generator),
                    more:
                        ", \"requester\": \"q\(requester)\", \"timeout\": 5, \"keep\": \(Int.random(in: 0...3, using: &generator))"
                )
                do {
                    try desk.submit(text)
                    accepted.insert("r\(number)")
                } catch { #expect(error is RemoteGATT.Refusal) }
                if let id = desk.begun.randomElement(using: &generator) {
                    switch Int.random(in: 0..<5, using: &generator) {
                    case 0: desk.receive(.disconnected(1, reason: 8), id)
                    case 1: desk.receive(.notified(1, AttributeHandle(rawValue: 3), [1]), id)
                    case 2: desk.receive(.connectionFailed(1, .noSlot), id)
                    case 3:
                        desk.receive(
                            .ended(tag: UInt64.random(in: 0..<9, using: &generator), address: 1, .failure(.att(5))), id)
                    default: desk.receive(.slots(LinkSlots(limit: 2)), id)
                    }
                }
                desk.advance(to: desk.now.advanced(by: .milliseconds(Int32.random(in: 0...900, using: &generator))))
                #expect(desk.machine.list.count <= 2)
            }
            var rounds = 0
            while let deadline = desk.machine.nextDeadline, rounds < 1000 {
                desk.advance(to: max(desk.now, deadline))
                rounds += 1
            }
            #expect(desk.machine.nextDeadline == nil && Set(desk.finished) == Set(desk.begun))
            let ends = desk.answers.filter(\.isLast).map(\.id)
            #expect(Set(ends) == accepted && ends.count == accepted.count)
        }
    }

    @Test func `texts that are no requests`() {
        for text in ["", "[]", "{", #"{"id": "a/b"}"#, #"{"id": 1}"#, "{}", #"{"id": "a", "address": "x"}"#] {
            #expect(throws: GATTRequest.Problem.self) { try GATTRequest(Array(text.utf8), defaultID: nil) }
        }
        var generator = SplitMix(state: 9)
        let whole = Array(
            request(
                "a", #"{"read": "2A19"}, "write 2A39 01 --command", {"wait": {"count": 1}}"#, more: ", \"keep\": 1.5"
            ).utf8)
        for _ in 0..<5000 {
            var octets = whole
            for _ in 0..<Int.random(in: 1...5, using: &generator) {
                octets[Int.random(in: octets.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            if let request = try? GATTRequest(octets, defaultID: nil) {
                #expect(request.id.utf8.count <= 64 && (1...256).contains(request.steps.count))
            }
        }
    }
}
