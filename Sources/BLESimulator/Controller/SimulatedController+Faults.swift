import BLEPackets

/// Faults that have a course: crashes, hangs, and what ends them.
extension SimulatedController {
    /// Reports of one second.
    struct ReportRate {
        var second: Int64 = -1
        var count = 0
    }

    /// Faults that end with a remedy.
    struct TemporaryFaults {
        var remedy: SimulatedControllerRemedy
        var before: SimulatedControllerFaults
        var change: (inout SimulatedControllerFaults) -> Void
    }

    /// An event of the vendor, and one with code 0.
    static let strayEvents: [[UInt8]] = [[0x04, 0xFF, 0x02, 0x00, 0x00], [0x04, 0x00, 0x00]]

    /// Whether nothing reaches the host.
    var isMute: Bool { faults.hangs || faults.hangsAfterReset || isCrashed }

    /// The controller has power, and its transport is open.
    func begin() {
        if faults.sendsNOPAtBoot {
            let cycle = powerCycle
            air.after(latency) { [unowned self] in if cycle == powerCycle, isOpen { sendNOP(credits: 1) } }
        }
        if let time = faults.closesAfterMicroseconds {
            let cycle = powerCycle
            air.after(time) { [unowned self] in if cycle == powerCycle { losePower() } }
        }
    }

    // MARK: Remedies

    /// Changes the faults until a remedy; a weaker one does not end them.
    func changeFaults(
        until remedy: SimulatedControllerRemedy, _ change: @escaping (inout SimulatedControllerFaults) -> Void
    ) {
        temporaryFaults.append(TemporaryFaults(remedy: remedy, before: faults, change: change))
        change(&faults)
    }

    /// Changes the faults that no remedy ends.
    func changeFaults(_ change: (inout SimulatedControllerFaults) -> Void) {
        change(&faults)
        for place in temporaryFaults.indices { change(&temporaryFaults[place].before) }
    }

    /// The host, or somebody else, has tried a remedy: it includes the weaker ones.
    func apply(_ remedy: SimulatedControllerRemedy) {
        for place in 0...remedy.rawValue { remedyTimes[place] = air.nowMicroseconds }
        if let first = temporaryFaults.firstIndex(where: { $0.remedy <= remedy }) {
            let others = temporaryFaults[first...].filter { $0.remedy > remedy }
            faults = temporaryFaults[first].before
            temporaryFaults.removeSubrange(first...)
            for other in others { changeFaults(until: other.remedy, other.change) }
        }
        if remedy >= .reset, isCrashed {
            isCrashed = false
            crashNumber &+= 1
        }
    }

    func powerCycleDevice() {
        if isOpen { losePower() }
        apply(.powerCycle)
        regainPower()
    }

    // MARK: Crashes

    func crash(_ crash: SimulatedControllerFaults.Crash) {
        guard !isCrashed else { return }
        isCrashed = true
        crashNumber &+= 1
        let (number, cycle) = (crashNumber, powerCycle)
        commandsUnderWay = 0
        air.after(crash.silenceMicroseconds) { [unowned self] in
            guard cycle == powerCycle, number == crashNumber else { return }
            isCrashed = false
            reset()
            send(event: HardwareError(hardwareCode: crash.code))
        }
    }

    // MARK: Reports

    /// Whether the receiver still works after the last remedy.
    var hears: Bool {
        guard !faults.silencesReports, !isCrashed else { return false }
        if faults.codedScanIsDeaf, settings.scan.receivers.contains(where: { $0.phy == .leCoded }) { return false }
        guard let time = faults.hearsOnlyForMicroseconds else { return true }
        return air.nowMicroseconds - remedyTimes[faults.hearsAgainAfter.rawValue] < time
    }

    /// Counts a report; `false` if it is lost because there are too many.
    func countReport() -> Bool {
        let second = air.nowMicroseconds / 1_000_000
        if reportRate.second != second { reportRate = ReportRate(second: second, count: 0) }
        reportRate.count += 1
        if let limit = faults.crashingReportRate, reportRate.count > limit {
            crash(.init(LESetScanEnable.opcode))
            return false
        }
        if let limit = faults.greatestReportRate, reportRate.count > limit { return false }
        return true
    }

    /// A report as a controller with faults makes it.
    func distorted(_ report: LEExtendedAdvertisingReport.Report) -> LEExtendedAdvertisingReport.Report {
        var report = report
        if faults.emptiesReports { report.data = [] }
        if faults.reportsOwnAddress, let address = configuration.publicAddress {
            report.reportedAddress = ReportedAddress(address)
        }
        if faults.reportsNoRSSI { report.rssi = 127 }
        if faults.fillsReservedBits {
            report.eventType.formUnion(ExtendedAdvertisingEventType(rawValue: 0x2500))
            report.primaryPHY = PHY(rawValue: report.primaryPHY.rawValue | 0xA0)
        }
        return report
    }
}

extension SimulatedControllerFaults {
    func delay(of opcode: HCIOpcode) -> Int64 {
        let delay = answerDelays.first { $0.opcode == opcode }?.microseconds ?? 0
        return min(max(0, opcode == Reset.opcode ? max(delay, resetDelayMicroseconds) : delay), 3_600_000_000)
    }
}
