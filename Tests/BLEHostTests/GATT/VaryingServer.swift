import BLEPackets

@testable import BLEHost

/// A server that answers as the specification lets it and never the same way twice: fewer elements than there is room
/// for, one end of a long value or the other, and values, requests and indications of its own between question and
/// answer.
struct VaryingServer {
    struct Row: Equatable {
        var handle: UInt16
        var type: BluetoothUUID
        var value: [UInt8]
        /// The end of the group that begins here.
        var end: UInt16
    }

    var rows: [Row] = []
    var generator: SplitMix
    private var mtu = 23
    private let receiveMTU: UInt16
    private var queue: [(handle: UInt16, offset: Int, value: [UInt8])] = []
    private var hasExchanged = false

    init(seed: UInt64) {
        generator = SplitMix(state: seed)
        receiveMTU = [23, 24, 48, 100, 185, 247, 517, 65535].randomElement(using: &generator) ?? 23
        makeRows()
    }

    // MARK: The table

    private mutating func randomUUID() -> BluetoothUUID {
        if Bool.random(using: &generator) {
            return BluetoothUUID(UInt16.random(in: 0x2A00...0x2BFF, using: &generator))
        }
        return BluetoothUUID(high: generator.next(), low: generator.next())
    }

    private mutating func randomValue() -> [UInt8] {
        let room = Int(receiveMTU) > 512 ? 22 : Int(receiveMTU) - 1
        let lengths = [0, 1, 2, 20, room - 1, room, room + 1, 2 * room, 2 * room + 1, 511, 512]
        let length = min(512, lengths.randomElement(using: &generator) ?? 0)
        return (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    private mutating func makeRows() {
        var handle = UInt16.random(in: 1...0x100, using: &generator)
        func octets(_ uuid: BluetoothUUID) -> [UInt8] {
            var packet = PacketWriter()
            uuid.encode(into: &packet)
            return packet.bytes
        }
        func add(_ type: BluetoothUUID, _ value: [UInt8], to rows: inout [Row], _ generator: inout SplitMix) {
            rows.append(Row(handle: handle, type: type, value: value, end: handle))
            handle += Int.random(in: 0..<5, using: &generator) == 0 ? UInt16.random(in: 2...40, using: &generator) : 1
        }
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let uuid = randomUUID()
            let service = rows.count
            let isPrimary = Int.random(in: 0..<4, using: &generator) > 0
            add(isPrimary ? .primaryService : .secondaryService, octets(uuid), to: &rows, &generator)
            let others = rows[..<service].filter { $0.type == .primaryService || $0.type == .secondaryService }
            if let other = others.randomElement(using: &generator) {
                let range = [other.handle, other.end].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
                add(.include, range + (other.value.count == 2 ? other.value : []), to: &rows, &generator)
            }
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                let type = randomUUID()
                let properties = UInt8.random(in: 0...255, using: &generator)
                let declaration = rows.count
                add(.characteristic, [], to: &rows, &generator)
                let low = UInt8(handle & 0xFF)
                rows[declaration].value = [properties, low, UInt8(handle >> 8)] + octets(type)
                let value = randomValue()
                add(type, value, to: &rows, &generator)
                for _ in 0..<Int.random(in: 0...3, using: &generator) {
                    let kind = Bool.random(using: &generator) ? .clientCharacteristicConfiguration : randomUUID()
                    let value = randomValue()
                    add(kind, value, to: &rows, &generator)
                }
            }
            rows[service].end = rows[rows.count - 1].handle
        }
    }

    // MARK: Answers

