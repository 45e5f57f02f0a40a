/// Everything but the usual case that the next field is the wanted one, or a later one.
extension ProtoReader {
    /// Goes to a field behind the next one.
    /// - Returns: whether it is there.
    @inline(never)
    mutating func find(_ wanted: Int) throws(MessageError) -> Bool {
        guard scope.isOrdered else {
            guard let last = tables[scope.tables - 1][wanted] else { return false }
            (at, wireType) = last
            return true
        }
        while number < wanted {
            try skipValue()
            try advance()
        }
        return number == wanted
    }

    /// The next occurrence of a field from here on, in a message without order.
    private mutating func search(_ wanted: Int) throws(MessageError) -> Bool {
        defer { number = 0 }
        while at < scope.end {
            try readKey()
            if number == wanted { return true }
            try skipValue()
        }
        return false
    }

    /// - Returns: whether the list has one more element.
    @inline(never)
    mutating func hasElement(of list: Int) throws(MessageError) -> Bool {
        if packedEnd > 0 {
            if at < packedEnd { return true }
            packedEnd = 0
            try advance()
        }
        while true {
            if scope.isOrdered {
                guard number >= list ? number == list : try find(list) else { return false }
            } else {
                at = scope.elements
                guard tables[scope.tables - 1][list] != nil, try search(list) else { return false }
            }
            guard scope.isPackable, wireType == 2 else { return true }
            let end = try lengthEnd()
            if end > at {
                packedEnd = end
                return true
            }
            try advance()
        }
    }

    /// After a value in a message without order.
    mutating func endElement() { scope.elements = at }

    mutating func skipValue() throws(MessageError) {
        switch wireType {
        case 0: _ = try varint()
        case 1: at += 8
        case 2: at = try lengthEnd()
        case 5: at += 4
        default: throw .malformed
        }
        guard at <= scope.end else { throw .malformed }
    }

    public mutating func repeatsChoice() throws(MessageError) -> Bool {
        guard scope.isOrdered, number != .max else { return false }
        // No case has these numbers, so the cases need not be looked for again.
        let skipped = number
        while number != .max, number == skipped || number > highestCase {
            try skipValue()
            try advance()
        }
        return !scope.isDisordered
    }

    /// Skips the fields that the description does not have.
    /// - Returns: whether the fields have no order, and the message is read once more.
    @inline(never)
    mutating func needsSecondWalk() throws(MessageError) -> Bool {
        guard scope.isOrdered else { return false }
        while number != .max {
            try skipValue()
            try advance()
        }
        return scope.isDisordered && walksAgain()
    }

    /// Goes to the beginning of the message, whose fields are found by a table from now on.
    /// - Returns: `false` if they have an order, or are not read to the end.
    @inline(never)
    mutating func walksAgain() -> Bool {
        guard !isOrdered() else { return false }
        var table = FieldTable()
        at = scope.begin
        do throws(MessageError) {
            while at < scope.end {
                try readKey()
                table.append(number, at: at, wireType)
                try skipValue()
            }
        } catch { return false }
        tables.removeLast(tables.count - scope.tables)
        tables.append(table)
        scope = Scope(
            begin: scope.begin, end: scope.end, isOrdered: false, isDisordered: true, tables: tables.count)
        (at, number) = (scope.begin, 0)
        return true
    }

    /// Whether each field has a greater number than the one before.
    private mutating func isOrdered() -> Bool {
        var last = 0
        at = scope.begin
        do throws(MessageError) {
            while at < scope.end {
                try readKey()
                guard number > last else { return false }
                last = number
                try skipValue()
            }
        } catch {}
        return true
    }
}
