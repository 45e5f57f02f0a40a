import BLEPackets

/// The transport of a legacy bootloader: sizes, init packet, image, validation.
struct SimulatedLegacyTransfer {
    private enum Phase { case idle, sizes, started, initial, ready, receiving, received, valid }

    private var phase = Phase.idle
    private var content = SimulatedNordic.Content.application
    private var byteCount = 0
    private var initPacket: [UInt8] = []
    /// What has arrived of the image.
    private(set) var offset = 0
    private var receiptInterval = 0
    private var untilReceipt = 0

    private func answer(_ operation: UInt8, _ status: UInt8) -> SimulatedReaction {
        SimulatedReaction(values: [([16, operation, status], SimulatedNordic.legacyControl)])
    }

    mutating func control(
        _ value: [UInt8], _ nordic: SimulatedNordic
    ) throws(SimulatedFlash.PowerLoss) -> SimulatedReaction {
        switch (value.first ?? 0, value.count, phase) {
        case (1, 2, .idle):
            guard 1...4 ~= value[1] else { return answer(1, 3) }
            content = value[1] == 4 ? .application : .system
            phase = .sizes
            return SimulatedReaction()
        case (2, 2, .started) where value[1] == 0:
            phase = .initial
            initPacket = []
            return SimulatedReaction()
        case (2, 2, .initial) where value[1] == 1:
            guard initPacket.count >= 12 else {
                phase = .started
                return answer(2, 6)
            }
            phase = .ready
            return answer(2, 1)
        case (3, 1, .ready):
            phase = .receiving
            return SimulatedReaction()
        case (4, 1, .received):
            let checksum = Self.crc16(nordic.flash.octets[nordic.bank].prefix(offset))
            let expected = UInt16(initPacket[initPacket.count - 2]) | UInt16(initPacket[initPacket.count - 1]) << 8
            guard checksum == expected else { return answer(4, 5) }
            phase = .valid
            return answer(4, 1)
        case (5, 1, .valid):
            try nordic.flash.commit()
            let version = (0..<4).reduce(0) { $0 | Int(initPacket[4 + $1]) << (8 * $1) }
            nordic.settings.ready = (content, offset, version, 0)
            return SimulatedReaction(restart: .application)
        case (6, 1, _): return SimulatedReaction(restart: .bootloader)
        case (8, 3, _):
            receiptInterval = Int(value[1]) | Int(value[2]) << 8
            untilReceipt = receiptInterval
            return SimulatedReaction()
        default: return answer(value.first ?? 0, 2)
        }
    }

    mutating func packet(
        _ value: [UInt8], _ nordic: SimulatedNordic
    ) throws(SimulatedFlash.PowerLoss) -> SimulatedReaction {
        switch phase {
        case .sizes:
            func number(_ place: Int) -> Int { (0..<4).reduce(0) { $0 | Int(value[place + $1]) << (8 * $1) } }
            guard value.count == 12 else { return answer(1, 6) }
            let system = number(0) + number(4)
            byteCount = system + number(8)
            guard (system == 0) == (content == .application), min(system, number(8)) == 0,
                1...nordic.bank.count ~= byteCount
            else {
                phase = .idle
                return answer(1, 4)
            }
            let page = nordic.flash.pageByteCount
            let end = nordic.bank.lowerBound + (byteCount + page - 1) / page * page
            try nordic.flash.erase(nordic.bank.lowerBound..<end)
            phase = .started
            return answer(1, 1)
        case .initial:
            guard initPacket.count + value.count <= 512 else { return answer(2, 4) }
            initPacket += value
            return SimulatedReaction()
        case .receiving:
            let fitting = value.prefix(byteCount - offset)
            try nordic.flash.write(fitting, at: nordic.bank.lowerBound + offset)
            offset += fitting.count
            var reaction = SimulatedReaction()
            if receiptInterval > 0 {
                untilReceipt -= 1
                if untilReceipt == 0, offset < byteCount {
                    untilReceipt = receiptInterval
                    let octets = (0..<4).map { UInt8(truncatingIfNeeded: offset >> (8 * $0)) }
                    reaction.values.append(([17] + octets, SimulatedNordic.legacyControl))
                }
            }
            if offset == byteCount {
                phase = .received
                reaction.values += answer(3, 1).values
            }
            return reaction
        default: return SimulatedReaction()
        }
    }

    private static func crc16(_ octets: ArraySlice<UInt8>) -> UInt16 {
        var value: UInt16 = 0xFFFF
        for octet in octets {
            value = value >> 8 | value << 8
            value ^= UInt16(octet)
            value ^= (value & 0xFF) >> 4
            value ^= value << 12
            value ^= (value & 0xFF) << 5
        }
        return value
    }
}
