import BLEPackets
import Testing

@testable import BLETransport

/// A framer with what it said.
private struct Bench {
    var framer: LineFramer
    var packets: [[UInt8]] = []
    var replies: [UInt8] = []
    var losses = 0
    var end: TransportError?
    var now: UInt64 = 1_000_000

    init(_ line: LineFramer.Line) { framer = LineFramer(line: line) }

    /// A serial line on which the controller has answered Reset.
    static func started() -> Bench {
        var bench = Bench(.serial)
        bench.framer.sentReset(at: bench.now)
        bench.receive(Sample.commandComplete)
        bench.packets = []
        return bench
    }

    mutating func receive(_ octets: [UInt8], after microseconds: UInt64 = 100) {
        now += microseconds
        do throws(TransportError) {
            let hasLost = try framer.receive(
                octets.span.bytes, at: now, deliver: { packets.append($0.copied()) }, reply: { replies.append($0) })
            losses += hasLost ? 1 : 0
        } catch { end = error }
    }

    /// Lets time pass, deadline by deadline.
    mutating func wait(_ microseconds: UInt64) {
        let until = now + microseconds
        while end == nil, let next = framer.nextDeadline, next <= until {
            now = max(now, next)
            do throws(TransportError) {
                losses += try framer.advance(to: now) { packets.append($0.copied()) } ? 1 : 0
            } catch { end = error }
        }
        now = until
    }

    mutating func reset() { framer.sentReset(at: now) }
}

@Suite("Line framer")
struct LineFramerTests {
    static let answer = Sample.commandComplete
    static let report: [UInt8] = [0x04, 0x3E, 0x04, 0x0A, 0x01, 0x40, 0x00]
    static let log = Array("ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST)\r\n".utf8)

    @Test(
        "a chip's boot log before HCI is discarded, on serial lines and behind sockets (A87)",
        arguments: [LineFramer.Line.serial, .relayed])
    func bootLog(line: LineFramer.Line) {
        var bench = Bench(line)
        bench.reset()
        for octet in Self.log { bench.receive([octet]) }
        bench.reset()
        bench.receive(Self.answer)
        bench.wait(60_000)
        #expect(bench.packets == [Self.answer])
        bench.receive(Self.report + Sample.acl)
        #expect(bench.packets == [Self.answer, Self.report, Sample.acl])
        #expect(bench.losses == 0)
        #expect(bench.end == nil)
        #expect(bench.replies == [])
    }

    @Test("a boot log in one piece with the answer to Reset hides it no longer than the line is quiet (A87)")
    func joinedLog() {
        for line in [LineFramer.Line.serial, .relayed] {
            var bench = Bench(line)
            bench.reset()
            bench.receive(Self.log)
            bench.reset()
            bench.receive(Self.log + Self.answer)
            #expect(bench.packets == [])
            bench.wait(50_000)
            #expect(bench.packets == [Self.answer])
        }
    }

    @Test("without octets before it the answer to Reset is delivered at once")
    func immediate() {
        var bench = Bench(.serial)
        #expect(bench.framer.nextDeadline == nil)
        bench.reset()
        bench.receive(Self.answer + Self.report)
        #expect(bench.packets == [Self.answer, Self.report])
        #expect(bench.framer.nextDeadline == nil)
    }

    @Test("after any lost octet the line is in step again with the answer to Reset (A86)")
    func lostOctet() {
        let stream = Sample.acl + Self.report + Sample.acl + Self.report
        for position in stream.indices {
            var bench = Bench.started()
            var damaged = stream
            damaged.remove(at: position)
            bench.receive(damaged)
            bench.wait(600_000)
            // A loss within the last octets of a packet's header can look like a packet; the next one shows it.
            if bench.losses == 0 {
                bench.receive(Self.report)
                bench.wait(600_000)
            }
            #expect(bench.losses == 1, "octet \(position)")
            let before = bench.packets.count
            bench.reset()
            bench.receive(Self.answer)
            bench.wait(60_000)
            bench.receive(Self.report)
            #expect(Array(bench.packets[before...]) == [Self.answer, Self.report])
            #expect(bench.losses == 1)
            #expect(bench.end == nil)
        }
    }

