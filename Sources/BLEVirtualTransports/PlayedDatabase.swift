import BLEPackets
import BLESimulator

/// The attributes of a recorded device, as far as its requests and answers show them.
///
/// What was used and not discovered in the capture gets a place too, with a UUID that says only its handle, so that it
/// can be read, written and subscribed to; `gaps` says so.
struct PlayedDatabase {
    struct Attribute {
        var type: BluetoothUUID
        /// The content of a declaration, or what was read, in order; the last stands for later reads.
        var values: [[UInt8]] = []
        /// Of a service: the last handle that belongs to it.
        var groupEnd: UInt16?
        /// Why it could not be read, where it never could.
        var readError: ATTError?
        /// Of a characteristic's value.
        var properties: SimulatedProperties = []
    }

    private(set) var attributes: [UInt16: Attribute] = [:]
    /// The handles in order.
    private(set) var handles: [UInt16] = []
    /// ATT_MTU that the device offers.
    private(set) var mtu: UInt16 = 23
    /// What the capture lacks, in words.
    private(set) var gaps: [String] = []

    private var isRead: Set<UInt16> = []
    private var isWritten: Set<UInt16> = []
    private var isCommanded: Set<UInt16> = []
    private var isConfigured: Set<UInt16> = []
    private var isNotified: Set<UInt16> = []
    private var isIndicated: Set<UInt16> = []

    static let primaryService = BluetoothUUID(0x2800 as UInt16)
    static let secondaryService = BluetoothUUID(0x2801 as UInt16)
    static let include = BluetoothUUID(0x2802 as UInt16)
    static let characteristic = BluetoothUUID(0x2803 as UInt16)
    static let configuration = BluetoothUUID(0x2902 as UInt16)

    init(_ exchanges: [PlayedSession.Exchange]) {
        for exchange in exchanges { learn(exchange) }
        complete()
        handles = attributes.keys.sorted()
    }

    /// `4A454C4C-494E-4720-0000-00000000HHHH`: nothing is known of it but its handle.
    static func placeholder(_ handle: UInt16) -> BluetoothUUID {
        BluetoothUUID(high: 0x4A45_4C4C_494E_4720, low: UInt64(handle))
    }

    // MARK: What was recorded

    private mutating func learn(_ exchange: PlayedSession.Exchange) {
        let (request, response) = (exchange.request, exchange.response ?? [])
        switch request.first {
        case 0x02 where response.first == 0x03: mtu = max(23, response.word(1) ?? 23)
        case 0x04 where response.first == 0x05: learnTypes(response)
        case 0x06 where response.first == 0x07:
            guard request.word(5) == 0x2800, let uuid = BluetoothUUID(octets: request.dropFirst(7)) else { break }
            for group in response.dropFirst().chunks(of: 4) {
                declareService(group, uuid, Self.primaryService)
            }
        case 0x08 where response.first == 0x09: learnValues(request, response)
        case 0x10 where response.first == 0x11:
            let type = request.word(5) == 0x2801 ? Self.secondaryService : Self.primaryService
            for group in response.dropFirst(2).chunks(of: Int(response.byte(1))) {
                guard let uuid = BluetoothUUID(octets: group.dropFirst(4)) else { continue }
                declareService(group, uuid, type)
            }
        case 0x0A: learnRead(request, response)
        case 0x0C where response.first == 0x0D: learnRest(request, response)
        case 0x12, 0x52, 0xD2, 0x16:
            guard let handle = request.word(1), handle > 0 else { break }
            let value = request.dropFirst(3)
            let isRefused = response.first == 0x01
            // Two octets of these values are a subscription, unless the handle is known for something else.
            if request.first == 0x12, value.count == 2, value.last == 0, (value.first ?? 9) <= 2, !isRefused {
                isConfigured.insert(handle)
            }
            if request.first == 0x52 || request.first == 0xD2 {
                isCommanded.insert(handle)
            } else {
                isWritten.insert(handle)
            }
        default: break
        }
        for (_, pdu) in exchange.later {
            guard let handle = pdu.word(1), handle > 0 else { continue }
            if pdu.first == 0x1D { isIndicated.insert(handle) } else { isNotified.insert(handle) }
        }
    }

