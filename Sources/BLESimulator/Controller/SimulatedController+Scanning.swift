import BLEPackets

/// Scanning, legacy and extended (Core 5.4, Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64, 7.8.65; Vol 6, Part B, 4.4.3).
extension SimulatedController {
    /// Octets of data that one extended report can carry (Core 5.4, Vol 4, Part E, 7.7.65.13).
    static let extendedReportCapacity = 229

    func leSetRandomAddress(_ command: LESetRandomAddress) -> HCIStatus {
        guard !settings.legacyAdvertising.isEnabled, !settings.scan.isEnabled, settings.initiating == nil
        else { return .commandDisallowed }
        settings.randomAddress = command.address
        return .success
    }

    func leSetScanEnable(_ command: LESetScanEnable) -> HCIStatus {
        command.isEnabled
            ? startScanning(filter: command.filtersDuplicates ? .on : .off, isExtended: false)
            : stopScanningOnCommand()
    }

    func leCreateConnectionCancel(_ command: LECreateConnectionCancel) -> HCIStatus { cancelConnection() }

    func leSetScanParameters(_ command: LESetScanParameters) -> HCIStatus {
        guard !settings.scan.isEnabled else { return .commandDisallowed }
        guard command.type.rawValue <= 1, command.filterPolicy.rawValue <= 3,
            0x0004...0x4000 ~= command.interval.rawValue, 0x0004...command.interval.rawValue ~= command.window.rawValue
        else { return .invalidCommandParameters }
        settings.scan.receivers = [
            .init(phy: .le1M, type: command.type, interval: command.interval, window: command.window)
        ]
        settings.scan.ownAddressType = command.ownAddressType
        settings.scan.filterPolicy = command.filterPolicy
        return .success
    }

    func leSetExtendedScanParameters(_ command: LESetExtendedScanParameters) -> HCIStatus {
        guard !settings.scan.isEnabled else { return .commandDisallowed }
        guard !command.scanningPHYs.isEmpty, command.filterPolicy.rawValue <= 3 else {
            return .invalidCommandParameters
        }
        guard command.scanningPHYs.isSubset(of: supportedPHYs.intersection([.le1M, .leCoded])) else {
            return .unsupportedFeatureOrParameterValue
        }
        var receivers: [ScanState.Receiver] = []
        let phys: [(PHYSet, PHY)] = [(.le1M, .le1M), (.leCoded, .leCoded)]
        for (phy, parameters) in zip(phys.filter { command.scanningPHYs.contains($0.0) }, command.parameters) {
            guard parameters.type.rawValue <= 1, parameters.interval.rawValue >= 4, parameters.window.rawValue >= 4,
                parameters.window.rawValue <= parameters.interval.rawValue
            else { return .invalidCommandParameters }
            receivers.append(
                .init(
                    phy: phy.1, type: parameters.type, interval: parameters.interval, window: parameters.window))
        }
        settings.scan.receivers = receivers
        settings.scan.ownAddressType = command.ownAddressType
        settings.scan.filterPolicy = command.filterPolicy
        return .success
    }

    func leSetExtendedScanEnable(_ command: LESetExtendedScanEnable) -> HCIStatus {
        guard command.isEnabled else { return stopScanningOnCommand() }
        let duration = Int64(command.duration) * 10_000
        let period = Int64(command.period) * 1_280_000
        guard command.duplicateFilter.rawValue <= 2, period == 0 || duration == 0 || duration < period,
            command.duplicateFilter != .resetEachPeriod || period > 0
        else { return .invalidCommandParameters }
        let status = startScanning(filter: command.duplicateFilter, isExtended: true)
        guard status.isSuccess, duration > 0 else { return status }
        playPeriod(duration: duration, period: period, number: settings.scan.number)
        return status
    }

    /// Ends the scan, or its current period, when its time is over.
    private func playPeriod(duration: Int64, period: Int64, number: UInt32) {
        air.after(duration) { [unowned self] in
            guard settings.scan.isEnabled, settings.scan.number == number else { return }
            guard period > 0 else {
                stopScanning()
                send(le: LEScanTimeout())
                return
            }
            settings.scan.isResting = true
            air.after(period - duration) { [unowned self] in
                guard settings.scan.isEnabled, settings.scan.number == number else { return }
                settings.scan.isResting = false
                settings.scan.beginning = air.nowMicroseconds
                if settings.scan.duplicateFilter == .resetEachPeriod { settings.scan.forgetReports() }
                air.listeningBegan()
                playPeriod(duration: duration, period: period, number: number)
            }
        }
    }

    private func startScanning(filter: DuplicateFilter, isExtended: Bool) -> HCIStatus {
        guard ownAddress(settings.scan.ownAddressType, towards: nil) != nil else { return .invalidCommandParameters }
        guard mayUseRadio else { return .commandDisallowed }
        if !ends.isEmpty, faults.refusesScanWithLinks || isExtended && faults.refusesExtendedScanWithLinks {
            return .commandDisallowed
        }
        if !settings.scan.isEnabled {
            apply(.scanRestart)
            guard canBegin(settings.scan.isActive ? .activeScanning : .passiveScanning) else {
                return .commandDisallowed
            }
            settings.scan.beginning = air.nowMicroseconds
        }
        settings.scan.isEnabled = true
        settings.scan.isResting = false
        settings.scan.isExtended = isExtended
        settings.scan.duplicateFilter = filter
        settings.scan.number &+= 1
        settings.scan.forgetReports()
        air.listeningBegan()
        for waiter in scanWaiters { air.schedule(at: air.nowMicroseconds, waiter) }
        scanWaiters = []
        return .success
    }

