import BLEGateway
import BLEHost
import BLEPackets
import Testing

@Suite("What a broker answers")
struct BrokerTests {
    @Test(
        "each reason of an acknowledgement is a success, final for the message, or for the moment",
        arguments: [
            (0x00, .accepted), (0x10, .accepted), (0x80, .messageIsKept(attempts: 8)),
            (0x83, .messageIsKept(attempts: 8)), (0x87, .messageIsFinal), (0x90, .messageIsFinal),
            (0x91, .messageIsKept(attempts: nil)), (0x97, .messageIsKept(attempts: nil)), (0x99, .messageIsFinal),
        ] as [(UInt8, BrokerReason.Verdict)])
    func publications(code: UInt8, verdict: BrokerReason.Verdict) {
        #expect(BrokerReason(.publication, code: code).verdict == verdict)
    }

    @Test("return codes of MQTT 3.1.1, and a code that no version has")
    func returnCodes() {
        let verdicts = (0...6).map { BrokerReason(.connection311, code: $0).verdict }
        #expect(
            verdicts == [
                .accepted, .settingsAreAtFault, .settingsAreAtFault, .triedAgain, .settingsAreAtFault,
                .settingsAreAtFault, .triedAgain,
            ])
        #expect(
            "\(BrokerReason(.connection311, code: 4))"
                == "bad user name or password; check ‘mqtt.username’ and the password")
        #expect("\(BrokerReason(.connection311, code: 255))" == "return code 255")
    }

    @Test("reasons of a refused or ended session: the credentials, a limit, a message, or the moment")
    func sessions() {
        func connection(_ code: UInt8) -> BrokerReason.Verdict { BrokerReason(.connection, code: code).verdict }
        func disconnection(_ code: UInt8) -> BrokerReason.Verdict { BrokerReason(.disconnection, code: code).verdict }
        for code: UInt8 in [0x84, 0x85, 0x86, 0x87, 0x8A, 0x8C, 0x9C, 0x9D] {
            #expect(connection(code) == .settingsAreAtFault)
        }
        for code: UInt8 in [0x80, 0x83, 0x88, 0x89, 0x97, 0x9F] { #expect(connection(code) == .triedAgain) }
        #expect(connection(0x9A) == .nothingIsRetained)
        #expect(connection(0x9B) == .qualityIsLowered)
        for code: UInt8 in [0x8E, 0x98, 0x9C, 0x9D] { #expect(disconnection(code) == .settingsAreAtFault) }
        for code: UInt8 in [0x87, 0x90, 0x95, 0x99] { #expect(disconnection(code) == .messageIsAtFault) }
        for code: UInt8 in [0x00, 0x80, 0x89, 0x8B, 0x8D, 0x96, 0x97, 0xA0] {
            #expect(disconnection(code) == .triedAgain)
        }
        #expect(disconnection(0x93) == .fewerOnTheWay)
        #expect(disconnection(0x9A) == .nothingIsRetained)
        #expect(disconnection(0x9B) == .qualityIsLowered)
    }

    @Test("every code of every packet has a verdict, a name and a description")
    func total() {
        let packets: [BrokerReason.Packet] = [.connection311, .connection, .publication, .subscription, .disconnection]
        for packet in packets {
            for code in UInt8.min...UInt8.max {
                let reason = BrokerReason(packet, code: code)
                #expect(!reason.name.isEmpty && "\(reason)".hasPrefix(reason.name))
                // Success is below 0x80 in MQTT 5.
                if packet == .publication || packet == .subscription {
                    #expect((reason.verdict == .accepted) == (code < 0x80))
                }
            }
        }
        #expect("\(BrokerReason(.publication, code: 0xC7))" == "reason 0xC7")
    }

    @Test("what refusals teach: a last will with quality 0, no retained messages, half as many on the way")
    func learning() {
        var learned = SessionLimits()
        learned.learn(.qualityIsLowered, from: SessionLimits(), onTheWay: 0, isBegin: true)
        #expect(learned.maximumQualityOfService == 0)
        learned = SessionLimits()
        learned.learn(.qualityIsLowered, from: SessionLimits(), onTheWay: 5, isBegin: false)
        #expect(learned.maximumQualityOfService == 1)
        learned.learn(.nothingIsRetained, from: learned, onTheWay: 5, isBegin: false)
        #expect(!learned.retainsMessages)
        learned.learn(.fewerOnTheWay, from: learned, onTheWay: 100, isBegin: false)
        #expect(learned.receiveMaximum == 50)
        for _ in 0..<20 { learned.learn(.fewerOnTheWay, from: learned, onTheWay: 100, isBegin: false) }
        #expect(learned.receiveMaximum == 1)
        let before = learned
        learned.learn(.triedAgain, from: learned, onTheWay: 5, isBegin: true)
        #expect(learned == before)
    }

    @Test("limits are told only where they are below the settings")
    func notices() {
        var limits = SessionLimits()
        #expect(limits.notices(qualityOfService: 2, keepAlive: 30, inFlight: 100).isEmpty)
        limits.maximumQualityOfService = 1
        limits.receiveMaximum = 100
        limits.keepAlive = 30
        limits.maximumPacketSize = 100_000
        #expect(limits.notices(qualityOfService: 1, keepAlive: 30, inFlight: 100).isEmpty)
        #expect(limits.notices(qualityOfService: 2, keepAlive: 30, inFlight: 100).count == 1)
        limits.maximumQualityOfService = 0
        limits.retainsMessages = false
        limits.receiveMaximum = 10
        limits.keepAlive = 5
        limits.maximumPacketSize = 200
        #expect(limits.notices(qualityOfService: 0, keepAlive: 30, inFlight: 100).count == 5)
    }

    @Test("both limits together are the lower ones")
    func combination() {
        var one = SessionLimits()
        one.maximumPacketSize = 500
        one.receiveMaximum = 10
        var other = SessionLimits()
        other.maximumQualityOfService = 1
        other.retainsMessages = false
        other.keepAlive = 7
        let both = one.combined(with: other)
        #expect(both == other.combined(with: one))
        #expect(both.maximumPacketSize == 500 && both.receiveMaximum == 10 && both.keepAlive == 7)
        #expect(both.maximumQualityOfService == 1 && !both.retainsMessages)
    }

    @Test("a message fits if its whole packet is not longer than the limit")
    func packetSize() {
        var limits = SessionLimits()
        #expect(limits.fits(topic: 10, payload: .max >> 1))
        // 1 + 1 + 2 + 10 + 2 + 1 + 83
        limits.maximumPacketSize = 100
        #expect(limits.fits(topic: 10, payload: 83))
        #expect(!limits.fits(topic: 10, payload: 84))
        // From 128 octets on, the length takes another octet.
        limits.maximumPacketSize = 130
        #expect(limits.fits(topic: 10, payload: 112))
        #expect(!limits.fits(topic: 10, payload: 113))
    }

    @Test("a refused topic waits 1, 2, 4 … 60 s; another is not concerned, and an accepted message ends it")
    func pauses() {
        var topics = RefusedTopics()
        var now = Instant.zero
        var pauses: [Int64] = []
        for _ in 0..<9 {
            #expect(topics.refused("a", attempts: nil, at: now) == .kept)
            #expect(topics.waits("a", at: now) && !topics.waits("b", at: now))
            let due = topics.nextDue(after: now) ?? .zero
            pauses.append(now.distance(to: due).rawValue / 1_000_000)
            now = due
            #expect(!topics.waits("a", at: now))
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        topics.accepted("a")
        #expect(topics.isEmpty && topics.nextDue(after: now) == nil)
        _ = topics.refused("a", attempts: nil, at: now)
        topics.sessionBegan()
        #expect(!topics.waits("a", at: now))
    }

    @Test("after eight doubtful refusals messages are dropped, until one is accepted; a full quota drops none")
    func attempts() {
        var topics = RefusedTopics()
        var outcomes: [RefusedTopics.Outcome] = []
        for _ in 0..<10 { outcomes.append(topics.refused("a", attempts: 8, at: .zero)) }
        #expect(outcomes == Array(repeating: .kept, count: 7) + Array(repeating: .dropped, count: 3))
        #expect(!topics.waits("a", at: .zero))
        topics.accepted("a")
        #expect(topics.refused("a", attempts: 8, at: .zero) == .kept)
        for _ in 0..<100 { #expect(topics.refused("b", attempts: nil, at: .zero) == .kept) }
        #expect(topics.refused("b", attempts: 8, at: .zero) == .kept)
    }

    @Test("more refused topics than there is room for: everything waits for the next one")
    func bounded() {
        var topics = RefusedTopics(limit: 3)
        for name in ["a", "b", "c", "d"] { _ = topics.refused(name, attempts: nil, at: .zero) }
        #expect(topics.count == 3)
        #expect(topics.waits("d", at: .zero) && topics.waits("e", at: .zero))
        let later = Instant.zero.advanced(by: .seconds(1))
        #expect(!topics.waits("e", at: later))
        topics.forgetOld(at: later.advanced(by: .seconds(601)))
        #expect(topics.isEmpty)
    }
}
