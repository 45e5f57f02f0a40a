import BLEPackets

/// Events of the controller, each passed to the state machine that it concerns.
extension Host {
    mutating func receiveEvent(_ reader: inout PacketReader) throws(DecodingError) {
        let code = HCIEventCode(rawValue: try reader.read())
        let length = Int(try reader.read(UInt8.self))
        guard length == reader.remainingCount else {
            throw .lengthMismatch(stated: length, actual: reader.remainingCount)
        }
        if ignoresControllerEvents, code != .commandComplete, code != .commandStatus, code != .hardwareError {
            effects.counters.unexpectedEvents &+= 1
            return
        }
        switch code {
        case .leMeta:
            try receiveLEMeta(&reader)
        case .numberOfCompletedPackets:
            var handles = try NumberOfCompletedPacketsView(decoding: reader.readRest())
            while Features.links, let (handle, count) = try handles.next() {
                guard let link = rooms.links[handle] else { continue }
                effects.data.completed(Int(count), of: link, at: effects.now)
                link.packetsConfirmed(into: &effects)
            }
        case .commandComplete:
            let event = try CommandCompleteView(decoding: &reader)
            try commandAnswered(event.opcode, credits: event.commandCredits, parameters: event.returnParameters)
        case .commandStatus:
            let event = try CommandStatus(decoding: &reader)
            var status = event.status.rawValue
            let parameters = unsafe withUnsafeBytes(of: &status) { unsafe [UInt8]($0) }
            try commandAnswered(event.opcode, credits: event.commandCredits, parameters: parameters.span.bytes)
        case .disconnectionComplete:
            disconnectionCompleted(try DisconnectionComplete(decoding: &reader))
        case .readRemoteVersionInformationComplete:
            let event = try ReadRemoteVersionInformationComplete(decoding: &reader)
            rooms.links[event.connectionHandle]?.receive(event, into: &effects)
        case .encryptionChange:
            let event = try EncryptionChange(decoding: &reader)
            rooms.links[event.connectionHandle]?.encryptionEnded(
                isOn: event.state.isOn, status: event.status, &rooms, into: &effects)
        case .encryptionKeyRefreshComplete:
            let event = try EncryptionKeyRefreshComplete(decoding: &reader)
            rooms.links[event.connectionHandle]?.encryptionEnded(
                isOn: true, status: event.status, isRefresh: true, &rooms, into: &effects)
        case .authenticatedPayloadTimeoutExpired:
            guard Features.linkReports else { return }
            let event = try AuthenticatedPayloadTimeoutExpired(decoding: &reader)
            if let link = rooms.links[event.connectionHandle] {
                effects.events.append(.linkReport(link.id, .unauthenticated))
            }
        case .dataBufferOverflow:
            let event = try DataBufferOverflow(decoding: &reader)
            effects.counters.dataBufferOverflows &+= 1
            if effects.adapts, event.linkType == 0x01 { effects.data.overflowed() }
        case .hardwareError:
            effects.counters.hardwareErrors &+= 1
            let event = try HardwareError(decoding: &reader)
            noteCrash()
            if configuration.ownership == .exclusive { recover(from: .hardwareError(event.hardwareCode)) }
        default:
            // Enabled by another owner of the controller, or of no use to this host.
            break
        }
    }

    /// A controller that fails while it scans and sets a link up does not do both at once any more.
    private mutating func noteCrash() {
        guard Features.links, effects.adapts, configuration.ownership == .exclusive, radio.scanMachine.isScanning else {
            return
        }
        let now = effects.now
        guard rooms.links.contains(where: { $0.began.advanced(by: SetupQuiet.suspicion) > now }) else { return }
        effects.learn(.crashesScanningDuringLinkSetup)
    }

