import Glibc

/// Measures what the protocol code costs. `Tools/benchmark` runs it and prints its rows as a table.
///
///     Benchmark [--allocations] [WORD]…
///
/// Words choose the rows whose name contains one of them. With `--allocations` only those that are checked, after few
/// operations.
let words = CommandLine.arguments.dropFirst().filter { $0 != "--allocations" }
let countsOnly = CommandLine.arguments.contains("--allocations")

func isChosen(_ name: String) -> Bool { words.isEmpty || words.contains { name.contains($0) } }

func show(_ row: Row) {
    print(row.fields)
    fflush(nil)
}

/// The recordings; `Tools/benchmark` runs this in Tools/Benchmarks.
let fixtures = getenv("FIXTURES").map { String(cString: $0) } ?? "../../Fixtures"

var checksum: UInt64 = 0

/// A new measurement goes into a list like these.
let measurements =
    AdvertisingMeasurements.all + AttributeMeasurements.all + ServerMeasurements.all + ScanMeasurements.all
    + LinkMeasurements.all + SecurityMeasurements.all
for measurement in measurements where isChosen(measurement.name) {
    guard !countsOnly || measurement.budgetAllocations != nil else { continue }
    let outcome = measurement.measure(rounds: countsOnly ? 1 : 9)
    checksum &+= outcome.checksum
    for row in measurement.rows(of: outcome) where !countsOnly || row.isChecked { show(row) }
}
guard !countsOnly else { exit(0) }
for row in ServerMeasurements.memory() + ScanMeasurements.memory() where isChosen(row.name) { show(row) }
for crowd in ScanLoad.Crowd.allCases where isChosen(ScanMeasurements.memoryName(of: crowd)) {
    show(ScanMeasurements.memory(of: crowd))
}
if isChosen(ReplaySpeed.name) { show(ReplaySpeed.row(of: fixtures)) }