    @Test("after any stray octet between packets the line is in step again with the answer to Reset (A86)")
    func strayOctet() {
        for octet in 0x06...0xFF as ClosedRange<UInt8> where VendorOctets.meaning(of: octet) == nil {
            var bench = Bench.started()
            bench.receive(Self.report + [octet] + Self.report)
            #expect(bench.packets == [Self.report])
            #expect(bench.losses == 1)
            bench.reset()
            bench.receive(Self.answer)
            bench.wait(60_000)
            #expect(bench.packets == [Self.report, Self.answer])
        }
    }

    @Test("a length that was misread swallows nothing behind the next Reset (A86)")
    func misreadLength() {
        var bench = Bench.started()
        bench.receive([0x02, 0x40, 0x20, 0xFF, 0xFF])
        for _ in 0..<20 { bench.receive(Self.report, after: 100_000) }
        #expect(bench.packets == [])
        bench.reset()
        bench.receive(Self.report)
        bench.receive(Self.answer)
        bench.wait(60_000)
        #expect(bench.packets == [Self.answer])
    }

    @Test("a packet whose rest does not come is a loss (A86)")
    func stalled() {
        var bench = Bench.started()
        bench.receive(Array(Self.report.dropLast()))
        bench.wait(499_000)
        #expect(bench.losses == 0)
        bench.wait(2_000)
        #expect(bench.losses == 1)
        #expect(bench.packets == [])
    }

    @Test("an answer to Reset within a peer's data proves nothing, and the events behind it are not believed (A86)")
    func forgedAnswer() {
        let forged = Self.answer + [0x04, 0x08, 0x04, 0x00, 0x40, 0x00, 0x01]
        for second in [forged, Self.answer + Self.answer + Array(repeating: 0x55, count: 80)] {
            var bench = Bench.started()
            bench.receive([0xAA])
            bench.receive(second + Sample.acl)
            bench.reset()
            bench.receive(second + Sample.acl)
            bench.receive(Self.answer)
            bench.wait(60_000)
            #expect(bench.packets == [Self.answer])
        }
    }

    @Test("an answer to Reset before the host has sent Reset again proves nothing (A86)")
    func earlyAnswer() {
        var bench = Bench.started()
        bench.receive([0xAA] + Self.answer)
        bench.wait(1_000_000)
        #expect(bench.packets == [])
        bench.reset()
        bench.receive(Self.answer)
        bench.wait(60_000)
        #expect(bench.packets == [Self.answer])
    }

    @Test("a second answer and a vendor's event behind the answer are delivered with it (A4)")
    func followers() {
        var bench = Bench(.serial)
        bench.reset()
        bench.receive([0x00, 0x55])
        let vendor: [UInt8] = [0x04, 0xFF, 0x02, 0x01, 0x02]
        bench.receive(Self.answer + vendor)
        bench.receive(Self.answer)
        bench.wait(60_000)
        #expect(bench.packets == [Self.answer, vendor, Self.answer])
    }

    @Test("a Qualcomm chip that wakes the host is answered, and its other octets are passed over (A88)")
    func qualcomm() {
        var bench = Bench.started()
        bench.receive(Self.report + [0xFE])
        bench.receive([0xFD])
        bench.receive(Self.report)
        bench.receive([0xFC])
        #expect(bench.packets == [Self.report, Self.report])
        #expect(bench.replies == [0xFC])
        #expect(bench.losses == 0)
    }

    @Test("a chip of Texas Instruments that goes to sleep or wakes is answered (A89)")
    func texasInstruments() {
        var bench = Bench.started()
        bench.receive(Self.report + [0x30])
        bench.receive([0x32])
        bench.receive(Self.report + [0x33])
        #expect(bench.packets == [Self.report, Self.report])
        #expect(bench.replies == [0x31, 0x33])
        #expect(bench.losses == 0)
    }