    private mutating func declareService(_ group: ArraySlice<UInt8>, _ uuid: BluetoothUUID, _ type: BluetoothUUID) {
        let group = Array(group)
        guard let first = group.word(0), let last = group.word(2), first > 0, first <= last else { return }
        attributes[first] = Attribute(type: type, values: [uuid.octets], groupEnd: last)
    }

    private mutating func learnTypes(_ response: [UInt8]) {
        for pair in response.dropFirst(2).chunks(of: response.byte(1) == 1 ? 4 : 18) {
            let pair = Array(pair)
            guard let handle = pair.word(0), handle > 0, let type = BluetoothUUID(octets: pair.dropFirst(2)) else {
                continue
            }
            if attributes[handle] == nil {
                attributes[handle] = Attribute(type: type)
            } else {
                attributes[handle]?.type = type
            }
        }
    }

    private mutating func learnValues(_ request: [UInt8], _ response: [UInt8]) {
        guard let type = BluetoothUUID(octets: request.dropFirst(5)) else { return }
        for entry in response.dropFirst(2).chunks(of: Int(response.byte(1))) {
            let entry = Array(entry)
            guard let handle = entry.word(0), handle > 0 else { continue }
            let value = Array(entry.dropFirst(2))
            attributes[handle, default: Attribute(type: type)].type = type
            if type == Self.characteristic {
                attributes[handle]?.values = [value]
                guard let valueHandle = value.word(1), let uuid = BluetoothUUID(octets: value.dropFirst(3)) else {
                    continue
                }
                attributes[valueHandle, default: Attribute(type: uuid)].type = uuid
                attributes[valueHandle]?.properties = SimulatedProperties(rawValue: value.byte(0))
            } else {
                attributes[handle]?.values.append(value)
                isRead.insert(handle)
            }
        }
    }

    private mutating func learnRead(_ request: [UInt8], _ response: [UInt8]) {
        guard let handle = request.word(1), handle > 0 else { return }
        if response.first == 0x0B {
            isRead.insert(handle)
            attributes[handle, default: Attribute(type: Self.placeholder(handle))].values.append(
                Array(response.dropFirst()))
        } else if response.first == 0x01, response.count >= 5 {
            isRead.insert(handle)
            attributes[handle, default: Attribute(type: Self.placeholder(handle))].readError =
                ATTError(rawValue: response.byte(4))
        }
    }

    private mutating func learnRest(_ request: [UInt8], _ response: [UInt8]) {
        guard let handle = request.word(1), let offset = request.word(3), var attribute = attributes[handle],
            let last = attribute.values.popLast(), last.count == Int(offset), last.count < 512
        else { return }
        attribute.values.append(last + response.dropFirst())
        attributes[handle] = attribute
    }

    // MARK: What is missing

    /// A service in the range of which the capture has nothing but its declaration.
    func emptyService(in range: ClosedRange<UInt16>) -> UInt16? {
        handles.first { handle in
            guard range.contains(handle), let end = attributes[handle]?.groupEnd, end > handle else { return false }
            return !handles.contains { $0 > handle && $0 <= end }
        }
    }

    private mutating func complete() {
        let used = isRead.union(isWritten).union(isCommanded).union(isNotified).union(isIndicated)
        var unnamed: [UInt16] = []
        for handle in used.sorted() where attributes[handle] == nil || isPlaceholder(handle) {
            // A subscription is written behind the value that it is about.
            if isConfigured.contains(handle), !isNotified.contains(handle), !isIndicated.contains(handle),
                !isRead.contains(handle) || attributes[handle]?.values.allSatisfy({ $0.count == 2 }) == true
            {
                attributes[handle] = Attribute(type: Self.configuration, values: [[0, 0]])
                continue
            }
            unnamed.append(handle)
            attributes[handle, default: Attribute(type: Self.placeholder(handle))].properties = properties(of: handle)
        }
        declare(unnamed)
        addConfigurations()
        encloseAll()
        guard !unnamed.isEmpty else { return }
        gaps.append(
            "the discovery of \(unnamed.count == 1 ? "a characteristic" : "\(unnamed.count) characteristics") is not in the "
                + "capture: "
                + unnamed.prefix(8).map { "0x" + String(0x10000 + Int($0), radix: 16).dropFirst() }.joined(
                    separator: ", ")
                + (unnamed.count > 8 ? " …" : "") + " have UUIDs made of their handles")
    }

