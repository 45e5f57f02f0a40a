import BLEGateway
import BLEJSON

/// The gateway's health and metrics.
struct StatusReport: Sendable {
    let core: GatewayCore
    let pool: AdapterPool
    let delivery: Delivery?
    let counters: CounterService?
    let bonds: BondedDevices
    let links: GatewayLinks?
    let gatt: GATTService?
    let proxy: ProxyService?
    let matter: MatterService?
    /// The settings in force.
    let currentSettings: @Sendable () -> GatewaySettings
    /// The keys of the settings whose changes need a restart.
    let waitingChanges: @Sendable () -> [String]
    let started = ContinuousClock.now

    /// Whether every part works, and a JSON object that names the parts that do not, with the reasons.
    /// - Parameter http: why the server does not serve as the settings want; `nil`: it does.
    func health(http: String?) -> (isHealthy: Bool, body: String) {
        var isHealthy = true
        let adapters = pool.runners.map { runner -> JSONValue in
            let status = runner.status
            let works = status.phase == .scanning && status.problem == nil
            if !works { isHealthy = false }
            let object: JSONValue = [
                "transport": .string(runner.settings.transport), "state": .string(status.phase.rawValue),
            ]
            return status.problem.map { object.adding("problem", .string($0)) } ?? object
        }
        var object: JSONValue = ["gateway": .string(core.name), "adapters": .array(adapters)]
        if let delivery {
            let isConnected = delivery.isConnected
            var queue: JSONValue = ["messages": .integer(delivery.depth + delivery.unwritten)]
            if let problem = delivery.storeProblem { queue = queue.adding("problem", .string(problem)) }
            if !isConnected || delivery.storeProblem != nil { isHealthy = false }
            object = object.adding("broker", broker(delivery)).adding("queue", queue)
        }
        for (key, problem) in [("counters", counters?.problem), ("bonds", bonds.problem), ("http", http)] {
            guard let problem else { continue }
            isHealthy = false
            object = object.adding(key, ["problem": .string(problem)])
        }
        // The settings in force work: that is no failure.
        let waiting = waitingChanges()
        if !waiting.isEmpty { object = object.adding("needRestart", JSONValue(waiting)) }
        let head: JSONValue = ["status": isHealthy ? "ok" : "failing"]
        guard case .object(let members) = object, case .object(let first) = head else { return (isHealthy, "") }
        return (isHealthy, JSONValue.object(first + members).text + "\n")
    }

    /// Reads the counters of the engines; returns when their threads have responded.
    func refreshCounters() async { for runner in pool.runners { await runner.refreshCounters() } }

    /// All counters in the text format of Prometheus.
    func metrics() -> String {
        var text = MetricsText()
        let spans = (ContinuousClock.now - started).components
        text.add("uptime_seconds", "gauge", "Time since the start.", Double(spans.seconds))
        let counters = core.counters
        text.add("devices", "gauge", "Devices that are remembered.", Double(core.deviceCount))
        text.add("reports_total", "counter", "Packets of devices.", counters.reports)
        text.add("reports_ignored_total", "counter", "Packets too weak, anonymous or private.", counters.ignoredReports)
        text.add("reports_changed_total", "counter", "Packets with other content.", counters.changedReports)
        text.add("reports_unreadable_total", "counter", "Packets whose key is missing.", counters.unreadableReports)
        text.add(
            "reports_replayed_total", "counter", "Encrypted packets whose counter went back.", counters.replayedReports)
        text.add(
            "reports_unprotected_total", "counter", "Packets in clear of devices that encrypt.",
            counters.unprotectedReports)
        text.add("documents_total", "counter", "Documents of devices.", counters.documents)
        text.add(
            "documents_filtered_total", "counter", "Documents that the filter held back.", counters.filteredReports)
        text.add("changes_held_total", "counter", "Changes that waited for the interval.", counters.heldChanges)
        text.add(
            "values_dropped_total", "counter", "Values of devices that had more than 64.", counters.droppedValues)
        text.add("devices_evicted_total", "counter", "Devices forgotten for lack of room.", counters.evictedDevices)
        text.add(
            "documents_unannounced_total", "counter", "Documents of devices beyond ‘homeAssistant.devices’.",
            counters.unannouncedDocuments)
        if let delivery { add(delivery, to: &text) }
        if let proxy { add(proxy, to: &text) }
        if let matter { add(matter, to: &text) }
        for runner in pool.runners { add(runner, to: &text) }
        if let gatt { add(gatt, to: &text) }
        addSamples(to: &text)
        return text.text
    }

