import BLEHost
import BLEPackets
import CJelling

extension jelling_event {
    mutating func set(_ kind: jelling_event_kind, link: LinkID? = nil, client: ClientID? = nil) {
        unsafe self.kind = kind.rawValue
        if let link { unsafe self.link = link.number }
        if let client { unsafe self.client = client.rawValue }
    }

    mutating func set(_ kind: jelling_event_kind, link: LinkID? = nil, value: UInt32) {
        unsafe set(kind, link: link)
        unsafe self.value = value
    }
}

/// Writes an event of the engine as C has it; what it points to goes into the arena.
func fill(_ event: inout jelling_event, with source: HostEvent, _ arena: inout Arena) {
    switch source {
    case .ready(let information):
        unsafe event.set(JELLING_EVENT_READY)
        unsafe event.ready = jelling_controller(information)
    case .recovering(let step):
        let value: UInt32 =
            switch step {
            case .reset: 0
            case .reopenTransport: 1
            case .resetDevice: 2
            }
        unsafe event.set(JELLING_EVENT_RECOVERING, value: value)
    case .failed(let failure):
        unsafe event.set(JELLING_EVENT_FAILED)
        unsafe event.completed.set(failure)
    case .reopenTransport(let resetsDevice):
        unsafe event.set(JELLING_EVENT_REOPEN_TRANSPORT, value: resetsDevice ? 1 : 0)
    case .controllerLearned(let experience):
        unsafe event.set(JELLING_EVENT_CONTROLLER_LEARNED)
        unsafe event.experience = jelling_experience(
            found: experience.found.rawValue, refuted: experience.refuted.rawValue)
    case .faultRemains(let fault):
        unsafe event.set(JELLING_EVENT_FAULT_REMAINS)
        unsafe event.completed.set(.controllerFault(fault))
    case .stopped: unsafe event.set(JELLING_EVENT_STOPPED)
    case .discovered(let discovery): unsafe fill(&event, with: discovery, &arena)
    case .advertisingChanged(let isOn): unsafe event.set(JELLING_EVENT_ADVERTISING_CHANGED, value: isOn ? 1 : 0)
    case .completed(let operation, let result):
        unsafe event.set(JELLING_EVENT_COMPLETED)
        unsafe event.operation = operation.rawValue
        switch result {
        case .success(let result): unsafe fill(&event.completed, with: result, &arena)
        case .failure(let failure): unsafe event.completed.set(failure)
        }
    case .connected(let link, let client):
        unsafe event.set(JELLING_EVENT_CONNECTED, client: client)
        unsafe fill(&event, with: link)
    case .centralConnected(let link):
        unsafe event.set(JELLING_EVENT_CENTRAL_CONNECTED)
        unsafe fill(&event, with: link)
    case .disconnected(let link, let client, let reason):
        unsafe event.set(JELLING_EVENT_DISCONNECTED, link: link, client: client)
        unsafe fill(&event, with: reason)
    case .centralDisconnected(let link, let reason):
        unsafe event.set(JELLING_EVENT_CENTRAL_DISCONNECTED, link: link)
        unsafe fill(&event, with: reason)
    case .gatt(let link, let news): unsafe fill(&event, with: news, on: link, &arena)
    case .server(let news): unsafe fill(&event, with: news, &arena)
    case .pairing(let link, let news): unsafe fill(&event, with: news, on: link)
    case .encryptionChanged(let link, let security): unsafe fill(&event, with: security, on: link)
    case .cleartextRefused(let link, let address):
        unsafe event.set(JELLING_EVENT_CLEARTEXT_REFUSED, link: link)
        unsafe event.address = jelling_address(address)
    case .bondChanged(let bond): unsafe fill(&event, with: bond, &arena)
    case .bondRemoved(let identity):
        unsafe event.set(JELLING_EVENT_BOND_REMOVED)
        unsafe event.address = jelling_address(identity)
    case .channel(let news): unsafe fill(&event, with: news, &arena)
    case .connectionParametersChanged(let link, let parameters):
        unsafe event.set(JELLING_EVENT_PARAMETERS_CHANGED, link: link)
        unsafe event.parameters = jelling_connection_parameters(parameters)
    case .phyChanged(let link, let transmit, let receive):
        unsafe event.set(JELLING_EVENT_PHY_CHANGED, link: link)
        unsafe event.phy.transmit = transmit.rawValue
        unsafe event.phy.receive = receive.rawValue
    case .dataLengthChanged(let link, let length):
        unsafe event.set(JELLING_EVENT_DATA_LENGTH_CHANGED, link: link)
        unsafe event.data_length = jelling_data_length(length)
    case .identityFound(let identity, let address):
        unsafe event.set(JELLING_EVENT_IDENTITY_FOUND)
        unsafe event.identity.identity = jelling_address(identity)
        unsafe event.identity.address = jelling_address(address)
    case .ambiguousIdentity(let address, _):
        unsafe event.set(JELLING_EVENT_AMBIGUOUS_IDENTITY)
        unsafe event.address = jelling_address(address)
    case .advertisingSet(let operation, let client, let news):
        unsafe fill(&event, with: news, operation, client, &arena)
    case .train(let operation, let client, let news): unsafe fill(&event, with: news, operation, client, &arena)
    case .subrateChanged(let link, let subrate):
        unsafe event.set(JELLING_EVENT_SUBRATE_CHANGED, link: link)
        unsafe event.subrate = jelling_subrate(subrate)
    case .linkReport(let link, let report): unsafe fill(&event, with: report, on: link)
    // Only engines with several users have this.
    case .advertisingRoom: unsafe event.set(JELLING_EVENT_ADVERTISING_CHANGED, value: 1)
    case .malformedPacket: unsafe event.set(JELLING_EVENT_MALFORMED_PACKET)
    }
}

