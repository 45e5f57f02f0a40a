/// Advertising data that comes in pieces: in AUX_ADV_IND, AUX_SCAN_RSP or AUX_SYNC_IND, and AUX_CHAIN_INDs after it
/// (Core 5.4, Vol 6, Part B, 4.4.2.1). Bounded.
struct AdvertisingChains: Sendable {
    /// More sets than a sniffer follows at once.
    private static let maximumCount = 32
    /// The most octets of advertising data (Core 5.4, Vol 6, Part B, 2.3.4.9).
    private static let maximumByteCount = 1650

    /// The chains whose end has not come: by access address and ADI.
    private var open: [(key: UInt64, data: [UInt8], advertiser: FollowedLink.Device?)] = []

    /// Adds the piece of a PDU.
    /// - Parameters:
    ///   - position: of the payload in the record.
    ///   - isPrimary: whether it was on a primary channel, where there is no data.
    ///   - advertiser: of the PDU; becomes that of the chain.
    mutating func join(
        _ header: ExtendedAdvertisingHeader, _ payload: RawSpan, at position: Int, accessAddress: UInt64,
        isPrimary: Bool,
        advertiser: inout FollowedLink.Device?, into joined: inout [UInt8]
    ) -> LinkLayerFollower.AdvertisingData {
        guard !isPrimary, !header.data.isEmpty || header.pointer == nil else { return .none }
        let identifier = header.dataIdentifier.map { payload.number($0, width: 2) } ?? 0xFFFF
        let key = accessAddress << 16 | identifier
        // A PDU that goes on names no devices.
        let place = open.firstIndex { $0.key == key }
        let isContinued = place != nil && header.advertiser == nil && header.mode == 0
        let begun = place.map { open.remove(at: $0) }
        let piece = payload.part(header.data.lowerBound, header.data.count)
        guard header.pointer != nil || isContinued else {
            guard !header.data.isEmpty else { return .none }
            return .inRecord(position + header.data.lowerBound..<position + header.data.upperBound)
        }
        if isContinued { advertiser = begun?.advertiser }
        let data = (isContinued ? begun?.data ?? [] : []) + piece.copied()
        guard data.count <= Self.maximumByteCount else { return .piece(header.data.count) }
        guard header.pointer != nil else {
            joined = data
            return .joined
        }
        if open.count >= Self.maximumCount { open.removeFirst() }
        open.append((key, data, advertiser))
        return .piece(header.data.count)
    }
}
