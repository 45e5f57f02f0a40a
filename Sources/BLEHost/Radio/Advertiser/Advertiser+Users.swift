import BLEPackets

/// Requests of several users.
///
/// There is one advertisement for all, and no user's may take it from another's:
///
/// - A directed or raw advertisement is sent by itself, so beside others it gets a separate set: its user is a guest.
///   Where there is no set for it, the request ends.
/// - The shortest interval counts.
/// - What is on the air keeps its room. What is free is divided by turns, and a client that finds none gets an event.
extension Advertiser {
    /// A user, or all clients without one.
    typealias User = UInt64

    /// A part of what a user wants to be seen.
    struct Item: Equatable {
        enum Content: Equatable {
            case name(String)
            case service(BluetoothUUID)
        }

        var user: User
        var content: Content
        /// As the request says.
        var overflow: AdvertisingPackerSettings.OverflowEmission?
    }

    private static let nobody = User.max

    func user(of wish: Wish) -> User { users[wish.client].map { User($0.number) } ?? Self.nobody }

    /// Whether the requests are of several users.
    func areSeveral(_ wishes: [Wish]) -> Bool {
        guard Features.users, let first = wishes.first else { return false }
        let user = user(of: first)
        return wishes.contains { self.user(of: $0) != user }
    }

    // MARK: Guests

    /// The guest to whose advertisement a request belongs; `nil`: the shared one.
    func part(of wish: Wish) -> User? {
        guard Features.users, !guests.isEmpty, wish.isExclusive else { return nil }
        let user = user(of: wish)
        return guests.contains(user) ? user : nil
    }

    /// The requests that the shared advertisement is for.
    var shared: [Wish] {
        guard Features.users, !guests.isEmpty else { return wishes }
        return wishes.filter { part(of: $0) == nil }
    }

    /// What a guest's own advertisement is for: the first that can be sent.
    func ownWishes(of guest: User) -> [Wish] {
        let own = wishes.filter { part(of: $0) == guest && !$0.isHeld }
        return (own.first { $0.request.target != nil } ?? own.first).map { [$0] } ?? []
    }

    /// Finds the users who need a separate advertisement. A user who has one has it as long as there is use for it.
    mutating func findGuests() {
        guard Features.users else { return }
        if !guests.isEmpty {
            let own = wishes.filter { $0.isExclusive }.map { user(of: $0) }
            guests.removeAll { !own.contains($0) }
        }
        guard areSeveral(wishes), let first = wishes.first else { return }
        let host = user(of: first)
        for wish in wishes where wish.isExclusive && !wish.isHeld {
            let user = user(of: wish)
            guard !guests.contains(user) else { continue }
            // While the others have nothing for the shared advertisement, it stays the first one's.
            let isAlone = !wishes.contains { self.user(of: $0) != user && !$0.isExclusive }
            if user == host, isAlone { continue }
            guests.append(user)
        }
    }

    /// There is no set for a guest.
    /// - Returns: the operations whose requests have ended.
    mutating func refuse(_ guest: User) -> [OperationID] {
        let ended = wishes.filter { part(of: $0) == guest }.map { $0.operation }
        wishes.removeAll { ended.contains($0.operation) }
        guests.removeAll { $0 == guest }
        return ended
    }

    // MARK: What is shared

    /// The shortest of the intervals that the users would have without the others.
    func shortestInterval(
        of wishes: [Wish], among all: [Wish], timing: Timing, at now: Instant
    ) -> AdvertisingInterval {
        var shortest: AdvertisingInterval?
        var seen: [User] = []
        for wish in wishes {
            let user = user(of: wish)
            guard !seen.contains(user) else { continue }
            seen.append(user)
            guard let leader = leader(of: wishes.filter { self.user(of: $0) == user }) else { continue }
            // One that the controller would refuse would end what the others advertise.
            let wished = interval(of: leader, among: all, timing: timing, at: now)
            let interval = min(max(wished, .least), .greatest)
            shortest = shortest.map { min($0, interval) } ?? interval
        }
        return shortest ?? timing.foregroundAdvertising.initial
    }

    /// What users in the foreground want to be seen, each user's in the order in which it would be packed by itself.
    private func items(of wishes: [Wish]) -> [[Item]] {
        var order: [User] = []
        var items: [[Item]] = []
        for wish in wishes where !wish.request.isInBackground {
            guard !order.contains(user(of: wish)) else { continue }
            order.append(user(of: wish))
            items.append([])
        }
        for wish in wishes.reversed() where !wish.request.isInBackground {
            guard case .packed(let name, let uuids) = wish.request.content,
                let place = order.firstIndex(of: user(of: wish))
            else { continue }
            for uuid in uuids {
                items[place].append(Item(user: order[place], content: .service(uuid), overflow: wish.request.overflow))
            }
            if let name { items[place].append(Item(user: order[place], content: .name(name))) }
        }
        return items
    }

    /// What is on the air first, then the rest by turns.
    func sharedContributions(of wishes: [Wish]) -> [AdvertisingContribution] {
        let wanted = items(of: wishes)
        var contributions: [AdvertisingContribution] = []
        for item in shown where wanted.contains(where: { $0.contains(item) }) {
            contributions.append(AdvertisingContribution(item))
        }
        let longest = wanted.reduce(0) { max($0, $1.count) }
        for turn in 0..<longest {
            for own in wanted where turn < own.count && !shown.contains(own[turn]) {
                contributions.append(AdvertisingContribution(own[turn]))
            }
        }
        return contributions + self.contributions(of: wishes.filter { $0.request.isInBackground })
    }

    /// Records what is on the air now, and which events clients have to get.
    mutating func recordShown(_ packed: PackedAdvertisement, of wishes: [Wish]) {
        let all = items(of: wishes).joined().filter { packed.shows($0.content) }
        let kept = shown.filter { all.contains($0) }
        shown = kept + all.filter { !kept.contains($0) }
        let areSeveral = areSeveral(wishes)
        for index in self.wishes.indices {
            let wish = self.wishes[index]
            var room = AdvertisingRoom()
            if areSeveral, !wish.request.isInBackground, part(of: wish) == nil,
                case .packed(let name, let uuids) = wish.request.content
            {
                room.hiddenServices = uuids.filter { !packed.shows(.service($0)) }
                room.hidesName = name.map { !packed.shows(.name($0)) } ?? false
            }
            guard room != wish.reportedHidden else { continue }
            self.wishes[index].reportedHidden = room
            news.append((wish.operation, wish.client, room))
        }
    }
}

extension Advertiser.Wish {
    /// Whether it is advertised by itself: directed or raw.
    var isExclusive: Bool {
        if request.target != nil { return true }
        if case .raw = request.content { return true }
        return false
    }
}

extension AdvertisingContribution {
    fileprivate init(_ item: Advertiser.Item) {
        switch item.content {
        case .name(let name): self.init(localName: name, serviceUUIDs: [], state: .foreground)
        case .service(let uuid):
            self.init(localName: nil, serviceUUIDs: [uuid], state: .foreground, overflow: item.overflow)
        }
    }
}

extension PackedAdvertisement {
    /// Whether others see it; of a name at least the beginning.
    fileprivate func shows(_ content: Advertiser.Item.Content) -> Bool {
        switch content {
        case .service(let uuid): return visible.contains(uuid)
        case .name(let wanted):
            guard let name else { return false }
            let sent = name.value.utf8Prefix(Int.max)
            return name.isTruncated
                ? wanted.utf8Prefix(sent.count) == sent && wanted.utf8.span.count > sent.count
                : wanted.utf8Prefix(Int.max) == sent
        }
    }
}
