import BLEPackets

/// The services of a device and the handles of their attributes (Core 5.4, Vol 3, Part G, 2.6 and 3; SPEC PER-6,
/// PER-24).
///
/// Handles are stable: a service keeps its handles for as long as it is published. A new service gets handles above all
/// that were ever used, so that a client that remembers an old table never finds something else under an old handle.
/// There are two exceptions. A service that is published again with the same attributes gets its old handles if they
/// are free, so bonded clients of a restarted app need not discover again. When no handles are left, released ones are
/// used again, beginning with the lowest gap that is large enough; Service Changed and the database hash report this.
public struct GATTDatabase: Sendable {
    /// The handles of a removed service.
    struct FreedPlace: Equatable, Sendable {
        var range: AttributeHandleRange
        /// Types and declarations of the removed service.
        var layout: [UInt8]
    }

    var table = AttributeTable()
    /// In ascending order of their handles.
    public internal(set) var services: [GATTPublishedService] = []
    /// In ascending order of their handles.
    private var freed: [FreedPlace] = []
    private var lastGiven: AttributeHandle = .none
    /// Increases with each change that clients can discover.
    public internal(set) var revision: UInt64 = 0
    /// The database hash of the current table, once it has been computed.
    var hash: [UInt8]?

    /// Creates a database without services.
    public init() {}

    /// The number of attributes.
    public var attributeCount: Int { table.count }

    /// The published service that contains an attribute; `nil` if there is none.
    public func service(with handle: AttributeHandle) -> GATTPublishedService? {
        services.first { $0.range.contains(handle) }
    }

    // MARK: A table from a list of attributes

    /// Creates a table from a list of attributes, without the rules for apps.
    ///
    /// Values that may be written are stored here. Each client has its own value of a configuration descriptor behind a
    /// characteristic; such a descriptor accepts values of any length and any bits.
    /// - Throws: `GATTPublishError.handlesOutOfOrder` and `.valueTooLong`.
    public init(attributes: [RawAttribute]) throws(GATTPublishError) {
        var rows: [Attribute] = []
        var last = AttributeHandle.none
        for attribute in attributes {
            guard attribute.handle > last else { throw .handlesOutOfOrder(attribute.handle) }
            guard attribute.value.count <= maximumAttributeLength else { throw .valueTooLong(attribute.type) }
            last = attribute.handle
            rows.append(
                Attribute(
                    handle: attribute.handle, type: attribute.type.forAttributes,
                    permissions: Self.permissions(of: attribute), value: .stored(attribute.value)))
        }
        Self.link(&rows)
        table.insert(rows)
        lastGiven = last
        services = Self.services(of: rows)
    }

    /// Every client may read declarations and no client may write them, whatever permissions are given: what a client
    /// may discover does not depend on what it may use (Core 5.4, Vol 3, Part G, 3.1 to 3.3.1).
    private static func permissions(of attribute: RawAttribute) -> AttributePermissions {
        switch attribute.type {
        case .primaryService, .secondaryService, .include, .characteristic: .readable
        default: withImplied(attribute.permissions)
        }
    }

    /// Adds the access that each security requirement implies.
    static func withImplied(_ permissions: AttributePermissions) -> AttributePermissions {
        var all = permissions
        if !all.isDisjoint(with: .anyRead) { all.insert(.readable) }
        if !all.isDisjoint(with: .anyWrite) { all.formUnion([.writeable, .commandWriteable]) }
        return all
    }

    /// Finds the ends of groups, and the configuration that belongs to each value.
    private static func link(_ rows: inout [Attribute]) {
        var service: Int?
        var declaration: Int?
        for index in rows.indices {
            let type = rows[index].type
            if type == .primaryService || type == .secondaryService {
                service = index
                declaration = nil
            } else if type == .characteristic {
                declaration = index
            } else if type == .include {
                declaration = nil
            } else if type == .clientCharacteristicConfiguration, let declaration {
                configure(&rows, at: index, declaration: declaration)
            }
            if let service { rows[service].groupEnd = rows[index].handle }
            if let declaration { rows[declaration].groupEnd = rows[index].handle }
        }
    }