    private func add(_ proxy: ProxyService, to text: inout MetricsText) {
        let counters = proxy.counters
        let slots = proxy.slots
        text.add("links_limit", "gauge", "Links that there can be at once.", Double(slots.limit))
        text.add("links", "gauge", "Links that are, begin or end.", Double(slots.taken.count))
        text.add("proxy_clients", "gauge", "Clients of the Bluetooth proxy.", Double(proxy.clientCount))
        text.add("proxy_connections_total", "counter", "Clients that connected.", counters.connections)
        text.add("proxy_refusals_total", "counter", "Clients sent away because there were too many.", counters.refusals)
        text.add(
            "proxy_violations_total", "counter", "Connections ended because of what the client sent.",
            counters.violations)
        text.add(
            "proxy_wrong_keys_total", "counter", "Connections ended because the client has another key or none.",
            counters.wrongKeys)
        text.add(
            "proxy_stalls_total", "counter", "Connections ended because the client did not read.", counters.stalls)
        text.add("proxy_batches_total", "counter", "Messages of advertisements that were sent.", counters.batches)
        text.add(
            "proxy_batches_dropped_total", "counter", "Messages of advertisements that a client was too slow for.",
            counters.droppedBatches)
    }

    private func add(_ matter: MatterService, to text: inout MetricsText) {
        let (counters, isServing) = (matter.counters, matter.isServing)
        text.add("matter_connected", "gauge", "Whether the matter-server has said Hello.", isServing ? 1 : 0)
        text.add("matter_sessions_total", "counter", "Sessions with the matter-server.", counters.sessions)
        text.add("matter_commands_total", "counter", "Commands of the matter-server.", counters.commands)
        text.add("matter_failures_total", "counter", "Commands that were answered by an error.", counters.failures)
        text.add("matter_devices_total", "counter", "Devices that were reported to it.", counters.devices)
        text.add(
            "matter_devices_dropped_total", "counter", "Devices that it was too slow for.", counters.droppedDevices)
        text.add(
            "matter_violations_total", "counter", "Sessions ended because of what the matter-server sent.",
            counters.violations)
        text.add(
            "matter_stalls_total", "counter", "Sessions ended because the matter-server did not read.", counters.stalls)
    }

    private func add(_ delivery: Delivery, to text: inout MetricsText) {
        let counters = delivery.counters
        text.add(
            "mqtt_connected", "gauge", "Whether the broker has accepted the session.", delivery.isConnected ? 1.0 : 0)
        text.add("mqtt_sessions_total", "counter", "Sessions that the broker accepted.", UInt64(delivery.connections))
        text.add("mqtt_disconnections_total", "counter", "Sessions that were lost.", counters.disconnections)
        text.add("mqtt_sent_total", "counter", "Messages sent.", counters.sent)
        text.add("mqtt_acknowledged_total", "counter", "Messages that the broker acknowledged.", counters.acknowledged)
        text.add("mqtt_refused_total", "counter", "Messages that the broker refused.", counters.refused)
        addRefusals(delivery, to: &text)
        text.add("mqtt_in_flight", "gauge", "Messages without acknowledgement.", Double(delivery.onTheWay))
        text.add(
            "mqtt_unwritten", "gauge", "Messages of quality 0 that wait until the broker reads.", delivery.unqueued)
        text.add("mqtt_unsent_total", "counter", "Messages of quality 0 without a broker that reads.", counters.unsent)
        text.add("queue_messages", "gauge", "Messages in the queue on disk.", Double(delivery.depth))
        text.add(
            "queue_unwritten_messages", "gauge", "Messages in memory that are not on disk yet.",
            Double(delivery.unwritten))
        text.add("queue_enqueued_total", "counter", "Messages that entered the queue.", counters.enqueued)
        text.add("queue_dropped_total", "counter", "Messages dropped because the queue was full.", counters.dropped)
        text.add("queue_failures_total", "counter", "Failures to write the queue.", counters.storeFailures)
    }

    private func add(_ runner: AdapterRunner, to text: inout MetricsText) {
        let status = runner.status
        let engine = status.counters
        func add(_ name: String, _ type: String, _ help: String, _ value: UInt64) {
            text.add("adapter_" + name, type, help, value, adapter: runner.settings.transport)
        }
        add("scanning", "gauge", "Whether the adapter scans.", status.phase == .scanning ? 1 : 0)
        add("openings_total", "counter", "How often it was opened.", status.openings)
        add("failures_total", "counter", "How often it failed.", status.failures)
        add("silences_total", "counter", "How often it was reopened because it heard nothing.", status.silences)
        add("discoveries_dropped_total", "counter", "Packets not taken in time.", status.dropped)
        let rows: [(String, UInt64)] = [
            ("advertising_reports", engine.advertisingReports), ("malformed_packets", engine.malformedPackets),
            ("unexpected_events", engine.unexpectedEvents), ("command_timeouts", engine.commandTimeouts),
            ("controller_resets", engine.controllerResets), ("transport_reopenings", engine.transportReopenings),
            ("hardware_errors", engine.hardwareErrors), ("desynchronisations", engine.desynchronisations),
            ("scan_restarts", engine.scanRestarts), ("forgotten_devices", engine.forgottenDevices),
            ("dropped_discoveries", engine.droppedDiscoveries), ("stray_packets", engine.strayPackets),
            ("oversized_frames", engine.oversizedFrames),
        ]
        for (name, value) in rows {
            add("engine_\(name)_total", "counter", "Of the engine since the adapter was opened.", value)
        }
    }
}
