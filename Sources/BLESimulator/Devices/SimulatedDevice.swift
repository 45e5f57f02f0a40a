import BLEPackets

/// A device with its own host: it advertises, has at most one link and answers on it.
final class SimulatedDevice: AirStation {
    /// The host of the device.
    enum Host {
        case attributes(SimulatedGATTServer)
        case script(SimulatedScriptedPeer)
        /// A broadcaster.
        case nothing
    }

    unowned let air: SimulatedAir
    let index: Int
    let address: DeviceAddress
    let host: Host
    let behaviour: SimulatedLinkBehaviour
    private var generator: SeededGenerator

    var isInRange = true
    var signal: Int8?
    var motion: SimulatedMotion?
    /// Data that change, and the number of those that are advertised.
    var changingData: SimulatedChangingData?
    private var dataNumber: Int64?
    private var pairing: PasskeyResponder?
    private(set) var isRemoved = false
    var isPowered: Bool { !isRemoved }
    var links: [AirLink] = []
    private var peer: DeviceAddress?
    private(set) var lastDisconnectReason: HCIStatus?
    private var connectionCount = 0
    private var requestsOnLink = 0
    /// The key that the link is about to use.
    private var requestedKey: SimulatedLongTermKey?
    private(set) var parameterAnswers: [L2CAPConnectionParameterUpdateResponse.Result] = []

    // Advertising.
    private var advertised: SimulatedAdvertisement
    private var isTrainPlanned = false
    private var wantsToAdvertise = true
    private var isResting = true
    private var advertisingNumber: UInt32 = 0
    private var dataIdentifier: UInt16 = 0
    private var privateAddress: (address: DeviceAddress, time: Int64)?

    /// What a device with firmware of its own does with written values.
    private(set) var firmware: (any SimulatedFirmware)?

    /// The beginning of an incomplete L2CAP frame.
    private var unfinishedFrame: [UInt8] = []
    private var signallingIdentifier: UInt8 = 0
    /// Increases for a characteristic when its timer becomes invalid.
    private var notifyNumbers: [Int: UInt32] = [:]

    init(
        air: SimulatedAir, index: Int, address: DeviceAddress, advertisement: SimulatedAdvertisement,
        link: SimulatedLinkBehaviour, rssi: Int8, host: Host, generator: SeededGenerator
    ) {
        self.air = air
        self.index = index
        self.address = address
        self.host = host
        behaviour = link
        signal = rssi
        advertised = advertisement
        self.generator = generator
    }

    var server: SimulatedGATTServer? {
        if case .attributes(let server) = host { return server }
        return nil
    }

    var statistics: SimulatedDeviceStatistics {
        var statistics = server?.statistics ?? SimulatedDeviceStatistics()
        statistics.isConnected = !links.isEmpty
        statistics.isEncrypted = links.first?.encryption.key != nil
        statistics.connections = connectionCount
        statistics.peer = peer
        statistics.lastDisconnectReason = lastDisconnectReason
        statistics.parameterAnswers = parameterAnswers
        statistics.parameters = links.first.map { .init($0.parameters) }
        statistics.mtu = server?.mtu ?? 23
        return statistics
    }

    func remove() {
        isRemoved = true
        wantsToAdvertise = false
        advertisingNumber &+= 1
        air.abandonLinks(of: self)
    }

    func keep(_ firmware: any SimulatedFirmware) { self.firmware = firmware }

    /// Falls silent in the middle of everything: its peer notices after the supervision timeout.
    func losePower() {
        setAdvertising(false)
        air.abandonLinks(of: self)
        peer = nil
        unfinishedFrame = []
        server?.linkEnded()
        notifyNumbers = notifyNumbers.mapValues { $0 &+ 1 }
    }

    // MARK: Advertising

    func setAdvertisement(_ advertisement: SimulatedAdvertisement) {
        changingData = nil
        advertise(advertisement)
    }

    private func advertise(_ advertisement: SimulatedAdvertisement) {
        let isConnectable = if case .nothing = host { false } else { advertisement.isConnectable }
        advertised = advertisement
        advertised.isConnectable = isConnectable
        dataIdentifier = (dataIdentifier + 1) & 0x0FFF
    }

    func setAdvertising(_ isOn: Bool) {
        wantsToAdvertise = isOn && !isRemoved
        advertisingNumber &+= 1
        isResting = true
        wakeAdvertising()
    }

    func wakeAdvertising() {
        guard isResting, wantsToAdvertise, links.isEmpty, air.isAnyoneListening else { return }
        isResting = false
        planAdvertising(in: generator.next(below: interval))
    }

    private var interval: Int64 { min(max(advertised.intervalMicroseconds, 20_000), 10_485_759_375) }

