import BLEPackets

/// Whether the controller receives, and what its weak points ask of a scan.
extension Radio {
    /// How long a controller is spared that fails under many reports.
    private static let reliefAfterFlood: Microseconds = .seconds(60)
    private static let reliefAfterFailure: Microseconds = .seconds(300)

    // MARK: The scan

    /// Changes a wish to what this controller can do well.
    @inline(never)
    func adapt(_ scan: inout ScanParameters?, to traits: ControllerTraits) {
        guard configuration.adaptsToController, var adapted = scan else { return }
        if traits.contains(.cannotScanOnCodedPHY) || codedTrial.isWithoutCodedPHY { adapted.isOnCodedPHY = false }
        if reliefEnd != nil {
            adapted.isActive = false
            let half = ScanInterval(rawValue: max(4, adapted.duty.interval.rawValue / 2))
            adapted.duty.window = min(adapted.duty.window, half)
        }
        let least = configuration.timing.backgroundScan
        if hasLinks, traits.contains(.disturbsLinksByScanning), adapted.duty.isMore(than: least) {
            adapted.duty = least
        }
        scan = adapted
    }

    /// What is at stake with the scan that is on.
    var receptionTerms: ReceptionWatch.Terms {
        var terms = ReceptionWatch.Terms()
        guard configuration.adaptsToController, let scan = scanMachine.inForce else { return terms }
        terms.mayRecover = configuration.ownership == .exclusive
        terms.isNarrow = !scan.acceptList.isEmpty
        terms.hasLinks = hasLinks
        terms.slowness = min(10, max(1, Int64(scan.duty.interval.rawValue) / max(1, Int64(scan.duty.window.rawValue))))
        return terms
    }

    // MARK: Time

    /// When reports have been missing for too long.
    var silenceDeadline: Instant? { scanMachine.receivesSince.map { reception.deadline(since: $0) } }

    /// When a scan is to be changed for the controller's sake.
    var receptionDeadline: Instant? { earliest(reliefEnd, codedTrial.nextDeadline) }

    /// Reports have been missing for too long.
    @inline(never)
    mutating func silenceLasted(into effects: inout Effects) {
        guard let begin = scanMachine.receivesSince else { return }
        if reception.isPastRestart, scanMachine.inForce?.isOnCodedPHY == true,
            codedTrial.begin(reports: effects.counters.advertisingReports, at: effects.now)
        {
            return scanMachine.awaitReports(at: effects.now)
        }
        switch reception.silenceLasted(since: begin, at: effects.now) {
        case .restart: restartScan(into: &effects)
        case .recover:
            scanMachine.awaitReports(at: effects.now)
            effects.requestRecovery(from: .noReports)
        case .faultRemains:
            effects.events.append(.faultRemains(.noReports))
            restartScan(into: &effects)
        }
    }

    private mutating func restartScan(into effects: inout Effects) {
        effects.counters.scanRestarts &+= 1
        perform(scanMachine.restart(at: effects.now), into: &effects)
    }

    /// Continues what ends by itself.
    @inline(never)
    mutating func advanceReception(into effects: inout Effects) {
        if let end = reliefEnd, end <= effects.now { reliefEnd = nil }
        guard let deadline = codedTrial.nextDeadline else { return }
        // What is on the air is no longer what is tried.
        if !scanner.scansCodedPHY && !(Features.trains && trains.needsScan && trains.scansCodedPHY) {
            return codedTrial.cancel()
        }
        guard deadline <= effects.now else { return }
        let verdict = codedTrial.advance(reports: effects.counters.advertisingReports, at: effects.now)
        guard verdict == .isDeaf else { return }
        reception.forgetSilence()
        effects.learn(.cannotScanOnCodedPHY)
    }

    // MARK: Reports

    /// A report with the controller's own address, or one of very many.
    @inline(never)
    mutating func judge(_ report: Scanner.Report, data: RawSpan, into effects: inout Effects) {
        guard configuration.adaptsToController, configuration.ownership == .exclusive else { return }
        if reception.isFlooded, effects.controller.traits.contains(.failsUnderManyReports) {
            let end = effects.now.advanced(by: Self.reliefAfterFlood)
            // Not with every report, which would make a new plan each time.
            if reliefEnd.map({ $0.advanced(by: ReportTally.window) <= end }) ?? true { reliefEnd = end }
        }
        guard let address = report.address, address == reportedAddress else { return }
        let isFault = ownReports.received(
            data, isScanResponse: report.isScanResponse, of: effects.counters.advertisingReports, at: effects.now)
        if isFault { effects.events.append(.faultRemains(.reportsItself)) }
    }

    /// The controller is lost. If it was reporting, the reports may have been too many.
    mutating func spareControllerThatFailed(_ traits: ControllerTraits, at now: Instant) {
        guard configuration.adaptsToController, traits.contains(.failsUnderManyReports), scanMachine.isScanning,
            reception.lastReport.advanced(by: ReceptionWatch.firstSilence) > now
        else { return }
        reliefEnd = now.advanced(by: Self.reliefAfterFailure)
    }

    /// The controller is gone, or the engine stops.
    mutating func forgetReception() {
        reception = ReceptionWatch()
        ownReports = OwnAddressReports()
        codedTrial.cancel()
        reliefEnd = nil
    }
}
