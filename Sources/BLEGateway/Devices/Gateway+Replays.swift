import BLEHost
import BLESensors

extension Gateway {
    /// Whether the values of a packet are those of the device now.
    enum Standing {
        case current, late, refused
    }

    /// Compares encrypted packets with earlier ones of the device, removes values in clear of a device that encrypts,
    /// and tells of packets that somebody else may have sent.
    mutating func judge(_ reports: inout [SensorReport], _ slot: Int, at now: Instant) -> Standing {
        let address = devices[slot].address.value
        guard !reports.isEmpty, let settings = settingsOfAddress[address], configuration.devices[settings].key != nil
        else { return .current }
        var device = guards[address] ?? ProtectedDevice()
        defer { guards[address] = device }
        for index in reports.indices {
            var standing = Standing.current
            var kind: GatewayNotice.Kind?
            if reports[index].seal != nil {
                (standing, kind) = judgeSealed(&reports[index], &device, slot, at: now)
            } else if reports[index].encryption == .none, device.removeUnprotected(&reports[index]) {
                counters.unprotectedReports += 1
                kind = .unprotected
                // This packet is not the device's: not even its signal counts.
                if reports[index].format == "BTHome v2" { standing = .refused }
            }
            if reports[index].encryption == .decrypted { device.noteDecrypted(reports[index]) }
            if let kind, device.mayTell(at: now) {
                notices.append(GatewayNotice(address: addressText(of: devices[slot]), kind: kind))
            }
            if standing != .current { return standing }
        }
        return .current
    }

    private mutating func judgeSealed(
        _ report: inout SensorReport, _ device: inout ProtectedDevice, _ slot: Int, at now: Instant
    ) -> (Standing, GatewayNotice.Kind?) {
        guard let seal = report.seal else { return (.current, nil) }
        guard var track = device.replays else {
            device.replays = ReplayGuard(seal, at: now)
            return (.current, nil)
        }
        let last = track.last.counter
        let heardBefore = devices[slot].signals.isEmpty ? nil : devices[slot].lastHeard
        let verdict = track.judge(report, seal, at: now, heardBefore: heardBefore)
        device.replays = track
        switch verdict {
        case .new: return (.current, nil)
        case .same:
            report.fields.removeAll { isEvent($0.name) }
            return (.current, nil)
        case .late: return (.late, nil)
        case .restarted: return (.current, .restarted(counter: seal.counter, last: last))
        case .replayed:
            counters.replayedReports += 1
            // The rules of MiBeacon's counter are not public, and some devices may not follow them.
            let isUsed = report.format != "BTHome v2"
            return (isUsed ? .current : .refused, .replayed(counter: seal.counter, last: last, isUsed: isUsed))
        }
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
