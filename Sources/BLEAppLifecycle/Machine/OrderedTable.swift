/// A dictionary that is iterated in the order in which its keys were added.
///
/// Values are read and changed where they are: a dictionary of values copies one of them at each look, with everything
/// that it refers to.
struct OrderedTable<Key: Hashable, Value>: Sequence {
    private(set) var keys: [Key] = []
    /// In the order of `keys`; `nil` only while a value is being removed.
    private var values: [Value?] = []
    /// Only for lookup, never iterated.
    private var places: [Key: Int] = [:]

    var count: Int { keys.count }
    var isEmpty: Bool { keys.isEmpty }

    /// Where a key is. One of a few is found sooner by comparing than by its hash.
    @inline(__always)
    private func find(_ key: Key) -> Int? { keys.count <= 4 ? keys.firstIndex(of: key) : places[key] }

    /// A new key goes to the end; `nil` removes the key.
    subscript(key: Key) -> Value? {
        get {
            guard let place = find(key) else { return nil }
            return values[place]
        }
        set {
            if let place = find(key) {
                values[place] = newValue
                if newValue == nil { remove(at: place) }
            } else if let newValue {
                append(key, newValue)
            }
        }
        _modify {
            if let place = find(key) {
                yield &values[place]
                if values[place] == nil { remove(at: place) }
            } else {
                var value: Value?
                yield &value
                if let value { append(key, value) }
            }
        }
    }

    /// Reads a value in place: one that the subscript returns shares its arrays, so that changing them meanwhile would
    /// copy them.
    /// - Returns: `nil` if there is no value.
    @inline(__always)
    func withValue<Result>(of key: Key, _ body: (Value) -> Result) -> Result? {
        guard let place = find(key) else { return nil }
        return withValue(at: place, body)
    }

    /// Where a key is, for `withValue(at:)` and `change(at:)` until a key is removed.
    /// - Parameter hint: where it is likely to be.
    @inline(__always)
    func place(of key: Key, near hint: Int) -> Int? {
        hint < keys.count && keys[hint] == key ? hint : find(key)
    }

    /// Reads the value at a place, where it is: what is taken out of an array is copied, with all that it refers to.
    @inline(__always)
    func withValue<Result>(at place: Int, _ body: (Value) -> Result) -> Result? {
        unsafe values.withUnsafeBufferPointer { values in
            // Safe: a wrong place traps here, as in an array; an optimised buffer checks nothing itself.
            precondition(values.indices.contains(place))
            guard unsafe values[place] != nil else { return nil }
            return unsafe body(values[place].unsafelyUnwrapped)
        }
    }

    /// Changes the value at a place.
    @inline(__always)
    mutating func change(at place: Int, _ body: (inout Value) -> Void) { values[place].change(body) }

    /// Reads or changes all values in place, in order. None is copied, as a value is that is only read.
    @inline(__always)
    mutating func forEachInPlace(_ body: (Key, inout Value) -> Void) {
        for place in keys.indices { values[place].change { body(keys[place], &$0) } }
    }

    /// Changes a value in place; has no effect if there is none.
    @inline(__always)
    mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
        guard let place = find(key) else { return }
        values[place].change(body)
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = find(key) else { return nil }
        let value = values[place]
        remove(at: place)
        return value
    }

    mutating func removeAll(where isUnwanted: (Value) -> Bool) {
        for place in keys.indices.reversed() {
            if let value = values[place], isUnwanted(value) { remove(at: place) }
        }
    }

    mutating func removeAll() { self = Self() }

    private mutating func append(_ key: Key, _ value: Value) {
        places[key] = keys.count
        keys.append(key)
        values.append(value)
    }

    private mutating func remove(at place: Int) {
        places[keys.remove(at: place)] = nil
        values.remove(at: place)
        for later in place..<keys.count { places[keys[later]] = later }
    }

    struct Iterator: IteratorProtocol {
        fileprivate var values: Array<Value?>.Iterator

        mutating func next() -> Value? { values.next() ?? nil }
    }

    func makeIterator() -> Iterator { Iterator(values: values.makeIterator()) }
}

extension Optional {
    @inline(__always)
    fileprivate mutating func change(_ body: (inout Wrapped) -> Void) { if self != nil { body(&self!) } }
}
