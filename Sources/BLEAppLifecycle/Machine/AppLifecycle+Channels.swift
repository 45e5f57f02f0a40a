import BLEHost
import BLEPackets

/// A credit-based channel of one manager.
struct SharedChannel {
    let id: L2CAPChannelID
    let information: ChannelInformation
    let client: ClientID
    /// Octets that the app has not taken, of each unit that was received, oldest first.
    var untaken: [Int] = []
}

/// L2CAP channels of both roles, as streams of octets (SPEC 2.3 openL2CAPChannel, 2.4 publishL2CAPChannel).
extension AppLifecycle {
    /// Units that an app may hand over before the controller has any of them.
    private static let window = 8

    // MARK: Requests

    mutating func perform(_ request: ChannelRequest, on id: L2CAPChannelID, _ index: Int, at now: Instant) {
        let client = managers[index].client
        guard let place = channels.firstIndex(where: { $0.id == id && $0.client == client }) else { return }
        let channel = channels[place].information
        switch request {
        case .send(let octets):
            let length = max(1, Int(channel.sendMTU))
            for start in stride(from: 0, to: octets.count, by: length) {
                let unit = Array(octets[start..<min(start + length, octets.count)])
                submit(.sendOnChannel(channel.id, unit), from: client, for: .send(client, id, count: unit.count))
            }
        case .received(let count):
            let units = channels[place].take(count)
            if units > 0 { submit(.consumeChannelData(channel.id, units: units), from: client) }
        case .close:
            channels.remove(at: place)
            submit(.closeChannel(channel.id), from: client)
        }
    }

    mutating func listen(isEncrypted: Bool, _ index: Int) {
        let client = managers[index].client
        submit(
            .listenForChannels(spsm: nil, ChannelSettings(), requiresEncryption: isEncrypted), from: client,
            for: .listen(client))
    }

    /// The channels that came by this way go with it (SPEC 2.4).
    mutating func stopListening(_ psm: UInt16, _ index: Int, at now: Instant) {
        guard let place = managers[index].server.listeners.firstIndex(of: psm) else {
            return tell(.channelUnpublished(psm: psm, .coreBluetooth(.invalidParameters)), index, at: now)
        }
        managers[index].server.listeners.remove(at: place)
        let client = managers[index].client
        submit(.stopListeningForChannels(spsm: psm), from: client)
        for channel in channels where channel.client == client && channel.information.spsm == psm {
            submit(.closeChannel(channel.information.id), from: client)
        }
        tell(.channelUnpublished(psm: psm, nil), index, at: now)
    }

    /// A manager is gone, or its app is.
    mutating func closeChannels(of index: Int) {
        let client = managers[index].client
        for psm in managers[index].server.listeners { submit(.stopListeningForChannels(spsm: psm), from: client) }
        managers[index].server.listeners = []
        for channel in channels where channel.client == client {
            submit(.closeChannel(channel.information.id), from: client)
        }
        channels.removeAll { $0.client == client }
    }

    // MARK: Events

    /// - Returns: the name by which the app knows a channel that is open.
    mutating func take(_ information: ChannelInformation, _ client: ClientID) -> L2CAPChannelID {
        lastChannel += 1
        let id = L2CAPChannelID(rawValue: lastChannel)
        channels.append(SharedChannel(id: id, information: information, client: client))
        return id
    }

    /// Tells how much may be sent at first.
    mutating func offer(_ id: L2CAPChannelID, _ index: Int, at now: Instant) {
        guard let channel = channels.first(where: { $0.id == id }) else { return }
        tell(.channel(id, .canSend(count: Int(channel.information.sendMTU) * Self.window)), index, at: now)
    }

    mutating func listening(_ result: Result<HostResult, HostFailure>, _ client: ClientID, at now: Instant) {
        guard let index = index(of: client) else { return }
        switch result {
        case .success(.listening(let psm)):
            managers[index].server.listeners.append(psm)
            tell(.channelPublished(psm: psm, nil), index, at: now)
        case .failure(let failure): tell(.channelPublished(psm: 0, failure.clientError), index, at: now)
        case .success: break
        }
    }

    mutating func sent(
        _ count: Int, on id: L2CAPChannelID, _ result: Result<HostResult, HostFailure>, _ client: ClientID,
        at now: Instant
    ) {
        guard let index = index(of: client), let place = channels.firstIndex(where: { $0.id == id }) else { return }
        switch result {
        case .success: tell(.channel(id, .canSend(count: count)), index, at: now)
        case .failure(let failure):
            // A stream with a hole in it is none.
            let channel = channels.remove(at: place)
            submit(.closeChannel(channel.information.id), from: client)
            tell(.channel(id, .closed(failure.clientError)), index, at: now)
        }
    }

    mutating func happened(_ event: BLEHost.ChannelEvent, at now: Instant) {
        switch event {
        case .opened(let information, let client):
            guard let index = index(of: client),
                let central = describe(information.id.link, app: managers[index].app)
            else {
                submit(.closeChannel(information.id), from: client)
                return
            }
            let id = take(information, client)
            tell(.channelAccepted(id, psm: information.spsm, central), index, at: now)
            offer(id, index, at: now)
        case .received(let channel, let octets):
            guard let place = channels.firstIndex(where: { $0.information.id == channel }),
                let index = index(of: channels[place].client)
            else { return }
            channels[place].untaken.append(octets.count)
            if octets.isEmpty {
                let units = channels[place].take(0)
                if units > 0 { submit(.consumeChannelData(channel, units: units), from: channels[place].client) }
            } else {
                tell(.channel(channels[place].id, .received(octets)), index, at: now)
            }
        case .closed(let channel, let end):
            guard let place = channels.firstIndex(where: { $0.information.id == channel }) else { return }
            let gone = channels.remove(at: place)
            guard let index = index(of: gone.client) else { return }
            tell(.channel(gone.id, .closed(end.clientError)), index, at: now)
        }
    }
}

extension SharedChannel {
    /// The app took so many octets.
    /// - Returns: units that it has taken whole.
    mutating func take(_ count: Int) -> Int {
        var rest = max(0, count)
        var units = 0
        while let first = untaken.first, first <= rest {
            rest -= first
            units += 1
            untaken.removeFirst()
        }
        if rest > 0, let first = untaken.first { untaken[0] = first - rest }
        return units
    }
}

extension ChannelEnd {
    var clientError: ClientError? {
        switch self {
        case .closedLocally, .closedByPeer: nil
        case .protocolViolation: .coreBluetooth(.unknown)
        case .linkLost: .coreBluetooth(.peripheralDisconnected)
        }
    }
}
