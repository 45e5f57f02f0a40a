import BLEChips
import BLEPackets
import BLETransport

/// The first octet chooses what stands at the line.
enum SerialBody {
    static func run(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let choice = input.byte()
        switch choice % 4 {
        case 0: return framer(&input)
        case 1: return lossyLine(&input)
        case 2: return hostileLine(&input)
        default: return chip(&input)
        }
    }

    // MARK: H4

    private static func framer(_ input: inout FuzzInput) -> String? {
        let lines: [LineFramer.Line] = [.exact, .relayed, .serial]
        var framer = LineFramer(line: lines[Int(input.byte()) % lines.count])
        var now: UInt64 = 0
        var (received, delivered) = (0, 0)
        var violation: String?
        func deliver(_ packet: RawSpan) {
            delivered += packet.byteCount
            if length(of: packet) != packet.byteCount { violation = "a packet of another length than it says" }
        }
        do throws(TransportError) {
            while !input.isAtEnd {
                let step = input.byte()
                switch step % 8 {
                case 0: framer.sentReset(at: now)
                case 1, 2:
                    now += UInt64(step) * 10_000
                    if let deadline = framer.nextDeadline, deadline <= now {
                        _ = try framer.advance(to: now, deliver: deliver)
                    }
                default:
                    let chunk = input.counted()
                    received += chunk.count
                    _ = try framer.receive(chunk.span.bytes, at: now, deliver: deliver, reply: { _ in })
                }
            }
        } catch {}
        return violation ?? (delivered > received ? "more octets come out than went in" : nil)
    }

    /// What the header of an H4 packet says; `nil` if it has none.
    private static func length(of packet: RawSpan) -> Int? {
        func octet(_ index: Int) -> Int { Int(packet.byte(at: index) ?? 0) }
        return switch packet.byte(at: 0).flatMap(H4PacketType.init(rawValue:)) {
        case .command, .sco: 4 + octet(3)
        case .acl: 5 + octet(3) + octet(4) << 8
        case .event: 3 + octet(2)
        case .iso: 5 + (octet(3) + octet(4) << 8) & 0x3FFF
        case nil: nil
        }
    }

    // MARK: Three wires

    /// Two links over a line that loses turns and changes an octet of a turn, which the CRC finds: what comes out is in order and
    /// comes once. While a link is being established the line is good: nothing protects what both sides agree on.
    private static func lossyLine(_ input: inout FuzzInput) -> String? {
        var configuration = ThreeWireConfiguration()
        configuration.window = input.byte() % 7 + 1
        var near = ThreeWireLink(configuration: configuration)
        var far = ThreeWireLink(configuration: configuration)
        var now: UInt64 = 0
        var sent: UInt16 = 0
        var last = -1
        var (isNearUp, isFarUp) = (false, false)
        near.start(at: now)
        far.start(at: now)
        while !input.isAtEnd {
            let step = input.byte()
            if step & 1 != 0 {
                sent &+= 1
                let packet = [H4PacketType.acl.rawValue, 0xC0, 0xDB, UInt8(sent >> 8), UInt8(truncatingIfNeeded: sent)]
                _ = near.send(packet.span.bytes, at: now)
            }
            now += UInt64(step >> 1 & 7) * 60_000
            near.advance(to: now)
            far.advance(to: now)
            let outward = damaged(near.takeOutput(), isNearUp && isFarUp ? step >> 4 & 3 : 0, &input)
            far.receive(outward.span.bytes, at: now)
            while let event = far.nextEvent() {
                switch event {
                case .packet(let packet):
                    guard packet.count == 5, packet[1] == 0xC0, packet[2] == 0xDB else {
                        return "another packet comes out than went in: \(packet)"
                    }
                    let number = Int(packet[3]) << 8 | Int(packet[4])
                    if number <= last { return "packet \(number) comes behind packet \(last)" }
                    last = number
                case .established: isFarUp = true
                case .lost: isFarUp = false
                }
            }
            let homeward = damaged(far.takeOutput(), isNearUp && isFarUp ? step >> 6 & 3 : 0, &input)
            near.receive(homeward.span.bytes, at: now)
            while let event = near.nextEvent() {
                switch event {
                case .packet: break
                case .established: isNearUp = true
                case .lost: isNearUp = false
                }
            }
        }
        return nil
    }

    private static func damaged(_ octets: [UInt8], _ damage: UInt8, _ input: inout FuzzInput) -> [UInt8] {
        guard !octets.isEmpty else { return octets }
        var octets = octets
        switch damage {
        case 1: return []
        case 2: octets[Int(input.byte()) % octets.count] ^= input.byte()
        case 3: octets.remove(at: Int(input.byte()) % octets.count)
        default: break
        }
        return octets
    }

    /// A link whose other side says anything.
    private static func hostileLine(_ input: inout FuzzInput) -> String? {
        var configuration = ThreeWireConfiguration()
        configuration.hasSoftwareFlowControl = input.byte() & 1 != 0
        var link = ThreeWireLink(configuration: configuration)
        var now: UInt64 = 0
        var received = 0
        let event: [UInt8] = [4, 0x0E, 0]
        link.start(at: now)
        while !input.isAtEnd {
            let step = input.byte()
            now += UInt64(step & 0x0F) * 50_000
            if let deadline = link.nextDeadline, deadline <= now { link.advance(to: now) }
            if step & 0x80 != 0 { _ = link.send(event.span.bytes, at: now) }
            let octets = input.counted()
            received += octets.count
            link.receive(octets.span.bytes, at: now)
            var packets = 0
            while let event = link.nextEvent() {
                if case .packet = event { packets += 1 }
            }
            if packets > received { return "more packets come out than octets went in" }
            // Each octet can be a frame that is answered, and a window is sent again.
            if link.takeOutput().count > 64 * (received + 64) { return "a link sends without end" }
        }
        return nil
    }

    // MARK: Chips

    private static func chip(_ input: inout FuzzInput) -> String? {
        let families: [ChipFamily] = [.automatic, .broadcom, .realtek, .zephyr, .texasInstruments]
        let choice = input.byte()
        let settings = ChipSettings(
            family: families[Int(choice & 0x3F) % families.count],
            baud: choice & 0x80 != 0 ? 3_000_000 : ChipSettings.bootBaud,
            address: choice & 0x40 != 0 ? DeviceAddress(value: 0xC0DE_0000_0001, kind: .public) : nil)
        guard var bringUp = try? ChipBringUp(settings: settings) else { return nil }
        var now: UInt64 = 0
        bringUp.start(at: now)
        for _ in 0..<20_000 {
            guard let action = bringUp.nextAction() else {
                guard let deadline = bringUp.nextDeadline else { return "a chip waits for nothing" }
                now = max(now, deadline)
                bringUp.advance(to: now)
                continue
            }
            switch action {
            case .send(let packet):
                guard packet.count >= 4, !input.isAtEnd else { continue }
                let parameters = input.counted().prefix(250)
                let answer = [4, 0x0E, UInt8(parameters.count + 3), 1, packet[1], packet[2]] + parameters
                bringUp.receive(answer.span.bytes, at: now)
            case .setBaud, .restartLink: bringUp.carriedOut(at: now)
            case .readFile(let names):
                let name = names.first ?? ""
                let isThere = input.byte() & 1 != 0
                bringUp.fileRead(isThere ? ChipFile(name: name, octets: input.read(Int(input.word()))) : nil, at: now)
            case .done, .failed: return nil
            }
        }
        return "a chip does not come to its end"
    }
}
