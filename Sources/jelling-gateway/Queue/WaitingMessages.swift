/// Messages in memory that wait for the disk or the broker, oldest first; bounded by their number and their octets.
struct WaitingMessages {
    private(set) var messages: [QueuedMessage] = []
    /// The octets of the topics and payloads.
    private var size = 0
    private let countLimit: Int
    private let sizeLimit: Int

    /// - Parameter sizeLimit: the maximum number of octets.
    init(countLimit: Int, sizeLimit: Int) {
        self.countLimit = countLimit
        self.sizeLimit = sizeLimit
    }

    var count: Int { messages.count }
    var isEmpty: Bool { messages.isEmpty }

    /// - Returns: the number of messages that were removed because there were too many, the oldest first.
    mutating func add(_ new: [QueuedMessage]) -> Int {
        messages += new
        size += Self.size(of: new)
        // Many at once, because each removal moves all the others.
        guard count > countLimit / 16 * 17 || size > sizeLimit else { return 0 }
        var excess = max(0, count - countLimit)
        var rest = size - Self.size(of: messages.prefix(excess))
        while rest > sizeLimit / 16 * 15, excess < count {
            rest -= messages[excess].size
            excess += 1
        }
        messages.removeFirst(excess)
        size = rest
        return excess
    }

    /// Puts messages back that were taken.
    mutating func putBack(_ taken: some Collection<QueuedMessage>, at index: Int = 0) {
        messages.insert(contentsOf: taken, at: min(index, count))
        size += Self.size(of: taken)
    }

    mutating func take(_ number: Int = .max) -> [QueuedMessage] {
        let taken = Array(messages.prefix(number))
        messages.removeFirst(taken.count)
        size -= Self.size(of: taken)
        return taken
    }

    /// - Parameter indexes: in ascending order.
    mutating func take(at indexes: [Int]) -> [QueuedMessage] {
        let taken = indexes.map { messages[$0] }
        for index in indexes.reversed() { messages.remove(at: index) }
        size -= Self.size(of: taken)
        return taken
    }

    mutating func take(at index: Int) -> QueuedMessage {
        let message = messages.remove(at: index)
        size -= message.size
        return message
    }

    private static func size(of messages: some Collection<QueuedMessage>) -> Int {
        messages.reduce(0) { $0 + $1.size }
    }
}
