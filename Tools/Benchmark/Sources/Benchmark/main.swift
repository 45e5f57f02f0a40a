import Glibc

/// Measures what the protocol code costs and holds it against the budgets.
///
///     Benchmark [--check] [WORD]…
///
/// Words choose the rows whose name contains one of them. With `--check` the exit status is 1 when a row is over its
/// budget.
var words = Array(CommandLine.arguments.dropFirst())
let isChecking = words.contains("--check")
words.removeAll { $0 == "--check" }

/// A new row goes into a list like these.
let measurements = AdvertisingMeasurements.all + AttributeMeasurements.all

let chosen = measurements.filter { row in words.isEmpty || words.contains { row.name.contains($0) } }
guard !chosen.isEmpty else {
    print("no row is named so; there are:")
    for row in measurements { print("  " + row.name) }
    exit(2)
}
var table = Table()
table.printHeader()
var checksum: UInt64 = 0
for row in chosen {
    let outcome = row.measure()
    checksum &+= outcome.checksum
    table.print(outcome, of: row)
}
if checksum == 0 { print("no row did any work") }
exit(isChecking && table.overBudget > 0 ? 1 : 0)