    private func planAdvertising(in delay: Int64) {
        let number = advertisingNumber
        air.after(delay) { [unowned self] in
            guard number == advertisingNumber, wantsToAdvertise, links.isEmpty else { return }
            guard air.isAnyoneListening else {
                isResting = true
                return
            }
            renewPrivateAddress()
            renewData()
            let (advertisement, began) = (advertisement, air.nowMicroseconds)
            air.send(advertisement, from: self) { [unowned self] in
                guard number == advertisingNumber, wantsToAdvertise, links.isEmpty,
                    !air.broadcast(advertisement, from: self)
                else { return }
                let next = began + air.clock(of: index).airTime(of: interval) + generator.next(below: 10_001)
                planAdvertising(in: next - air.nowMicroseconds)
            }
        }
    }

    private func renewData() {
        guard let changingData else { return }
        let number = air.nowMicroseconds / max(1_000, changingData.everyMicroseconds)
        guard number != dataNumber else { return }
        dataNumber = number
        var renewed = advertised
        renewed.data = changingData.data(Int(number))
        advertise(renewed)
    }

    private func renewPrivateAddress() {
        guard let key = behaviour.identityResolvingKey else { return }
        let now = air.nowMicroseconds
        if let privateAddress, now - privateAddress.time < max(1_000_000, behaviour.privateAddressMicroseconds) {
            return
        }
        privateAddress = (.resolvable(key: key, random: generator.next()), now)
    }

    private var advertisement: AirAdvertisement {
        let isExtended = advertised.isExtended
        let isScannable = advertised.isScannable && !(isExtended && advertised.isConnectable)
        let limit = isExtended ? 1650 : 31
        return AirAdvertisement(
            set: 0, address: privateAddress?.address ?? address, target: nil, isConnectable: advertised.isConnectable,
            isScannable: isScannable || !isExtended && advertised.isConnectable, isLegacy: !isExtended,
            primaryPHY: isExtended ? advertised.primaryPHY : .le1M,
            secondaryPHY: isExtended ? advertised.secondaryPHY : nil,
            advertisingSetIdentifier: isExtended ? advertised.advertisingSetIdentifier & 0x0F : 0xFF,
            dataIdentifier: isExtended ? dataIdentifier : 0,
            periodicInterval: train(of: 0)?.interval ?? PeriodicAdvertisingInterval(rawValue: 0),
            data: isExtended && isScannable ? [] : Array(advertised.data.prefix(limit)),
            scanResponse: Array(advertised.scanResponse.prefix(limit)))
    }

    func train(of set: UInt8) -> AirTrain? {
        guard set == 0, !isRemoved, let train = advertised.train, advertised.isExtended, !advertised.isConnectable,
            !advertised.isScannable
        else { return nil }
        let interval = UInt16(clamping: max(6, train.intervalMicroseconds / 1250))
        return AirTrain(
            address: privateAddress?.address ?? address,
            advertisingSetIdentifier: advertised.advertisingSetIdentifier & 0x0F, phy: advertised.secondaryPHY,
            interval: PeriodicAdvertisingInterval(rawValue: interval), data: Array(train.data.prefix(1650)),
            dataIdentifier: dataIdentifier, anchor: 0, clock: air.clock(of: index))
    }

    func followed(set: UInt8) {
        guard let train = train(of: set), !isTrainPlanned, air.isFollowed(self, set: set) else { return }
        isTrainPlanned = true
        air.after(train.packet(after: air.nowMicroseconds) - air.nowMicroseconds) { [unowned self] in
            isTrainPlanned = false
            guard var train = self.train(of: set) else { return }
            train.event = train.event(at: air.nowMicroseconds)
            air.broadcast(train, of: set, from: self)
            followed(set: set)
        }
    }

    func accepts(_ request: RadioRequest, from address: DeviceAddress, set: UInt8) -> Bool {
        guard wantsToAdvertise, links.isEmpty else { return false }
        return request == .scan || advertised.isConnectable
    }

    // MARK: The link

    var acceptedSubrates: SubrateParameters? { nil }
    func subrateChanged(on link: AirLink, status: HCIStatus) {}
    var transmitPower: Int8? { behaviour.features.contains(.powerControlRequest) ? 0 : nil }
    func powerRead(_ power: Int8?, phy: UInt8, on link: AirLink) {}
    func peerPowerChanged(to power: Int8, on link: AirLink) {}
    func signalChanged(on link: AirLink) {}

    var capabilities: LinkCapabilities {
        let octets = min(251, max(27, behaviour.maximumDataLength))
        return LinkCapabilities(
            features: behaviour.features, version: behaviour.version, manufacturer: behaviour.manufacturer,
            subversion: 0, transmitOctets: octets, receiveOctets: octets, phys: behaviour.phys.union(.le1M),
            packetsPerConnectionEvent: behaviour.packetsPerConnectionEvent)
    }

