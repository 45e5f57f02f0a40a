/// A dictionary that is iterated in the order in which its keys were added.
struct OrderedTable<Key: Hashable, Value>: Sequence {
    private(set) var keys: [Key] = []
    private var values: [Key: Value] = [:]

    var count: Int { keys.count }
    var isEmpty: Bool { keys.isEmpty }

    /// A new key goes to the end; `nil` removes the key.
    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            if newValue == nil { remove(key) } else { self.update(key, newValue) }
        }
        _modify {
            let before = values.count
            yield &values[key]
            if values.count > before {
                keys.append(key)
            } else if values.count < before {
                keys.removeAll { $0 == key }
            }
        }
    }

    /// Reads a value in place: one that the subscript returns shares its arrays, so that changing them meanwhile would
    /// copy them.
    /// - Returns: `nil` if there is no value.
    func withValue<Result>(of key: Key, _ body: (Value) -> Result) -> Result? {
        values.index(forKey: key).map { body(values.values[$0]) }
    }

    private mutating func update(_ key: Key, _ value: Value?) {
        guard let value else { return }
        if values.updateValue(value, forKey: key) == nil { keys.append(key) }
    }

    /// Changes a value in place; has no effect if there is none.
    mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
        if let index = values.index(forKey: key) { body(&values.values[index]) }
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let value = values.removeValue(forKey: key) else { return nil }
        keys.removeAll { $0 == key }
        return value
    }

    mutating func removeAll(where isUnwanted: (Value) -> Bool) {
        for key in keys {
            if let value = values[key], isUnwanted(value) { values[key] = nil }
        }
        keys.removeAll { values[$0] == nil }
    }

    mutating func removeAll() {
        keys = []
        values = [:]
    }

    struct Iterator: IteratorProtocol {
        fileprivate var keys: Array<Key>.Iterator
        fileprivate let values: [Key: Value]

        mutating func next() -> Value? {
            while let key = keys.next() {
                if let value = values[key] { return value }
            }
            return nil
        }
    }

    func makeIterator() -> Iterator { Iterator(keys: keys.makeIterator(), values: values) }
}
