import BLEHost
import BLEPackets

/// Steps about credit-based channels, on two links: signalling that fits what the engine said, and frames on the
/// channels that it opened.
extension FuzzedHost {
    mutating func channelStep(_ input: inout FuzzInput) {
        let choice = input.byte()
        let handle = choice & 0x80 == 0 ? Self.centralHandle : Self.peripheralHandle
        switch (choice & 0x7F) % 20 {
        case 0: receive(Self.data(input.counted(), channel: 5, handle: handle))
        case 1, 2: request(&input, handle)
        case 3, 4: answer(&input, handle)
        case 5, 6, 7: frame(&input, handle)
        case 8: signal(0x16, input.byte(), [peerChannel(input.byte()), UInt16(input.byte())], handle)
        case 9: signal(0x06, input.byte(), [ownChannel(input.byte(), handle), peerChannel(input.byte())], handle)
        case 10...15, 18: submitChannelCommand(&input)
        case 16: buffers(&input)
        case 17: advance(by: Int64(input.word()) * 1000)
        default: step(&input, .central)
        }
    }

    /// Channels that the peer calls its own.
    private func peerChannel(_ octet: UInt8) -> UInt16 { 0x40 + UInt16(octet & 7) }

    /// A channel that the engine has called its own.
    private func ownChannel(_ octet: UInt8, _ handle: UInt16) -> UInt16 {
        pick(controller.announcedChannels[handle] ?? [], octet) ?? 0x40 + UInt16(octet & 7)
    }

    mutating func signal(_ code: UInt8, _ identifier: UInt8, _ values: [UInt16], _ handle: UInt16) {
        var command = PacketWriter()
        command.write(code)
        command.write(identifier)
        command.write(UInt16(values.count * 2))
        for value in values { command.write(value) }
        receive(Self.data(command.bytes, channel: 5, handle: handle))
    }

    private mutating func request(_ input: inout FuzzInput, _ handle: UInt16) {
        let (flags, sizes) = (input.byte(), input.byte())
        let spsm: UInt16 = flags & 0x80 == 0 ? 0x80 : UInt16(input.byte())
        signal(
            0x14, flags & 0x0F,
            [
                spsm, peerChannel(flags >> 4), 23 + UInt16(sizes & 0x3F) * 4,
                23 + UInt16(sizes >> 6) * 30, UInt16(input.byte()),
            ], handle)
    }

    /// What a peer says to the engine's last command, with its identifier.
    private mutating func answer(_ input: inout FuzzInput, _ handle: UInt16) {
        guard let last = controller.lastSignal[handle], last.count >= 4 else { return }
        let (flags, sizes) = (input.byte(), input.byte())
        switch last[0] {
        case 0x14:
            signal(
                0x15, last[1],
                [
                    peerChannel(flags), 23 + UInt16(sizes & 0x3F) * 4, 23 + UInt16(sizes >> 6) * 30,
                    UInt16(input.byte()), flags & 0x80 == 0 ? 0 : UInt16(flags >> 3 & 15),
                ], handle)
        case 0x06 where last.count >= 8:
            let values = [UInt16(last[4]) | UInt16(last[5]) << 8, UInt16(last[6]) | UInt16(last[7]) << 8]
            signal(0x07, last[1], values, handle)
        case 0x12: signal(0x13, last[1], [UInt16(flags & 1)], handle)
        default: signal(0x01, last[1], [UInt16(flags & 3)], handle)
        }
    }

    /// A frame of a unit: a whole one, the beginning of a longer one, or anything.
    private mutating func frame(_ input: inout FuzzInput, _ handle: UInt16) {
        let flags = input.byte()
        let payload = input.counted()
        let length = payload.count + (flags & 0x40 == 0 ? 0 : Int(flags & 0x0F))
        let start = flags & 0x80 == 0 ? [UInt8(length & 0xFF), UInt8(length >> 8)] : []
        receive(Self.data(start + payload, channel: ownChannel(flags >> 4 & 3, handle), handle: handle))
    }
}