    private static func configure(_ rows: inout [Attribute], at index: Int, declaration: Int) {
        guard case .stored(let octets) = rows[index].value, case .stored(let declared) = rows[declaration].value,
            let value = valueIndex(rows, declaration, declared, before: index), rows[value].configuration == .none
        else { return }
        let initial = UInt16(octets.first ?? 0) | UInt16(octets.dropFirst().first ?? 0) << 8
        let properties = CharacteristicProperties(rawValue: declared.first ?? 0)
        rows[index].value = .clientConfiguration(
            Attribute.ClientConfiguration(
                valueHandle: rows[value].handle, allowed: SubscriptionModes(properties),
                initial: SubscriptionModes(rawValue: initial), isStrict: false))
        rows[value].configuration = rows[index].handle
    }

    /// The value of a characteristic: the attribute that its declaration names, otherwise the one that follows.
    private static func valueIndex(
        _ rows: [Attribute], _ declaration: Int, _ declared: [UInt8], before index: Int
    ) -> Int? {
        let values = declaration + 1..<index
        let named = declared.count >= 3 ? UInt16(declared[1]) | UInt16(declared[2]) << 8 : 0
        return values.first { rows[$0].handle.rawValue == named } ?? values.first
    }

    private static func services(of rows: [Attribute]) -> [GATTPublishedService] {
        var services: [GATTPublishedService] = []
        for row in rows where row.isServiceDeclaration {
            var uuid = BluetoothUUID(UInt16(0))
            if case .stored(let octets) = row.value { uuid = BluetoothUUID(attributeValue: octets) ?? uuid }
            services.append(
                GATTPublishedService(
                    uuid: uuid, isPrimary: row.type == .primaryService,
                    range: AttributeHandleRange(row.handle, row.groupEnd), characteristics: [], owner: row.owner))
        }
        return services
    }

    // MARK: Publishing

    /// Adds a service to the table.
    ///
    /// - Parameter isOwn: whether the service is one of the stack's own, which the rules for apps do not restrict.
    mutating func publish(
        _ definition: GATTServiceDefinition, owner: ClientID, isOwn: Bool = false
    ) throws(GATTPublishError) -> GATTPublishedService {
        if !isOwn { try definition.check() }
        for handle in definition.includedServices where service(startingAt: handle) == nil {
            throw .includedServiceUnknown(handle)
        }
        // The length and the layout of the service do not depend on its handles.
        let draft = ServiceLayout(definition, at: .first, owner: owner, database: self)
        guard let start = place(for: draft.rows.count, layout: draft.signature) else { throw .outOfHandles }
        let layout = ServiceLayout(definition, at: start, owner: owner, database: self)
        table.insert(layout.rows)
        let published = layout.published
        let index = services.firstIndex { $0.range.first > published.range.first } ?? services.count
        services.insert(published, at: index)
        lastGiven = max(lastGiven, published.range.last)
        changed()
        return published
    }

    /// Removes a service from the table.
    /// - Returns: the handles that it had.
    mutating func remove(_ handle: AttributeHandle) throws(GATTPublishError) -> AttributeHandleRange {
        guard let index = services.firstIndex(where: { $0.range.first == handle }) else {
            throw .unknownService(handle)
        }
        let service = services[index]
        guard !Self.isKept(service.uuid) else { throw .unknownService(handle) }
        if let includer = includer(of: handle) { throw .isIncluded(handle, by: includer) }
        let layout = ServiceLayout.signature(of: rows(in: service.range), from: handle)
        table.remove(service.range)
        services.remove(at: index)
        let place = freed.firstIndex { $0.range.first > handle } ?? freed.count
        freed.insert(FreedPlace(range: service.range, layout: layout), at: place)
        changed()
        return service.range
    }

