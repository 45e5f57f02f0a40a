import BLEPackets
import Testing

@testable import BLETransport

@Suite("Three-wire link")
struct ThreeWireLinkTests {
    static let command: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    static let event = Sample.commandComplete

    /// Packets of 5 to 5 + `length` octets, each with its number.
    static func packets(_ count: Int, length: Int, type: UInt8, seed: UInt64) -> [[UInt8]] {
        var dice = Dice(seed)
        return (0..<count).map { number in
            let extra = (0..<dice.number(below: length + 1)).map { _ in
                [0xC0, 0xDB, 0x11, 0x13, dice.octet()][dice.number(below: 5)]
            }
            let low = UInt8(truncatingIfNeeded: number)
            return [type, low, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: extra.count), low]
                + extra
        }
    }

    private static func frames(_ octets: [UInt8]) -> [ThreeWireFrame] {
        var decoder = SLIPDecoder()
        return octets.compactMap { decoder.take($0) }.compactMap { ThreeWireFrame(decoding: $0) }
    }

    @Test("SYNC and CONFIG establish the link, and both sides agree on the smaller window, the CRC and flow control")
    func establishes() {
        var host = ThreeWireConfiguration()
        var controller = ThreeWireConfiguration()
        (host.window, controller.window) = (7, 3)
        (host.hasCRC, controller.hasCRC) = (true, true)
        (host.hasSoftwareFlowControl, controller.hasSoftwareFlowControl) = (true, false)
        let pair = ThreeWirePair(host, controller)
        pair.start()
        #expect(pair.hostEvents == [.established])
        #expect(pair.controllerEvents == [.established])
        for side in [pair.host, pair.controller] {
            #expect(side.state == .active)
            #expect(side.agreement.window == 3)
            #expect(side.agreement.hasCRC)
            #expect(!side.agreement.hasSoftwareFlowControl)
            #expect(side.nextDeadline == nil)
        }
    }

    @Test("the first octets on the line are those of the specification")
    func firstOctets() {
        var link = ThreeWireLink()
        link.start(at: 0)
        let output1 = link.takeOutput()
        #expect(output1 == [0xC0, 0x00, 0x2F, 0x00, 0xD0, 0x01, 0x7E, 0xC0])
        #expect(link.nextDeadline == 100_000)
        let response: [UInt8] = [0xC0, 0x00, 0x2F, 0x00, 0xD0, 0x02, 0x7D, 0xC0]
        link.receive(response.span.bytes, at: 10)
        // CONFIG with a window of 4 and the CRC; the header's sum happens to be 0xC0, which is escaped.
        let output2 = link.takeOutput()
        #expect(output2 == [0xC0, 0x00, 0x3F, 0x00, 0xDB, 0xDC, 0x03, 0xFC, 0x14, 0xC0])
    }

    @Test("the CRC is the one of other stacks: octets from their low bit, sent from its high bit (CRC-CCITT)")
    func checksum() {
        // The reflected CRC-CCITT of "123456789" with 0xFFFF at the beginning is 0x6F91; its bits reversed: 0x89F6.
        let checksum = ThreeWireFrame.checksum(of: Array("123456789".utf8)[...])
        #expect(checksum == 0x89F6)
    }

    @Test("a frame of any length passes through the line's escapes, and every single changed octet of it is noticed")
    func frames() {
        for length in [0, 1, 15, 16, 255, 4095] {
            var frame = ThreeWireFrame(
                type: 2, payload: (0..<length).map { UInt8(truncatingIfNeeded: $0) }, isReliable: true)
            (frame.sequenceNumber, frame.acknowledgementNumber) = (5, 3)
            for hasCRC in [false, true] {
                var line: [UInt8] = []
                SLIPFraming.append(frame.encoded(withCRC: hasCRC), escapesFlowControl: true, to: &line)
                #expect(!line.contains(0x11) && !line.contains(0x13))
                #expect(Self.frames(line) == [frame])
            }
        }
        let octets = ThreeWireFrame(type: 4, payload: [0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]).encoded(withCRC: true)
        for index in octets.indices {
            for change in 1...255 as ClosedRange<UInt8> {
                var changed = octets
                changed[index] ^= change
                #expect(ThreeWireFrame(decoding: changed) == nil)
            }
        }
    }

    @Test(
        "without a CRC a changed octet of the payload is not noticed, nor are two that cancel out in the header's sum")
    func whatTheHeaderDoesNotProtect() {
        let octets = ThreeWireFrame(type: 4, payload: [0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]).encoded(withCRC: false)
        var payload = octets
        payload[5] ^= 0x10
        #expect(ThreeWireFrame(decoding: payload) != nil)
        var header = octets
        header[0] &+= 0x08
        header[3] &-= 0x08
        #expect(ThreeWireFrame(decoding: header)?.acknowledgementNumber == 1)
        for index in 0..<4 {
            for change in 1...255 as ClosedRange<UInt8> {
                var changed = octets
                changed[index] ^= change
                #expect(ThreeWireFrame(decoding: changed) == nil)
            }
        }
    }

    @Test("packets pass in both directions in their order, with every window", arguments: 1...7 as ClosedRange<UInt8>)
    func windows(window: UInt8) {
        var configuration = ThreeWireConfiguration()
        configuration.window = window
        let pair = ThreeWirePair(configuration, configuration)
        pair.start()
        let down = Self.packets(100, length: 60, type: 1, seed: 1)
        let up = Self.packets(100, length: 60, type: 4, seed: 2)
        for (one, other) in zip(down, up) {
            #expect(pair.sendToController(one))
            #expect(pair.sendToHost(other))
        }
        let before = pair.now
        pair.exchange()
        #expect(pair.atController == down ? true : false)
        #expect(pair.atHost == up ? true : false)
        #expect(pair.now - before < 500_000, "nothing was sent twice")
        #expect(pair.host.nextDeadline == nil)
    }

    @Test("a window and a CRC that one changed octet denies are agreed on all the same")
    func changedConfiguration() {
        var link = ThreeWireLink()
        link.start(at: 0)
        let full = ThreeWireConfiguration().field
        for message in [ThreeWireMessage.syncResponse, .configResponse(0x01), .configResponse(full)] {
            var line: [UInt8] = []
            let frame = ThreeWireFrame(type: 15, payload: message.octets)
            SLIPFraming.append(frame.encoded(withCRC: false), escapesFlowControl: false, to: &line)
            link.receive(line.span.bytes, at: 0)
        }
        #expect(link.state == .active && link.agreement.hasCRC && link.agreement.window == 4)
    }

    @Test("on a line with 5 % of octets lost or changed both sides agree on the CRC that both can do")
    func damagedConfiguration() {
        for seed in 1...4_000 as ClosedRange<UInt64> {
            let pair = ThreeWirePair(seed: seed)
            pair.faults = .init(lost: 250, changed: 250)
            pair.start()
            #expect(pair.run { $0.host.state == .active && $0.controller.state == .active })
            #expect(pair.host.agreement.hasCRC && pair.controller.agreement.hasCRC, "seed \(seed)")
        }
    }

    @Test("no more packets than the window are without acknowledgement")
    func windowHolds() {
        var link = ThreeWireLink()
        link.start(at: 0)
        // Less than was offered counts when three answers agree.
        for message in [ThreeWireMessage.syncResponse] + Array(repeating: .configResponse(0x13), count: 3) {
            var line: [UInt8] = []
            let frame = ThreeWireFrame(type: 15, payload: message.octets)
            SLIPFraming.append(frame.encoded(withCRC: false), escapesFlowControl: false, to: &line)
            link.receive(line.span.bytes, at: 0)
        }
        _ = link.takeOutput()
        for _ in 0..<10 {
            let isTaken = link.send(Self.command.span.bytes, at: 0)
            #expect(isTaken)
        }
        let sent = Self.frames(link.takeOutput())
        #expect(sent.map(\.sequenceNumber) == [0, 1, 2])
        #expect(sent.allSatisfy { $0.isReliable && $0.type == 1 })
        link.advance(to: 250_000)
        let output3 = link.takeOutput()
        #expect(Self.frames(output3).map(\.sequenceNumber) == [0, 1, 2])
        var acknowledgement = ThreeWireFrame(type: 0)
        acknowledgement.acknowledgementNumber = 2
        var line: [UInt8] = []
        SLIPFraming.append(acknowledgement.encoded(withCRC: true), escapesFlowControl: false, to: &line)
        link.receive(line.span.bytes, at: 300_000)
        let output4 = link.takeOutput()
        #expect(Self.frames(output4).map(\.sequenceNumber) == [3, 4])
        // An acknowledgement of what was never sent changes nothing.
        acknowledgement.acknowledgementNumber = 1
        line = []
        SLIPFraming.append(acknowledgement.encoded(withCRC: true), escapesFlowControl: false, to: &line)
        link.receive(line.span.bytes, at: 300_000)
        let output5 = link.takeOutput()
        #expect(Self.frames(output5).isEmpty)
    }

    @Test(
        "with 5 % of octets lost, changed or inserted nothing is lost, doubled or reordered above (A86)",
        arguments: [
            ThreeWirePair.Faults(lost: 500), .init(changed: 500), .init(inserted: 500),
            .init(lost: 200, changed: 200, inserted: 100),
        ])
    func damaged(faults: ThreeWirePair.Faults) {
        for seed in 1...2 as ClosedRange<UInt64> {
            var configuration = ThreeWireConfiguration()
            configuration.window = 7
            configuration.patienceMicroseconds = 1_000_000_000_000
            let pair = ThreeWirePair(configuration, configuration, seed: seed)
            pair.faults = faults
            pair.start()
            #expect(pair.run { $0.host.state == .active && $0.controller.state == .active })
            let down = Self.packets(120, length: 20, type: 1, seed: seed)
            let up = Self.packets(120, length: 20, type: 4, seed: seed + 100)
            for (one, other) in zip(down, up) {
                #expect(pair.sendToController(one))
                #expect(pair.sendToHost(other))
            }
            #expect(pair.run(atMost: 1_000_000) { $0.atController.count >= 120 && $0.atHost.count >= 120 })
            _ = pair.run(atMost: 60)
            #expect(pair.atController == down ? true : false)
            #expect(pair.atHost == up ? true : false)
        }
    }

    @Test("without a CRC lost octets are noticed, but for those that escape the next one (A86)")
    func lostWithoutCRC() {
        var configuration = ThreeWireConfiguration()
        configuration.hasCRC = false
        configuration.patienceMicroseconds = 1_000_000_000_000
        let pair = ThreeWirePair(configuration, configuration, seed: 7)
        pair.faults = .init(lost: 500)
        pair.start()
        #expect(pair.run { $0.host.state == .active && $0.controller.state == .active })
        #expect(!pair.host.agreement.hasCRC)
        let down = Self.packets(120, length: 20, type: 1, seed: 3).map { packet in
            packet.map { $0 == SLIPFraming.delimiter || $0 == SLIPFraming.escape ? 0x20 : $0 }
        }
        for one in down { #expect(pair.sendToController(one)) }
        #expect(pair.run(atMost: 1_000_000) { $0.atController.count >= 120 })
        #expect(pair.atController == down ? true : false)

        let escaped = ThreeWireFrame(type: 4, payload: [0x01, 0xC0, 0x02])
        var line: [UInt8] = []
        SLIPFraming.append(escaped.encoded(withCRC: false), escapesFlowControl: false, to: &line)
        line.removeAll { $0 == SLIPFraming.escape }
        #expect(Self.frames(line).map(\.payload) == [[0x01, 0xDC, 0x02]])
    }

    @Test("a peer that was reset is noticed by its SYNC, and what was on its way is lost")
    func peerReset() {
        let pair = ThreeWirePair()
        pair.start()
        pair.controller = ThreeWireLink()
        #expect(pair.sendToController(Self.command))
        pair.controller.start(at: pair.now)
        pair.exchange()
        #expect(pair.hostEvents == [.established, .lost, .established])
        #expect(pair.atController == [])
        #expect(pair.sendToController(Self.command))
        pair.exchange()
        #expect(pair.atController == [Self.command])
    }

    @Test("a peer that acknowledges nothing any more is looked for again, after 20 s")
    func silentPeer() {
        let pair = ThreeWirePair()
        pair.start()
        #expect(pair.sendToController(Self.command))
        pair.faults = .init(lost: 10_000)
        #expect(!pair.run(atMost: 19) { $0.hostEvents.last == .lost })
        #expect(pair.run(atMost: 2) { $0.hostEvents.last == .lost })
        #expect(pair.host.state == .uninitialized)
        #expect(pair.octets < 2_000)
    }

    /// What a peer writes to a link by hand.
    private static func receive(_ octets: [UInt8], _ link: inout ThreeWireLink, at now: UInt64) {
        var line: [UInt8] = []
        SLIPFraming.append(octets, escapesFlowControl: false, to: &line)
        link.receive(line.span.bytes, at: now)
    }

    private static func receive(_ message: ThreeWireMessage, _ link: inout ThreeWireLink, at now: UInt64 = 0) {
        let frame = ThreeWireFrame(type: ThreeWireFrame.linkControl, payload: message.octets)
        receive(frame.encoded(withCRC: false), &link, at: now)
    }

    @Test("a peer that acknowledges a packet once only is not lost with that acknowledgement, as long as it answers")
    func acknowledgesOnce() {
        var link = ThreeWireLink()
        var now: UInt64 = 0
        link.start(at: now)
        Self.receive(.syncResponse, &link)
        Self.receive(.configResponse(link.configuration.field), &link)
        #expect(link.nextEvent() == .established)
        let isTaken = link.send(Self.command.span.bytes, at: now)
        #expect(isTaken)
        while let next = link.nextDeadline, next < 3_600_000_000 {
            now = next
            link.advance(to: now)
            let isAsked = Self.frames(link.takeOutput()).contains { $0.payload == ThreeWireMessage.wakeUp.octets }
            if isAsked { Self.receive(.woken, &link, at: now) }
        }
        #expect(link.nextEvent() == nil)
        var event = ThreeWireFrame(type: 4, payload: Array(Self.event.dropFirst()), isReliable: true)
        event.acknowledgementNumber = 1
        Self.receive(event.encoded(withCRC: true), &link, at: now)
        #expect(link.nextEvent() == .packet(Self.event))
        #expect(link.nextDeadline == nil)
    }

    @Test("a peer that answers CONFIG without a field, and asks for its own afterwards, gets the window of both")
    func answersWithoutField() {
        var link = ThreeWireLink()
        link.start(at: 0)
        Self.receive(.syncResponse, &link)
        Self.receive(.configResponse(nil), &link)
        #expect(link.nextEvent() == .established)
        #expect(link.agreement.window == 1)
        _ = link.takeOutput()
        Self.receive(.config(0x03), &link)
        #expect(Self.frames(link.takeOutput()).map(\.payload) == [ThreeWireMessage.configResponse(0x03).octets])
        #expect(link.agreement.window == 3 && !link.agreement.hasCRC)
        // What was agreed on stays, whatever the line makes of a message.
        Self.receive(.config(0x01), &link)
        #expect(link.agreement.window == 3)
        for _ in 0..<4 { #expect(link.send(Self.command.span.bytes, at: 0) ? true : false) }
        #expect(Self.frames(link.takeOutput()).filter(\.isReliable).count == 3)
    }

    @Test("as the tools use it, the link goes on while 5 % of octets get lost, however often a packet is sent (A86)")
    func staysEstablished() {
        for seed in 1...5 as ClosedRange<UInt64> {
            var configuration = ThreeWireConfiguration()
            configuration.baud = 115_200
            let pair = ThreeWirePair(configuration, configuration, seed: seed)
            pair.start()
            pair.faults = .init(lost: 500)
            let down = Self.packets(60, length: 30, type: 2, seed: seed)
            let up = Self.packets(60, length: 30, type: 4, seed: seed + 100)
            for (one, other) in zip(down, up) {
                #expect(pair.sendToController(one))
                #expect(pair.sendToHost(other))
            }
            #expect(pair.run(atMost: 600) { $0.atController.count >= 60 && $0.atHost.count >= 60 })
            #expect(pair.atController == down ? true : false)
            #expect(pair.atHost == up ? true : false)
            #expect(pair.hostEvents.filter { $0 == .lost } == [])
        }
    }

    @Test("before a packet is sent again, the line has had its time: 28 ms for a command at 115,200 baud")
    func retransmissionPause() {
        var configuration = ThreeWireConfiguration()
        #expect(configuration.retransmissionPause(byteCount: 40) == 250_000)
        configuration.baud = 115_200
        #expect(configuration.retransmissionPause(byteCount: 12) == 27_986)
        configuration.baud = 9_600
        #expect(configuration.retransmissionPause(byteCount: 1_024) == 1_170_000)
    }

    @Test("a peer that sleeps is woken before it is sent anything, and answers that it is awake")
    func sleeps() {
        let pair = ThreeWirePair()
        pair.start()
        pair.controller.sleep()
        pair.exchange()
        #expect(pair.sendToController(Self.command))
        let waking = pair.host.takeOutput()
        #expect(Self.frames(waking).map(\.payload) == [ThreeWireMessage.wakeUp.octets])
        // The first one got lost.
        #expect(pair.run(atMost: 10) { $0.atController == [Self.command] })
        pair.controller.sleep()
        pair.exchange()
        #expect(pair.sendToHost(Self.event), "one that sleeps wakes by sending")
        pair.exchange()
        #expect(pair.atHost == [Self.event])
    }

    @Test("XOFF stops the other side until XON, or until 2 s have passed")
    func pauses() {
        var configuration = ThreeWireConfiguration()
        configuration.hasSoftwareFlowControl = true
        let pair = ThreeWirePair(configuration, configuration)
        pair.start()
        pair.host.receive([SLIPFraming.pause].span.bytes, at: pair.now)
        #expect(pair.sendToController(Self.command))
        let held = pair.host.takeOutput()
        #expect(held.isEmpty)
        pair.host.receive([SLIPFraming.resume].span.bytes, at: pair.now)
        pair.exchange()
        #expect(pair.atController == [Self.command])
        pair.host.receive([SLIPFraming.pause].span.bytes, at: pair.now)
        #expect(pair.sendToController([0x02, 0x11, 0x13, 0x02, 0x00, 0x11, 0x13]))
        #expect(pair.run(atMost: 3) { $0.atController.count == 2 })
        #expect(pair.atController.last == [0x02, 0x11, 0x13, 0x02, 0x00, 0x11, 0x13])
    }

    @Test("voice and isochronous data are sent once, without a number")
    func unreliable() {
        let pair = ThreeWirePair()
        pair.start()
        let voice: [UInt8] = [0x03, 0x40, 0x00, 0x01, 0xAA]
        #expect(pair.sendToController(voice))
        let frames = Self.frames(pair.host.takeOutput())
        #expect(frames.map(\.isReliable) == [false])
        #expect(pair.host.nextDeadline == nil)
        #expect(pair.sendToController(voice))
        pair.exchange()
        #expect(pair.atController == [voice])
    }

    @Test("a packet that no frame can take is refused, and so is one more than 1 MiB that waits")
    func refuses() {
        let pair = ThreeWirePair()
        pair.start()
        #expect(pair.sendToController([0x02] + [UInt8](repeating: 0, count: 4095)))
        #expect(!pair.sendToController([0x02] + [UInt8](repeating: 0, count: 4096)))
        pair.faults = .init(lost: 10_000)
        var count = 0
        while count < 2_000, pair.sendToController([0x02] + [UInt8](repeating: 0, count: 4000)) { count += 1 }
        #expect(count < 300)
    }

    @Test("no octets of a hostile peer trap, or make a side keep more than a frame")
    func hostile() {
        for seed in 1...50 as ClosedRange<UInt64> {
            var dice = Dice(seed)
            let pair = ThreeWirePair()
            pair.start()
            for _ in 0..<40 {
                var octets: [UInt8] = []
                switch dice.number(below: 5) {
                case 0: octets = (0..<dice.number(below: 100)).map { _ in dice.octet() }
                case 1: octets = [UInt8](repeating: 0x55, count: 6_000)
                case 2: octets = [0xC0, 0xDB, 0xC0, 0xDB, dice.octet()]
                default:
                    let payload = (0..<dice.number(below: 4)).map { _ in dice.octet() % 8 }
                    var frame = ThreeWireFrame(
                        type: UInt8(dice.number(below: 16)), payload: payload, isReliable: dice.number(below: 2) == 0)
                    frame.sequenceNumber = dice.octet() & 7
                    frame.acknowledgementNumber = dice.octet() & 7
                    SLIPFraming.append(
                        frame.encoded(withCRC: dice.number(below: 2) == 0), escapesFlowControl: false, to: &octets)
                }
                pair.host.receive(octets.span.bytes, at: pair.now)
                _ = pair.sendToController(Self.command)
                _ = pair.run(atMost: 1)
            }
        }
    }
}
