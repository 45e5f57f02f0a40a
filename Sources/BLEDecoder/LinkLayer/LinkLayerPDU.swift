import BLECapture

/// The names of PDUs of the link layer.
public enum LinkLayerPDU: UInt8, CaseIterable, Sendable {
    case advInd, advDirectInd, advNonconnInd, scanReq, scanRsp, connectInd, advScanInd, advExtInd
    case auxScanReq, auxConnectReq, auxAdvInd, auxScanRsp, auxSyncInd, auxChainInd, auxConnectRsp, unknown

    /// The specification's name (Core 5.4, Vol 6, Part B, 2.3).
    public var name: StaticString {
        switch self {
        case .advInd: "ADV_IND"
        case .advDirectInd: "ADV_DIRECT_IND"
        case .advNonconnInd: "ADV_NONCONN_IND"
        case .scanReq: "SCAN_REQ"
        case .scanRsp: "SCAN_RSP"
        case .connectInd: "CONNECT_IND"
        case .advScanInd: "ADV_SCAN_IND"
        case .advExtInd: "ADV_EXT_IND"
        case .auxScanReq: "AUX_SCAN_REQ"
        case .auxConnectReq: "AUX_CONNECT_REQ"
        case .auxAdvInd: "AUX_ADV_IND"
        case .auxScanRsp: "AUX_SCAN_RSP"
        case .auxSyncInd: "AUX_SYNC_IND"
        case .auxChainInd: "AUX_CHAIN_IND"
        case .auxConnectRsp: "AUX_CONNECT_RSP"
        case .unknown: "Unknown PDU"
        }
    }

    /// Several PDUs have one number: the channel says which it is, or the sniffer, or what the PDU has.
    init(_ packet: LinkLayerFollower.Packet, _ reading: LinkLayerReading, _ bytes: RawSpan) {
        let isSecondary = reading.channel.map { $0 < 37 } ?? reading.notes.contains(.isAuxiliary)
        switch packet.header & 0x0F {
        case 0: self = .advInd
        case 1: self = .advDirectInd
        case 2: self = .advNonconnInd
        case 3: self = isSecondary ? .auxScanReq : .scanReq
        case 4: self = .scanRsp
        case 5: self = isSecondary ? .auxConnectReq : .connectInd
        case 6: self = .advScanInd
        case 7: self = Self.extended(packet, reading, bytes, isSecondary: isSecondary)
        case 8: self = .auxConnectRsp
        default: self = .unknown
        }
    }

    private static func extended(
        _ packet: LinkLayerFollower.Packet, _ reading: LinkLayerReading, _ bytes: RawSpan, isSecondary: Bool
    ) -> LinkLayerPDU {
        if reading.notes.contains(.isPeriodic) { return .auxSyncInd }
        if reading.notes.contains(.isScanResponse) { return .auxScanRsp }
        if reading.notes.contains(.isChained) { return .auxChainInd }
        if packet.advertisingData == .joined { return .auxChainInd }
        if bytes.integer(0, width: 4) != 0x8E89_BED6 { return .auxSyncInd }
        if isSecondary { return .auxAdvInd }
        // Without a channel: only secondary ones carry data.
        return reading.channel == nil && packet.advertisingData != .none ? .auxAdvInd : .advExtInd
    }

    /// Where the address of the advertiser is, of the legacy PDUs, and whether that of a scanner or central comes before
    /// it or of a target behind it.
    enum Addresses {
        case advertiser, advertiserAndTarget, senderAndAdvertiser, none
    }

    var addresses: Addresses {
        switch self {
        case .advInd, .advNonconnInd, .scanRsp, .advScanInd: .advertiser
        case .advDirectInd: .advertiserAndTarget
        case .scanReq, .connectInd, .auxScanReq, .auxConnectReq: .senderAndAdvertiser
        default: .none
        }
    }

    /// Whether an advertiser sends it by itself, or to a scanner.
    var isReport: Bool {
        switch self {
        case .scanReq, .connectInd, .auxScanReq, .auxConnectReq, .auxConnectRsp, .unknown: false
        default: true
        }
    }
}
