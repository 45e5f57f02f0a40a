import BLEPackets

/// What a client may ask of the link layer on a link; at most one procedure with the same command runs at a time.
public enum LinkProcedure: Equatable, Sendable {
    /// Ends with `HostResult.rssi`.
    case readRSSI
    /// Ends with `HostResult.remoteVersion`.
    case readRemoteVersion
    /// Ends with `HostResult.remoteFeatures`.
    case readRemoteFeatures
    /// Sets the parameters (as the central) or requests them (as the peripheral). Ends with
    /// `HostResult.connectionParameters`, or with `HostFailure.rejectedByPeer`.
    case updateParameters(ConnectionParameterRequest)
    /// Payload octets, 27 to 251, and microseconds, 328 to 17040, that this side may send in one packet.
    case setDataLength(octets: UInt16, microseconds: UInt16)
    /// Ends with `HostResult.phy`.
    case readPHY
    /// Requests other PHYs; the controllers negotiate. Ends with `HostResult.phy`.
    case setPHY(transmit: PHYSet, receive: PHYSet)
    /// Requests that the link uses a share of its connection events; either side may ask. Ends with
    /// `HostResult.subrate`. Needs `Timing.allowsSubrating` on both sides.
    case setSubrate(SubrateParameters)
    /// The power with which this side sends (Core 5.4, Vol 4, Part E, 7.8.117). Ends with `HostResult.transmitPower`.
    case readTransmitPower(phy: PowerPHY)
    /// The power with which the peer sends (7.8.118). Ends with `HostResult.transmitPower`.
    case readRemoteTransmitPower(phy: PowerPHY)
    /// Whether changes of either side's power are reported as `HostEvent.linkReport` (7.8.121).
    case reportTransmitPower(local: Bool, remote: Bool)
    /// From now on, reports when the path loss enters another zone (7.8.119 and 7.8.120); `nil` ends this. The
    /// controller needs to know the peer's transmit power, which it reads by itself.
    case monitorPathLoss(zones: PathLossZones?)
    /// After how long without a packet that proves the peer's key an encrypted link is reported as
    /// `LinkReport.unauthenticated`: 10 ms to 655.35 s, more than the interval times the latency (7.3.94). Both
    /// controllers exchange a ping in time (Core 5.4, Vol 6, Part B, 5.1.12).
    case setAuthenticatedPayloadTimeout(Microseconds)

    /// Whether it changes how the link works, for all that use it. A new procedure states it here.
    public var changesLink: Bool {
        switch self {
        case .updateParameters, .setDataLength, .setPHY, .setSubrate: true
        case .readRSSI, .readRemoteVersion, .readRemoteFeatures, .readPHY, .readTransmitPower, .readRemoteTransmitPower,
            .reportTransmitPower, .monitorPathLoss, .setAuthenticatedPayloadTimeout:
            false
        }
    }

    /// The HCI command for the procedure. A peripheral may have to ask the central over L2CAP instead, and not every
    /// call reaches the controller: what is already known is not read again.
    var opcode: HCIOpcode {
        switch self {
        case .readRSSI: ReadRSSI.opcode
        case .readRemoteVersion: ReadRemoteVersionInformation.opcode
        case .readRemoteFeatures: LEReadRemoteFeatures.opcode
        case .updateParameters: LEConnectionUpdate.opcode
        case .setDataLength: LESetDataLength.opcode
        case .readPHY: LEReadPHY.opcode
        case .setPHY: LESetPHY.opcode
        case .setSubrate: LESubrateRequest.opcode
        case .readTransmitPower: LEEnhancedReadTransmitPowerLevel.opcode
        case .readRemoteTransmitPower: LEReadRemoteTransmitPowerLevel.opcode
        case .reportTransmitPower: LESetTransmitPowerReportingEnable.opcode
        case .monitorPathLoss: LESetPathLossReportingEnable.opcode
        case .setAuthenticatedPayloadTimeout: WriteAuthenticatedPayloadTimeout.opcode
        }
    }
}
