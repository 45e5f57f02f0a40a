import BLEPackets

/// What the clients want to advertise, merged into the one advertisement that the controller sends.
///
/// Clients in the foreground share the visible octets, the latest first; those in the background appear only in the
/// overflow area (SPEC ADV-3, ADV-4, 3.5 step 7). Advertising starts fast, and slows down if no central connects for a
/// while (SPEC section 4).
struct Advertiser {
    private struct Wish {
        var operation: OperationID
        var client: ClientID
        var request: AdvertiseRequest
        var since: Instant
        /// The target of directed advertising is connected.
        var isHeld = false

        /// Whether the connection of any central ends the request.
        var endsWithConnection: Bool { !request.resumesAfterConnection && request.target == nil }
    }

    private var wishes: [Wish] = []

    /// The structures that the packed advertisement carries in addition, as far as there is room (Core 5.4, Vol 3, Part
    /// G, 2.7).
    var broadcasts: [[UInt8]] = []

    var isWanted: Bool { !wishes.isEmpty }

    mutating func add(_ request: AdvertiseRequest, operation: OperationID, client: ClientID, at now: Instant) {
        wishes.append(Wish(operation: operation, client: client, request: request, since: now))
    }

    /// A request that comes to the foreground becomes the latest there (SPEC 3.5 step 7).
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

    /// A central has connected: ends the requests that end with a connection.
    mutating func centralConnected(at now: Instant) -> [OperationID] {
        let ended = wishes.filter { $0.endsWithConnection }.map { $0.operation }
        wishes.removeAll { $0.endsWithConnection }
        for index in wishes.indices { wishes[index].since = now }
        return ended
    }

    /// The target of directed advertising now; it takes precedence over undirected advertising.
    var target: AdvertisingTarget? { directed?.request.target }

    /// Pauses directed advertising to devices that are connected.
    mutating func hold(_ present: [DeviceAddress]) {
        for index in wishes.indices {
            if let target = wishes[index].request.target { wishes[index].isHeld = present.contains(target.peer) }
        }
    }

    /// The targets of all requests for directed advertising, connected or not.
    var targets: [DeviceAddress] { wishes.compactMap { $0.request.target?.peer } }

    /// Directed advertising to a device has ended.
    /// - Parameter hasCome: whether it ended because the device connected; a request that resumes after a connection
    ///   then only pauses.
    /// - Returns: the operations whose requests have ended.
    mutating func callEnded(_ target: AdvertisingTarget, hasCome: Bool = false) -> [OperationID] {
        let rests = hasCome && target.form != .highDutyCycle
        let ended = wishes.filter { $0.request.target == target && !(rests && $0.request.resumesAfterConnection) }
            .map { $0.operation }
        wishes.removeAll { ended.contains($0.operation) }
        return ended
    }

    /// What the controller should advertise now.
    func plan(
        timing: Timing, settings: AdvertisingPackerSettings, ownAddressType: OwnAddressType, at now: Instant
    ) -> AdvertisingMachine.Plan? {
        if let directed, let target = directed.request.target {
            return AdvertisingMachine.Plan(
                parameters: AdvertisingParameters(
                    isConnectable: true, isScannable: false, interval: interval(of: directed, timing: timing, at: now),
                    ownAddressType: ownAddressType, target: target),
                advertisement: target.form == .extended ? content(of: [directed], settings: settings).0 : [],
                scanResponse: [])
        }
        guard let leader else { return nil }
        let wishes = undirected
        let isConnectable = wishes.contains { $0.request.isConnectable }
        let (advertisement, scanResponse) = content(of: wishes, settings: settings)
        return AdvertisingMachine.Plan(
            parameters: AdvertisingParameters(
                isConnectable: isConnectable, isScannable: isConnectable || !scanResponse.isEmpty,
                interval: interval(of: leader, timing: timing, at: now), ownAddressType: ownAddressType),
            advertisement: advertisement, scanResponse: scanResponse)
    }

    private func content(of wishes: [Wish], settings: AdvertisingPackerSettings) -> ([UInt8], [UInt8]) {
        if let raw = wishes.first(where: { if case .raw = $0.request.content { true } else { false } }),
            case .raw(let data, let response) = raw.request.content
        {
            return (data, response)
        }
        let packed = AdvertisingPacker.pack(
            wishes.reversed().compactMap { wish in
                guard case .packed(let name, let uuids) = wish.request.content else { return nil }
                return AdvertisingContribution(
                    localName: name, serviceUUIDs: uuids,
                    state: wish.request.isInBackground ? .background : .foreground, overflow: wish.request.overflow)
            }, settings: settings)
        var (advertisement, scanResponse) = (packed.advertisement, packed.scanResponse)
        for structure in broadcasts {
            if advertisement.count + structure.count <= AdvertisingDataWriter.legacyCapacity {
                advertisement += structure
            } else if scanResponse.count + structure.count <= AdvertisingDataWriter.legacyCapacity {
                scanResponse += structure
            }
        }
        return (advertisement, scanResponse)
    }

    /// When the advertising interval changes next.
    func nextDeadline(timing: Timing, after now: Instant) -> Instant? {
        guard let leader = directed ?? leader, leader.request.interval == nil else { return nil }
        let profile = profile(timing)
        let change = leader.since.advanced(by: profile.initialSpan)
        return change > now ? change : nil
    }

    private var directed: Wish? { wishes.first { $0.request.target != nil && !$0.isHeld } }
    private var undirected: [Wish] { wishes.filter { $0.request.target == nil } }

    /// The request that sets the pace: the latest in the foreground if there is one, else the latest in the background.
    private var leader: Wish? { undirected.last { !$0.request.isInBackground } ?? undirected.last }

    /// The foreground's pace while a client is in the foreground, otherwise the background's (SPEC BGP-5).
    private func profile(_ timing: Timing) -> AdvertisingPace {
        wishes.contains { !$0.request.isInBackground } ? timing.foregroundAdvertising : timing.backgroundAdvertising
    }

    private func interval(of wish: Wish, timing: Timing, at now: Instant) -> AdvertisingInterval {
        if let wished = wish.request.interval { return wished }
        let profile = profile(timing)
        return wish.since.advanced(by: profile.initialSpan) > now ? profile.initial : profile.later
    }
}
