import BLEHost
import BLEPackets
import FoundationEssentials

extension WireRequest {
    /// A command about credit-based channels.
    static func command(_ command: ChannelCommand) -> OneOf_Command {
        switch command {
        case .listen(let spsm, let settings, let requiresEncryption, let demanded):
            var listen = WireListen()
            listen.spsm = UInt32(spsm ?? 0)
            listen.settings = WireChannelSettings(settings)
            listen.requiresEncryption = requiresEncryption
            if let demanded {
                listen.security.requiresAuthentication = demanded.requiresAuthentication
                listen.security.minimumKeySize = UInt32(demanded.minimumKeySize)
            }
            return .listen(listen)
        case .stopListening(let spsm): return .stopListening(UInt32(spsm))
        case .open(let link, let spsm, let settings):
            var open = WireOpenChannel()
            open.link = link.wire
            open.spsm = UInt32(spsm)
            open.settings = WireChannelSettings(settings)
            return .openChannel(open)
        case .send(let channel, let unit):
            var send = WireSendOnChannel()
            send.channel = WireChannel(channel)
            send.unit = Data(unit)
            return .sendOnChannel(send)
        case .consume(let channel, let units):
            var consume = WireConsumeOnChannel()
            consume.channel = WireChannel(channel)
            consume.units = UInt32(clamping: units)
            return .consumeOnChannel(consume)
        case .close(let channel): return .closeChannel(WireChannel(channel))
        case .openEnhanced(let link, let spsm, let settings, let count):
            var open = WireOpenEnhancedChannels()
            open.link = link.wire
            open.spsm = UInt32(spsm)
            open.settings = WireChannelSettings(settings)
            open.count = UInt32(clamping: count)
            return .openEnhancedChannels(open)
        case .reconfigure(let channels, let unit, let payload):
            var reconfigure = WireReconfigureChannels()
            reconfigure.channels = channels.map { WireChannel($0) }
            reconfigure.maximumTransmissionUnit = UInt32(unit)
            reconfigure.maximumPayloadSize = UInt32(payload)
            return .reconfigureChannels(reconfigure)
        }
    }
}

extension WireListen {
    var command: ChannelCommand {
        get throws(WireError) {
            guard let number = UInt16(exactly: spsm) else { throw .invalidField }
            var demanded: ChannelSecurity?
            if hasSecurity {
                guard 7...16 ~= security.minimumKeySize else { throw .invalidField }
                demanded = ChannelSecurity(
                    requiresAuthentication: security.requiresAuthentication,
                    minimumKeySize: UInt8(security.minimumKeySize))
            }
            return .listen(
                spsm: number == 0 ? nil : number, try ChannelSettings(settings),
                requiresEncryption: requiresEncryption, demanding: demanded)
        }
    }
}

extension WireOpenEnhancedChannels {
    var command: ChannelCommand {
        get throws(WireError) {
            guard let number = UInt16(exactly: spsm), 1...5 ~= count else { throw .invalidField }
            return .openEnhanced(
                LinkID(wire: link), spsm: number, try ChannelSettings(settings), count: Int(count))
        }
    }
}

extension WireReconfigureChannels {
    var command: ChannelCommand {
        get throws(WireError) {
            guard let unit = UInt16(exactly: maximumTransmissionUnit),
                let payload = UInt16(exactly: maximumPayloadSize),
                1...5 ~= channels.count
            else { throw .invalidField }
            return .reconfigure(
                channels.map { ChannelID(wire: $0) }, maximumTransmissionUnit: unit, maximumPayloadSize: payload)
        }
    }
}

extension WireChannel {
    init(_ channel: ChannelID) {
        self.init()
        link = channel.link.wire
        number = channel.number
    }
}

extension ChannelID {
    init(wire: WireChannel) { self.init(link: LinkID(wire: wire.link), number: wire.number) }
}

extension WireChannelSettings {
    init(_ settings: ChannelSettings) {
        self.init()
        maximumTransmissionUnit = UInt32(settings.maximumTransmissionUnit)
        maximumPayloadSize = UInt32(settings.maximumPayloadSize)
        credits = UInt32(settings.credits)
    }
}

