/// The table that the benchmark prints, one row as soon as it is measured.
struct Table {
    private static let nameWidth = 58
    private static let columnWidth = 12

    /// Rows whose time or allocations exceed their budget.
    private(set) var overBudget = 0

    func printHeader() {
        printRow("operation", ["ns/op", "fastest", "allocs/op", "budget ns", "budget alloc", "ratio"])
        printRow(String(repeating: "-", count: Self.nameWidth - 1), Array(repeating: "-----", count: 6))
    }

    mutating func print(_ outcome: Outcome, of measurement: Measurement) {
        let ratio = measurement.budgetNanoseconds.map { outcome.nanoseconds / $0 }
        let isSlow = ratio.map { $0 > 1 } ?? false
        let isGreedy = measurement.budgetAllocations.map { outcome.allocations > $0 + 0.001 } ?? false
        if isSlow || isGreedy { overBudget += 1 }
        printRow(
            measurement.name,
            [
                text(outcome.nanoseconds, decimals: 1), text(outcome.fastestNanoseconds, decimals: 1),
                text(outcome.allocations, decimals: 2), text(measurement.budgetNanoseconds, decimals: 0),
                text(measurement.budgetAllocations, decimals: 0), text(ratio, decimals: 2),
            ], remark: isSlow || isGreedy ? "  over budget" : "")
    }

    private func printRow(_ name: String, _ columns: [String], remark: String = "") {
        var line = name + String(repeating: " ", count: max(1, Self.nameWidth - name.count))
        for column in columns {
            line += String(repeating: " ", count: max(1, Self.columnWidth - column.count)) + column
        }
        Swift.print(line + remark)
    }

    private func text(_ value: Double?, decimals: Int) -> String {
        guard let value else { return "-" }
        var scale = 1
        for _ in 0..<decimals { scale *= 10 }
        let scaled = Int((value * Double(scale)).rounded())
        guard decimals > 0 else { return String(scaled) }
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}
