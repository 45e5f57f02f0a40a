import Glibc

/// Measures what the protocol code costs. `Tools/benchmark` runs it and prints its rows as a table.
///
///     Benchmark [WORD]…
///
/// Words choose the rows whose name contains one of them.
let words = CommandLine.arguments.dropFirst()

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
    let outcome = measurement.measure()
    checksum &+= outcome.checksum
    for row in measurement.rows(of: outcome) { show(row) }
}
for crowd in ScanLoad.Crowd.allCases where isChosen(ScanMeasurements.memoryName(of: crowd)) {
    show(ScanMeasurements.memory(of: crowd))
}
if isChosen(ReplaySpeed.name) { show(ReplaySpeed.row(of: fixtures)) }