    private func stopScanningOnCommand() -> HCIStatus {
        guard settings.scan.isEnabled || !configuration.refusesNeedlessDisable else { return .commandDisallowed }
        stopScanning()
        return .success
    }

    private func stopScanning() {
        settings.scan.isEnabled = false
        settings.scan.isResting = false
        settings.scan.number &+= 1
        settings.scan.forgetReports()
    }

    // MARK: What is received

    /// Whether the controller listens for advertisements, as a scanner or an initiator.
    var isListening: Bool {
        isOpen && (settings.initiating != nil || settings.scan.isEnabled && !settings.scan.isResting)
    }

    func receives(_ advertisement: AirAdvertisement, from advertiser: any AirStation) {
        let scan = settings.scan
        guard advertisement.isLegacy || scan.isExtended,
            let receiver = scan.receiver(for: advertisement.primaryPHY, at: air.nowMicroseconds)
        else { return }
        var advertisement = advertisement
        let shown = advertisement.address
        defer { leadReceived(to: advertisement, from: advertiser) }
        if let shown {
            guard let known = recognize(shown).reported else { return }
            advertisement.address = known
        }
        guard let ownAddress = ownAddress(scan.ownAddressType, towards: advertisement.address) else { return }
        if scan.usesAcceptList, !isAccepted(advertisement.address) { return }
        var isForUnknown = false
        if let target = advertisement.target, !isTarget(target, ownAddress: ownAddress) {
            let isUnrestricted = scan.filterPolicy.rawValue >= 2
            guard isUnrestricted, target.randomKind == .resolvablePrivate else { return }
            isForUnknown = true
        }
        let signal = air.measuredSignal(of: advertiser, at: self)
        var reports = [report(of: advertisement, signal: signal, isScanResponse: false)]
        if isForUnknown, let target = advertisement.target {
            reports[0].directAddress = ReportedAddress(kind: .unresolved, value: target.value)
        }
        if receiver.type == .active, advertisement.isScannable,
            advertiser.accepts(.scan, from: ownAddress, set: advertisement.set)
        {
            let signal = air.measuredSignal(of: advertiser, at: self)
            reports.append(report(of: advertisement, signal: signal, isScanResponse: true))
        }
        reports = reports.filter { passesFilter($0, dataIdentifier: advertisement.dataIdentifier) }
        guard hears else { return }
        let isPacked =
            configuration.packsReports && reports.reduce(0) { $0 + $1.data.count } <= Self.extendedReportCapacity - 30
        for group in isPacked ? [reports] : reports.map({ [$0] }) where !group.isEmpty { send(reports: group) }
    }

    /// Reports a recorded advertisement.
    func play(_ report: LEExtendedAdvertisingReport.Report) {
        let scan = settings.scan
        guard isOpen, scan.isEnabled, !scan.isResting, scan.isExtended || report.eventType.contains(.legacy),
            scan.isActive || !report.eventType.contains(.scanResponse),
            !scan.usesAcceptList || isAccepted(report.address), passesFilter(report, dataIdentifier: 0)
        else { return }
        send(reports: [report])
    }

    private func passesFilter(_ report: LEExtendedAdvertisingReport.Report, dataIdentifier: UInt16) -> Bool {
        let isStrict = faults.strictDuplicates
        return settings.scan.passes(
            .init(
                address: report.reportedAddress,
                eventType: isStrict
                    ? report.eventType.intersection(.scanResponse).rawValue : report.eventType.rawValue,
                advertisingSetIdentifier: isStrict ? 0 : report.advertisingSetIdentifier,
                dataIdentifier: isStrict ? 0 : dataIdentifier),
            remembering: configuration.duplicateFilterSize)
    }

    /// The report of an extended scan; a legacy scan reports less.
    private func report(
        of advertisement: AirAdvertisement, signal: Int8, isScanResponse: Bool
    ) -> LEExtendedAdvertisingReport.Report {
        var type: ExtendedAdvertisingEventType = isScanResponse ? .scanResponse : []
        if advertisement.isConnectable { type.insert(.connectable) }
        if advertisement.isScannable { type.insert(.scannable) }
        if advertisement.target != nil { type.insert(.directed) }
        if advertisement.isLegacy { type.insert(.legacy) }
        return .init(
            eventType: type, address: advertisement.address, primaryPHY: advertisement.primaryPHY,
            secondaryPHY: advertisement.secondaryPHY,
            advertisingSetIdentifier: advertisement.advertisingSetIdentifier,
            transmitPower: advertisement.transmitPower, rssi: signal,
            periodicAdvertisingInterval: advertisement.periodicInterval,
            directAddress: advertisement.target.map(ReportedAddress.init) ?? .zero,
            data: isScanResponse ? advertisement.scanResponse : advertisement.data)
    }

    /// Whether an address is on the filter accept list.
    func isAccepted(_ address: DeviceAddress?) -> Bool {
        let entry = address.map { ReportedAddress($0.withoutIdentityMark) } ?? .anonymous
        return settings.acceptList.contains { $0.kind == entry.kind && ($0.kind == .anonymous || $0 == entry) }
            && !settings.staleAcceptList.contains(entry)
    }
}
