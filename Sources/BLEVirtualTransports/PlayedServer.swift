import BLEPackets
import BLESimulator

/// A recorded device that answers any client: from its database, with the values that were read then, and with what it
/// sent by itself at the recorded distances.
///
/// The recording has one clock. It stands until the client subscribes; then it runs from where that was recorded. A
/// write that was recorded sets it to its own time, so that what followed the write follows again.
final class PlayedServer {
    private let database: PlayedDatabase
    private let exchanges: [PlayedSession.Exchange]
    private let pace: PlayedPace
    /// Reports what the capture lacks, when it is asked for.
    private let report: @Sendable (String) -> Void
    private let peer: DeviceAddress

    /// What the device sent by itself, by recorded time.
    private let timeline: [(time: Int64, pdu: [UInt8])]
    private var place = 0
    /// Grows when what was planned becomes void.
    private var generation = 0
    /// Recorded time, and the air's at the same moment; `nil` while the clock stands.
    private var anchor: (recorded: Int64, air: Int64)?

    private var mtu = 23
    private var readCounts: [UInt16: Int] = [:]
    private var written: [UInt16: [UInt8]] = [:]
    private var used: Set<Int> = []
    private var prepared: [(handle: UInt16, offset: Int, value: [UInt8])] = []
    private var subscriptions: [UInt16: UInt8] = [:]
    private var missing: Set<UInt16> = []

    private unowned let air: SimulatedAir
    var device: SimulatedDeviceID?

    /// Prepared writes that may wait.
    private static let prepareLimit = 64

    init(
        _ session: PlayedSession, _ database: PlayedDatabase, on air: SimulatedAir, _ pace: PlayedPace,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.database = database
        exchanges = session.exchanges
        peer = session.peer
        self.air = air
        self.pace = pace
        self.report = report
        timeline = session.exchanges.flatMap { exchange in
            exchange.later.map { (exchange.time &+ $0.microseconds, $0.pdu) }
        }
        .sorted { $0.time < $1.time }
    }

    func linkEnded() {
        generation += 1
        anchor = nil
        place = 0
        mtu = 23
        subscriptions = [:]
        prepared = []
        used = []
        readCounts = [:]
        written = [:]
    }

    func answer(_ pdu: [UInt8]) -> [[UInt8]] {
        guard let opcode = pdu.first else { return [] }
        switch ATTOpcode(rawValue: opcode).kind {
        case .request:
            switch respond(opcode, pdu) {
            case .success(let response): return [response]
            case .failure(let refusal): return [[0x01, opcode] + refusal.handle.octets + [refusal.error.rawValue]]
            }
        case .command:
            if let handle = pdu.word(1) { _ = acceptWrite(pdu, handle, Array(pdu.dropFirst(3))) }
            return []
        case .unknown:
            return ATTOpcode(rawValue: opcode).isCommand
                ? [] : [[0x01, opcode, 0, 0, ATTError.requestNotSupported.rawValue]]
        default: return []
        }
    }

    private struct Refusal: Error {
        var error: ATTError
        var handle: UInt16 = 0
    }

    private func respond(_ opcode: UInt8, _ pdu: [UInt8]) -> Result<[UInt8], Refusal> {
        guard let first = pdu.word(1) else {
            // Execute Write has one octet.
            return opcode == 0x18 && pdu.count == 2 ? execute(pdu[1]) : .failure(Refusal(error: .invalidPDU))
        }
        switch opcode {
        case 0x02:
            guard pdu.count == 3 else { return .failure(Refusal(error: .invalidPDU)) }
            mtu = max(23, min(Int(first), Int(database.mtu)))
            return .success([0x03] + database.mtu.octets)
        case 0x04, 0x06, 0x08, 0x10: return search(opcode, pdu, first)
        case 0x0A: return value(of: first, isNew: true).map { [0x0B] + $0.prefix(mtu - 1) }
        case 0x0C:
            guard let offset = pdu.word(3) else { return .failure(Refusal(error: .invalidPDU)) }
            return value(of: first, isNew: false).flatMap { value in
                guard Int(offset) <= value.count else { return .failure(Refusal(error: .invalidOffset, handle: first)) }
                return .success([0x0D] + value.dropFirst(Int(offset)).prefix(mtu - 1))
            }
        case 0x0E, 0x20: return readMultiple(Array(pdu.dropFirst()), areCounted: opcode == 0x20)
        case 0x12: return acceptWrite(pdu, first, Array(pdu.dropFirst(3)))
        case 0x16:
            guard let offset = pdu.word(3) else { return .failure(Refusal(error: .invalidPDU)) }
            guard database.attributes[first] != nil else {
                return .failure(Refusal(error: .invalidHandle, handle: first))
            }
            guard prepared.count < Self.prepareLimit else {
                return .failure(Refusal(error: .prepareQueueFull, handle: first))
            }
            prepared.append((first, Int(offset), Array(pdu.dropFirst(5))))
            return .success([0x17] + pdu.dropFirst())
        default: return .failure(Refusal(error: .requestNotSupported))
        }
    }

