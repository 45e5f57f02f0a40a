import BLEHost
import BLEPackets

/// What crosses the whole engine on a link.
enum LinkMeasurements {
    private static let peer = DeviceAddress(value: 0xC0FF_EE00_0001, kind: .random)
    private static let handle: UInt16 = 0x40

    static let all: [Measurement] = [
        Measurement("notification (20 B) through the host, packet to event", nanoseconds: 150, allocations: 0) {
            notification(links: 1)
        },
        Measurement(
            "notification (20 B) through the host, one of 40 links", nanoseconds: 2000, allocations: 0
        ) { notification(links: 40) },
        Measurement(
            "write command (20 B) through the host, command to packet to completion", nanoseconds: 300, allocations: 0
        ) {
            let controller = ScriptedController()
            let link = controller.connect(peer, handle: handle)
            let value = AttributeHandle(rawValue: 0x10)
            let values = (0..<4).map { number in [UInt8](repeating: number, count: 20) }
            let completed = Samples.completedPackets(1, handle: handle)
            return { count in
                controller.lendEngine { engine in
                    turns(count, over: values) { octets in
                        var checksum: UInt64 = 0
                        engine.measure(submitting: .link(link, .gatt(.writeCommand(value, value: octets)))) { packet in
                            checksum &+= UInt64(packet.byteCount)
                        }
                        engine.measure(receiving: completed, after: 100) { _ in }
                        return checksum
                    }
                }
            }
        },
    ]

    /// Notifications on the last of so many links.
    private static func notification(links: Int) -> Measurement.Operation {
        let controller = ScriptedController()
        for number in 1..<links {
            _ = controller.connect(
                DeviceAddress(value: peer.value + UInt64(number), kind: .random), handle: handle + UInt16(number))
        }
        let link = controller.connect(peer, handle: handle)
        let value = AttributeHandle(rawValue: 0x10)
        controller.submit(
            .link(link, .gatt(.subscribe(value, configuration: AttributeHandle(rawValue: 0x11), mode: .notifications))))
        controller.receive(Samples.attributePacket([0x13], handle: handle))
        let packets = (0..<4).map { number in
            Samples.attributePacket([0x1B, 0x10, 0x00] + [UInt8](repeating: number, count: 20), handle: handle)
        }
        return { count in
            controller.lendEngine { engine in
                turns(count, over: packets) { packet in
                    var checksum: UInt64 = 0
                    engine.measure(receiving: packet, after: 100) { event in
                        guard case .gatt(_, .notification(let notification)) = event else { return }
                        checksum &+= UInt64(notification.value[0]) &+ 1
                    }
                    return checksum
                }
            }
        }
    }
}
