import BLEHost
import BLEJSON
import BLESensors

/// A decoded value of a device, as metrics have it.
public struct SensorSample: Equatable, Sendable {
    /// As in topics.
    public var address: String
    public var name: String
    /// Where the device is, as the settings say; empty for unknown.
    public var location: String
    /// What was measured, such as `temperature`.
    public var quantity: String
    public var unit: String
    /// 1 for true and 0 for false.
    public var value: Double
}

/// What is known of devices, for those who ask and those who watch. Devices that the filter excludes are not shown.
extension Gateway {
    /// The documents of devices, in the order of their places.
    /// - Returns: `next`: the last place that was looked at; `nil`: there are no more.
    public func deviceDocuments(after place: Int, limit: Int) -> (documents: [JSONValue], next: Int?) {
        var documents: [JSONValue] = []
        for slot in devices.indices.dropFirst(max(0, place + 1)) where devices[slot].isShown {
            documents.append(shownDocument(devices[slot]))
            if documents.count == limit { return (documents, slot == devices.count - 1 ? nil : slot) }
        }
        return (documents, nil)
    }

    /// The document of a device.
    /// - Parameter address: its address on the air, or that of its identity, or the name of an identity without address.
    public func deviceDocument(of address: String) -> JSONValue? {
        let wanted = address.uppercased()
        let found = devices.first {
            $0.isShown && ($0.address.addressText == wanted || addressText(of: $0).uppercased() == wanted)
        }
        return found.map(shownDocument)
    }

    /// Whether the device with these digits as its address has a random one; `nil`: none was heard.
    public func isRandom(_ address: UInt64) -> Bool? {
        let found = devices.filter { $0.isInUse && $0.address.value == address }
        return found.max { $0.lastHeard < $1.lastHeard }?.address.isRandom
    }

    /// What has happened to devices since the last call, in the order of their places: the document of a device if its
    /// content has changed, otherwise only its signal.
    /// - Returns: `next`: the last place that was looked at; `nil`: there are no more.
    public mutating func drainDeviceEvents(after place: Int, limit: Int) -> (events: [GatewayEvent], next: Int?) {
        var events: [GatewayEvent] = []
        if place < 0 {
            events = forgotten.map { GatewayEvent(.device, device: $0, ["device": .string($0), "gone": true]) }
            forgotten = []
        }
        for slot in devices.indices.dropFirst(max(0, place + 1)) where devices[slot].isShown {
            guard devices[slot].hasNews || devices[slot].lastHeard > devices[slot].lastShown else { continue }
            let value = devices[slot].hasNews ? shownDocument(devices[slot]) : signalDocument(devices[slot])
            events.append(GatewayEvent(.device, device: addressText(of: devices[slot]), value))
            devices[slot].hasNews = false
            devices[slot].lastShown = devices[slot].lastHeard
            if events.count >= limit { return (events, slot == devices.count - 1 ? nil : slot) }
        }
        return (events, nil)
    }

    /// The decoded values that are not older than documents have them, those of devices in the settings first, then
    /// those that were received last.
    /// - Returns: `omitted`: how many there were beyond `limit`.
    public func sensorSamples(limit: Int, at now: Instant) -> (samples: [SensorSample], omitted: Int) {
        var order = devices.indices.filter { devices[$0].isShown && !devices[$0].values.isEmpty }
        order.sort { first, second in
            let (a, b) = (devices[first], devices[second])
            return (a.isNamed ? 1 : 0, a.lastHeard, second) > (b.isNamed ? 1 : 0, b.lastHeard, first)
        }
        var samples: [SensorSample] = []
        var omitted = 0
        for slot in order {
            let device = devices[slot]
            for value in device.values where value.heard.advanced(by: configuration.pace.valueLifetime) >= now {
                let quantity = value.field.name
                guard let number = value.field.value.sample, !isEvent(quantity), !isCounter(quantity) else { continue }
                guard samples.count < limit else {
                    omitted += 1
                    continue
                }
                samples.append(
                    SensorSample(
                        address: addressText(of: device), name: name(of: device) ?? "",
                        location: location(of: device) ?? "", quantity: quantity, unit: value.field.unit,
                        value: number))
            }
        }
        return (samples, omitted)
    }

    func location(of device: HeardDevice) -> String? { device.settings.flatMap { configuration.devices[$0].location } }

    private func shownDocument(_ device: HeardDevice) -> JSONValue {
        var value = JSONValue.object([.init(key: "device", value: .string(addressText(of: device)))])
        if case .object(let members) = document(device, best(device)), case .object(let head) = value {
            value = .object(head + members)
        }
        if let location = location(of: device) { value = value.adding("location", .string(location)) }
        if let isPresent = presences[addressText(of: device)]?.isPresent {
            value = value.adding("present", .boolean(isPresent))
        }
        return value
    }

    private func signalDocument(_ device: HeardDevice) -> JSONValue {
        var value: JSONValue = [
            "device": .string(addressText(of: device)), "address": .string(device.address.addressText),
            "time": .string(timestamp(unixMicroseconds: device.heardUnix)),
        ]
        if let signal = best(device) {
            value = value.adding("adapter", .string(adapterName(signal.adapter)))
                .adding("rssi", .integer(Int(signal.last)))
                .adding("rssiSmoothed", .number((signal.smoothed * 10).rounded() / 10))
        }
        return value
    }

    /// Remembers that a device is forgotten, for those who watch.
    mutating func noteForgotten(_ device: HeardDevice) {
        // Whoever watches drops silent devices, too.
        guard device.isShown, device.lastShown != .zero, forgotten.count < 1024 else { return }
        forgotten.append(addressText(of: device))
    }
}

extension SensorValue {
    /// As a number; `nil` for what is none.
    fileprivate var sample: Double? {
        switch self {
        case .number(let number): number.double
        case .boolean(let isSo): isSo ? 1 : 0
        case .numbers, .text, .octets, .unknown, .invalid: nil
        }
    }
}