extension ChannelSettings {
    init(_ wire: WireChannelSettings) throws(WireError) {
        guard let unit = UInt16(exactly: wire.maximumTransmissionUnit),
            let payload = UInt16(exactly: wire.maximumPayloadSize), let credits = UInt16(exactly: wire.credits)
        else { throw .invalidField }
        self.init(maximumTransmissionUnit: unit, maximumPayloadSize: payload, credits: credits)
    }
}

extension WireOpenedChannel {
    init(_ information: ChannelInformation) {
        self.init()
        channel = WireChannel(information.id)
        spsm = UInt32(information.spsm)
        sendMtu = UInt32(information.sendMTU)
        receiveMtu = UInt32(information.receiveMTU)
    }
}

extension ChannelInformation {
    init(_ wire: WireOpenedChannel) {
        self.init(
            id: ChannelID(wire: wire.channel), spsm: UInt16(clamping: wire.spsm),
            sendMTU: UInt16(clamping: wire.sendMtu),
            receiveMTU: UInt16(clamping: wire.receiveMtu))
    }
}

extension WireChannelEvent {
    init(_ event: ChannelEvent) {
        self.init()
        switch event {
        case .opened(let information, _): opened = WireOpenedChannel(information)
        case .reconfigured(let information): reconfigured = WireOpenedChannel(information)
        case .received(let channel, let unit):
            received.channel = WireChannel(channel)
            received.unit = Data(unit)
        case .closed(let channel, let end):
            closed.channel = WireChannel(channel)
            closed.reason =
                switch end {
                case .closedLocally: .closedLocally
                case .closedByPeer: .closedByPeer
                case .protocolViolation: .protocolViolation
                case .linkLost: .linkLost
                }
        }
    }
}

extension ChannelEvent {
    init(_ wire: WireChannelEvent, for client: ClientID) throws(WireError) {
        switch wire.event {
        case .opened(let opened): self = .opened(ChannelInformation(opened), client)
        case .reconfigured(let changed): self = .reconfigured(ChannelInformation(changed))
        case .received(let received): self = .received(ChannelID(wire: received.channel), Array(received.unit))
        case .closed(let closed):
            let end: ChannelEnd
            switch closed.reason {
            case .closedLocally: end = .closedLocally
            case .closedByPeer: end = .closedByPeer
            case .protocolViolation: end = .protocolViolation
            case .linkLost: end = .linkLost
            case .unspecified, .UNRECOGNIZED: throw .invalidField
            }
            self = .closed(ChannelID(wire: closed.channel), end)
        case nil: throw .invalidField
        }
    }
}

extension WireFailure {
    mutating func set(_ failure: ChannelFailure) {
        switch failure {
        case .refused(let result):
            reason = .channelRefused
            code = UInt32(result.rawValue)
        case .invalidAnswer: reason = .channelInvalidAnswer
        case .notReconfigurable(let result):
            reason = .channelNotReconfigurable
            code = UInt32(result.rawValue)
        case .notOpen: reason = .channelNotOpen
        case .noResources: reason = .channelNoResources
        case .unitTooLong: reason = .channelUnitTooLong
        case .invalidSPSM: reason = .channelInvalidSpsm
        }
    }
}

extension ChannelFailure {
    /// `nil` if it is a failure of another kind.
    init?(_ wire: WireFailure) {
        switch wire.reason {
        case .channelRefused:
            self = .refused(L2CAPCreditBasedConnectionResult(rawValue: UInt16(clamping: wire.code)))
        case .channelInvalidAnswer: self = .invalidAnswer
        case .channelNotReconfigurable:
            self = .notReconfigurable(L2CAPReconfigureResult(rawValue: UInt16(clamping: wire.code)))
        case .channelNotOpen: self = .notOpen
        case .channelNoResources: self = .noResources
        case .channelUnitTooLong: self = .unitTooLong
        case .channelInvalidSpsm: self = .invalidSPSM
        default: return nil
        }
    }
}