    private mutating func receiveLEMeta(_ reader: inout PacketReader) throws(DecodingError) {
        let subevent = LESubeventCode(rawValue: try reader.read())
        switch subevent {
        case .advertisingReport:
            var reports = try LEAdvertisingReports(decoding: reader.readRest())
            while let report = try reports.next() { sighted(Scanner.Report(report), data: report.data) }
        case .extendedAdvertisingReport:
            var reports = try LEExtendedAdvertisingReports(decoding: reader.readRest())
            while let report = try reports.next() { sighted(Scanner.Report(report), data: report.data) }
        case .directedAdvertisingReport:
            let data: [UInt8] = []
            for report in try LEDirectedAdvertisingReport(decoding: &reader).reports {
                sighted(Scanner.Report(report), data: data.span.bytes)
            }
        case .connectionComplete:
            let event = try LEConnectionComplete(decoding: &reader)
            connectionCompleted(NewLink(event), event.status)
        case .enhancedConnectionComplete:
            let event = try LEEnhancedConnectionComplete(decoding: &reader)
            connectionCompleted(NewLink(event), event.status)
        case .connectionUpdateComplete:
            let event = try LEConnectionUpdateComplete(decoding: &reader)
            rooms.links[event.connectionHandle]?.receive(event, into: &effects)
        case .readRemoteFeaturesComplete:
            let event = try LEReadRemoteFeaturesComplete(decoding: &reader)
            rooms.links[event.connectionHandle]?.receive(event, into: &effects)
            radio.setupEnded(event.connectionHandle)
        case .longTermKeyRequest:
            longTermKeyRequested(try LELongTermKeyRequest(decoding: &reader))
        case .remoteConnectionParameterRequest:
            parametersRequested(try LERemoteConnectionParameterRequest(decoding: &reader))
        case .dataLengthChange:
            let event = try LEDataLengthChange(decoding: &reader)
            rooms.links[event.connectionHandle]?.receive(event, into: &effects)
        case .subrateChange:
            guard Features.links else { return }
            let event = try LESubrateChange(decoding: &reader)
            rooms.links[event.connectionHandle]?.receive(event, into: &effects)
        case .transmitPowerReporting:
            guard Features.linkReports else { return }
            let event = try LETransmitPowerReporting(decoding: &reader)
            rooms.links[event.connectionHandle]?.receive(event, into: &effects)
        case .pathLossThreshold:
            guard Features.linkReports else { return }
            let event = try LEPathLossThreshold(decoding: &reader)
            rooms.links[event.connectionHandle]?.receive(event, into: &effects)
        case .phyUpdateComplete:
            let event = try LEPHYUpdateComplete(decoding: &reader)
            rooms.links[event.connectionHandle]?.receive(event, into: &effects)
        case .advertisingSetTerminated:
            received(try LEAdvertisingSetTerminated(decoding: &reader))
        case .periodicAdvertisingSyncEstablished, .periodicAdvertisingReport, .periodicAdvertisingSyncLost,
            .periodicAdvertisingSyncTransferReceived:
            guard Features.trains else { return }
            try receiveTrain(subevent, &reader)
        case .periodicAdvertisingSyncEstablishedV2, .periodicAdvertisingReportV2,
            .periodicAdvertisingSyncTransferReceivedV2, .periodicAdvertisingSubeventDataRequest,
            .periodicAdvertisingResponseReport:
            guard Features.responses else { return }
            try receiveTrainWithResponses(subevent, &reader)
        case .scanTimeout:
            radio.scanTimedOut(into: &effects)
        default:
            break
        }
    }

    /// Apart from `receiveLEMeta`, which would have all these events on its stack.
    @inline(never)
    private mutating func receiveTrain(_ subevent: LESubeventCode, _ reader: inout PacketReader) throws(DecodingError) {
        switch subevent {
        case .periodicAdvertisingSyncEstablished:
            radio.received(try LEPeriodicAdvertisingSyncEstablished(decoding: &reader), into: &effects)
        case .periodicAdvertisingReport:
            radio.received(try LEPeriodicAdvertisingReport(decoding: &reader), into: &effects)
        case .periodicAdvertisingSyncLost:
            radio.received(try LEPeriodicAdvertisingSyncLost(decoding: &reader), into: &effects)
        default:
            radio.received(try LEPeriodicAdvertisingSyncTransferReceived(decoding: &reader), into: &effects)
        }
    }