    /// What comes before the answer, and the answer.
    mutating func answer(_ request: [UInt8]) -> [[UInt8]] {
        var pdus: [[UInt8]] = []
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: pdus.append([0x1B, 3, 0, 1, 2, 3])
        case 1: pdus.append([0x23, 3, 0, 1, 0, 7, 4, 0, 0, 0])
        case 2: pdus.append([0x1D, 5, 0, 9])
        case 3 where !hasExchanged: pdus.append([0x02, UInt8(receiveMTU & 0xFF), UInt8(receiveMTU >> 8)])
        case 4: pdus.append([0x0A, 1, 0])  // its own client asks something
        default: break
        }
        pdus.append(reply(request))
        return pdus
    }

    /// The client's MTU, told in its request or in its answer to ours.
    mutating func clientTold(_ number: UInt16) {
        hasExchanged = true
        mtu = max(mtu, max(23, Int(min(number, receiveMTU))))
    }

    private func refusal(_ request: [UInt8], _ handle: UInt16, _ code: UInt8) -> [UInt8] {
        [0x01, request[0], UInt8(handle & 0xFF), UInt8(handle >> 8), code]
    }

    private func number(_ octets: [UInt8], _ offset: Int) -> UInt16 {
        UInt16(octets[offset]) | UInt16(octets[offset + 1]) << 8
    }

    private mutating func reply(_ request: [UInt8]) -> [UInt8] {
        switch request[0] {
        case 0x02:
            if receiveMTU == 23, Bool.random(using: &generator) { return refusal(request, 0, 0x06) }
            clientTold(number(request, 1))
            return [0x03, UInt8(receiveMTU & 0xFF), UInt8(receiveMTU >> 8)]
        case 0x04: return found(request)
        case 0x06: return foundByValue(request)
        case 0x08, 0x10: return list(request)
        case 0x0A, 0x0C: return value(request)
        case 0x0E, 0x20: return values(request)
        case 0x12:
            guard let index = rows.firstIndex(where: { $0.handle == number(request, 1) }) else {
                return refusal(request, number(request, 1), 0x01)
            }
            rows[index].value = [UInt8](request[3...])
            return [0x13]
        case 0x16:
            queue.append((number(request, 1), Int(number(request, 3)), [UInt8](request[5...])))
            return [0x17] + request[1...]
        case 0x18: return executed(request)
        default: return refusal(request, 0, 0x06)
        }
    }

    private mutating func executed(_ request: [UInt8]) -> [UInt8] {
        defer { queue = [] }
        guard request[1] == 1 else { return [0x19] }
        for write in queue {
            guard let index = rows.firstIndex(where: { $0.handle == write.handle }) else { continue }
            rows[index].value = [UInt8](rows[index].value.prefix(write.offset)) + write.value
        }
        return [0x19]
    }

    private func rows(_ request: [UInt8], _ isWanted: (Row) -> Bool) -> [Row] {
        rows.filter { $0.handle >= number(request, 1) && $0.handle <= number(request, 3) && isWanted($0) }
    }

    /// Some of the elements that would fit, at least one.
    private mutating func some(_ elements: [[UInt8]], room: Int) -> [UInt8] {
        let length = elements[0].count
        let most = max(1, min(elements.prefix { $0.count == length }.count, length > 0 ? room / length : 1))
        let count = Bool.random(using: &generator) ? most : Int.random(in: 1...most, using: &generator)
        return elements.prefix(count).flatMap { $0 }
    }

    private func octets(_ handle: UInt16) -> [UInt8] { [UInt8(handle & 0xFF), UInt8(handle >> 8)] }

    private func octets(_ uuid: BluetoothUUID) -> [UInt8] {
        var packet = PacketWriter()
        uuid.encode(into: &packet)
        return packet.bytes
    }

    private mutating func found(_ request: [UInt8]) -> [UInt8] {
        let found = rows(request) { _ in true }
        guard let first = found.first else { return refusal(request, number(request, 1), 0x0A) }
        let elements = found.map { octets($0.handle) + octets($0.type) }
        return [0x05, first.type.width == .bits16 ? 1 : 2] + some(elements, room: mtu - 2)
    }

    private mutating func foundByValue(_ request: [UInt8]) -> [UInt8] {
        let type = BluetoothUUID(number(request, 5))
        let found = rows(request) { $0.type == type && $0.value == [UInt8](request[7...]) }
        guard !found.isEmpty else { return refusal(request, number(request, 1), 0x0A) }
        return [0x07] + some(found.map { octets($0.handle) + octets($0.end) }, room: mtu - 1)
    }

    private mutating func list(_ request: [UInt8]) -> [UInt8] {
        let isGroup = request[0] == 0x10
        let type = [UInt8](request[5...])
        let found = rows(request) { octets($0.type) == type }
        if isGroup, type == [0x01, 0x28], Bool.random(using: &generator), found.isEmpty {
            return refusal(request, number(request, 1), 0x10)
        }
        guard !found.isEmpty else { return refusal(request, number(request, 1), 0x0A) }
        let longest = min(mtu - (isGroup ? 6 : 4), isGroup ? 251 : 253)
        let elements = found.map { row in
            octets(row.handle) + (isGroup ? octets(row.end) : []) + row.value.prefix(longest)
        }
        // Values that were longer than the PDU are told one by one.
        let whole = found.map(\.value.count)
        let same = zip(elements, whole).prefix { $0.1 == whole[0] }.map(\.0)
        let alone = whole[0] > longest ? [elements[0]] : same
        return [request[0] + 1, UInt8(elements[0].count)] + some(alone, room: mtu - 2)
    }

    private mutating func value(_ request: [UInt8]) -> [UInt8] {
        let handle = number(request, 1)
        guard let row = rows.first(where: { $0.handle == handle }) else { return refusal(request, handle, 0x01) }
        let offset = request[0] == 0x0C ? Int(number(request, 3)) : 0
        if request[0] == 0x0C {
            if row.value.count < mtu, Bool.random(using: &generator) { return refusal(request, handle, 0x0B) }
            if offset > row.value.count { return refusal(request, handle, 0x07) }
            if offset == row.value.count, Bool.random(using: &generator) { return refusal(request, handle, 0x07) }
        }
        return [request[0] + 1] + row.value.dropFirst(offset).prefix(mtu - 1)
    }

    private func values(_ request: [UInt8]) -> [UInt8] {
        var answer = [request[0] + 1]
        for place in stride(from: 1, to: request.count, by: 2) {
            let handle = number(request, place)
            guard let row = rows.first(where: { $0.handle == handle }) else { return refusal(request, handle, 0x01) }
            if request[0] == 0x20 {
                guard answer.count + 2 <= mtu else { break }
                answer += octets(UInt16(row.value.count))
            }
            answer += row.value
        }
        return [UInt8](answer.prefix(mtu))
    }
}
