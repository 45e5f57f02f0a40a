import BLELogging
import BLEMetrics
import BLEServiceLifecycle
import BLETestKit
import Logging
import MetricsTestKit
import ServiceLifecycle
import Synchronization
import Testing

@Suite("Logs, metrics and the service of an adapter")
struct ServicesTests {
    private var belt: TestDevice {
        TestDevice("Belt") {
            TestService(.heartRate) {
                TestCharacteristic(.heartRateMeasurement, [.notify]).notifying(every: .milliseconds(50)) { _ in [0, 72]
                }
                TestCharacteristic(.bodySensorLocation, [.read], value: [0xAB, 0xCD])
            }
        }
    }

    @Test("what happens is logged at its level, with its peer, and no value ever")
    func logs() async throws {
        let radio = try TestRadio { belt }
        let lines = LogLines()
        let adapter = try await radio.openAdapter { configuration in
            var logger = Logger(label: "bluetooth") { _ in RecordingHandler(lines: lines) }
            logger.logLevel = .trace
            configuration.logger = logger
            #expect(configuration.logger?.label == "bluetooth")
        }
        try await adapter.withConnection(to: "Belt", timeout: .seconds(600)) { belt in
            _ = try await belt.read(belt.findCharacteristic(.bodySensorLocation))
            await #expect(throws: BLEError.self) { try await belt.read(AttributeHandle(rawValue: 0xFFF0)) }
            for try await _ in try await belt.notifications(of: belt.findCharacteristic(.heartRateMeasurement)) {
                break
            }
        }
        await adapter.close()
        let all = lines.all
        #expect(all.contains { $0.hasPrefix("info the controller is ready") })
        #expect(all.contains { $0.hasPrefix("info connected") && $0.contains("peer=") && $0.contains("role=central") })
        #expect(all.contains { $0.hasPrefix("trace a value arrived") && $0.contains("octets=2") })
        #expect(all.contains { $0.hasPrefix("debug an operation failed") && $0.contains("code=refusedByDevice") })
        #expect(all.contains { $0.hasPrefix("info disconnected: closed by this side") })
        #expect(all.last?.hasPrefix("info the adapter was closed") == true)
        #expect(!all.contains { $0.lowercased().contains("abcd") || $0.contains("171, 205") })
    }

    @Test("what happens is counted and timed")
    func metrics() async throws {
        let radio = try TestRadio { belt }
        let metrics = TestMetrics()
        let adapter = try await radio.openAdapter { $0.recordMetrics(factory: metrics) }
        try await adapter.withConnection(to: "Belt", timeout: .seconds(600)) { belt in
            await #expect(throws: BLEError.self) { try await belt.read(AttributeHandle(rawValue: 0xFFF0)) }
            for try await _ in try await belt.notifications(of: belt.findCharacteristic(.heartRateMeasurement)) {
                break
            }
        }
        await adapter.close()
        let connections = try metrics.expectCounter(
            "ble_connections_total", [("adapter", "sim"), ("role", "central")])
        #expect(connections.totalValue == 1)
        let ends = try metrics.expectCounter(
            "ble_disconnections_total", [("adapter", "sim"), ("reason", "released")])
        #expect(ends.totalValue == 1)
        let errors = try metrics.expectCounter(
            "ble_operation_errors_total",
            [("adapter", "sim"), ("operation", "gatt"), ("code", "refusedByDevice")])
        #expect(errors.totalValue == 1)
        #expect(try metrics.expectCounter("ble_values_total", [("adapter", "sim")]).totalValue >= 1)
        let timer = try metrics.expectTimer("ble_operation_seconds", [("adapter", "sim"), ("operation", "connect")])
        #expect(timer.values.count == 1)
    }

    @Test("a service opens its adapter again when it is lost, and closes it at a graceful shutdown")
    func service() async throws {
        let radio = try TestRadio { belt }
        let openings = Atomic(0)
        let hasEnded = Atomic(false)
        let service = AdapterService(
            "sim", configuration: radio.configuration(), pause: Duration.milliseconds(1)...Duration.milliseconds(10)
        ) { adapter in
            openings.add(1, ordering: .relaxed)
            for try await _ in adapter.scan(ScanRequest(allowsDuplicates: true)) {}
        }
        #expect("\(service)" == "AdapterService(sim)")
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: service)], logger: Logger(label: "test")))
        let running = Task {
            defer { hasEnded.store(true, ordering: .relaxed) }
            try await group.run()
        }
        // A service that fails ends the group, and the test with its error.
        for number in 1...5 {
            try await eventually { openings.load(ordering: .relaxed) == number || hasEnded.load(ordering: .relaxed) }
            guard !hasEnded.load(ordering: .relaxed) else { break }
            radio.unplug()
            radio.plugIn()
        }
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(openings.load(ordering: .relaxed) >= 5)
    }

    private func eventually(_ holds: () -> Bool) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(300))
        while !holds() {
            try #require(ContinuousClock.now < end)
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

private final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
}

private struct RecordingHandler: LogHandler {
    let lines: LogLines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let pairs = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        lines.append("\(event.level) \(event.message) \(pairs)")
    }
}