    func connected(_ link: AirLink, as side: LinkSide, to peer: DeviceAddress, set: UInt8?) {
        self.peer = peer
        connectionCount += 1
        requestsOnLink = 0
        advertisingNumber &+= 1
        unfinishedFrame = []
        pairing = behaviour.pairing.map { PasskeyResponder($0) }
        if case .script(let script) = host {
            for pdu in script.greeting { send(pdu, on: .attributeProtocol) }
        }
        guard let request = behaviour.requestedParameters else { return }
        air.after(behaviour.requestDelayMicroseconds) { [unowned self] in
            guard link.isOpen else { return }
            requestParameters(request)
        }
    }

    func closed(_ link: AirLink, reason: HCIStatus) {
        lastDisconnectReason = reason
        peer = nil
        if case .script(let script) = host { script.linkEnded?() }
        server?.linkEnded()
        firmware?.linkEnded(on: self)
        notifyNumbers = notifyNumbers.mapValues { $0 &+ 1 }
        isResting = true
        wakeAdvertising()
    }

    func disconnect(_ reason: HCIStatus) {
        guard let link = links.first else { return }
        air.begin(.terminate(by: link.side(of: index), reason: reason), on: link)
    }

    func requestParameters(_ request: L2CAPConnectionParameterUpdateRequest) {
        signallingIdentifier = signallingIdentifier == 0xFF ? 1 : signallingIdentifier + 1
        var packet = PacketWriter()
        request.encodePacket(identifier: signallingIdentifier, into: &packet)
        send(packet.bytes, on: .leSignalling)
    }

    func updated(_ link: AirLink, status: HCIStatus) {}
    func featuresRead(_ features: LEFeatures, on link: AirLink) {}
    func versionRead(of peer: LinkCapabilities, on link: AirLink) {}
    func dataLengthChanged(on link: AirLink) {}
    func phyUpdated(on link: AirLink, status: HCIStatus) {}
    func sent(_ count: Int, on link: AirLink) {}
    func transmitOctets(on link: AirLink) -> UInt16 { capabilities.transmitOctets }

    func keyRequested(for attempt: LinkEncryption.Attempt, on link: AirLink) -> KeyAnswer {
        let keys = [pairing?.shortTermKey, behaviour.pairing?.longTermKey].compactMap { $0 } + behaviour.longTermKeys
        requestedKey = keys.first {
            $0.randomNumber == attempt.randomNumber && $0.encryptedDiversifier == attempt.encryptedDiversifier
        }
        return requestedKey.map { .key($0.key) } ?? .missing
    }

    func encryptionChanged(on link: AirLink, status: HCIStatus, isRefresh: Bool) {
        guard status.isSuccess else { return }
        server?.key = requestedKey
        for packet in pairing?.encrypted() ?? [] { send(PasskeyResponder.octets(of: packet), on: .securityManager) }
    }

    func phyPreferences(on link: AirLink) -> PHYPreferences {
        PHYPreferences(transmit: capabilities.phys, receive: capabilities.phys)
    }

    func parametersRequested(_ request: LEConnectionParameters, on link: AirLink) -> ParameterAnswer {
        behaviour.acceptsParameters ? .accept : .reject(.unacceptableConnectionParameters)
    }

    // MARK: Data

    func send(_ payload: [UInt8], on channel: L2CAPChannelIdentifier) {
        sendFrame(UInt16(clamping: payload.count).octets + channel.rawValue.octets + payload)
    }

    /// Sends octets unchanged, even with a wrong header.
    func sendFrame(_ octets: [UInt8]) {
        guard let link = links.first else { return }
        air.enqueue(octets, isStart: true, from: link.side(of: index), on: link, isHostPacket: false)
    }

    func received(_ fragment: AirFragment, on link: AirLink) {
        if fragment.isStart { unfinishedFrame = [] }
        unfinishedFrame += fragment.bytes
        guard unfinishedFrame.count >= 4 else { return }
        let length = Int(unfinishedFrame[0]) | Int(unfinishedFrame[1]) << 8
        guard unfinishedFrame.count >= 4 + length else { return }
        let channel = UInt16(unfinishedFrame[2]) | UInt16(unfinishedFrame[3]) << 8
        let payload = Array(unfinishedFrame[4..<4 + length])
        unfinishedFrame = []
        switch L2CAPChannelIdentifier(rawValue: channel) {
        case .attributeProtocol: receivedAttributePDU(payload, on: link)
        case .leSignalling: receivedSignal(payload)
        case .securityManager: receivedPairingPDU(payload)
        default: break
        }
    }

