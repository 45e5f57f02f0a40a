import BLEHost
import BLEPackets

/// The events of links and of the controller, with the numbers of `FromDaemon`. Those of operations that a client began
/// are separate messages, with the client's numbers: `DiscoveryMessage`, `OperationMessage`, `Completion`.
extension HostEvent: Choice {
    public static var blank: Self { .stopped }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        // Before the others: of these there may be thousands a second.
        try c.option(
            NotificationMessage.number, "notification", &it,
            { (it: NotificationMessage) in .gatt(it.link, .notification(GATTNotification(it, for: .local))) },
            {
                guard case .gatt(let link, .notification(let notification)) = $0 else { return nil }
                return NotificationMessage(link, notification)
            })
        try c.option(
            5, "connected", &it, { .connected($0, .local) }, { if case .connected(let a, _) = $0 { a } else { nil } })
        try c.option(
            6, "disconnected", as: "Disconnected", &it, { .disconnected($0, .local, reason: $1) }, "link",
            "reason", from: { if case .disconnected(let link, _, let reason) = $0 { (link, reason) } else { nil } })
        try c.option(
            8, "mtu_changed", as: "MTUChanged", &it, { .gatt($0, .mtuChanged($1)) }, "link", "mtu",
            from: { if case .gatt(let link, .mtuChanged(let mtu)) = $0 { (link, mtu) } else { nil } })
        try c.option(
            9, "subscriptions_forgotten", as: "SubscriptionsForgotten", &it, { .gatt($0, .subscriptionsForgotten($1)) },
            "link", "handles",
            from: {
                if case .gatt(let link, .subscriptionsForgotten(let handles)) = $0 { (link, handles) } else { nil }
            })
        try c.option(
            10, "write_room", as: "WriteRoom", &it, { .gatt($0, $1 ? .writeCommandsReady : .writeCommandsFull) },
            "link", "is_there",
            from: {
                switch $0 {
                case .gatt(let link, .writeCommandsReady): (link, true)
                case .gatt(let link, .writeCommandsFull): (link, false)
                default: nil
                }
            })
        try c.option(11, "recovering", as: "Recovering", &it, Self.recovering, "reopens_transport") {
            if case .recovering(let step) = $0 { step } else { nil }
        }
        try c.option(12, "ready", &it, Self.ready) { if case .ready(let controller) = $0 { controller } else { nil } }
        try c.option(
            14, "pairing", as: "PairingProgress", &it, Self.pairing, "link",
            rest: { if case .pairing(let link, let event) = $0 { (link, event) } else { nil } })
        try c.option(
            15, "encryption_changed", as: "EncryptionChanged", &it, Self.encryptionChanged, "link",
            rest: { if case .encryptionChanged(let link, let security) = $0 { (link, security) } else { nil } })
        try c.option(22, "server", &it, Self.server) { if case .server(let event) = $0 { event } else { nil } }
        try c.option(23, "central_connected", &it, Self.centralConnected) {
            if case .centralConnected(let link) = $0 { link } else { nil }
        }
        try c.option(
            24, "central_disconnected", as: "Disconnected", &it, Self.centralDisconnected, "link", "reason"
        ) { if case .centralDisconnected(let link, let reason) = $0 { (link, reason) } else { nil } }
        try c.option(25, "advertising_changed", &it, Self.advertisingChanged) {
            if case .advertisingChanged(let isAdvertising) = $0 { isAdvertising } else { nil }
        }
        try c.option(
            26, "parameters_changed", as: "ParametersChanged", &it,
            {
                .connectionParametersChanged(
                    $0, ConnectionParameters(interval: $1, peripheralLatency: $2, supervisionTimeout: $3))
            }, "link", "interval", "peripheral_latency", "supervision_timeout",
            from: {
                guard case .connectionParametersChanged(let link, let used) = $0 else { return nil }
                return (link, used.interval, used.peripheralLatency, used.supervisionTimeout)
            })
        try c.option(27, "channel", &it, Self.channel) { if case .channel(let event) = $0 { event } else { nil } }
        try c.option(28, "bond_changed", &it, Self.bondChanged) { if case .bondChanged(let a) = $0 { a } else { nil } }
        try c.option(29, "bond_removed", &it, Self.bondRemoved) { if case .bondRemoved(let a) = $0 { a } else { nil } }
        try c.option(
            34, "phys_changed", as: "PHYsChanged", &it,
            { (link, phys: PHYs) in .phyChanged(link, transmit: phys.transmit, receive: phys.receive) }, "link",
            "phys",
            from: {
                guard case .phyChanged(let link, let transmit, let receive) = $0 else { return nil }
                return (link, PHYs(transmit: transmit, receive: receive))
            })
        try c.option(
            35, "data_length_changed", as: "DataLengthChanged", &it, Self.dataLengthChanged, "link", "length"
        ) { if case .dataLengthChanged(let link, let length) = $0 { (link, length) } else { nil } }
        try c.option(36, "subrate_changed", as: "SubrateChanged", &it, Self.subrateChanged, "link", "subrate") {
            if case .subrateChanged(let link, let subrate) = $0 { (link, subrate) } else { nil }
        }
        try c.option(
            37, "link_report", as: "LinkReport", &it, Self.linkReport, "link",
            rest: { if case .linkReport(let link, let report) = $0 { (link, report) } else { nil } })
        try c.option(
            38, "cleartext_refused", as: "CleartextRefused", &it, Self.cleartextRefused, "link", "peer"
        ) { if case .cleartextRefused(let link, let peer) = $0 { (link, peer) } else { nil } }
    }
}

