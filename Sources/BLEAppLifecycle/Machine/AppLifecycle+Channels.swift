import BLEHost
import BLEPackets

/// An L2CAP channel of a manager.
struct OpenChannel {
    let id: L2CAPChannelID
    let channel: ChannelID
    /// The number under which it is offered, here or there.
    let spsm: UInt16
    /// Whether it was opened to a number of this manager's.
    let isAccepted: Bool
    /// The longest unit that the peer takes, in octets.
    let sendMTU: Int
    /// Lengths of received units that the app has not taken whole, oldest first.
    var unitsHeld: [Int] = []
    /// Octets that the app has taken of the oldest.
    var octetsTaken = 0
}

/// Channels as streams of octets: what the app writes goes out in units, what comes in is counted until the app has read it
/// (SPEC 2.3 openL2CAPChannel, 2.4 publishL2CAPChannel).
extension AppLifecycle {
    /// Units that an app may have given and that are not sent.
    private static let unitsUnderWay = 4

    /// Ends what a manager has open, and its offers.
    mutating func closeChannels(of index: Int) {
        let client = managers[index].client
        for open in managers[index].channels { submit(.closeChannel(open.channel), from: client) }
        for spsm in managers[index].server.listening { submit(.stopListeningForChannels(spsm: spsm), from: client) }
    }

    // MARK: Requests

    mutating func publishChannel(isEncrypted: Bool, _ index: Int) {
        submit(
            .listenForChannels(spsm: nil, ChannelSettings(), requiresEncryption: isEncrypted),
            from: managers[index].client, for: .listen(managers[index].client))
    }

    /// Channels that were opened by it end with the offer (SPEC 2.4).
    mutating func unpublishChannel(_ psm: UInt16, _ index: Int, at now: Instant) {
        guard let place = managers[index].server.listening.firstIndex(of: psm) else {
            return tell(.channelUnpublished(psm: psm, .coreBluetooth(.invalidParameters)), index, at: now)
        }
        managers[index].server.listening.remove(at: place)
        submit(.stopListeningForChannels(spsm: psm), from: managers[index].client)
        for open in managers[index].channels where open.isAccepted && open.spsm == psm {
            submit(.closeChannel(open.channel), from: managers[index].client)
        }
        tell(.channelUnpublished(psm: psm, nil), index, at: now)
    }

    mutating func perform(_ request: ChannelRequest, on id: L2CAPChannelID, _ index: Int, at now: Instant) {
        guard let place = managers[index].channels.firstIndex(where: { $0.id == id }) else {
            // It ended while the request was on its way; a closed one is closed.
            if request != .close { tell(.channel(id, .closed(.coreBluetooth(.notConnected))), index, at: now) }
            return
        }
        let client = managers[index].client
        let open = managers[index].channels[place]
        switch request {
        case .send(let octets):
            var rest = octets[...]
            while !rest.isEmpty {
                let unit = Array(rest.prefix(open.sendMTU))
                rest = rest.dropFirst(unit.count)
                submit(.sendOnChannel(open.channel, unit), from: client, for: .send(client, id, octets: unit.count))
            }
        case .received(let count): consume(count, of: place, index)
        case .close: submit(.closeChannel(open.channel), from: client)
        }
    }

    /// The peer may send another unit for each that has been read to its end.
    private mutating func consume(_ count: Int, of place: Int, _ index: Int) {
        var open = managers[index].channels[place]
        open.octetsTaken += max(0, count)
        var units = 0
        while let first = open.unitsHeld.first, open.octetsTaken >= first {
            open.octetsTaken -= first
            open.unitsHeld.removeFirst()
            units += 1
        }
        if open.unitsHeld.isEmpty { open.octetsTaken = 0 }
        managers[index].channels[place] = open
        if units > 0 { submit(.consumeChannelData(open.channel, units: units), from: managers[index].client) }
    }

    // MARK: What becomes of them

    mutating func listening(_ result: Result<HostResult, HostFailure>, _ client: ClientID, at now: Instant) {
        guard let index = index(of: client) else {
            if case .success(.listening(let spsm)) = result {
                submit(.stopListeningForChannels(spsm: spsm), from: client)
            }
            return
        }
        switch result {
        case .success(.listening(let spsm)):
            managers[index].server.listening.append(spsm)
            tell(.channelPublished(psm: spsm, nil), index, at: now)
        case .success: break
        case .failure(let failure): tell(.channelPublished(psm: 0, failure.clientError), index, at: now)
        }
    }

