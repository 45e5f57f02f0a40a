import BLEPackets

/// The attributes of a server in the order of their handles, with an index by handle and one for each type.
///
/// A handle is found in two steps, whatever the size of the table; a type, and a range within it, by binary search.
/// Only changes of the table take time that grows with its size.
struct AttributeTable: Sendable {
    struct TypeIndex: Equatable, Sendable {
        let type: BluetoothUUID
        /// In ascending order.
        var handles: [AttributeHandle]
    }

    /// Where an attribute is in the table: valid until attributes are inserted or removed.
    struct Position: Equatable {
        fileprivate let index: Int
    }

    private static let pageCount = 256
    private static let pageLength = 256

    /// In ascending order of their handles.
    private(set) var attributes: [Attribute] = []
    /// For each page of 256 handles: its number in `places`; 0 if it has no attributes.
    private var pages = [UInt16](repeating: 0, count: AttributeTable.pageCount)
    /// Pages one behind the other, in one array, so that a look-up touches no other: for each handle its index in
    /// `attributes` plus one, or 0. The first page stands for all that have no attributes.
    private var places = [UInt16](repeating: 0, count: AttributeTable.pageLength)
    /// In ascending order of their UUIDs.
    private var types: [TypeIndex] = []

    init() {}

    var count: Int { attributes.count }

    // MARK: By handle

    @inline(__always)
    func position(of handle: AttributeHandle) -> Position? {
        let entry = places.span[slot(of: handle.rawValue)]
        return entry == 0 ? nil : Position(index: Int(entry) - 1)
    }

    subscript(handle: AttributeHandle) -> Attribute? { position(of: handle).map { attributes[$0.index] } }

    /// The attribute at a position, without a copy of parts that are not used.
    subscript(position: Position) -> Attribute {
        @inline(__always) _read { yield attributes[position.index] }
    }

    /// The attributes in a range of handles.
    subscript(range: AttributeHandleRange) -> ArraySlice<Attribute> {
        let first = firstIndex(from: range.first)
        let end = range.last.next.map { firstIndex(from: $0) } ?? count
        return attributes[first..<max(first, end)]
    }

    /// The index of the first attribute whose handle is not below `handle`; `count` if there is none.
    func firstIndex(from handle: AttributeHandle) -> Int {
        if let position = position(of: handle) { return position.index }
        var low = 0
        var high = attributes.count
        while low < high {
            let middle = (low + high) / 2
            if attributes[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The permissions of an attribute, without a copy of the whole attribute.
    @inline(__always)
    func permissions(at position: Position) -> AttributePermissions { attributes.span[position.index].permissions }

    /// The value of an attribute, without a copy of the whole attribute.
    @inline(__always)
    func value(at position: Position) -> Attribute.Value { attributes.span[position.index].value }

    /// Whether the table has one value for all clients; asked without a copy of it.
    @inline(__always)
    func isStored(at position: Position) -> Bool {
        if case .stored = attributes.span[position.index].value { true } else { false }
    }

    /// Whether an app has the value; asked without a copy of another.
    @inline(__always)
    func isDynamic(at position: Position) -> Bool {
        if case .dynamic = attributes.span[position.index].value { true } else { false }
    }

    /// The answer to a request for an attribute's value from an offset on, at most so long; `nil` if the table does not
    /// keep one value for all clients.
    @inline(__always)
    func response(
        _ opcode: UInt8, at position: Position, from offset: Int, limit: Int, into ring: inout OctetRing
    ) -> [UInt8]? {
        switch attributes.span[position.index].value {
        case .stored(let octets) where offset <= octets.count:
            ring.join(
                opcode,
                octets.span.bytes.extracting(droppingFirst: offset).extracting(first: min(octets.count - offset, limit))
            )
        default: nil
        }
    }

    // MARK: By type

    /// The handles of all attributes of a type, in ascending order.
    func handles(of type: BluetoothUUID) -> [AttributeHandle] {
        let place = typePlace(type)
        return place < types.count && types[place].type == type ? types[place].handles : []
    }

    /// The handles of a type within a range, in ascending order.
    func handles(of type: BluetoothUUID, in range: AttributeHandleRange) -> ArraySlice<AttributeHandle> {
        let handles = handles(of: type)
        var low = 0
        var high = handles.count
        while low < high {
            let middle = (low + high) / 2
            if handles[middle] < range.first { low = middle + 1 } else { high = middle }
        }
        var end = low
        high = handles.count
        while end < high {
            let middle = (end + high) / 2
            if handles[middle] <= range.last { end = middle + 1 } else { high = middle }
        }
        return handles[low..<end]
    }

    private func typePlace(_ type: BluetoothUUID) -> Int {
        var low = 0
        var high = types.count
        while low < high {
            let middle = (low + high) / 2
            let other = types[middle].type
            if other.high < type.high || other.high == type.high && other.low < type.low {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    // MARK: Changes

    /// Inserts attributes whose handles are in ascending order and lie between two neighbours in the table.
    mutating func insert(_ added: [Attribute]) {
        guard let first = added.first else { return }
        let place = firstIndex(from: first.handle)
        attributes.insert(contentsOf: added, at: place)
        reindex(from: place)
        for attribute in added { index(attribute) }
    }

    /// Removes all attributes in a range.
    mutating func remove(_ range: AttributeHandleRange) {
        let place = firstIndex(from: range.first)
        var end = place
        while end < attributes.count, attributes[end].handle <= range.last {
            let handle = attributes[end].handle
            places[slot(of: handle.rawValue)] = 0
            end += 1
        }
        attributes.removeSubrange(place..<end)
        reindex(from: place)
        for place in types.indices { types[place].handles.removeAll { range.contains($0) } }
        types.removeAll { $0.handles.isEmpty }
    }

    mutating func setValue(_ value: Attribute.Value, at position: Position) {
        attributes[position.index].value = value
    }

    /// Replaces the octets of a stored value, in its memory if they fit.
    mutating func store(_ octets: RawSpan, at position: Position) {
        guard isStored(at: position) else { return }
        // In exchange for another value: if the table kept a reference, the octets would be copied before they are
        // overwritten.
        var value = Attribute.Value.dynamic
        swap(&value, &attributes[position.index].value)
        guard case .stored(var stored) = consume value else { return }
        stored.removeAll(keepingCapacity: true)
        unsafe octets.withUnsafeBytes { unsafe stored.append(contentsOf: $0) }
        attributes[position.index].value = .stored(stored)
    }

    private mutating func reindex(from place: Int) {
        for position in place..<attributes.count {
            let handle = attributes[position].handle.rawValue
            let page = Int(handle >> 8)
            if pages[page] == 0 {
                pages[page] = UInt16(truncatingIfNeeded: places.count / Self.pageLength)
                places.append(contentsOf: repeatElement(0, count: Self.pageLength))
            }
            places[slot(of: handle)] = UInt16(truncatingIfNeeded: position + 1)
        }
    }

    /// Where a handle stands in `places`.
    @inline(__always)
    private func slot(of handle: UInt16) -> Int {
        Int(pages.span[Int(handle >> 8)]) * Self.pageLength + Int(handle & 0xFF)
    }

    private mutating func index(_ attribute: Attribute) {
        let place = typePlace(attribute.type)
        if place == types.count || types[place].type != attribute.type {
            types.insert(TypeIndex(type: attribute.type, handles: []), at: place)
        }
        let last = types[place].handles.last ?? .none
        let target =
            last < attribute.handle
            ? types[place].handles.count : types[place].handles.firstIndex { $0 > attribute.handle } ?? 0
        types[place].handles.insert(attribute.handle, at: target)
    }
}