private func fill(_ event: inout jelling_event, with discovery: Discovery, _ arena: inout Arena) {
    unsafe event.set(JELLING_EVENT_DISCOVERED, client: discovery.client)
    unsafe event.operation = discovery.scan.rawValue
    unsafe event.discovered.address = jelling_address(discovery.address)
    unsafe event.discovered.has_address = discovery.address == nil ? 0 : 1
    unsafe event.discovered.is_connectable = discovery.isConnectable ? 1 : 0
    unsafe event.discovered.is_scannable = discovery.isScannable ? 1 : 0
    unsafe event.discovered.is_extended = discovery.isExtended ? 1 : 0
    unsafe event.discovered.rssi = discovery.rssi
    unsafe event.discovered.tx_power = discovery.txPower ?? 127
    unsafe event.discovered.identifier = discovery.advertisingSetIdentifier ?? 255
    unsafe event.discovered.has_train = discovery.periodicInterval == nil ? 0 : 1
    unsafe event.discovered.time = discovery.time.microseconds
    unsafe event.discovered.advertisement = arena.copy(discovery.advertisement)
    unsafe event.discovered.scan_response = arena.copy(discovery.scanResponse)
    unsafe event.discovered.target = jelling_address(discovery.unresolvedTarget)
    unsafe event.discovered.has_target = discovery.unresolvedTarget == nil ? 0 : 1
    unsafe event.discovered.primary_phy = discovery.primaryPHY.rawValue
    unsafe event.discovered.secondary_phy = discovery.secondaryPHY?.rawValue ?? 0
    unsafe event.discovered.train_interval = discovery.periodicInterval?.rawValue ?? 0
}

private func fill(_ event: inout jelling_event, with link: LinkInformation) {
    guard Features.links else { return }
    unsafe event.link = link.id.number
    unsafe event.connected.peer = jelling_address(link.peer)
    unsafe event.connected.parameters = jelling_connection_parameters(link.parameters)
    unsafe event.connected.role = UInt32(link.role.rawValue)
    unsafe event.connected.mtu = UInt32(clamping: link.attMTU)
}

private func fill(_ event: inout jelling_event, with reason: DisconnectionReason) {
    switch reason {
    case .releasedByClient: unsafe event.disconnected.is_released = 1
    case .controller(let status): unsafe event.disconnected.reason = UInt32(status.rawValue)
    case .controllerLost: unsafe event.disconnected.is_controller_lost = 1
    }
}

private func fill(
    _ event: inout jelling_event, with news: GATTClientEvent, on link: LinkID, _ arena: inout Arena
) {
    guard Features.links else { return }
    switch news {
    case .completed(let operation, let result):
        unsafe event.set(JELLING_EVENT_COMPLETED, link: link)
        unsafe event.operation = operation.rawValue
        switch result {
        case .success(let result): unsafe fill(&event.completed, with: result, &arena)
        case .failure(let failure): unsafe event.completed.set(failure)
        }
    case .notification(let notification):
        unsafe event.set(JELLING_EVENT_NOTIFICATION, link: link, client: notification.clients.first)
        unsafe event.notification.value = arena.copy(notification.value)
        let (clients, count) = unsafe arena.copy(notification.clients) { $0.rawValue }
        unsafe event.notification.clients = clients
        unsafe event.notification.client_count = count
        unsafe event.notification.handle = notification.handle.rawValue
        unsafe event.notification.is_indication = notification.isIndication ? 1 : 0
    case .subscriptionsForgotten(let handles):
        unsafe event.set(JELLING_EVENT_SUBSCRIPTIONS_FORGOTTEN, link: link)
        let (items, count) = unsafe arena.copy(handles) { $0.rawValue }
        unsafe event.handles.items = items
        unsafe event.handles.count = count
    case .mtuChanged(let mtu): unsafe event.set(JELLING_EVENT_MTU_CHANGED, link: link, value: UInt32(mtu))
    case .writeCommandsFull: unsafe event.set(JELLING_EVENT_WRITE_COMMANDS_FULL, link: link)
    case .writeCommandsReady: unsafe event.set(JELLING_EVENT_WRITE_COMMANDS_READY, link: link)
    }
}

