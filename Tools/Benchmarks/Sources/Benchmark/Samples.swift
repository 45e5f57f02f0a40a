/// Packets that several rows work on.
///
/// Rows take another packet in each turn: the same one again and again would let the compiler do the work once.
enum Samples {
    /// Thirty-one octets of advertising data each, as phones, sensors and beacons send them.
    static let advertisements: [[UInt8]] = [
        // Flags, one 128-bit UUID, complete name.
        [
            0x02, 0x01, 0x1A, 0x11, 0x06, 0x39, 0x0E, 0x13, 0xA6, 0x5D, 0x30, 0x45, 0xAF, 0x3B, 0x4D, 0xE0, 0x17, 0x8A,
            0xFD, 0xA2, 0x1F, 0x09, 0x09, 0x75, 0x79, 0x6E, 0x67, 0x75, 0x79, 0x65, 0x6E,
        ],
        // Flags, two 16-bit UUIDs, power, service data, name.
        [
            0x02, 0x01, 0x06, 0x05, 0x03, 0x0D, 0x18, 0x0F, 0x18, 0x02, 0x0A, 0x04, 0x05, 0x16, 0x0F, 0x18, 0x64, 0x00,
            0x0C, 0x09, 0x48, 0x65, 0x61, 0x72, 0x74, 0x20, 0x42, 0x65, 0x6C, 0x74, 0x31,
        ],
        // Flags, a mask of hashed UUIDs, appearance, power.
        [
            0x02, 0x01, 0x1A, 0x14, 0xFF, 0x4C, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x02, 0x00, 0x00,
            0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x19, 0x41, 0x03, 0x02, 0x0A, 0xF4,
        ],
        // Flags, manufacturer data with a short name behind it.
        [
            0x02, 0x01, 0x04, 0x11, 0xFF, 0x59, 0x00, 0xFE, 0x02, 0x34, 0x9E, 0xA6, 0xBA, 0x0D, 0x00, 0x48, 0x10, 0x00,
            0x07, 0x11, 0x20, 0x09, 0x08, 0x54, 0x68, 0x65, 0x72, 0x6D, 0x6F, 0x2D, 0x34,
        ],
    ]

    /// The same, each in the H4 packet with which a controller reports it.
    static let advertisingReports: [[UInt8]] = advertisements.enumerated().map { index, data in
        let address: [UInt8] = [UInt8(index), 0x89, 0x6B, 0x29, 0xA5, 0xE9]
        return [0x04, 0x3E, UInt8(12 + data.count), 0x02, 0x01, 0x00, 0x01] + address + [UInt8(data.count)] + data + [
            0xD9
        ]
    }

    /// Handle Value Notifications of twenty octets each.
    static let notifications: [[UInt8]] = (0..<4).map { index in
        [0x1B, 0x10 + UInt8(index), 0x00] + (0..<20).map { UInt8($0) &* 7 &+ UInt8(index) }
    }

    /// The same, each in the H4 packet in which it arrives.
    static let notificationPackets: [[UInt8]] = notifications.map { attributePacket($0, handle: 0x40) }

    /// An ATT PDU in the H4 packet in which it arrives.
    static func attributePacket(_ pdu: [UInt8], handle: UInt16) -> [UInt8] {
        [
            0x02, UInt8(handle & 0xFF), 0x20 | UInt8(handle >> 8), UInt8(pdu.count + 4), 0x00, UInt8(pdu.count), 0x00,
            0x04, 0x00,
        ] + pdu
    }

    /// Number Of Completed Packets for one link, as H4 packet.
    static func completedPackets(_ count: UInt8, handle: UInt16) -> [UInt8] {
        [0x04, 0x13, 0x05, 0x01, UInt8(handle & 0xFF), UInt8(handle >> 8), count, 0x00]
    }

    /// Read By Type Responses with as many declarations as an MTU of 23 holds.
    static let characteristicDeclarations: [[UInt8]] = (0..<4).map { index in
        [0x09, 0x07]
            + (0..<3).flatMap { turn -> [UInt8] in
                let handle = UInt8(16 * index + 2 * turn + 1)
                return [handle, 0x00, 0x12, handle + 1, 0x00, 0x37 + UInt8(turn), 0x2A]
            }
    }
}