    /// The next service of an owner that can be removed: services that include others come before these.
    func lastService(of owner: ClientID) -> AttributeHandle? {
        services.last { $0.owner == owner && !Self.isKept($0.uuid) && includer(of: $0.range.first) == nil }?.range.first
    }

    mutating func changed() {
        revision &+= 1
        hash = nil
    }

    func service(startingAt handle: AttributeHandle) -> GATTPublishedService? {
        services.first { $0.range.first == handle }
    }

    func rows(in range: AttributeHandleRange) -> ArraySlice<Attribute> {
        return table[range]
    }

    /// The first handle of a service that includes the service at `handle`; `nil` if there is none.
    private func includer(of handle: AttributeHandle) -> AttributeHandle? {
        for include in table.handles(of: .include) {
            guard case .stored(let octets)? = table[include]?.value, octets.count >= 2 else { continue }
            let included = UInt16(octets[0]) | UInt16(octets[1]) << 8
            if included == handle.rawValue { return service(with: include)?.range.first }
        }
        return nil
    }

    /// Whether the stack itself publishes this service.
    static func isKept(_ uuid: BluetoothUUID) -> Bool { uuid == .genericAccess || uuid == .genericAttribute }

    // MARK: Handles

    private mutating func place(for count: Int, layout: [UInt8]) -> AttributeHandle? {
        if let index = freed.firstIndex(where: { $0.layout == layout }) {
            return freed.remove(at: index).range.first
        }
        let next = Int(lastGiven.rawValue) + 1
        if next + count - 1 <= Int(AttributeHandle.last.rawValue) {
            return AttributeHandle(rawValue: UInt16(truncatingIfNeeded: next))
        }
        return placeBetween(count)
    }

    /// The lowest gap that is large enough. The removed services in it are forgotten.
    private mutating func placeBetween(_ count: Int) -> AttributeHandle? {
        var start = 1
        for index in 0...services.count {
            let end = index < services.count ? Int(services[index].range.first.rawValue) : 0x10000
            if end - start >= count {
                let range = AttributeHandleRange(
                    AttributeHandle(rawValue: UInt16(truncatingIfNeeded: start)),
                    AttributeHandle(rawValue: UInt16(truncatingIfNeeded: start + count - 1)))
                freed.removeAll { $0.range.first <= range.last && range.first <= $0.range.last }
                return range.first
            }
            if index < services.count { start = Int(services[index].range.last.rawValue) + 1 }
        }
        return nil
    }

    // MARK: Hash

    /// The message from which the database hash is computed (Core 5.4, Vol 3, Part G, 7.3.1): AES-CMAC with a key of
    /// zeros.
    public var hashMessage: [UInt8] {
        var message = PacketWriter(reservingCapacity: table.count * 8)
        for attribute in table.attributes { ServiceLayout.describe(attribute, from: .none, into: &message) }
        return message.bytes
    }
}

extension SubscriptionModes {
    init(_ properties: CharacteristicProperties) {
        self = []
        if properties.contains(.notify) { insert(.notifications) }
        if properties.contains(.indicate) { insert(.indications) }
    }
}

extension BluetoothUUID {
    /// Reads a UUID from an attribute's value: 2 or 16 octets, otherwise `nil`.
    init?(attributeValue octets: [UInt8]) {
        var reader = PacketReader(octets.span.bytes)
        let width: Width = octets.count == 2 ? .bits16 : .bits128
        guard octets.count == 2 || octets.count == 16, let uuid = try? BluetoothUUID(decoding: &reader, width: width)
        else { return nil }
        self = uuid
    }

    /// The UUID in the form that ATT uses: 16-bit UUIDs unchanged, all others in 128 bits.
    var forAttributes: BluetoothUUID { width == .bits16 ? self : expanded }

    var attributeValue: [UInt8] {
        var packet = PacketWriter(reservingCapacity: 16)
        forAttributes.encode(into: &packet)
        return packet.bytes
    }
}
