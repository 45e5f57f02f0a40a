import CAllocationCounter
import Glibc

/// An operation that is measured again and again, and what it may cost.
struct Measurement: Sendable {
    /// Does the operation so many times, and returns a number that depends on every result, so that the compiler
    /// cannot leave the work out.
    typealias Operation = (_ count: Int) -> UInt64

    /// What the operation does, as the table names it.
    let name: String
    /// Nanoseconds that one operation may take; `nil` where nothing is agreed.
    let budgetNanoseconds: Double?
    /// Allocations that one operation may make; `nil` where nothing is agreed.
    let budgetAllocations: Double?
    /// Operations in a second that there must be.
    let budgetRate: Double?
    /// Makes what the operation works on.
    let prepare: @Sendable () -> Operation

    init(
        _ name: String, nanoseconds: Double? = nil, allocations: Double? = nil, rate: Double? = nil,
        prepare: @escaping @Sendable () -> Operation
    ) {
        self.name = name
        budgetNanoseconds = nanoseconds
        budgetAllocations = allocations
        budgetRate = rate
        self.prepare = prepare
    }

    /// An operation that needs nothing but its arguments.
    init(
        _ name: String, nanoseconds: Double? = nil, allocations: Double? = nil,
        run: @escaping @Sendable (_ count: Int) -> UInt64
    ) {
        self.init(name, nanoseconds: nanoseconds, allocations: allocations, prepare: { run })
    }
}

/// What an operation cost.
struct Outcome {
    /// Of the median round.
    var nanoseconds: Double
    /// Of the fastest round: what the machine can do when nobody is in its caches.
    var fastestNanoseconds: Double
    var allocations: Double
    /// Printed nowhere, but kept.
    var checksum: UInt64
}

extension Measurement {
    /// Measures several rounds of about a twentieth of a second each, in time that this thread computed: a machine that
    /// others use too has no other.
    func measure(rounds: Int = 9) -> Outcome {
        let run = prepare()
        var checksum: UInt64 = 0
        var count = 1
        while true {
            let start = Self.computedNanoseconds
            checksum &+= run(count)
            let duration = Self.computedNanoseconds - start
            if duration > 20e6 {
                count = max(1, Int(Double(count) * 50e6 / duration))
                break
            }
            count *= 4
        }
        var times: [Double] = []
        times.reserveCapacity(rounds)
        var allocations = UInt64.max
        for _ in 0..<rounds {
            let allocationsBefore = allocation_counter_value()
            let start = Self.computedNanoseconds
            checksum &+= run(count)
            let duration = Self.computedNanoseconds - start
            allocations = min(allocations, allocation_counter_value() - allocationsBefore)
            times.append(duration / Double(count))
        }
        times.sort()
        return Outcome(
            nanoseconds: times[rounds / 2], fastestNanoseconds: times[0],
            allocations: Double(allocations) / Double(count), checksum: checksum)
    }

    private static var computedNanoseconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    func rows(of outcome: Outcome) -> [Row] {
        var rows = [
            Row(
                name: name, value: outcome.nanoseconds, unit: "ns", budget: budgetNanoseconds.map { .atMost($0) },
                remark: "fastest \(Int(outcome.fastestNanoseconds.rounded()))"),
            Row(
                name: name, value: outcome.allocations, unit: "allocations",
                // A queue that grows once in a million operations allocates nothing in each.
                budget: budgetAllocations.map { .atMost($0 + 0.001) }, isChecked: budgetAllocations != nil),
        ]
        if let budgetRate {
            rows.append(
                Row(name: name, value: 1e9 / outcome.nanoseconds, unit: "1/s", budget: .atLeast(budgetRate)))
        }
        return rows
    }
}

/// Does an operation on one sample after the other, `count` times in all.
@inline(__always)
func turns(_ count: Int, over samples: [[UInt8]], _ operation: ([UInt8]) -> UInt64) -> UInt64 {
    var checksum: UInt64 = 0
    for turn in 0..<count {
        checksum = checksum &* 31 &+ operation(samples[turn % samples.count])
    }
    return checksum
}
