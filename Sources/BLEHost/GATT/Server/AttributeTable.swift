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
    /// For each page of 256 handles: the index in `attributes` plus one; empty if the page has no attributes.
    private var pages: [[UInt16]]
    /// In ascending order of their UUIDs.
    private var types: [TypeIndex] = []

    init() { pages = Array(repeating: [], count: Self.pageCount) }

    var count: Int { attributes.count }

    // MARK: By handle

    @inline(__always)
    func position(of handle: AttributeHandle) -> Position? {
        let page = pages[Int(handle.rawValue >> 8)]
        guard !page.isEmpty else { return nil }
        let entry = page[Int(handle.rawValue & 0xFF)]
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

    /// The value of an attribute; `nil` if the table does not keep one value for all clients.
    @inline(__always)
    func storedOctets(at position: Position) -> [UInt8]? {
        guard case .stored(let octets) = attributes.span[position.index].value else { return nil }
        return octets
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
            pages[Int(handle.rawValue >> 8)][Int(handle.rawValue & 0xFF)] = 0
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
        guard case .stored(var stored) = attributes[position.index].value else { return }
        // Otherwise `stored` would not be the only reference, and be copied before it is overwritten.
        attributes[position.index].value = .dynamic
        stored.removeAll(keepingCapacity: true)
        unsafe octets.withUnsafeBytes { unsafe stored.append(contentsOf: $0) }
        attributes[position.index].value = .stored(stored)
    }

    private mutating func reindex(from place: Int) {
        for position in place..<attributes.count {
            let handle = attributes[position].handle.rawValue
            let page = Int(handle >> 8)
            if pages[page].isEmpty { pages[page] = Array(repeating: 0, count: Self.pageLength) }
            pages[page][Int(handle & 0xFF)] = UInt16(truncatingIfNeeded: position + 1)
        }
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
