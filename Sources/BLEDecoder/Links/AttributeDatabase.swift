import BLEAssignedNumbers

/// The discovered attributes of a server.
struct AttributeDatabase {
    /// The maximum number of attributes; further ones have no name.
    static let maximumCount = 8192

    enum Kind: UInt8 { case service, characteristic, value, descriptor }

    struct Entry {
        var kind: Kind
        var type: AttributeType
        var name: AssignedName?
    }

    private var entries: [UInt16: Entry] = [:]

    /// Stores an attribute. Services and characteristics take precedence over a bare type.
    mutating func learn(_ handle: UInt16, _ kind: Kind, _ type: AttributeType, _ names: inout RecentNames) {
        guard handle != 0, entries.count < Self.maximumCount || entries[handle] != nil else { return }
        if kind == .descriptor, let known = entries[handle], known.kind != .descriptor { return }
        let name = kind == .service ? names.name(of: type) : names.attributeName(of: type)
        entries[handle] = Entry(kind: kind, type: type, name: name)
    }

    subscript(handle: UInt16) -> Entry? { entries[handle] }
}
