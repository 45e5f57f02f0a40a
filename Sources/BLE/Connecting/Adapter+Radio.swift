import BLEHost
import BLEPackets

/// The radio of links in either role: power, path loss, channels, and whether an encrypted link still lives.
///
/// Most controllers support only a part of this; the others refuse it with `BLEError.controllerRefused`.
extension Adapter {
    /// Keeps links and periodic advertising off some channels, for instance those of a nearby Wi-Fi network (Core 5.4,
    /// Vol 4, Part E, 7.8.19). In force until it is called again.
    /// - Parameter map: the channels that may be used, at least two of 0 to 36.
    /// - Throws: `BLEError.invalidRequest` for another map.
    public func useChannels(_ map: ChannelMap) async throws {
        _ = try await result(of: .radio(.classifyChannels(map)))
    }

    /// Reads whether the peer, as a central, resolves private addresses in directed advertising: Central Address
    /// Resolution (Core 5.4, Vol 3, Part C, 12.4). Ask before advertising is directed to a peer that uses private
    /// addresses.
    /// - Returns: `false` also for a peer that does not say so.
    public func resolvesPrivateAddresses(_ link: LinkID) async throws -> Bool {
        do {
            let values = try await answer(to: .readUsingUUID(.centralAddressResolution, in: .all, on: link))
            return values.first?.value.first == 1
        } catch BLEError.att(.attributeNotFound, _) {
            return false
        }
    }

    /// Reads the power with which this side sends on a link (Core 5.4, Vol 4, Part E, 7.8.117).
    public func readTransmitPower(of link: LinkID, on phy: PowerPHY = .le1M) async throws -> TransmitPower {
        try await answer(to: .readTransmitPower(phy, on: link))
    }

    /// Asks the peer for the power with which it sends (7.8.118).
    public func readRemoteTransmitPower(of link: LinkID, on phy: PowerPHY = .le1M) async throws -> TransmitPower {
        try await answer(to: .readRemoteTransmitPower(phy, on: link))
    }

    /// Chooses whose changes of power come as `AdapterEvent.linkReport` (7.8.121).
    public func reportTransmitPower(_ link: LinkID, local: Bool, remote: Bool) async throws {
        _ = try await result(of: .link(link, .procedure(.reportTransmitPower(local: local, remote: remote))))
    }

    /// Reports as `AdapterEvent.linkReport` when the path loss of a link enters another zone (7.8.119); `nil` ends
    /// this.
    public func monitorPathLoss(_ link: LinkID, zones: PathLossZones?) async throws {
        _ = try await result(of: .link(link, .procedure(.monitorPathLoss(zones: zones))))
    }

    /// Sets after how long without a packet that proves the peer's key an encrypted link is reported as
    /// `LinkReport.unauthenticated` (7.3.94); the controllers exchange a ping in time.
    /// - Parameter timeout: 10 ms to 655.35 s, and more than the connection interval times the latency.
    public func setAuthenticatedPayloadTimeout(_ timeout: Duration, for link: LinkID) async throws {
        _ = try await result(
            of: .link(link, .procedure(.setAuthenticatedPayloadTimeout(.microseconds(timeout.microseconds)))))
    }
}