extension LinkInformation: Message {
    public static var blank: Self {
        Self(id: .blank, peer: .blank, role: .central, parameters: .blank, attMTU: 0)
    }
    public static var schemaName: String { "Link" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "link", &it.id)
        try c.field(2, "peer", &it.peer)
        try c.field(3, "is_peripheral", &it.role)
        try c.field(4, "interval", &it.parameters.interval)
        try c.field(5, "peripheral_latency", &it.parameters.peripheralLatency)
        try c.field(6, "supervision_timeout", &it.parameters.supervisionTimeout)
        try c.field(7, "att_mtu", &it.attMTU)
    }
}

extension DisconnectionReason: Message {
    public static var blank: Self { .releasedByClient }
    public static var schemaName: String { "Disconnection" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        var (kind, status): (UInt8, HCIStatus) =
            switch it {
            case .releasedByClient: (1, .blank)
            case .controller(let status): (2, status)
            case .controllerLost: (3, .blank)
            }
        try c.field(1, "kind", &kind)
        try c.field(2, "status", &status)
        switch kind {
        case 1: it = .releasedByClient
        case 2: it = .controller(status)
        case 3: it = .controllerLost
        default: throw .invalidField
        }
    }
}

/// The part of the report behind the link.
extension LinkReport: Choice {
    public static var blank: Self { .unauthenticated }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(
            2, "own_power", &it, { .transmitPower($0, isPeers: false) },
            { if case .transmitPower(let power, false) = $0 { power } else { nil } })
        try c.option(
            3, "peers_power", &it, { .transmitPower($0, isPeers: true) },
            { if case .transmitPower(let power, true) = $0 { power } else { nil } })
        try c.option(4, "path_loss", &it, Self.pathLoss) { if case .pathLoss(let loss) = $0 { loss } else { nil } }
        try c.option(5, "unauthenticated", &it, .unauthenticated)
    }
}

extension PathLoss: Message {
    public static var blank: Self { Self(zone: .low, decibels: nil) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "zone", &it.zone)
        try c.field(2, "decibels", &it.decibels)
    }
}

extension TransmitPower: Message {
    public static var blank: Self {
        Self(phy: .blank, level: nil, maximum: nil, isLeast: false, isGreatest: false)
    }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "phy", &it.phy)
        try c.field(2, "level", &it.level)
        try c.field(3, "maximum", &it.maximum)
        try c.field(4, "is_least", &it.isLeast)
        try c.field(5, "is_greatest", &it.isGreatest)
    }
}

extension ControllerInformation: Message {
    public static var blank: Self { Self() }
    public static var schemaName: String { "Controller" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "public_address", &it.publicAddress)
        try c.field(2, "own_address", &it.ownAddress)
        try c.field(3, "identity_address", &it.identityAddress)
        try c.field(4, "hci_version", &it.hciVersion)
        try c.field(5, "hci_subversion", &it.hciSubversion)
        try c.field(6, "lmp_version", &it.lmpVersion)
        try c.field(7, "lmp_subversion", &it.lmpSubversion)
        try c.field(8, "company", &it.companyIdentifier)
        try c.field(9, "features", &it.features)
        try c.field(10, "supported_commands", &it.supportedCommands)
        try c.field(fixed: 11, "supported_states", &it.supportedStates)
        try c.field(12, "acl_data_length", &it.aclDataLength)
        try c.field(13, "acl_data_count", &it.aclDataCount)
        try c.field(14, "filter_accept_list_size", &it.filterAcceptListSize)
        try c.field(15, "resolving_list_size", &it.resolvingListSize)
        try c.field(16, "maximum_transmit_octets", &it.maximumTransmitOctets)
        try c.field(17, "maximum_transmit_microseconds", &it.maximumTransmitMicroseconds)
        try c.since(5) { c throws(MessageError) in
            try c.field(18, "traits", &it.traits)
            // One of a newer daemon is none here.
            var family = it.family?.rawValue ?? 0
            try c.field(19, "family", &family)
            if C.reads { it.family = ControllerFamily(rawValue: family) }
        }
    }
}