    @inline(never)
    private mutating func receiveTrainWithResponses(
        _ subevent: LESubeventCode, _ reader: inout PacketReader
    ) throws(DecodingError) {
        switch subevent {
        case .periodicAdvertisingSyncEstablishedV2:
            radio.received(try LEPeriodicAdvertisingSyncEstablishedV2(decoding: &reader), into: &effects)
        case .periodicAdvertisingReportV2:
            radio.received(try LEPeriodicAdvertisingReportV2(decoding: &reader), into: &effects)
        case .periodicAdvertisingSyncTransferReceivedV2:
            radio.received(try LEPeriodicAdvertisingSyncTransferReceivedV2(decoding: &reader), into: &effects)
        case .periodicAdvertisingSubeventDataRequest:
            radio.received(try LEPeriodicAdvertisingSubeventDataRequest(decoding: &reader), into: &effects)
        default:
            radio.received(try LEPeriodicAdvertisingResponseReport(decoding: &reader), into: &effects)
        }
    }

    /// The central encrypts the link, and the controller asks for the peripheral's key (Core 5.4, Vol 4, Part E,
    /// 7.7.65.5).
    private mutating func longTermKeyRequested(_ event: LELongTermKeyRequest) {
        guard rooms.pairings.isExclusive else { return }
        if Features.pairing, let link = rooms.links[event.connectionHandle] {
            return link.receive(event, &rooms, into: &effects)
        }
        effects.commands.append(
            LELongTermKeyRequestNegativeReply(connectionHandle: event.connectionHandle),
            purpose: .unattendedOnLink(event.connectionHandle))
    }

    /// The peer asks for other parameters through the link layer (Core 5.4, Vol 4, Part E, 7.7.65.6).
    private mutating func parametersRequested(_ event: LERemoteConnectionParameterRequest) {
        guard configuration.ownership == .exclusive else { return }
        let wished = ConnectionParameterRequest(
            minimum: event.minimumInterval.rawValue, maximum: event.maximumInterval.rawValue, latency: event.latency,
            timeout: event.supervisionTimeout.rawValue)
        let link = rooms.links[event.connectionHandle]
        let policy = link?.role == .central ? link?.parameterPolicy : .accept
        if let link, let granted = wished.flatMap({ policy?.granted($0) }) {
            link.pace?.adopt(granted)
            effects.commands.append(
                LERemoteConnectionParameterRequestReply(
                    connectionHandle: event.connectionHandle, parameters: LEConnectionParameters(granted)),
                purpose: .unattendedOnLink(event.connectionHandle))
        } else {
            effects.commands.append(
                LERemoteConnectionParameterRequestNegativeReply(
                    connectionHandle: event.connectionHandle, reason: .unacceptableConnectionParameters),
                purpose: .unattendedOnLink(event.connectionHandle))
        }
    }

    /// A report from the controller.
    private mutating func sighted(_ report: Scanner.Report, data: RawSpan) {
        var report = report
        radio.sighted(&report, data: data, into: &effects)
        guard nameIdentity(in: &report, data: data) else { return }
        radio.received(report, data: data, resolving: rooms.pairings.bonds.table.resolving, into: &effects)
        if radio.connectsInVain { recoverFromVainAttempts() }
    }

    /// A controller that keeps links is no such case, and recovery would end them.
    @inline(never)
    private mutating func recoverFromVainAttempts() {
        radio.connectsInVain = false
        guard rooms.links.isEmpty, effects.requestLimitedRecovery(from: .connectsToNobody) else { return }
        radio.connectionWatch.removeAll()
    }
}
