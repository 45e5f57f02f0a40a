import BLEJSON

/// What a run of the benchmark measured.
struct BenchResult: Sendable {
    var scenario: BenchScenario
    var bearer: String
    var bearerText: String
    /// Packets and octets that crossed the link.
    var packets = 0
    var bytes = 0
    /// Packets that did not arrive, or were not acknowledged.
    var lost = 0
    var seconds = 0.0
    /// Round trips, in seconds.
    var roundTrips: [Double] = []

    var bytesPerSecond: Double { seconds > 0 ? Double(bytes) / seconds : 0 }

    func object(role: String) -> JSONValue {
        var object: JSONValue = [
            "event": "bench", "role": .string(role), "scenario": .string(scenario.rawValue), "bearer": .string(bearer),
            "packets": JSONValue(packets), "bytes": JSONValue(bytes), "lost": JSONValue(lost),
            "seconds": .number(seconds),
            "bytesPerSecond": JSONValue(Int(bytesPerSecond)),
        ]
        if let statistics {
            object = object.adding(
                "roundTripMilliseconds",
                [
                    "min": .number(statistics.min * 1000), "median": .number(statistics.median * 1000),
                    "mean": .number(statistics.mean * 1000), "percentile99": .number(statistics.percentile99 * 1000),
                    "max": .number(statistics.max * 1000),
                ])
        }
        return object
    }

    var text: String { "\(scenario.rawValue): \(measured) (\(bearerText))" }

    /// The text without the scenario and the bearer.
    var measured: String {
        let loss = lost > 0 ? ", \(lost) lost" : ""
        if let statistics {
            func milliseconds(_ seconds: Double) -> String { LinkSummaryOutput.decimal(seconds * 1000, digits: 2) }
            return
                "\(roundTrips.count) round trips\(loss): median \(milliseconds(statistics.median)) ms, "
                + "99 % \(milliseconds(statistics.percentile99)), min \(milliseconds(statistics.min)), "
                + "max \(milliseconds(statistics.max))"
        }
        return
            "\(packets) packets, \(bytes) B in \(LinkSummaryOutput.decimal(seconds, digits: 3)) s"
            + "\(loss): \(Self.rate(bytesPerSecond))"
    }

    /// A rate in a unit that suits it.
    static func rate(_ bytesPerSecond: Double) -> String {
        let bits = bytesPerSecond * 8
        let bitText =
            bits >= 1e6
            ? "\(LinkSummaryOutput.decimal(bits / 1e6, digits: 2)) Mbit/s"
            : "\(LinkSummaryOutput.decimal(bits / 1e3, digits: 1)) kbit/s"
        return bytesPerSecond >= 1000
            ? "\(LinkSummaryOutput.decimal(bytesPerSecond / 1000, digits: 1)) kB/s, \(bitText)"
            : "\(Int(bytesPerSecond)) B/s, \(bitText)"
    }

    struct Statistics {
        var min, median, mean, percentile99, max: Double
    }

    var statistics: Statistics? {
        let sorted = roundTrips.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        return Statistics(
            min: first, median: sorted[sorted.count / 2], mean: sorted.reduce(0, +) / Double(sorted.count),
            percentile99: sorted[min(sorted.count - 1, sorted.count * 99 / 100)], max: last)
    }
}
