import Synchronization

/// A value that closures on the loop share.
final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// Counts from any thread.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
}
