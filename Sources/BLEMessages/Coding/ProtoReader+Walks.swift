/// Everything but the usual case that the next field is the wanted one, or a later one.
extension ProtoReader {
    /// Goes to a field behind the next one.
    /// - Returns: whether it is there.
    @inline(never)
    mutating func find(_ wanted: Int) throws(MessageError) -> Bool {
        guard scope.isOrdered else {
            // The last one counts.
            var found: (at: Int, wireType: UInt8)?
            at = scope.begin
            while try search(wanted) {
                found = (at, wireType)
                try skipValue()
            }
            guard let found else { return false }
            (at, wireType) = found
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
                guard try search(list) else { return false }
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
        try skipValue()
        try advance()
        return true
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
        if scope.isDisordered { walkAgain() }
        return scope.isDisordered
    }

    mutating func walkAgain() {
        scope = Scope(begin: scope.begin, end: scope.end, isOrdered: false, isDisordered: true)
        (at, number) = (scope.begin, 0)
    }
}
