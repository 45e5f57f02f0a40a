/// A heap of numbers: the smallest is removed first.
struct IndexHeap {
    private var numbers: [Int] = []

    mutating func insert(_ number: Int) {
        var place = numbers.count
        numbers.append(number)
        while place > 0, numbers[(place - 1) / 2] > number {
            numbers[place] = numbers[(place - 1) / 2]
            place = (place - 1) / 2
        }
        numbers[place] = number
    }

    /// Removes and returns the smallest number; `nil` if the heap is empty.
    mutating func removeLeast() -> Int? {
        guard let least = numbers.first, let last = numbers.popLast() else { return nil }
        if numbers.isEmpty { return least }
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < numbers.count else { break }
            if child + 1 < numbers.count, numbers[child + 1] < numbers[child] { child += 1 }
            guard numbers[child] < last else { break }
            numbers[place] = numbers[child]
            place = child
        }
        numbers[place] = last
        return least
    }
}
