import BLEPackets

/// What clients want to advertise, merged into the one advertisement that the controller sends.
///
/// Clients in the foreground share the visible octets, the latest first; those in the background are heard in the
/// overflow area alone (SPEC ADV-3, ADV-4, 3.5 step 7). The foreground begins fast and slows down when nobody came for a
/// while (SPEC section 4).
struct Advertiser {
    private struct Wish {
        var operation: OperationID
        var client: ClientID
        var request: AdvertiseRequest
        var since: Instant
    }

    private var wishes: [Wish] = []

    var isWanted: Bool { !wishes.isEmpty }

    mutating func add(_ request: AdvertiseRequest, operation: OperationID, client: ClientID, at now: Instant) {
        wishes.append(Wish(operation: operation, client: client, request: request, since: now))
    }

    /// What comes to the foreground is the latest there (SPEC 3.5 step 7).
    /// - Returns: whether there is such a request.
    mutating func change(_ operation: OperationID, to request: AdvertiseRequest, at now: Instant) -> Bool {
        guard let index = wishes.firstIndex(where: { $0.operation == operation }) else { return false }
        var wish = wishes[index]
        let comesToForeground = wish.request.isInBackground && !request.isInBackground
        if wish.request.isInBackground != request.isInBackground { wish.since = now }
        wish.request = request
        wishes[index] = wish
        if comesToForeground {
            wishes.remove(at: index)
            wishes.append(wish)
        }
        return true
    }

    /// - Returns: whether there was such a request.
    mutating func remove(_ operation: OperationID) -> Bool {
        guard let index = wishes.firstIndex(where: { $0.operation == operation }) else { return false }
        wishes.remove(at: index)
        return true
    }

    /// Ends every request, oldest first.
    mutating func removeAll() -> [OperationID] {
        defer { wishes.removeAll() }
        return wishes.map { $0.operation }
    }

    /// A central has connected: ends the requests that do not outlast that.
    mutating func centralConnected(at now: Instant) -> [OperationID] {
        let ended = wishes.filter { !$0.request.resumesAfterConnection }.map { $0.operation }
        wishes.removeAll { !$0.request.resumesAfterConnection }
        for index in wishes.indices { wishes[index].since = now }
        return ended
    }

    /// What the controller should advertise now.
    func plan(
        timing: Timing, settings: AdvertisingPackerSettings, ownAddressType: OwnAddressType, at now: Instant
    ) -> AdvertisingMachine.Plan? {
        guard let leader else { return nil }
        let isConnectable = wishes.contains { $0.request.isConnectable }
        var advertisement: [UInt8]
        var scanResponse: [UInt8]
        if let raw = wishes.first(where: { if case .raw = $0.request.content { true } else { false } }),
            case .raw(let data, let response) = raw.request.content
        {
            (advertisement, scanResponse) = (data, response)
        } else {
            let packed = AdvertisingPacker.pack(
                wishes.reversed().compactMap { wish in
                    guard case .packed(let name, let uuids) = wish.request.content else { return nil }
                    return AdvertisingContribution(
                        localName: name, serviceUUIDs: uuids,
                        state: wish.request.isInBackground ? .background : .foreground)
                }, settings: settings)
            (advertisement, scanResponse) = (packed.advertisement, packed.scanResponse)
        }
        return AdvertisingMachine.Plan(
            parameters: AdvertisingParameters(
                isConnectable: isConnectable, isScannable: isConnectable || !scanResponse.isEmpty,
                interval: interval(of: leader, timing: timing, at: now), ownAddressType: ownAddressType),
            advertisement: advertisement, scanResponse: scanResponse)
    }

    /// When the interval changes by itself.
    func nextDeadline(timing: Timing, after now: Instant) -> Instant? {
        guard let leader, leader.request.interval == nil else { return nil }
        let profile = profile(timing)
        let change = leader.since.advanced(by: profile.initialSpan)
        return change > now ? change : nil
    }

    /// The latest of those who set the pace: of the foreground where there is one, else of the background.
    private var leader: Wish? { wishes.last { !$0.request.isInBackground } ?? wishes.last }

    /// The foreground's pace as long as one client is there (SPEC BGP-5).
    private func profile(_ timing: Timing) -> AdvertisingPace {
        wishes.contains { !$0.request.isInBackground } ? timing.foregroundAdvertising : timing.backgroundAdvertising
    }

    private func interval(of wish: Wish, timing: Timing, at now: Instant) -> AdvertisingInterval {
        if let wished = wish.request.interval { return wished }
        let profile = profile(timing)
        return wish.since.advanced(by: profile.initialSpan) > now ? profile.initial : profile.later
    }
}
