import BLEHost
import BLESensors

extension Gateway {
    /// Whether the values of a packet are those of the device now.
    enum Standing {
        case current, late, refused
    }

    /// Compares encrypted packets with earlier ones of the device, removes values in clear of a device that encrypts,
    /// and reports packets that somebody else may have sent.
    mutating func judge(_ reports: inout [SensorReport], _ slot: Int, at now: Instant) -> Standing {
        guard !reports.isEmpty, let key = guardKeys[devices[slot].address.value] else { return .current }
        var device = guards.removeValue(forKey: key) ?? ProtectedDevice()
        defer { guards[key] = device }
        for index in reports.indices {
            var standing = Standing.current
            var kind: GatewayNotice.Kind?
            if reports[index].seal != nil {
                (standing, kind) = judgeSealed(&reports[index], &device, at: now)
            } else if reports[index].encryption == .none, device.removeUnprotected(&reports[index]) {
                counters.unprotectedReports += 1
                kind = .unprotected
                // This packet is not the device's: not even its signal counts.
                if reports[index].format == "BTHome v2" { standing = .refused }
            }
            if standing == .current, reports[index].encryption == .decrypted { device.recordDecrypted(reports[index]) }
            if let kind, device.mayTell(kind, at: now) {
                notices.append(GatewayNotice(address: addressText(of: devices[slot]), kind: kind))
            }
            if standing != .current { return standing }
        }
        return .current
    }

    private mutating func judgeSealed(
        _ report: inout SensorReport, _ device: inout ProtectedDevice, at now: Instant
    ) -> (Standing, GatewayNotice.Kind?) {
        guard let seal = report.seal else { return (.current, nil) }
        let wasHeard = device.heard.contains(seal)
        guard var track = device.replays else {
            // The counters of an earlier run were lost, but not its packets.
            if wasHeard { return refuse(seal, after: nil) }
            device.replays = ReplayGuard(seal, highestBefore: device.heard.isEmpty ? nil : .max, at: now)
            record(seal, &device)
            return (.current, nil)
        }
        let last = track.last.counter
        let verdict = track.judge(report, seal, wasHeard: wasHeard, at: now)
        device.replays = track
        // What was received before is not added again: by sending it one could make the gateway forget other packets.
        if verdict == .new || !wasHeard { record(seal, &device) }
        switch verdict {
        case .new: return (.current, nil)
        case .same:
            report.fields.removeAll { isEvent($0.name) }
            return (.current, nil)
        case .late: return (.late, nil)
        case .restarted: return (.current, .restarted(counter: seal.counter, last: last))
        case .doubtful:
            // The rules of MiBeacon's counter are not public, and some devices may not follow them.
            guard report.format != "BTHome v2" else { return refuse(seal, after: last) }
            counters.replayedReports += 1
            return (.current, .replayed(counter: seal.counter, last: last, isUsed: true))
        case .replayed: return refuse(seal, after: last)
        }
    }

    private mutating func refuse(_ seal: SensorSeal, after last: UInt32?) -> (Standing, GatewayNotice.Kind?) {
        counters.replayedReports += 1
        return (.refused, .replayed(counter: seal.counter, last: last, isUsed: false))
    }

    private mutating func record(_ seal: SensorSeal, _ device: inout ProtectedDevice) {
        if device.heard.insert(seal) { heardPacketCount += 1 }
    }

    /// Removes events that were in a packet before: together with a scan response, or in turn with other packets, the
    /// same octets are received again.
    mutating func dropRepeatedEvents(_ reports: inout [SensorReport], _ slot: Int) {
        let before = devices[slot].eventReports
        guard !before.isEmpty || reports.contains(where: \.saysEvent) else { return }
        let now = reports.filter(\.saysEvent)
        for index in reports.indices where reports[index].saysEvent {
            let isCounted = reports[index].fields.contains { isCounter($0.name) }
            if before.contains(reports[index]) || isCounted && devices[slot].lastEvent == reports[index] {
                reports[index].fields.removeAll { isEvent($0.name) }
            }
        }
        devices[slot].eventReports = now
        if let last = now.last { devices[slot].lastEvent = last }
    }
}

extension SensorReport {
    fileprivate var saysEvent: Bool { fields.contains { isEvent($0.name) } }
}
