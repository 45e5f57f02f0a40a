import BLEPackets

/// Finds a few primary services by their UUIDs, one UUID after another (Core 5.4, Vol 3, Part G, 4.4.2).
///
/// A server compares the octets of its declarations. A UUID given in 128 bits is searched for in this form, and then in
/// its short form if it has one and the long form found nothing.
struct NamedServiceSearch {
    /// The maximum number of UUIDs. Each costs at least one request, and nothing else uses the bearer meanwhile; more
    /// of them are looked for among all services (`AttributeSearch.Kind.namedServices`).
    private static let limit = 8

    /// Whether these are so few that they are searched for one after another.
    static func suits(_ uuids: [BluetoothUUID]) -> Bool { uuids.count <= limit || UUIDIndex(uuids).count <= limit }

    /// UUIDs that have not been searched completely; the first is in progress.
    private var uuids: [BluetoothUUID] = []
    private var range = AttributeHandleRange.all
    /// All UUIDs, each once.
    private let named: [BluetoothUUID]
    private var services: [DiscoveredService] = []

    init(_ uuids: [BluetoothUUID]) {
        var named: [BluetoothUUID] = []
        for uuid in uuids where !named.contains(uuid) { named.append(uuid) }
        self.named = named
        self.uuids = named
    }

    /// The number of services found.
    var foundCount: Int { services.count }

    mutating func begin() -> GATTStep { next() }

    private func next() -> GATTStep {
        guard let uuid = uuids.first else { return .done(.services(services)) }
        var value = PacketWriter(reservingCapacity: 16)
        (uuid.width == .bits32 ? uuid.shortened : uuid).encode(into: &value)
        let bytes = value.bytes
        return .send(ATTFindByTypeValueRequest(range: range, type: 0x2800, value: bytes.span.bytes).encoded())
    }

    private mutating func nextUUID() -> GATTStep {
        let searched = uuids.removeFirst()
        if range == .all, searched.width == .bits128, let short = searched.shortValue {
            uuids.insert(BluetoothUUID(short), at: 0)
        }
        range = .all
        return next()
    }

    mutating func receive(_ pdu: RawSpan) throws(DecodingError) -> GATTStep {
        guard let uuid = uuids.first else { return next() }
        var response = try ATTFindByTypeValueResponse(pdu)
        var last = AttributeHandle.none
        while let found = response.next() {
            guard range.contains(found.first) else { return .invalid(.handleOutOfRange(found.first)) }
            guard found.first > last else { return .invalid(.handleOutOfOrder(found.first)) }
            guard found.isValid else { return .invalid(.handleOutOfRange(found.last)) }
            services.append(DiscoveredService(uuid: uuid, range: found, isPrimary: true))
            last = found.last
        }
        guard let first = last.next else {
            range.first = .last
            return nextUUID()
        }
        range.first = first
        return next()
    }

    mutating func refused(_ error: ATTError, _ handle: AttributeHandle) -> GATTStep {
        let isEnd = error == .attributeNotFound || range != .all && error.isOfServerWithoutMore
        return isEnd ? nextUUID() : .failed(.att(error, handle: handle))
    }

    /// The search through all services that takes its place if the server has refused it with this error; `nil` if
    /// none does: there are servers that do not know the request.
    func substitute(for error: ATTError) -> AttributeSearch? {
        guard range == .all, error.isOfServerWithoutMore else { return nil }
        return AttributeSearch(.namedServices(named), in: .all)
    }
}
