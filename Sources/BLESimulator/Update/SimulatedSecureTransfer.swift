import BLEPackets

/// The transport of a secure bootloader: objects, their checksums, and the packets in between.
struct SimulatedSecureTransfer {
    private enum Kind: UInt8 {
        case none = 0
        case command = 1
        case data = 2
    }

    private var kind = Kind.none
    private var command: [UInt8] = []
    private var commandByteCount = 0
    /// Where the current data object ends.
    private var end = 0
    /// What has arrived of the image; after a restart what was executed.
    private(set) var offset = 0
    private var hasBegun = false
    private var receiptInterval = 0
    private var untilReceipt = 0

    private typealias Loss = SimulatedFlash.PowerLoss

    private static func octets(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private func answer(_ operation: UInt8, _ result: UInt8, _ rest: [UInt8] = []) -> SimulatedReaction {
        SimulatedReaction(values: [([0x60, operation, result] + rest, SimulatedNordic.secureControl)])
    }

    private func checksum(_ nordic: SimulatedNordic) -> [UInt8] {
        let (count, octets): (Int, ArraySlice<UInt8>) =
            kind == .command
            ? (command.count, command[...]) : (offset, nordic.flash.octets[nordic.bank].prefix(offset))
        return Self.octets(count) + Self.octets(Int(SimulatedNordic.crc32(octets)))
    }

    mutating func control(
        _ value: [UInt8], _ nordic: SimulatedNordic
    ) throws(SimulatedFlash.PowerLoss) -> SimulatedReaction {
        if !hasBegun {
            hasBegun = true
            command = nordic.settings.initPacket
            commandByteCount = command.count
            offset = nordic.settings.executed
            end = offset
        }
        func number(_ place: Int) -> Int { (0..<4).reduce(0) { $0 | Int(value[place + $1]) << (8 * $1) } }
        switch (value.first ?? 0, value.count) {
        case (1, 6): return try create(value[1], number(2), nordic)
        case (2, 3):
            receiptInterval = Int(value[1]) | Int(value[2]) << 8
            untilReceipt = receiptInterval
            return answer(2, 1)
        case (3, 1): return answer(3, 1, checksum(nordic))
        case (4, 1): return try execute(nordic)
        case (6, 2):
            guard let chosen = Kind(rawValue: value[1]), chosen != .none else { return answer(6, 7) }
            kind = chosen
            let limit = chosen == .command ? 512 : nordic.device.objectByteCount
            return answer(6, 1, Self.octets(limit) + checksum(nordic))
        default: return answer(value.first ?? 0, 2)
        }
    }

    private mutating func create(
        _ type: UInt8, _ count: Int, _ nordic: SimulatedNordic
    ) throws(SimulatedFlash.PowerLoss) -> SimulatedReaction {
        untilReceipt = receiptInterval
        switch Kind(rawValue: type) {
        case .command:
            guard 1...512 ~= count else { return answer(1, 4) }
            kind = .command
            command = []
            commandByteCount = count
            return answer(1, 1)
        case .data:
            guard !nordic.settings.initPacket.isEmpty, let initial = Initial(nordic.settings.initPacket) else {
                return answer(1, 8)
            }
            kind = .data
            offset = nordic.settings.executed
            let limit = nordic.device.objectByteCount
            guard count > 0, offset + count <= initial.byteCount, count == min(limit, initial.byteCount - offset) else {
                return answer(1, 3)
            }
            end = offset + count
            let page = nordic.flash.pageByteCount
            let start = nordic.bank.lowerBound + offset
            // Objects begin with pages where pages are as long as objects.
            for place in stride(from: (start + page - 1) / page * page, to: nordic.bank.lowerBound + end, by: page) {
                try nordic.flash.erase(pageAt: place)
            }
            if offset % page != 0 || limit % page != 0 {
                return answer(1, offset % page == 0 ? 1 : 10)
            }
            return answer(1, 1)
        default: return answer(1, 7)
        }
    }

    mutating func packet(
        _ value: [UInt8], _ nordic: SimulatedNordic
    ) throws(SimulatedFlash.PowerLoss) -> SimulatedReaction {
        switch kind {
        case .command: command += value.prefix(max(0, commandByteCount - command.count))
        case .data:
            let fitting = value.prefix(max(0, end - offset))
            try nordic.flash.write(fitting, at: nordic.bank.lowerBound + offset)
            offset += fitting.count
        case .none: return SimulatedReaction()
        }
        guard receiptInterval > 0 else { return SimulatedReaction() }
        untilReceipt -= 1
        guard untilReceipt == 0 else { return SimulatedReaction() }
        untilReceipt = receiptInterval
        return answer(3, 1, checksum(nordic))
    }

    private mutating func execute(
        _ nordic: SimulatedNordic
    ) throws(SimulatedFlash.PowerLoss) -> SimulatedReaction {
        guard kind == .data else { return try executeCommand(nordic) }
        guard offset == end else { return answer(4, 8) }
        guard let initial = Initial(nordic.settings.initPacket) else { return answer(4, 8) }
        guard offset == initial.byteCount else {
            try nordic.flash.commit()
            nordic.settings.executed = offset
            return answer(4, 1)
        }
        let image = nordic.flash.octets[nordic.bank].prefix(offset)
        guard SecureHash.sha256(image) == Array(initial.hash.reversed()) else {
            try nordic.flash.commit()
            nordic.settings.initPacket = []
            nordic.settings.executed = 0
            return answer(4, 5)
        }
        try nordic.flash.commit()
        nordic.settings.executed = offset
        nordic.settings.ready = (initial.content, offset, initial.version, 0)
        var reaction = answer(4, 1)
        reaction.restart = .application
        return reaction
    }

    private mutating func executeCommand(
        _ nordic: SimulatedNordic
    ) throws(SimulatedFlash.PowerLoss) -> SimulatedReaction {
        guard kind == .command, command.count == commandByteCount else { return answer(4, 8) }
        // The same packet once more keeps what has arrived.
        if command == nordic.settings.initPacket { return answer(4, 1) }
        guard let initial = Initial(command) else { return answer(4, 11, [4]) }
        if nordic.device.needsSignature, !initial.isSigned { return answer(4, 11, [8]) }
        if nordic.device.refusesSignature { return answer(4, 5) }
        guard initial.hardwareVersion == nordic.device.hardwareVersion else { return answer(4, 11, [6]) }
        let version = initial.content == .system ? nordic.settings.systemVersion : nordic.settings.version
        guard initial.version >= version else { return answer(4, 11, [5]) }
        guard initial.hash.count == 32 else { return answer(4, 11, [9]) }
        guard 1...nordic.bank.count ~= initial.byteCount else { return answer(4, 11, [13]) }
        try nordic.flash.commit()
        nordic.settings.initPacket = command
        nordic.settings.executed = 0
        (offset, end) = (0, 0)
        return answer(4, 1)
    }

    /// What a bootloader reads in an init packet.
    private struct Initial {
        var version = 0
        var hardwareVersion = 0
        var byteCount = 0
        var hash: [UInt8] = []
        var isSigned = false
        var content = SimulatedNordic.Content.application

        init?(_ packet: [UInt8]) {
            var command: ArraySlice<UInt8> = []
            for (number, value) in Self.fields(packet[...]) ?? [] {
                if number == 1 { command = value.octets }
                guard number == 2 else { continue }
                for (number, value) in Self.fields(value.octets) ?? [] {
                    if number == 1 { command = value.octets }
                    if number == 3 { isSigned = !value.octets.isEmpty }
                }
            }
            guard let initial = Self.fields(command)?.first(where: { $0.0 == 2 })?.1.octets,
                let fields = Self.fields(initial)
            else { return nil }
            for (number, value) in fields {
                switch number {
                case 1: version = value.number
                case 2: hardwareVersion = value.number
                case 4: content = 1...3 ~= value.number ? .system : .application
                case 5, 6, 7: byteCount += value.number
                case 8: hash = Array(Self.fields(value.octets)?.first { $0.0 == 2 }?.1.octets ?? [])
                default: break
                }
            }
        }

        private static func fields(
            _ octets: ArraySlice<UInt8>
        ) -> [(Int, (number: Int, octets: ArraySlice<UInt8>))]? {
            var rest = octets
            func number() -> Int? {
                var value = 0
                for shift in stride(from: 0, to: 56, by: 7) {
                    guard let octet = rest.popFirst() else { return nil }
                    value |= Int(octet & 0x7F) << shift
                    if octet < 0x80 { return value }
                }
                return nil
            }
            var fields: [(Int, (number: Int, octets: ArraySlice<UInt8>))] = []
            while !rest.isEmpty {
                guard let key = number(), let value = number() else { return nil }
                switch key & 7 {
                case 0: fields.append((key >> 3, (value, [])))
                case 2:
                    guard value <= rest.count else { return nil }
                    fields.append((key >> 3, (0, rest.prefix(value))))
                    rest = rest.dropFirst(value)
                default: return nil
                }
            }
            return fields
        }
    }
}