    // MARK: Discovery

    private func search(_ opcode: UInt8, _ pdu: [UInt8], _ first: UInt16) -> Result<[UInt8], Refusal> {
        guard let last = pdu.word(3) else { return .failure(Refusal(error: .invalidPDU)) }
        guard first > 0, first <= last else { return .failure(Refusal(error: .invalidHandle, handle: first)) }
        let handles = database.handles.filter { (first...last).contains($0) }
        var response: [UInt8] = []
        var length: Int?
        for handle in handles {
            guard let attribute = database.attributes[handle] else { continue }
            let entry: [UInt8]
            switch opcode {
            case 0x04: entry = handle.octets + attribute.type.octets
            case 0x06:
                guard attribute.type == BluetoothUUID(pdu.word(5) ?? 0),
                    attribute.values.first == Array(pdu.dropFirst(7))
                else { continue }
                entry = handle.octets + (attribute.groupEnd ?? handle).octets
            case 0x08:
                guard attribute.type == BluetoothUUID(octets: pdu.dropFirst(5)) else { continue }
                switch value(of: handle, isNew: true) {
                case .success(let value): entry = handle.octets + value.prefix(min(mtu - 4, 253))
                case .failure(let refusal):
                    if length != nil { return finished(opcode, response, length ?? 0) }
                    return .failure(refusal)
                }
            default:
                guard attribute.type == BluetoothUUID(octets: pdu.dropFirst(5)), let end = attribute.groupEnd,
                    let uuid = attribute.values.first
                else { continue }
                entry = handle.octets + end.octets + uuid
            }
            guard length == nil || length == entry.count, response.count + entry.count + 2 <= mtu else { break }
            length = entry.count
            response += entry
        }
        guard let length else {
            if opcode == 0x08, let service = database.emptyService(in: first...last), missing.insert(service).inserted {
                report(
                    "the capture has no discovery of the service at 0x"
                        + "\(String(0x10000 + Int(service), radix: 16).dropFirst()) of \(peer)")
            }
            return .failure(Refusal(error: .attributeNotFound, handle: first))
        }
        return finished(opcode, response, length)
    }

    private func finished(_ opcode: UInt8, _ entries: [UInt8], _ length: Int) -> Result<[UInt8], Refusal> {
        switch opcode {
        case 0x04: .success([0x05, length == 4 ? 1 : 2] + entries)
        case 0x06: .success([0x07] + entries)
        default: .success([opcode + 1, UInt8(truncatingIfNeeded: length)] + entries)
        }
    }

    // MARK: Values

    private func value(of handle: UInt16, isNew: Bool) -> Result<[UInt8], Refusal> {
        guard let attribute = database.attributes[handle] else {
            return .failure(Refusal(error: .invalidHandle, handle: handle))
        }
        if let value = written[handle] { return .success(value) }
        if !attribute.values.isEmpty {
            let count = readCounts[handle] ?? 0
            if isNew { readCounts[handle] = count + 1 }
            return .success(attribute.values[min(max(0, isNew ? count : count - 1), attribute.values.count - 1)])
        }
        if let error = attribute.readError { return .failure(Refusal(error: error, handle: handle)) }
        if attribute.type == PlayedDatabase.configuration { return .success([subscriptions[handle] ?? 0, 0]) }
        // What it sent by itself is a separate value.
        if let sent = timeline.first(where: { $0.pdu.word(1) == handle }) {
            return .success(Array(sent.pdu.dropFirst(3)))
        }
        if missing.insert(handle).inserted {
            report("the capture has no value of 0x\(String(0x10000 + Int(handle), radix: 16).dropFirst()) of \(peer)")
        }
        let isReadable = attribute.properties.isEmpty || attribute.properties.contains(.read)
        return .failure(Refusal(error: isReadable ? .unlikelyError : .readNotPermitted, handle: handle))
    }

    private func readMultiple(_ handles: [UInt8], areCounted: Bool) -> Result<[UInt8], Refusal> {
        guard handles.count >= 4, handles.count.isMultiple(of: 2) else { return .failure(Refusal(error: .invalidPDU)) }
        var response: [UInt8] = [areCounted ? 0x21 : 0x0F]
        for offset in stride(from: 0, to: handles.count, by: 2) {
            switch value(of: handles.word(offset) ?? 0, isNew: true) {
            case .success(let value): response += (areCounted ? UInt16(clamping: value.count).octets : []) + value
            case .failure(let refusal): return .failure(refusal)
            }
        }
        return .success(Array(response.prefix(mtu)))
    }

