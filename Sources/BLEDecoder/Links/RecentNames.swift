import BLEAssignedNumbers

/// Names that were looked up lately: a capture repeats few UUIDs and companies, and a search in the tables takes longer
/// than the rest of a packet.
struct RecentNames {
    /// The upper octet of a hash is the place.
    private static let count = 256

    private struct Known {
        /// Every place begins with a type that has no name.
        var type = AttributeType(0)
        var name: AssignedName?
    }

    private var types = [Known](repeating: Known(name: AssignedNumbers.uuid(0)), count: count)
    private var company: (identifier: UInt16, name: AssignedName?)?

    /// The name of a service, characteristic, descriptor or declaration.
    mutating func name(of type: AttributeType) -> AssignedName? {
        // The UUIDs of a vendor differ in a few bits anywhere: the product spreads them over the upper octet.
        let folded = (type.high ^ type.low &* 3) &* 0x9E37_79B9_7F4A_7C15
        let place = Int(truncatingIfNeeded: folded >> 56)
        if types[place].type != type { types[place] = Known(type: type, name: type.name) }
        return types[place].name
    }

    /// The name of a characteristic, descriptor or declaration: those of services and of the members that own a 16-bit
    /// UUID would mislead.
    mutating func attributeName(of type: AttributeType) -> AssignedName? {
        if let short = type.short, !(0x2800..<0x3000).contains(short) { return nil }
        return name(of: type)
    }

    /// The company with an identifier.
    mutating func name(ofCompany identifier: UInt16) -> AssignedName? {
        if let company, company.identifier == identifier { return company.name }
        let name = AssignedNumbers.company(identifier)
        company = (identifier, name)
        return name
    }
}