    @Test("packets of a Broadcom chip that are not HCI are passed over by their lengths (A90)")
    func broadcom() {
        let diagnostics = [0x07] + (0..<63).map { UInt8(truncatingIfNeeded: $0) }
        for size in 1...70 {
            var bench = Bench.started()
            let stream = Self.report + [0x00, 0x31] + diagnostics + Self.report + [0x34] + diagnostics + Sample.acl
            for start in stride(from: 0, to: stream.count, by: size) {
                bench.receive(Array(stream[start..<min(start + size, stream.count)]))
            }
            #expect(bench.packets == [Self.report, Self.report, Sample.acl])
            #expect(bench.replies == [])
            #expect(bench.losses == 0)
        }
    }

    @Test("octets without end that a vendor might send are a broken line, not silence")
    func endlessZeros() {
        var bench = Bench.started()
        for _ in 0..<65 { bench.receive([0x00]) }
        #expect(bench.losses == 1)
    }

    @Test("a search that finds nothing ends after 3 s, or 1 MiB, with its reason (A86)")
    func bounded() {
        var slow = Bench.started()
        slow.receive([0x47])
        while slow.end == nil, slow.now < 10_000_000 {
            slow.wait(100_000)
            slow.receive(Self.report)
        }
        #expect(slow.end == .framingLost(packetType: 0x47))
        #expect(slow.now < 5_000_000)

        var fast = Bench(.serial)
        fast.reset()
        var count = 0
        while fast.end == nil, count < 2 << 20 {
            fast.receive([UInt8](repeating: 0x55, count: 4_096), after: 1)
            count += 4_096
        }
        guard case .noResetAnswer(let discarded)? = fast.end else {
            Issue.record("the search ended with \(String(describing: fast.end))")
            return
        }
        #expect(discarded <= (1 << 20) + 100)
    }

    @Test("a line that says nothing has no deadline: the engine asks again")
    func silence() {
        var bench = Bench(.serial)
        bench.reset()
        #expect(bench.framer.nextDeadline == nil)
    }

    @Test("where nothing can get lost, an octet that is no packet type ends the stream")
    func exact() {
        var bench = Bench(.exact)
        bench.receive(Self.report + [0x47] + Self.report)
        #expect(bench.end == .framingLost(packetType: 0x47))
        #expect(bench.packets == [Self.report])
        var relayed = Bench(.relayed)
        relayed.reset()
        relayed.receive(Self.answer + Self.report + [0xFD])
        #expect(relayed.end == .framingLost(packetType: 0xFD))
        #expect(relayed.packets == [Self.answer, Self.report])
    }

    @Test("packets of every type arrive whole in pieces of any size", arguments: [LineFramer.Line.exact, .serial])
    func pieces(line: LineFramer.Line) {
        let sco: [UInt8] = [0x03, 0x40, 0x00, 0x02, 0xAA, 0xBB]
        let iso: [UInt8] = [0x05, 0x40, 0x00, 0x03, 0xC0, 0x01, 0x02, 0x03]
        let large = Sample.numberedACL(5, dataByteCount: 300)
        let packets = [Self.answer, Sample.acl, sco, iso, large, Self.report]
        let stream = Array(packets.joined())
        for size in 1...40 {
            var bench = Bench(line)
            bench.reset()
            for start in stride(from: 0, to: stream.count, by: size) {
                bench.receive(Array(stream[start..<min(start + size, stream.count)]))
            }
            #expect(bench.packets == packets)
        }
    }

    @Test("no stream of a hostile chip traps, is kept without bound or is searched without end")
    func hostile() {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        func random() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        for round in 0..<300 {
            var bench = round % 2 == 0 ? Bench.started() : Bench(.serial)
            var lost: UInt64?
            for _ in 0..<200 where bench.end == nil {
                let choice = random()
                switch choice % 8 {
                case 0: bench.receive(Self.answer)
                case 1: bench.receive(Array(Self.answer.prefix(Int(random() % 8))))
                case 2: bench.receive(Self.report)
                case 3 where choice > 200: bench.reset()
                case 4: bench.wait(UInt64(random()) * 1_000)
                default:
                    bench.receive((0..<Int(random() % 32)).map { _ in random() % 8 == 0 ? random() : random() % 16 })
                }
                if bench.losses > 0, lost == nil { lost = bench.now }
            }
            bench.wait(10_000_000)
        }
    }
}