    private func execute(_ flags: UInt8) -> Result<[UInt8], Refusal> {
        defer { prepared = [] }
        guard flags == 1 else { return .success([0x19]) }
        var values: [UInt16: [UInt8]] = [:]
        for part in prepared {
            var value = values[part.handle] ?? []
            guard part.offset <= value.count else {
                return .failure(Refusal(error: .invalidOffset, handle: part.handle))
            }
            value = value.prefix(part.offset) + part.value
            guard value.count <= 512 else {
                return .failure(Refusal(error: .invalidAttributeValueLength, handle: part.handle))
            }
            values[part.handle] = value
        }
        for (handle, value) in values { written[handle] = value }
        return .success([0x19])
    }

    /// A write: a subscription, one that was recorded, or another.
    private func acceptWrite(_ pdu: [UInt8], _ handle: UInt16, _ value: [UInt8]) -> Result<[UInt8], Refusal> {
        guard let attribute = database.attributes[handle] else {
            return .failure(Refusal(error: .invalidHandle, handle: handle))
        }
        if attribute.type == PlayedDatabase.configuration {
            guard value.count == 2 else {
                return .failure(Refusal(error: .invalidAttributeValueLength, handle: handle))
            }
            subscribe(handle, value[0])
            return .success([0x13])
        }
        let same = exchanges.indices.filter { exchanges[$0].request == pdu }
        guard let found = same.first(where: { !used.contains($0) }) ?? same.last else {
            written[handle] = Array(value.prefix(512))
            return .success([0x13])
        }
        used.insert(found)
        if timeline.contains(where: { $0.time >= exchanges[found].time }) { run(from: exchanges[found].time) }
        let response = exchanges[found].response ?? [0x13]
        if response.first == 0x01, response.count >= 5 {
            return .failure(Refusal(error: ATTError(rawValue: response[4]), handle: handle))
        }
        written[handle] = Array(value.prefix(512))
        return .success([0x13])
    }

    // MARK: What it sends by itself

    private func subscribe(_ configuration: UInt16, _ bits: UInt8) {
        subscriptions[configuration] = bits & 3
        guard bits & 3 != 0, anchor == nil || place >= timeline.count else { return }
        let value = self.value(before: configuration)
        // Where the subscription itself was not recorded, its first value comes after a second.
        let recorded = exchanges.first {
            ($0.request.first == 0x12 || $0.request.first == 0x52) && $0.request.word(1) == configuration
                && $0.request.byte(3) & 3 != 0
        }
        guard let first = timeline.first(where: { $0.pdu.word(1) == value }) else {
            if missing.insert(configuration).inserted {
                report(
                    "the capture has no notification of 0x\(String(0x10000 + Int(value ?? 0), radix: 16).dropFirst()) of \(peer)"
                )
            }
            return
        }
        run(from: recorded.map { min($0.time, first.time) } ?? first.time &- 1_000_000)
    }

    /// The characteristic that a configuration stands behind.
    private func value(before configuration: UInt16) -> UInt16? {
        database.handles.last { handle in
            handle < configuration && !(database.attributes[handle]?.properties.isEmpty ?? true)
        }
    }

    private func run(from recorded: Int64) {
        generation += 1
        anchor = (recorded, air.nowMicroseconds)
        place = timeline.firstIndex { $0.time >= recorded } ?? timeline.count
        planNext()
    }

    private func planNext() {
        guard let anchor, place < timeline.count else { return }
        let generation = generation
        let time = anchor.air + pace.microseconds(timeline[place].time &- anchor.recorded)
        air.schedule(at: max(time, air.nowMicroseconds)) { [weak self] air in
            guard let self, generation == self.generation else { return }
            let pdu = timeline[place].pdu
            place += 1
            if isWanted(pdu), let device { air.sendAttributePDU(Array(pdu.prefix(mtu)), from: device) }
            // Nothing ends by itself: who waits for more has to know.
            if place == timeline.count { report("the capture ends: it has no more notifications of \(peer)") }
            planNext()
        }
    }

    /// Whether the client has subscribed to the characteristic of a notification or indication.
    private func isWanted(_ pdu: [UInt8]) -> Bool {
        guard let handle = pdu.word(1) else { return false }
        for (configuration, bits) in subscriptions where value(before: configuration) == handle {
            return bits & (pdu.first == 0x1D ? 2 : 1) != 0
        }
        return false
    }
}
