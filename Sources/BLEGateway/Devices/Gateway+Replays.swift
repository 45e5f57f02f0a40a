import BLEHost
import BLESensors

extension Gateway {
    /// Whether the values of a packet are those of the device now.
    enum Standing {
        case current, late, refused
    }

    /// Compares encrypted packets with earlier ones of the device, and tells of those that somebody may have recorded.
    mutating func judge(_ reports: inout [SensorReport], _ slot: Int, at now: Instant) -> Standing {
        let address = devices[slot].address.value
        let heardBefore = devices[slot].signals.isEmpty ? nil : devices[slot].lastHeard
        for index in reports.indices {
            guard var track = guards[address] else {
                if let seal = reports[index].seal { guards[address] = ReplayGuard(seal, at: now) }
                continue
            }
            let last = track.last.counter
            let counter = reports[index].seal?.counter ?? 0
            let verdict = track.judge(reports[index], at: now, heardBefore: heardBefore)
            var standing = Standing.current
            var kind: GatewayNotice.Kind?
            switch verdict {
            case .new: break
            case .same: reports[index].fields.removeAll { isEvent($0.name) }
            case .late: standing = .late
            case .restarted: kind = .restarted(counter: counter, last: last)
            case .replayed:
                counters.replayedReports += 1
                // The rules of MiBeacon's counter are not public, and some devices may not follow them.
                if reports[index].format == "BTHome v2" { standing = .refused }
                kind = .replayed(counter: counter, last: last, isUsed: standing == .current)
            case .unprotected:
                counters.unprotectedReports += 1
                standing = .refused
                kind = .unprotected
            }
            if let kind, track.mayTell(at: now) {
                notices.append(GatewayNotice(address: addressText(of: devices[slot]), kind: kind))
            }
            guards[address] = track
            if standing != .current { return standing }
        }
        return .current
    }

    /// Removes events that were in a packet before: together with a scan response, or in turn with other packets, the
    /// same octets are heard again.
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

    /// Forgets the counters of devices whose keys are no longer the same.
    mutating func dropGuards(of old: GatewayConfiguration) {
        guard !guards.isEmpty else { return }
        func keys(_ configuration: GatewayConfiguration) -> [UInt64: [UInt8]] {
            Dictionary(
                configuration.devices.compactMap { device in device.key.map { (device.address, $0) } },
                uniquingKeysWith: { _, last in last })
        }
        let before = keys(old)
        let now = keys(configuration)
        guards = guards.filter { now[$0.key] == before[$0.key] }
    }
}

extension SensorReport {
    fileprivate var saysEvent: Bool { fields.contains { isEvent($0.name) } }
}
