/// The planned actions of the air by time; those with the same time happen in the order in which they were added.
struct Agenda {
    private struct Entry {
        var time: Int64
        var number: UInt64
        var action: () -> Void

        func isBefore(_ other: Entry) -> Bool {
            time != other.time ? time < other.time : number < other.number
        }
    }

    /// A binary heap: no entry is earlier than its parent at `(index - 1) / 2`.
    private var heap: [Entry] = []
    private var noted: UInt64 = 0

    /// When the next action is due, in microseconds.
    var nextTime: Int64? { heap.first?.time }

    mutating func schedule(at time: Int64, _ action: @escaping () -> Void) {
        heap.append(Entry(time: time, number: noted, action: action))
        noted &+= 1
        var index = heap.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard heap[index].isBefore(heap[parent]) else { break }
            heap.swapAt(index, parent)
            index = parent
        }
    }

    /// Takes the next action that is due at `time` or earlier.
    mutating func next(until time: Int64) -> (time: Int64, action: () -> Void)? {
        guard let first = heap.first, first.time <= time else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return (first.time, first.action) }
        heap[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count {
                if heap[child].isBefore(heap[least]) { least = child }
            }
            guard least != index else { break }
            heap.swapAt(index, least)
            index = least
        }
        return (first.time, first.action)
    }
}
