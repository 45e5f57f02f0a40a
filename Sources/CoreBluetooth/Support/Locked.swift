import Synchronization

/// A value that several threads can use, one at a time.
final class Locked<Value>: @unchecked Sendable {
    // @unchecked Sendable is safe because the value is used only under the lock.
    private let lock = Mutex(())
    private var value: Value

    init(_ value: Value) { self.value = value }

    @inline(__always)
    func with<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.withLock { _ in Passed(result: body(&value)) }.result
    }

    /// What leaves the lock. `@unchecked Sendable` is safe because only the caller has it, on its own thread.
    private struct Passed<Result>: @unchecked Sendable { let result: Result }

    var current: Value { with { $0 } }
}

/// A table of objects that does not keep them alive.
final class WeakTable<Key: Hashable, Object: AnyObject>: @unchecked Sendable {
    // @unchecked Sendable is safe because the entries are used only under the lock.
    /// An object: to copy a weak reference costs more than to look one up.
    private final class Entry {
        weak var object: Object?
        init(_ object: Object) { self.object = object }
    }

    private let entries = Locked<[Key: Entry]>([:])

    subscript(key: Key) -> Object? { entries.with { $0[key]?.object } }

    /// Returns the object of the key, creating it if there is none, and whether it is new.
    func object(of key: Key, orMake make: () -> Object) -> (Object, isNew: Bool) {
        entries.with { entries in
            if let object = entries[key]?.object { return (object, false) }
            let object = make()
            entries[key] = Entry(object)
            return (object, true)
        }
    }

    /// Removes the key unless it has another object by now.
    /// - Returns: whether no object has the key now.
    @discardableResult
    func removeDead(_ key: Key) -> Bool {
        entries.with { entries in
            guard entries[key]?.object == nil else { return false }
            entries[key] = nil
            return true
        }
    }

    var objects: [Object] { entries.with { $0.values.compactMap(\.object) } }
}
