import BLEPackets
import Testing

@testable import BLEHost

/// Anything may come in any order from a controller and from the peers behind it: the engine neither traps nor grows,
/// and whatever was asked of it ends exactly once.
@Suite("Host in chaos")
struct HostChaosTests {
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }

    /// Well-formed packets of every kind that the engine handles; the handles are those of the rig's links.
    private func packets(_ rig: HostRig) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        func add(_ event: some HCIEvent) {
            var packet = PacketWriter()
            event.encodePacket(into: &packet)
            packets.append(packet.bytes)
        }
        func add(_ event: some LEMetaEvent) {
            var packet = PacketWriter()
            event.encodePacket(into: &packet)
            packets.append(packet.bytes)
        }
        let handle = ConnectionHandle(rawValue: 0x40)
        add(HostRig.report(type: .connectableUndirected))
        add(HostRig.report(type: .scanResponse))
        add(rig.connectionComplete(HostRig.peer(1), handle: 0x40))
        add(rig.connectionComplete(HostRig.peer(2), handle: 0x41))
        add(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        add(rig.connectionComplete(handle: 0, status: .connectionFailedToBeEstablished))
        add(DisconnectionComplete(connectionHandle: handle, reason: .connectionTimeout))
        add(NumberOfCompletedPackets(links: [.init(connectionHandle: handle, count: 3)]))
        add(CommandComplete(opcode: LESetScanEnable.opcode, returnParameters: [0x0C]))
        add(CommandStatus(status: .commandDisallowed, opcode: LECreateConnection.opcode))
        add(
            LEDataLengthChange(
                connectionHandle: handle, maximumTransmitOctets: 251, maximumTransmitTime: 2120,
                maximumReceiveOctets: 251,
                maximumReceiveTime: 2120))
        add(LELongTermKeyRequest(connectionHandle: handle, randomNumber: 0, encryptedDiversifier: 0))
        add(
            LERemoteConnectionParameterRequest(
                connectionHandle: handle, minimumInterval: .milliseconds(30), maximumInterval: .milliseconds(50),
                latency: 0,
                supervisionTimeout: .milliseconds(2000)))
        for pdu: [UInt8] in [
            [0x03, 0x00, 0x02], [0x0B, 1, 2, 3], [0x11, 6, 1, 0, 5, 0, 0, 0x18], [0x09, 7, 2, 0, 2, 3, 0, 0x37, 0x2A],
            [0x05, 1, 4, 0, 2, 0x29], [0x1B, 3, 0, 9], [0x1D, 3, 0, 9], [0x01, 0x0A, 3, 0, 2], [0x13], [0x02, 0x17, 0],
            [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x17, 3, 0, 0, 0, 1], [0x19], [0x07, 1, 0, 5, 0],
        ] {
            packets.append(HostRig.acl(HostRig.frame(pdu), handle: 0x40, isStart: true))
        }
        packets.append(
            HostRig.acl(
                HostRig.frame([0x12, 1, 8, 0, 24, 0, 40, 0, 0, 0, 200, 0], channel: 5), handle: 0x40, isStart: true))
        packets.append(HostRig.acl([1, 2, 3], handle: 0x41, isStart: false))
        return packets
    }

    @Test("each operation ends exactly once whatever comes in whatever order", arguments: 0..<40)
    func endsOnce(seed: Int) {
        var generator = Generator(state: UInt64(seed) &* 7919)
        let rig = HostRig()
        rig.start()
        let packets = packets(rig)
        var operations: [OperationID] = []
        let handle = AttributeHandle(rawValue: 3)
        for _ in 0..<1500 {
            switch generator.next() % 10 {
            case 0:
                operations.append(
                    rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(Int(generator.next() % 4)))))))
            case 1:
                guard let link = rig.links.last?.id else { continue }
                let commands: [HostCommand] = [
                    .link(link, .gatt(.discoverServices(uuids: []))), .link(link, .gatt(.read(handle))),
                    .link(
                        link, .gatt(.write(handle, value: [UInt8](repeating: 7, count: Int(generator.next() % 200))))),
                    .link(
                        link,
                        .gatt(.subscribe(handle, configuration: AttributeHandle(rawValue: 4), mode: .notifications))),
                    .link(link, .gatt(.writeCommand(handle, value: [1]))), .link(link, .procedure(.readRSSI)),
                    .link(link, .procedure(.readRemoteVersion)),
                    .link(link, .disconnect), .link(link, .gatt(.discoverCharacteristics(.all, uuids: []))),
                ]
                operations.append(rig.submit(commands[Int(generator.next() % UInt64(commands.count))]))
            case 2:
                if let operation = operations.randomElement(using: &generator) { rig.submit(.cancel(operation)) }
            case 3:
                rig.advance(by: .milliseconds(Int32(generator.next() % 3000)))
            case 4:
                operations.append(rig.submit(.radio(.scan(ScanRequest(isActive: generator.next() % 2 == 0)))))
            default:
                var packet = packets[Int(generator.next() % UInt64(packets.count))]
                if generator.next() % 4 == 0 {
                    for _ in 0..<(generator.next() % 4) {
                        packet[Int(generator.next() % UInt64(packet.count))] = UInt8(
                            truncatingIfNeeded: generator.next())
                    }
                    if generator.next() % 3 == 0 { packet.removeLast(Int(generator.next() % UInt64(packet.count))) }
                }
                rig.receive(packet)
            }
        }
        rig.closeTransport()
        rig.advance(by: .seconds(100))
        for operation in operations { #expect(rig.results(of: operation).count == 1) }
        #expect(rig.nextDeadline == nil)
    }
}