    private func isPlaceholder(_ handle: UInt16) -> Bool { attributes[handle]?.type == Self.placeholder(handle) }

    private func properties(of handle: UInt16) -> SimulatedProperties {
        var properties: SimulatedProperties = []
        if isRead.contains(handle) { properties.insert(.read) }
        if isWritten.contains(handle) { properties.insert(.write) }
        if isCommanded.contains(handle) { properties.insert(.writeWithoutResponse) }
        if isNotified.contains(handle) { properties.insert(.notify) }
        if isIndicated.contains(handle) { properties.insert(.indicate) }
        return properties
    }

    /// Puts a declaration in front of each value that has none.
    private mutating func declare(_ values: [UInt16]) {
        for handle in values {
            guard handle > 1 else { continue }
            // Where its place is taken, the value cannot be discovered: it is read by its handle only.
            guard attributes[handle - 1] == nil, let attribute = attributes[handle] else { continue }
            attributes[handle - 1] = Attribute(
                type: Self.characteristic,
                values: [[attribute.properties.rawValue] + handle.octets + attribute.type.octets])
        }
    }

    /// Puts a configuration behind each value that is sent and has none. It goes from the end: what stands behind an
    /// attribute is what stands behind the next one.
    private mutating func addConfigurations() {
        var later: UInt16?
        var isConfigured = false
        for handle in attributes.keys.sorted().reversed() {
            guard let attribute = attributes[handle] else { continue }
            let next = handle < .max ? handle + 1 : nil
            if later != next { isConfigured = false }
            // The place right behind the value is where most devices have it.
            if !attribute.properties.isDisjoint(with: [.notify, .indicate]), !isConfigured, let next, later != next {
                attributes[next] = Attribute(type: Self.configuration, values: [[0, 0]])
                isConfigured = true
            }
            later = handle
            switch attribute.type {
            case Self.configuration: isConfigured = true
            case Self.characteristic, Self.primaryService, Self.secondaryService: isConfigured = false
            default: break
            }
        }
    }

    /// Every attribute belongs to a service: to the one before it, or to one that is made for it.
    private mutating func encloseAll() {
        var service: UInt16?
        for handle in attributes.keys.sorted() {
            if attributes[handle]?.groupEnd != nil {
                service = handle
            } else if let place = service, let end = attributes[place]?.groupEnd {
                if end < handle { attributes[place]?.groupEnd = handle }
            } else {
                let first = handle > 1 && attributes[handle - 1] == nil ? handle - 1 : handle
                guard first < handle else { continue }
                attributes[first] = Attribute(
                    type: Self.primaryService, values: [Self.placeholder(first).octets], groupEnd: handle)
                service = first
                gaps.append("the discovery of services is not in the capture: one was made for what was used")
            }
        }
    }
}

extension [UInt8] {
    /// Two octets, least significant first; `nil` where they are not there.
    func word(_ offset: Int) -> UInt16? {
        guard offset >= 0, offset + 2 <= count else { return nil }
        return UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
    }

    /// An octet; zero where there is none.
    func byte(_ offset: Int) -> UInt8 { indices.contains(offset) ? self[offset] : 0 }
}

extension ArraySlice<UInt8> {
    /// Pieces of this length; what is left over is dropped.
    func chunks(of length: Int) -> [ArraySlice<UInt8>] {
        guard length > 2 else { return [] }
        return stride(from: startIndex, through: endIndex - length, by: length).map { self[$0..<$0 + length] }
    }
}

extension UInt16 {
    /// Least significant first.
    var octets: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(truncatingIfNeeded: self >> 8)] }
}

extension BluetoothUUID {
    /// Two octets or sixteen, least significant first; `nil` for another count.
    init?(octets: some Collection<UInt8>) {
        let octets = Array(octets)
        guard let width = Width(rawValue: UInt8(clamping: octets.count)), width != .bits32 else { return nil }
        var reader = PacketReader(octets.span.bytes)
        guard let uuid = try? BluetoothUUID(decoding: &reader, width: width) else { return nil }
        self = uuid
    }

    /// As ATT carries it: two octets or sixteen, least significant first.
    var octets: [UInt8] {
        var packet = PacketWriter()
        shortened.encode(into: &packet)
        return packet.bytes
    }
}
