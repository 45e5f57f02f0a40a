import BLE
import BLEGateway
import BLEJSON

/// What `/api` and `/events` say.
extension StatusReport {
    /// How many devices are looked at before the radio has its turn.
    private static let portion = 64

    // MARK: Devices

    /// A page of devices.
    func devices(after place: Int, limit: Int) -> [UInt8] {
        var octets = Array("{\"devices\":[".utf8)
        var place = place
        var count = 0
        while count < limit {
            let (documents, next) = core.deviceDocuments(after: place, limit: min(Self.portion, limit - count))
            for document in documents {
                if count > 0 { octets.append(UInt8(ascii: ",")) }
                document.write(into: &octets)
                count += 1
            }
            guard let next else { return octets + Array("]}\n".utf8) }
            place = next
        }
        return octets + Array("],\"next\":\(place)}\n".utf8)
    }

    func device(_ address: String) -> String? { core.deviceDocument(of: address).map { $0.text + "\n" } }

    /// What has happened to devices since the last call.
    func deviceEvents() -> [GatewayEvent] {
        var events: [GatewayEvent] = []
        var place = -1
        while true {
            let (more, next) = core.drainDeviceEvents(after: place, limit: Self.portion)
            events += more
            guard let next else { return events }
            place = next
        }
    }

    // MARK: Parts

    var adapterStates: [JSONValue] {
        pool.runners.map { runner in
            let status = runner.status
            var object: JSONValue = [
                "transport": .string(runner.settings.transport), "state": .string(status.phase.rawValue),
                "openings": JSONValue(status.openings), "failures": JSONValue(status.failures),
                "silences": JSONValue(status.silences), "reports": JSONValue(status.counters.advertisingReports),
                "dropped": JSONValue(status.dropped),
            ]
            if let problem = status.problem { object = object.adding("problem", .string(problem)) }
            return object
        }
    }

    func adapters() -> String { JSONValue.object([.init(key: "adapters", value: .array(adapterStates))]).text + "\n" }

    var queueState: JSONValue {
        guard let delivery else { return [:] }
        let counters = delivery.counters
        var object: JSONValue = [
            "connected": .boolean(delivery.isConnected), "messages": .integer(delivery.depth),
            "unwritten": .integer(delivery.unwritten), "onTheWay": .integer(delivery.onTheWay),
            "sent": JSONValue(counters.sent), "acknowledged": JSONValue(counters.acknowledged),
            "dropped": JSONValue(counters.dropped),
        ]
        if let problem = delivery.storeProblem ?? delivery.brokerProblem {
            object = object.adding("problem", .string(problem))
        }
        return object
    }

    func queue() -> String { queueState.text + "\n" }

    func sessions() -> String {
        if let gatt { return gatt.shown.text + "\n" }
        let slots = links?.slots
        let taken = (slots?.taken ?? []).map { address -> JSONValue in
            ["address": .string(DeviceAddress(value: address, kind: .public).addressText), "state": "taken"]
        }
        let object: JSONValue = [
            "slots": .integer(slots?.limit ?? 0), "free": .integer(slots?.free ?? 0), "sessions": .array(taken),
        ]
        return object.text + "\n"
    }

    func settings() -> String {
        let waiting = waitingChanges()
        let shown = currentSettings().shown
        return (waiting.isEmpty ? shown : shown.adding("needRestart", JSONValue(waiting))).text + "\n"
    }

    // MARK: Metrics

    /// More would be too much for whoever collects metrics; a sender that invents addresses could cause it.
    private static let sampleLimit = 5000
    private static let nameLimit = 64

    func add(_ gatt: GATTService, to text: inout MetricsText) {
        let counters = gatt.counters
        text.add("gatt_requests_total", "counter", "Requests for GATT without a mistake.", counters.requests)
        text.add("gatt_malformed_total", "counter", "Requests for GATT with a mistake.", counters.malformed)
        text.add("gatt_repeated_total", "counter", "Requests for GATT that were seen before.", counters.repeated)
        text.add("gatt_refused_total", "counter", "Requests for GATT when too many waited.", counters.refused)
    }

    func addSamples(to text: inout MetricsText) {
        let (samples, omitted) = core.sensorSamples(limit: Self.sampleLimit)
        for sample in samples {
            text.add(
                "sensor", "gauge", "The last value that a device has sent, no older than in documents.", sample.value,
                labels: [
                    ("address", sample.address), ("name", String(sample.name.prefix(Self.nameLimit))),
                    ("location", sample.location), ("quantity", sample.quantity), ("unit", sample.unit),
                ])
        }
        text.add("sensors", "gauge", "Values of devices above.", Double(samples.count))
        text.add("sensors_omitted", "gauge", "Values beyond the first 5,000.", Double(omitted))
    }
}
