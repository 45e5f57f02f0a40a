extension Coder {
    /// A list in a separate message, so that an empty one differs from none.
    mutating func field<V: SingleValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ key: FieldKey,
        _ values: inout [V]?
    ) throws(MessageError) {
        guard try hasField(number, name, .optional, isSet: values != nil) else {
            if Self.reads { values = nil }
            return
        }
        var content = values ?? []
        try nested(number, name, type()) { c throws(MessageError) in try c.field(1, key.name, &content) }
        if Self.reads { values = content }
    }

    /// Octets or a text that is empty where there is no value.
    mutating func field<V: OctetString>(
        _ number: Int, _ name: StaticString, emptyIsNil value: inout V?
    ) throws(MessageError) {
        var octets = value?.messageOctets ?? []
        guard try hasField(number, name, .plain, isSet: Self.reads || !octets.isEmpty) else { return }
        octets = Array(try self.octets(number, name, octets, isText: V.isText))
        guard Self.reads else { return }
        value = octets.isEmpty ? nil : V(messageOctets: octets[...])
        if value == nil, !octets.isEmpty { throw .invalidField }
    }

    /// A choice of which a newer version may have more cases: those are `nil` here.
    mutating func choice<V: Choice>(optional value: inout V?) throws(MessageError) {
        try choice(optional: &value, V.blank) { it, c throws(MessageError) in try V.options(&it, &c) }
    }

    /// The same with the options in place.
    mutating func choice<V>(
        optional value: inout V?, _ blank: V, _ options: (inout V, inout Self) throws(MessageError) -> Void
    ) throws(MessageError) {
        guard Self.reads || Self.visitsAll || value != nil else { return }
        let outer = isChosen
        isChosen = false
        var content = value ?? blank
        while true {
            try options(&content, &self)
            if isChosen { break }
            guard try repeatsChoice() else { break }
        }
        if Self.reads { value = isChosen ? content : nil }
        isChosen = outer
    }
}
