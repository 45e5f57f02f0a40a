import BLEHost
import BLEPackets

/// An engine whose controller answers every command with success: what is measured is the engine alone.
final class ScriptedController {
    /// The engine and its time, as an adapter has them.
    struct Engine: ~Copyable {
        fileprivate var host = Host()
        fileprivate var now = Instant(microseconds: 1_000_000)

        /// One packet up, as an adapter handles it: the engine, what it sends, the events, the next deadline.
        @inline(__always)
        mutating func measure(receiving packet: [UInt8], after microseconds: Int64, _ event: (HostEvent) -> Void) {
            now = Instant(microseconds: now.microseconds + microseconds)
            if let deadline = host.nextDeadline, deadline <= now { host.advance(to: now) }
            host.receive(packet.span.bytes, at: now)
            host.drainPackets { _ in }
            while let next = host.nextEvent() { event(next) }
        }

        /// One command down, as an adapter handles it.
        @inline(__always)
        mutating func measure(submitting command: HostCommand, _ send: (RawSpan) -> Void) {
            _ = host.submit(command, at: now)
            host.drainPackets(send)
            while host.nextEvent() != nil {}
        }
    }

    private var engine = Engine()
    private var unanswered: [[UInt8]] = []
    /// What `submit` and `receive` led to, until it is taken.
    private(set) var lastEvents: [HostEvent] = []

    /// Supports all state combinations, takes sixteen packets of 251 octets.
    init() {
        engine.host.transportOpened(at: engine.now)
        settle()
    }

    // MARK: Setting up

    func submit(_ command: HostCommand) {
        lastEvents.removeAll()
        _ = engine.host.submit(command, at: engine.now)
        settle()
    }

    func receive(_ packet: [UInt8]) {
        lastEvents.removeAll()
        engine.host.receive(packet.span.bytes, at: engine.now)
        settle()
    }

    /// A link whose ATT_MTU is 517.
    func connect(_ peer: DeviceAddress, handle: UInt16) -> LinkID {
        submit(.radio(.connect(ConnectRequest(peer: peer))))
        var complete = PacketWriter()
        LEConnectionComplete(
            status: .success, connectionHandle: ConnectionHandle(rawValue: handle), role: .central, peerAddress: peer,
            interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000)
        ).encodePacket(into: &complete)
        receive(complete.bytes)
        receive(Samples.attributePacket([0x03, 0x05, 0x02], handle: handle))
        for case .connected(let link, _) in lastEvents { return link.id }
        fatalError("the engine does not connect: \(lastEvents)")
    }

    private func settle() {
        repeat {
            engine.host.drainPackets { unanswered.append($0.copied()) }
            while let event = engine.host.nextEvent() { lastEvents.append(event) }
            let packets = unanswered
            unanswered.removeAll()
            for packet in packets { answer(packet) }
        } while !unanswered.isEmpty
    }

    private func answer(_ packet: [UInt8]) {
        guard packet[0] == H4PacketType.command.rawValue else {
            return takeBack(handle: UInt16(packet[1]) | UInt16(packet[2] & 0x0F) << 8)
        }
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        var parameters = [UInt8](repeating: 0, count: 65)
        switch opcode {
        case LEReadBufferSize.opcode: parameters = [0, 251, 0, 16]
        case LEReadSupportedStates.opcode: parameters = [0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x03, 0, 0]
        case LEReadFilterAcceptListSize.opcode: parameters = [0, 8]
        case ReadBDADDR.opcode: parameters = [0, 1, 2, 3, 4, 5, 6]
        default: break
        }
        let event: [UInt8] =
            switch opcode {
            case LECreateConnection.opcode, LEReadRemoteFeatures.opcode: [0x04, 0x0F, 4, 0, 1, packet[1], packet[2]]
            default: [0x04, 0x0E, UInt8(3 + parameters.count), 1, packet[1], packet[2]] + parameters
            }
        engine.host.receive(event.span.bytes, at: engine.now)
        engine.host.drainPackets { unanswered.append($0.copied()) }
    }

    private func takeBack(handle: UInt16) {
        engine.host.receive(Samples.completedPackets(1, handle: handle).span.bytes, at: engine.now)
    }

    // MARK: Measuring

    /// Lends the engine for a whole round: nothing is measured but the engine.
    @inline(__always)
    func lendEngine<Result>(_ round: (inout Engine) -> Result) -> Result { round(&engine) }
}