    private func receivedPairingPDU(_ pdu: [UInt8]) {
        guard pairing != nil, let peer else {
            // A pairing request is answered with Pairing Not Supported (Core 5.4, Vol 3, Part H, 3.5.5).
            if pdu.first == 0x01 { send([0x05, 0x05], on: .securityManager) }
            return
        }
        let ours = privateAddress?.address ?? address
        let packets = pairing?.receive(pdu, addresses: (peer, ours)) {
            UInt128(generator.next()) << 64 | UInt128(generator.next())
        }
        for packet in packets ?? [] { send(PasskeyResponder.octets(of: packet), on: .securityManager) }
    }

    private func receivedAttributePDU(_ pdu: [UInt8], on link: AirLink) {
        if let opcode = pdu.first, ATTOpcode(rawValue: opcode).kind == .request {
            requestsOnLink += 1
            if requestsOnLink == behaviour.disconnectsAtRequest { return disconnect(.remoteUserTerminatedConnection) }
        }
        let answers: [[UInt8]]
        switch host {
        case .attributes(let server): answers = server.respond(to: pdu).map { [$0] } ?? []
        case .script(let script):
            answers = script.respond(pdu)
            for (delay, later) in script.respondLater?(pdu) ?? [] {
                air.after(delay) { [unowned self] in
                    if link.isOpen, links.first === link { send(later, on: .attributeProtocol) }
                }
            }
        case .nothing: answers = []
        }
        let delay = max(behaviour.responseDelayMicroseconds, server?.readDelay(of: pdu) ?? 0)
        if delay > 0 {
            air.after(delay) { [unowned self] in
                guard link.isOpen, links.first === link else { return }
                for answer in answers { send(answer, on: .attributeProtocol) }
            }
        } else {
            for answer in answers { send(answer, on: .attributeProtocol) }
        }
        followWrites()
    }

    private func receivedSignal(_ payload: [UInt8]) {
        guard payload.count >= 4 else { return }
        switch payload[0] {
        case 0x13:
            guard payload.count >= 6, parameterAnswers.count < 64 else { return }
            parameterAnswers.append(.init(rawValue: UInt16(payload[4]) | UInt16(payload[5]) << 8))
        case 0x01, 0x03, 0x07, 0x15, 0x16, 0x18, 0x1A: break
        default: send([0x01, payload[1], 2, 0, 0, 0], on: .leSignalling)
        }
    }

    // MARK: Notifications

    /// Handles what the client has written: subscriptions start and stop timers, values may be sent back.
    private func followWrites() {
        guard let server else { return }
        let written = server.writtenCharacteristics
        server.writtenCharacteristics = []
        for number in written where server.characteristics[number].notifiesWrites {
            announce(server.value(of: number), from: number)
        }
        if let firmware {
            for number in written {
                let uuid = server.characteristics[number].uuid
                firmware.written(server.value(of: number), to: uuid, on: self)
            }
        }
        let changed = server.changedConfigurations
        server.changedConfigurations = []
        for number in changed {
            notifyNumbers[number, default: 0] &+= 1
            guard server.configurations[number] != 0,
                let period = server.characteristics[number].notifyEveryMicroseconds
            else { continue }
            planNotification(number, period: min(max(1_000, period), 1 << 40), count: 0)
        }
    }

    private func planNotification(_ number: Int, period: Int64, count: Int) {
        let plan = notifyNumbers[number]
        air.after(period) { [unowned self] in
            guard let server, plan == notifyNumbers[number], !links.isEmpty,
                server.characteristics.indices.contains(number)
            else { return }
            let value = server.characteristics[number].notifiedValue?(count) ?? server.value(of: number)
            server.setValue(value, of: number)
            announce(value, from: number)
            planNotification(number, period: period, count: count + 1)
        }
    }

    func announce(_ value: [UInt8], from number: Int) {
        guard let server, let link = links.first else { return }
        // A stalled link does not collect notifications without limit.
        guard link.toCentral.count < 64 else { return }
        if let pdu = server.announcement(of: value, from: number) { send(pdu, on: .attributeProtocol) }
    }
}

extension SimulatedDevice {
    func replaceServices(_ services: [SimulatedService]) {
        guard let server else { return }
        let serviceChanged = BluetoothUUID(0x2A05 as UInt16)
        let configuration = server.number(of: serviceChanged).map { server.configurations[$0] } ?? 0
        notifyNumbers = notifyNumbers.mapValues { $0 &+ 1 }
        server.replaceServices(services)
        if let number = server.number(of: serviceChanged), configuration != 0 {
            server.restoreConfiguration(configuration, of: number)
            announce([0x01, 0x00, 0xFF, 0xFF], from: number)
        }
    }
}
