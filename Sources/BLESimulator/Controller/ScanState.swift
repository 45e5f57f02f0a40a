import BLEPackets

/// The state of a controller's scan.
struct ScanState {
    /// The scan window of one primary PHY.
    struct Receiver {
        var phy: PHY
        var type: ScanType
        var interval: ScanInterval
        var window: ScanInterval
    }

    /// The key of a report in the duplicate filter.
    struct ReportKey: Hashable {
        var address: ReportedAddress
        var eventType: UInt16
        var advertisingSetIdentifier: UInt8
        var dataIdentifier: UInt16
    }

    var receivers = [
        Receiver(
            phy: .le1M, type: .passive, interval: ScanInterval(rawValue: 0x10), window: ScanInterval(rawValue: 0x10))
    ]
    var ownAddressType = OwnAddressType.public
    var filterPolicy = ScanningFilterPolicy.all
    var isEnabled = false
    /// Between two periods of an extended scan.
    var isResting = false
    var isExtended = false
    var duplicateFilter = DuplicateFilter.off
    /// The start of the scan, from which its windows are counted.
    var beginning: Int64 = 0
    /// Increases with each start and stop.
    var number: UInt32 = 0
    /// The reported keys, oldest first, and a set of the same keys for lookup.
    var reportOrder = Queue<ReportKey>()
    var reported: Set<ReportKey> = []

    var isActive: Bool { receivers.contains { $0.type == .active } }
    var usesAcceptList: Bool { filterPolicy == .acceptListOnly || filterPolicy == .acceptListOnlyUnrestricted }

    /// The receiver for a primary PHY at this time.
    func receiver(for phy: PHY, at time: Int64) -> Receiver? {
        guard isEnabled, !isResting, let receiver = receivers.first(where: { $0.phy == phy }) else { return nil }
        let interval = Int64(max(1, receiver.interval.microseconds))
        return (time - beginning) % interval < Int64(receiver.window.microseconds) ? receiver : nil
    }

    /// - Returns: Whether the filter lets a report through.
    mutating func passes(_ key: ReportKey, remembering size: Int) -> Bool {
        guard duplicateFilter != .off else { return true }
        guard reported.insert(key).inserted else { return false }
        reportOrder.append(key)
        if reportOrder.count > max(1, size), let eldest = reportOrder.popFirst() { reported.remove(eldest) }
        return true
    }

    mutating func forgetReports() {
        reported = []
        reportOrder.removeAll()
    }
}