private func fill(_ event: inout jelling_event, with security: LinkSecurity, on link: LinkID) {
    guard Features.pairing else { return }
    unsafe event.set(JELLING_EVENT_ENCRYPTION_CHANGED, link: link)
    unsafe event.security.identity = jelling_address(security.identity)
    unsafe event.security.is_encrypted = security.isEncrypted ? 1 : 0
    unsafe event.security.is_authenticated = security.isAuthenticated ? 1 : 0
    unsafe event.security.is_secure_connections = security.isSecureConnections ? 1 : 0
    unsafe event.security.key_size = security.keySize
    unsafe event.security.is_bonded = security.isBonded ? 1 : 0
}

private func fill(_ event: inout jelling_event, with news: PairingEvent, on link: LinkID) {
    guard Features.pairing else { return }
    switch news {
    case .started: unsafe event.set(JELLING_EVENT_PAIRING_STARTED, link: link)
    case .displayPasskey(let passkey):
        unsafe event.set(JELLING_EVENT_PAIRING_DISPLAY_PASSKEY, link: link, value: passkey)
    case .question(let question):
        unsafe event.set(JELLING_EVENT_PAIRING_QUESTION, link: link)
        unsafe event.pairing_question.id = question.id.rawValue
        var kind = JELLING_QUESTION_PASSKEY
        switch question.kind {
        case .enterPasskey: break
        case .compare(let number):
            kind = JELLING_QUESTION_COMPARE
            unsafe event.pairing_question.number = number
        case .consent: kind = JELLING_QUESTION_CONSENT
        case .replaceBond(let identity):
            kind = JELLING_QUESTION_REPLACE_BOND
            unsafe event.pairing_question.address = jelling_address(identity)
        }
        unsafe event.pairing_question.kind = UInt32(clamping: kind)
    case .paired(let summary):
        unsafe event.set(JELLING_EVENT_PAIRED, link: link)
        unsafe event.paired = jelling_pairing_summary(summary)
    case .failed(let failure):
        unsafe event.set(JELLING_EVENT_PAIRING_FAILED, link: link)
        unsafe event.completed.set(failure)
    // Only where several clients share an engine.
    case .belongs: break
    case .passkeyLocked: unsafe event.set(JELLING_EVENT_PASSKEY_LOCKED, link: link)
    case .securityRequested: unsafe event.set(JELLING_EVENT_SECURITY_REQUESTED, link: link)
    }
}

private func fill(_ event: inout jelling_event, with bond: Bond, _ arena: inout Arena) {
    guard Features.pairing else { return }
    unsafe event.set(JELLING_EVENT_BOND_CHANGED)
    unsafe event.bond.identity = jelling_address(bond.identity)
    unsafe event.bond.is_secure_connections = bond.isSecureConnections ? 1 : 0
    unsafe event.bond.is_authenticated = bond.isAuthenticated ? 1 : 0
    unsafe event.bond.key_size = bond.keySize
    unsafe event.bond.blob = arena.copy(BondBlob.octets(of: bond))
}

private func fill(_ event: inout jelling_event, with news: ChannelEvent, _ arena: inout Arena) {
    guard Features.links else { return }
    switch news {
    case .opened(let channel, let client):
        unsafe event.set(JELLING_EVENT_CHANNEL_OPENED, link: channel.id.link, client: client)
        unsafe event.channel = jelling_channel(channel)
    case .reconfigured(let channel):
        unsafe event.set(JELLING_EVENT_CHANNEL_RECONFIGURED, link: channel.id.link)
        unsafe event.channel = jelling_channel(channel)
    case .received(let channel, let data):
        unsafe event.set(JELLING_EVENT_CHANNEL_RECEIVED, link: channel.link)
        unsafe event.channel_data.number = channel.number
        unsafe event.channel_data.data = arena.copy(data)
    case .closed(let channel, let reason):
        unsafe event.set(JELLING_EVENT_CHANNEL_CLOSED, link: channel.link)
        unsafe event.channel_closed.number = channel.number
        let number: UInt32 =
            switch reason {
            case .closedLocally: 0
            case .closedByPeer: 1
            case .protocolViolation: 2
            case .linkLost: 3
            }
        unsafe event.channel_closed.reason = number
    }
}

extension jelling_controller {
    fileprivate init(_ information: ControllerInformation) {
        self.init()
        public_address = jelling_address(information.publicAddress)
        own_address = jelling_address(information.ownAddress)
        identity_address = jelling_address(information.identityAddress)
        features = information.features.rawValue
        hci_subversion = information.hciSubversion
        lmp_subversion = information.lmpSubversion
        company = information.companyIdentifier
        acl_length = information.aclDataLength
        acl_count = information.aclDataCount
        hci_version = information.hciVersion
        lmp_version = information.lmpVersion
        filter_accept_list_size = information.filterAcceptListSize
        resolving_list_size = information.resolvingListSize
        is_extended = information.usesExtendedCommands ? 1 : 0
        family = information.family?.rawValue ?? 0
        traits = information.traits.rawValue
    }
}
