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

    /// The place of a handle that has no entry.
    private static let noPlace = UInt16.max

    private var entries: [Entry] = []
    /// By the upper octet of the handle, then the lower one: the place in `entries`. A hash of the handle would take longer
    /// than all the rest of a look-up.
    private var pages: [[UInt16]] = []

    /// Stores an attribute. Services and characteristics take precedence over a bare type.
    mutating func learn(_ handle: UInt16, _ kind: Kind, _ type: AttributeType, _ names: inout RecentNames) {
        guard handle != 0 else { return }
        let known = place(of: handle)
        guard entries.count < Self.maximumCount || known != nil else { return }
        if kind == .descriptor, let known, entries[known].kind != .descriptor { return }
        let name = kind == .service ? names.name(of: type) : names.attributeName(of: type)
        let entry = Entry(kind: kind, type: type, name: name)
        if let known { entries[known] = entry } else { append(entry, handle) }
    }

    subscript(handle: UInt16) -> Entry? { place(of: handle).map { entries[$0] } }

    @inline(__always)
    private func place(of handle: UInt16) -> Int? {
        guard !pages.isEmpty else { return nil }
        let page = pages[Int(handle >> 8)]
        guard !page.isEmpty else { return nil }
        let place = page[Int(handle & 0xFF)]
        return place == Self.noPlace ? nil : Int(place)
    }

    private mutating func append(_ entry: Entry, _ handle: UInt16) {
        if pages.isEmpty { pages = [[UInt16]](repeating: [], count: 256) }
        let page = Int(handle >> 8)
        if pages[page].isEmpty { pages[page] = [UInt16](repeating: Self.noPlace, count: 256) }
        pages[page][Int(handle & 0xFF)] = UInt16(entries.count)
        entries.append(entry)
    }
}
