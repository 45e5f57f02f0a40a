/// One line of the table: a figure, and what it is held against.
struct Row {
    enum Budget {
        case atMost(Double)
        case atLeast(Double)
    }

    let name: String
    let value: Double
    let unit: String
    var budget: Budget?
    /// Whether a value over the budget is a failure. Times are not: they are the machine's as much as ours.
    var isChecked = false
    var remark = ""

    /// The fields of the row, which `table.py` reads: name, value, unit, budget, `check` or nothing, peer's value,
    /// remark.
    var fields: String {
        let limit =
            switch budget {
            case .atMost(let limit): "<=\(limit)"
            case .atLeast(let limit): ">=\(limit)"
            case nil: ""
            }
        return [name, "\(value)", unit, limit, isChecked ? "check" : "", "", remark].joined(separator: "\t")
    }
}