    /// A channel that the app asked for is there.
    mutating func opened(
        _ information: ChannelInformation, psm: UInt16, of peer: PeerIdentifier, _ index: Int, at now: Instant
    ) {
        let id = add(information, isAccepted: false, index)
        tell(.channelOpened(id, psm: psm, nil), of: peer, index, at: now)
        grant(id, information, index, at: now)
    }

    mutating func received(_ event: BLEHost.ChannelEvent, at now: Instant) {
        switch event {
        case .opened(let information, let client):
            guard let index = index(of: client), !isCrowded(index),
                let central = describe(information.id.link, app: managers[index].app)
            else {
                submit(.closeChannel(information.id), from: client)
                return
            }
            let id = add(information, isAccepted: true, index)
            tell(.channelAccepted(id, psm: information.spsm, central), index, at: now)
            grant(id, information, index, at: now)
        case .received(let channel, let octets):
            guard let (index, place) = find(channel) else { return }
            managers[index].channels[place].unitsHeld.append(octets.count)
            // A unit without octets is taken as it comes.
            if octets.isEmpty { return consume(0, of: place, index) }
            tell(.channel(managers[index].channels[place].id, .received(octets)), index, at: now)
        case .closed(let channel, let end):
            guard let (index, place) = find(channel) else { return }
            let id = managers[index].channels.remove(at: place).id
            tell(.channel(id, .closed(end.clientError)), index, at: now)
        }
    }

    /// A unit has gone: the app may write as many octets again.
    mutating func sent(
        _ count: Int, on id: L2CAPChannelID, _ result: Result<HostResult, HostFailure>, _ client: ClientID,
        at now: Instant
    ) {
        guard case .success = result, let index = index(of: client),
            managers[index].channels.contains(where: { $0.id == id })
        else { return }
        tell(.channel(id, .canSend(count: count)), index, at: now)
    }

    private mutating func add(_ information: ChannelInformation, isAccepted: Bool, _ index: Int) -> L2CAPChannelID {
        lastChannel &+= 1
        let id = L2CAPChannelID(rawValue: lastChannel)
        managers[index].channels.append(
            OpenChannel(
                id: id, channel: information.id, spsm: information.spsm, isAccepted: isAccepted,
                sendMTU: max(1, Int(information.sendMTU))))
        return id
    }

    private mutating func grant(
        _ id: L2CAPChannelID, _ information: ChannelInformation, _ index: Int, at now: Instant
    ) {
        let count = Int(information.sendMTU) * Self.unitsUnderWay
        tell(.channel(id, .canSend(count: count)), index, at: now)
    }

    private func find(_ channel: ChannelID) -> (Int, Int)? {
        for index in managers.indices {
            if let place = managers[index].channels.firstIndex(where: { $0.channel == channel }) {
                return (index, place)
            }
        }
        return nil
    }
}

extension ChannelEnd {
    /// What a stream is told; `nil` for an end in order.
    fileprivate var clientError: ClientError? {
        switch self {
        case .closedLocally, .closedByPeer: nil
        case .protocolViolation: .coreBluetooth(.unknown)
        case .linkLost: .coreBluetooth(.peripheralDisconnected)
        }
    }
}

extension ChannelFailure {
    /// Why a channel was not opened or offered.
    var clientError: ClientError {
        switch self {
        case .refused(.insufficientAuthentication): .att(.insufficientAuthentication)
        case .refused(.insufficientEncryption): .att(.insufficientEncryption)
        case .refused(.insufficientEncryptionKeySize): .att(.insufficientEncryptionKeySize)
        case .refused(.insufficientAuthorization): .att(.insufficientAuthorization)
        case .refused(.noResourcesAvailable), .noResources: .coreBluetooth(.outOfSpace)
        case .refused(.spsmNotSupported): .coreBluetooth(.operationNotSupported)
        case .invalidSPSM, .unitTooLong: .coreBluetooth(.invalidParameters)
        case .notOpen: .coreBluetooth(.notConnected)
        case .refused, .invalidAnswer: .coreBluetooth(.connectionFailed)
        }
    }
}
