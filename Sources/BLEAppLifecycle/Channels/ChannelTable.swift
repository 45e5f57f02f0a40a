import BLEHost
import BLEPackets

/// The channels of one manager, as streams of octets. What the app writes is sent in SDUs; received octets count until
/// the app has read them (SPEC 2.3 openL2CAPChannel, 2.4 publishL2CAPChannel).
///
///     asked for by the app, or accepted on a published number ──▶ open ──closed by either side, link lost──▶ gone
///     offered ──engine gives a number──▶ published ──unpublished: its channels are closed──▶ gone
struct ChannelTable {
    /// The maximum number of SDUs that wait to be sent.
    private static let unitsUnderWay = 4
    /// The octets in them, as far as one SDU does not have more.
    private static let octetsUnderWay = 32 * 1024

    let client: ClientID
    /// In the order in which they were opened.
    private(set) var open = OrderedTable<L2CAPChannelID, OpenChannel>()
    /// The published PSMs, in the order in which they were published.
    private(set) var published: [UInt16] = []
    /// How many PSMs are being published.
    private var offers = 0

    /// The channels and PSMs, including those that are being published.
    var count: Int { open.count + published.count + offers }

    init(client: ClientID) { self.client = client }

    /// Closes all channels and withdraws all PSMs.
    func closeAll(into effects: inout ManagerEffects) {
        for channel in open { effects.submit(.channel(.close(channel.channel)), from: client) }
        for spsm in published { effects.submit(.channel(.stopListening(spsm: spsm)), from: client) }
    }

    // MARK: Requests

    mutating func publish(isEncrypted: Bool, into effects: inout ManagerEffects) {
        offers += 1
        effects.submit(
            .channel(.listen(spsm: nil, ChannelSettings(), requiresEncryption: isEncrypted)), from: client,
            for: .listen(client))
    }

    /// Withdraws a PSM; the channels that were opened to it end (SPEC 2.4).
    mutating func unpublish(_ psm: UInt16, into effects: inout ManagerEffects) {
        guard let place = published.firstIndex(of: psm) else {
            return effects.deliver(.channelUnpublished(psm: psm, .coreBluetooth(.invalidParameters)), to: client)
        }
        published.remove(at: place)
        effects.submit(.channel(.stopListening(spsm: psm)), from: client)
        for channel in open where channel.isAccepted && channel.spsm == psm {
            effects.submit(.channel(.close(channel.channel)), from: client)
        }
        effects.deliver(.channelUnpublished(psm: psm, nil), to: client)
    }

    mutating func perform(_ request: ChannelRequest, on id: L2CAPChannelID, into effects: inout ManagerEffects) {
        guard let channel = open[id] else {
            // The channel ended while the request was pending; closing a closed channel has no effect.
            if request != .close { effects.deliver(.channel(id, .closed(.coreBluetooth(.notConnected))), to: client) }
            return
        }
        switch request {
        case .send(let octets):
            var rest = octets[...]
            while !rest.isEmpty {
                let unit = Array(rest.prefix(channel.sendMTU))
                rest = rest.dropFirst(unit.count)
                effects.submit(
                    .channel(.send(channel.channel, unit)), from: client, for: .send(client, id, octets: unit.count))
            }
        case .received(let count): consume(count, of: id, into: &effects)
        case .close: effects.submit(.channel(.close(channel.channel)), from: client)
        }
    }

    /// Closes a channel whose app has sent more than there is room for: its octets cannot be left out.
    mutating func refuse(_ id: L2CAPChannelID, into effects: inout ManagerEffects) {
        guard let channel = open[id] else { return }
        open[id] = nil
        effects.submit(.channel(.close(channel.channel)), from: client)
        effects.deliver(.channel(id, .closed(.coreBluetooth(.outOfSpace))), to: client)
    }

    /// Lets the peer send another SDU for each that has been read completely.
    private mutating func consume(_ count: Int, of id: L2CAPChannelID, into effects: inout ManagerEffects) {
        guard let channel = open[id]?.channel, let units = open[id]?.consume(count), units > 0 else { return }
        effects.submit(.channel(.consume(channel, units: units)), from: client)
    }

    // MARK: What becomes of them

    /// The engine has published or rejected a PSM.
    mutating func listening(_ result: Result<UInt16, HostFailure>, into effects: inout ManagerEffects) {
        offers = max(0, offers - 1)
        switch result {
        case .success(let spsm):
            published.append(spsm)
            effects.deliver(.channelPublished(psm: spsm, nil), to: client)
        case .failure(let failure): effects.deliver(.channelPublished(psm: 0, failure.clientError), to: client)
        }
    }

    /// A channel that the app requested is open.
    mutating func opened(
        _ information: ChannelInformation, psm: UInt16, by peer: PeerIdentifier, into effects: inout ManagerEffects
    ) {
        let id = add(information, isAccepted: false, &effects)
        effects.deliver(.peripheral(peer, .channelOpened(id, psm: psm, nil)), to: client)
        grant(id, information, &effects)
    }

    /// A central has opened a channel to a PSM of this manager.
    mutating func accepted(
        _ information: ChannelInformation, from central: CentralDescription, into effects: inout ManagerEffects
    ) {
        let id = add(information, isAccepted: true, &effects)
        effects.deliver(.channelAccepted(id, psm: information.spsm, central), to: client)
        grant(id, information, &effects)
    }

    mutating func received(_ octets: [UInt8], on channel: ChannelID, into effects: inout ManagerEffects) {
        guard let id = self[channel] else { return }
        open[id]?.addUnit(octets.count)
        // An empty SDU is consumed at once.
        if octets.isEmpty { return consume(0, of: id, into: &effects) }
        effects.deliver(.channel(id, .received(octets)), to: client)
    }

    mutating func closed(_ channel: ChannelID, _ end: ChannelEnd, into effects: inout ManagerEffects) {
        guard let id = self[channel] else { return }
        open[id] = nil
        effects.deliver(.channel(id, .closed(end.clientError)), to: client)
    }

    /// An SDU was sent: the app may write that many octets again.
    func sent(_ count: Int, on id: L2CAPChannelID, into effects: inout ManagerEffects) {
        guard open[id] != nil else { return }
        effects.deliver(.channel(id, .canSend(count: count)), to: client)
    }

    /// The app's identifier of an engine's channel; `nil` if the channel belongs to another manager.
    subscript(channel: ChannelID) -> L2CAPChannelID? { open.first { $0.channel == channel }?.id }

    private mutating func add(
        _ information: ChannelInformation, isAccepted: Bool, _ effects: inout ManagerEffects
    ) -> L2CAPChannelID {
        let id = effects.nextChannel()
        open[id] = OpenChannel(id, information, isAccepted: isAccepted)
        return id
    }

    private func grant(_ id: L2CAPChannelID, _ information: ChannelInformation, _ effects: inout ManagerEffects) {
        let unit = Int(information.sendMTU)
        let count = max(unit, min(unit * Self.unitsUnderWay, Self.octetsUnderWay))
        effects.deliver(.channel(id, .canSend(count: count)), to: client)
    }
}

extension ChannelEnd {
    /// The error for a stream; `nil` for a normal end.
    fileprivate var clientError: ClientError? {
        switch self {
        case .closedLocally, .closedByPeer: nil
        case .protocolViolation: .coreBluetooth(.unknown)
        case .linkLost: .coreBluetooth(.peripheralDisconnected)
        }
    }
}

extension ChannelFailure {
    /// The error of a channel that could not be opened or published.
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
        case .refused, .notReconfigurable, .invalidAnswer: .coreBluetooth(.connectionFailed)
        }
    }
}
