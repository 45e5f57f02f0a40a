import BLEPackets

/// How advertising reports reach the host (Core 5.4, Vol 4, Part E, 7.7.65.2, 7.7.65.11 and 7.7.65.13).
extension SimulatedController {
    /// How long the parts of a long advertisement wait for those of another, in microseconds.
    private static let partsWait: Int64 = 200_000

    func send(reports: [LEExtendedAdvertisingReport.Report]) {
        let reports = reports.filter { _ in countReport() }.map(distorted)
        guard !reports.isEmpty else { return }
        statistics.reports += reports.count
        guard !settings.scan.isExtended else {
            if reports.allSatisfy({ $0.data.count <= Self.extendedReportCapacity }) {
                sendWhole(reports)
            } else {
                for report in reports { sendInPieces(report) }
            }
            return
        }
        let forUnknown = reports.filter { $0.eventType.contains(.directed) && $0.directAddress.kind == .unresolved }
        for report in forUnknown {
            guard let address = report.address else { continue }
            send(
                le: LEDirectedAdvertisingReport(reports: [
                    .init(
                        address: address,
                        directAddress: ReportedAddress(kind: .random, value: report.directAddress.value),
                        rssi: report.rssi)
                ]))
        }
        guard forUnknown.isEmpty else { return }
        send(
            report: LEAdvertisingReport(
                reports: reports.compactMap { report in
                    guard let address = report.address else { return nil }
                    return .init(
                        eventType: Self.legacyType(of: report.eventType), address: address, data: report.data,
                        rssi: report.rssi)
                }))
    }

    private func sendWhole(_ reports: [LEExtendedAdvertisingReport.Report]) {
        send(report: LEExtendedAdvertisingReport(reports: reports))
    }

    private func sendInPieces(_ report: LEExtendedAdvertisingReport.Report) {
        var pieces: [LEExtendedAdvertisingReport.Report] = []
        var rest = report.data[...]
        repeat {
            var piece = report
            piece.data = Array(rest.prefix(Self.extendedReportCapacity))
            rest = rest.dropFirst(Self.extendedReportCapacity)
            if !rest.isEmpty { piece.eventType.insert(.incompleteMoreToCome) }
            pieces.append(piece)
        } while !rest.isEmpty
        if faults.losesLastFragment { pieces = Array(pieces.prefix(1)) }
        guard faults.interleavesFragments, pieces.count > 1 else {
            for piece in pieces { sendWhole([piece]) }
            return
        }
        guard waitingParts.isEmpty else {
            let (first, second) = (waitingParts, pieces)
            waitingParts = []
            for place in 0..<max(first.count, second.count) {
                if place < first.count { sendWhole([first[place]]) }
                if place < second.count { sendWhole([second[place]]) }
            }
            return
        }
        waitingParts = pieces
        let number = settings.scan.number
        air.after(Self.partsWait) { [unowned self] in
            guard number == settings.scan.number, waitingParts == pieces else { return }
            waitingParts = []
            for piece in pieces { sendWhole([piece]) }
        }
    }

    private func send<Event: LEMetaEvent>(report: Event) {
        guard faults.cutsReports else { return send(le: report) }
        guard var packet = encoded(le: report), packet.count > 8 else { return }
        packet.removeLast(3)
        // The length of the parameters, so that the packets after this one are read rightly.
        packet[2] -= 3
        send(packet: packet)
    }

    private static func legacyType(of type: ExtendedAdvertisingEventType) -> LegacyAdvertisingEventType {
        if type.contains(.scanResponse) { return .scanResponse }
        if type.contains(.directed) { return .connectableDirected }
        if type.contains(.connectable) { return .connectableUndirected }
        return type.contains(.scannable) ? .scannableUndirected : .nonConnectableUndirected
    }
}
