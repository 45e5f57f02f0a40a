import BLEHost

/// The radio of this link: power, path loss, and whether an encrypted link still lives. `Adapter` has the same for
/// links in the other role.
///
/// Most controllers support only a part of this; the others refuse it with `BLEError.controllerRefused`.
extension Peripheral {
    /// Reads the power with which this side sends (Core 5.4, Vol 4, Part E, 7.8.117).
    public func readTransmitPower(on phy: PowerPHY = .le1M) async throws -> TransmitPower {
        try await adapter.readTransmitPower(of: link, on: phy)
    }

    /// Asks the device for the power with which it sends (7.8.118).
    public func readRemoteTransmitPower(on phy: PowerPHY = .le1M) async throws -> TransmitPower {
        try await adapter.readRemoteTransmitPower(of: link, on: phy)
    }

    /// Chooses whose changes of power come in `reports()` (7.8.121).
    public func reportTransmitPower(local: Bool, remote: Bool) async throws {
        try await adapter.reportTransmitPower(link, local: local, remote: remote)
    }

    /// Reports in `reports()` when the path loss enters another zone (7.8.119); `nil` ends this.
    public func monitorPathLoss(zones: PathLossZones?) async throws {
        try await adapter.monitorPathLoss(link, zones: zones)
    }

    /// Sets after how long without a packet that proves the device's key an encrypted link is reported in `reports()`
    /// as `LinkReport.unauthenticated` (7.3.94).
    /// - Parameter timeout: 10 ms to 655.35 s, and more than the connection interval times the latency.
    public func setAuthenticatedPayloadTimeout(_ timeout: Duration) async throws {
        try await adapter.setAuthenticatedPayloadTimeout(timeout, for: link)
    }

    /// Starts collecting what was measured on this link, or is missing on it, until the link ends.
    ///
    ///     let reports = try await lamp.reports()
    ///     try await lamp.monitorPathLoss(zones: PathLossZones(low: 60, high: 80))
    ///     for try await case .pathLoss(let loss) in reports { print(loss.zone) }
    ///
    /// - Throws: `BLEError.notConnected` if the link has ended already.
    public func reports() async throws -> LinkReports {
        let dropped = DropCounter()
        let (stream, source) = BoundedStream<LinkReport>.make(capacity: LinkReports.capacity, dropped: dropped)
        let token = Self.makeToken()
        guard await adapter.linkState(link, { $0.add(source, token: token) }) != nil else {
            throw BLEError.notConnected
        }
        let (adapter, link) = (adapter, link)
        source.onTermination { Task { _ = await adapter.linkState(link) { $0.removeReporter(token: token) } } }
        return LinkReports(stream: stream, dropped: dropped)
    }
}
