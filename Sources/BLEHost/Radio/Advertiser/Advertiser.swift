import BLEPackets

/// What the clients want to advertise, merged into the one advertisement that the controller sends.
///
/// Clients in the foreground share the visible octets, the latest first; those in the background appear only in the
/// overflow area (SPEC ADV-3, ADV-4, 3.5 step 7). Advertising starts fast, and slows down if no central connects for a
/// while (SPEC section 4). Between clients of several users, `Advertiser+Users` decides.
struct Advertiser {
    struct Wish {
        var operation: OperationID
        var client: ClientID
        var request: AdvertiseRequest
        var since: Instant
        /// The target of directed advertising is connected.
        var isHeld = false
        /// The part without room, as of the latest event for the client.
        var reportedHidden = AdvertisingRoom()

        /// Whether the connection of any central ends the request.
        var endsWithConnection: Bool { !request.resumesAfterConnection && request.target == nil }
    }

    /// The requests, oldest first.
    var wishes: [Wish] = []
    /// For whom the clients work.
    var users = ClientUsers()
    /// The users whose directed and raw advertisements have a separate set, in the order in which they got it.
    var guests: [User] = []
    /// What is on the air, in the order in which it got its room.
    var shown: [Item] = []
    /// The events about room that clients must get.
    var news: [(OperationID, ClientID, AdvertisingRoom)] = []

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

    /// Ends every request for the shared advertisement, oldest first.
    mutating func removeShared() -> [OperationID] {
        let ended = shared.map { $0.operation }
        wishes.removeAll { ended.contains($0.operation) }
        return ended
    }

    /// A central has connected: ends the requests that end with a connection.
    /// - Parameter guest: whose advertisement it answered; `nil`: the shared one.
    mutating func centralConnected(to guest: User? = nil, at now: Instant) -> [OperationID] {
        var ended: [OperationID] = []
        for index in wishes.indices where part(of: wishes[index]) == guest {
            if wishes[index].endsWithConnection { ended.append(wishes[index].operation) }
            wishes[index].since = now
        }
        wishes.removeAll { ended.contains($0.operation) }
        return ended
    }

    /// The target of directed advertising now; it takes precedence over undirected advertising.
    var target: AdvertisingTarget? { directed(in: shared)?.request.target }

    /// Pauses directed advertising to devices that are connected.
    mutating func pause(_ present: [DeviceAddress]) {
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
    /// - Parameter guest: whose advertising it was; `nil`: the shared one.
    mutating func directedEnded(
        _ target: AdvertisingTarget, of guest: User? = nil, hasCome: Bool = false
    ) -> [OperationID] {
        let rests = hasCome && target.form != .highDutyCycle
        let ended = wishes.filter {
            $0.request.target == target && part(of: $0) == guest && !(rests && $0.request.resumesAfterConnection)
        }.map { $0.operation }
        wishes.removeAll { ended.contains($0.operation) }
        return ended
    }

    /// What the controller should advertise now.
    /// - Parameter guest: whose advertisement; `nil`: the shared one.
    mutating func plan(
        of guest: User? = nil, timing: Timing, settings: AdvertisingPackerSettings, ownAddressType: OwnAddressType,
        at now: Instant
    ) -> AdvertisingMachine.Plan? {
        let all = guest.map { ownWishes(of: $0) } ?? shared
        if let directed = directed(in: all), let target = directed.request.target {
            return AdvertisingMachine.Plan(
                parameters: AdvertisingParameters(
                    isConnectable: true, isScannable: false,
                    interval: interval(of: directed, among: all, timing: timing, at: now),
                    ownAddressType: ownAddressType, target: target),
                advertisement: target.form == .extended
                    ? content(of: [directed], isShared: false, settings: settings).0 : [],
                scanResponse: [])
        }
        let wishes = all.filter { $0.request.target == nil }
        guard let leader = leader(of: wishes) else {
            if guest == nil { shown = [] }
            return nil
        }
        let isConnectable = wishes.contains { $0.request.isConnectable }
        let interval =
            Features.users && guest == nil && areSeveral(wishes)
            ? shortestInterval(of: wishes, among: all, timing: timing, at: now)
            : interval(of: leader, among: all, timing: timing, at: now)
        let (advertisement, scanResponse) = content(of: wishes, isShared: guest == nil, settings: settings)
        return AdvertisingMachine.Plan(
            parameters: AdvertisingParameters(
                isConnectable: isConnectable, isScannable: isConnectable || !scanResponse.isEmpty,
                interval: interval, ownAddressType: ownAddressType),
            advertisement: advertisement, scanResponse: scanResponse)
    }

    private mutating func content(
        of wishes: [Wish], isShared: Bool, settings: AdvertisingPackerSettings
    ) -> ([UInt8], [UInt8]) {
        if let raw = wishes.first(where: { if case .raw = $0.request.content { true } else { false } }),
            case .raw(let data, let response) = raw.request.content
        {
            if isShared { shown = [] }
            return (data, response)
        }
        let packed = AdvertisingPacker.pack(
            Features.users && areSeveral(wishes) ? sharedContributions(of: wishes) : contributions(of: wishes),
            settings: settings)
        if Features.users, isShared { recordShown(packed, of: wishes) }
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

    /// What the clients give the packer: the latest first.
    func contributions(of wishes: [Wish]) -> [AdvertisingContribution] {
        wishes.reversed().compactMap { wish in
            guard case .packed(let name, let uuids) = wish.request.content else { return nil }
            return AdvertisingContribution(
                localName: name, serviceUUIDs: uuids,
                state: wish.request.isInBackground ? .background : .foreground, overflow: wish.request.overflow)
        }
    }

    /// When the advertising interval changes next.
    func nextDeadline(timing: Timing, after now: Instant) -> Instant? {
        if Features.users, areSeveral(wishes) {
            return wishes.reduce(nil) { earliest($0, nextChange(of: $1, among: wishes, timing: timing, after: now)) }
        }
        guard let leader = directed(in: wishes) ?? leader(of: wishes.filter { $0.request.target == nil }) else {
            return nil
        }
        return nextChange(of: leader, among: wishes, timing: timing, after: now)
    }

    private func nextChange(of wish: Wish, among wishes: [Wish], timing: Timing, after now: Instant) -> Instant? {
        guard wish.request.interval == nil else { return nil }
        let change = wish.since.advanced(by: profile(of: wishes, timing).initialSpan)
        return change > now ? change : nil
    }

    private func directed(in wishes: [Wish]) -> Wish? { wishes.first { $0.request.target != nil && !$0.isHeld } }

    /// The request that sets the pace: the latest in the foreground if there is one, else the latest in the background.
    func leader(of wishes: [Wish]) -> Wish? { wishes.last { !$0.request.isInBackground } ?? wishes.last }

    /// The foreground's pace while a client is in the foreground, otherwise the background's (SPEC BGP-5).
    private func profile(of wishes: [Wish], _ timing: Timing) -> AdvertisingPace {
        wishes.contains { !$0.request.isInBackground } ? timing.foregroundAdvertising : timing.backgroundAdvertising
    }

    func interval(of wish: Wish, among wishes: [Wish], timing: Timing, at now: Instant) -> AdvertisingInterval {
        if let wished = wish.request.interval { return wished }
        let profile = profile(of: wishes, timing)
        return wish.since.advanced(by: profile.initialSpan) > now ? profile.initial : profile.later
    }
}
