import BLEPackets

@testable import BLEHost

/// An engine, a clock and a controller that answers as the test says.
///
/// Commands are answered at once with success and plausible values, unless `answers` says otherwise.
final class HostRig {
    /// What the controller does with a command.
    enum Answer {
        /// Command Complete with these return parameters.
        case complete([UInt8])
        /// Command Status.
        case status(HCIStatus)
        /// Never answered.
        case silence
    }

    /// A command that the engine sent.
    struct Command: Equatable {
        var opcode: HCIOpcode
        var parameters: [UInt8]
    }

    private var host: Host
    private(set) var now = Instant(microseconds: 1_000_000)
    private(set) var commands: [Command] = []
    /// ACL packets that the engine sent, without the type octet.
    private(set) var data: [[UInt8]] = []
    private(set) var events: [HostEvent] = []
    /// Answers the engine's cryptography at once; `nil`: the test does.
    var cryptoProvider: (any CryptoProvider)?
    /// Overrides for single commands.
    var answers: [HCIOpcode: Answer] = [:]
    /// What the controller answers to a command; `nil`: as `answers` says.
    var answer: ((Command) -> Answer?)?
    /// The parameters of the last command of each kind that succeeded.
    private(set) var accepted: [HCIOpcode: [UInt8]] = [:]
    /// Whether events are taken from the engine as they come.
    var collectsEvents = true
    /// Whether the transport is opened again when the engine asks for it.
    var reopensTransport = false
    /// Whether the controller scans, and the parameters that were set last.
    private(set) var isScanOn = false
    private(set) var scanParameters: [UInt8] = []
    /// Whether sent ACL packets are confirmed by Number Of Completed Packets.
    var confirmsData = true
    var features: LEFeatures = [.encryption]
    var supportedStates: UInt64 = 0x0000_03FF_FFFF_FFFF
    var acceptListSize: UInt8 = 4
    var resolvingListSize: UInt8 = 0
    var aclLength: UInt16 = 27
    var aclCount: UInt8 = 4

    init(configuration: HostConfiguration = HostConfiguration()) { host = Host(configuration: configuration) }

    // MARK: Inputs

    /// Opens the transport; with the default answers the controller becomes ready.
    func start() {
        host.transportOpened(at: now)
        settle()
    }

    func closeTransport() {
        host.transportClosed(at: now)
        settle()
    }

    @discardableResult
    func submit(_ command: HostCommand, from client: ClientID = .local) -> OperationID {
        let operation = host.submit(command, from: client, at: now)
        settle()
        return operation
    }

    func receive(_ packet: [UInt8]) {
        host.receive(packet.span.bytes, at: now)
        settle()
    }

    func receive(_ event: some HCIEvent) {
        var packet = PacketWriter()
        event.encodePacket(into: &packet)
        receive(packet.bytes)
    }

    func receive(_ event: some LEMetaEvent) {
        var packet = PacketWriter()
        event.encodePacket(into: &packet)
        receive(packet.bytes)
    }

    /// An ACL packet of the controller that holds one whole L2CAP frame.
    func receive(frame payload: [UInt8], channel: UInt16 = 4, handle: UInt16) {
        receive(Self.acl(Self.frame(payload, channel: channel), handle: handle, isStart: true))
    }

    func apply(_ input: HostInput) {
        host.apply(input, at: now)
        settle()
    }

    /// The oldest piece of cryptography that the engine asks for.
    func nextCryptoRequest() -> PendingCryptoRequest? { host.nextCryptoRequest() }

    /// Moves time in steps, serving every deadline on the way.
    func advance(by span: Microseconds) {
        let end = now.advanced(by: span)
        var steps = 0
        while let deadline = host.nextDeadline, deadline <= end, steps < 1_000_000 {
            now = max(now, deadline)
            host.advance(to: now)
            settle()
            steps += 1
        }
        now = end
        host.advance(to: now)
        settle()
    }

    var joinsDiscoveries: Bool {
        get { host.joinsDiscoveries }
        set { host.joinsDiscoveries = newValue }
    }

    // MARK: Observations

    var counters: HostCounters { host.counters }
    var isReady: Bool { host.isReady }
    var nextDeadline: Instant? { host.nextDeadline }

    func forget() {
        commands.removeAll()
        data.removeAll()
        events.removeAll()
    }

    func count(of opcode: HCIOpcode) -> Int { commands.count { $0.opcode == opcode } }

    func results(of operation: OperationID) -> [Result<HostResult, HostFailure>] {
        events.compactMap { if case .completed(operation, let result) = $0 { result } else { nil } }
    }

    var discoveries: [Discovery] {
        events.compactMap { if case .discovered(let discovery) = $0 { discovery } else { nil } }
    }

    var disconnections: [DisconnectionReason] {
        events.compactMap { if case .disconnected(_, _, let reason) = $0 { reason } else { nil } }
    }

    var links: [LinkInformation] {
        events.compactMap { if case .connected(let information, _) = $0 { information } else { nil } }
    }

    // MARK: Bytes

    static func frame(_ payload: [UInt8], channel: UInt16 = 4) -> [UInt8] {
        var packet = PacketWriter()
        packet.write(UInt16(payload.count))
        packet.write(channel)
        packet.write(bytes: payload)
        return packet.bytes
    }

    static func acl(_ bytes: [UInt8], handle: UInt16, isStart: Bool) -> [UInt8] {
        var packet = PacketWriter()
        ACLDataPacket.encodePacketHeader(
            into: &packet, handle: ConnectionHandle(rawValue: handle), boundary: isStart ? .first : .continuing,
            length: bytes.count)
        packet.write(bytes: bytes)
        return packet.bytes
    }

    static let peer = DeviceAddress(value: 0xC0FF_EE00_0001, kind: .random)

    static func peer(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: 0xC0FF_EE00_0000 + UInt64(number), kind: .random)
    }

    static func report(
        _ address: DeviceAddress = peer, type: LegacyAdvertisingEventType = .nonConnectableUndirected,
        data: [UInt8] = [2, 1, 6], rssi: Int8 = -50
    ) -> LEAdvertisingReport {
        LEAdvertisingReport(reports: [.init(eventType: type, address: address, data: data, rssi: rssi)])
    }

    func connectionComplete(
        _ peer: DeviceAddress = peer, handle: UInt16 = 0x40, status: HCIStatus = .success
    ) -> LEConnectionComplete {
        LEConnectionComplete(
            status: status, connectionHandle: ConnectionHandle(rawValue: handle), role: .central, peerAddress: peer,
            interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000))
    }

    /// A link that is set up, with everything sent on the way forgotten.
    func connect(_ peer: DeviceAddress = peer, handle: UInt16 = 0x40, mtu: UInt16 = 23) -> LinkID {
        submit(.radio(.connect(ConnectRequest(peer: peer))))
        receive(connectionComplete(peer, handle: handle))
        receive(frame: [0x03, UInt8(mtu & 0xFF), UInt8(mtu >> 8)], handle: handle)
        let link = links.last?.id ?? LinkID(handle: ConnectionHandle(rawValue: handle), generation: 0)
        forget()
        return link
    }

    // MARK: The controller

    private func settle() {
        var progress = true
        while progress {
            progress = false
            while let cryptoProvider, let question = host.nextCryptoRequest() {
                progress = true
                host.answer(question.id, with: cryptoProvider.answer(question.request), at: now)
            }
            var packets: [[UInt8]] = []
            host.drainPackets { packets.append($0.copied()) }
            while collectsEvents, let event = host.nextEvent() {
                events.append(event)
                guard reopensTransport, case .reopenTransport = event else { continue }
                progress = true
                host.transportClosed(at: now)
                host.transportOpened(at: now)
            }
            for packet in packets {
                progress = true
                take(packet)
            }
        }
    }

    private func take(_ packet: [UInt8]) {
        if packet[0] == H4PacketType.acl.rawValue {
            data.append(Array(packet[1...]))
            guard confirmsData else { return }
            let handle = ConnectionHandle(rawValue: (UInt16(packet[1]) | UInt16(packet[2]) << 8) & 0x0FFF)
            var event = PacketWriter()
            NumberOfCompletedPackets(links: [.init(connectionHandle: handle, count: 1)]).encodePacket(into: &event)
            return host.receive(event.bytes.span.bytes, at: now)
        }
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        let command = Command(opcode: opcode, parameters: Array(packet[4...]))
        commands.append(command)
        var event = PacketWriter()
        let answer = self.answer?(command) ?? answers[opcode] ?? knownAnswer(to: command) ?? defaultAnswer(opcode)
        if case .complete(let parameters) = answer, parameters.first == 0 { carryOut(opcode, Array(packet[4...])) }
        switch answer {
        case .silence: return
        case .complete(let parameters):
            if parameters.first == 0 { accepted[opcode] = command.parameters }
            CommandComplete(opcode: opcode, returnParameters: parameters).encodePacket(into: &event)
        case .status(let status):
            CommandStatus(status: status, opcode: opcode).encodePacket(into: &event)
        }
        host.receive(event.bytes.span.bytes, at: now)
    }

    private func carryOut(_ opcode: HCIOpcode, _ parameters: [UInt8]) {
        switch opcode {
        case Reset.opcode: isScanOn = false
        case LESetScanEnable.opcode, LESetExtendedScanEnable.opcode: isScanOn = parameters.first == 1
        case LESetScanParameters.opcode, LESetExtendedScanParameters.opcode: scanParameters = parameters
        default: break
        }
    }

    private func knownAnswer(to command: Command) -> Answer? {
        switch command.opcode {
        case Reset.opcode:
            accepted.removeAll()
            return nil
        default: return nil
        }
    }

    private func defaultAnswer(_ opcode: HCIOpcode) -> Answer {
        var parameters = PacketWriter()
        switch opcode {
        case ReadBDADDR.opcode:
            ReadBDADDR.ReturnParameters(address: DeviceAddress(value: 0x0011_2233_4455, kind: .public))
                .encode(into: &parameters)
        case LEReadLocalSupportedFeatures.opcode:
            LEReadLocalSupportedFeatures.ReturnParameters(features: features).encode(into: &parameters)
        case LEReadBufferSize.opcode:
            LEReadBufferSize.ReturnParameters(aclDataPacketLength: aclLength, totalACLDataPackets: aclCount)
                .encode(into: &parameters)
        case LEReadSupportedStates.opcode:
            LEReadSupportedStates.ReturnParameters(states: supportedStates).encode(into: &parameters)
        case LEReadFilterAcceptListSize.opcode:
            LEReadFilterAcceptListSize.ReturnParameters(size: acceptListSize).encode(into: &parameters)
        case LEReadResolvingListSize.opcode:
            LEReadResolvingListSize.ReturnParameters(size: resolvingListSize).encode(into: &parameters)
        case LESetExtendedAdvertisingParameters.opcode:
            LESetExtendedAdvertisingParameters.ReturnParameters().encode(into: &parameters)
        case LEReadMaximumDataLength.opcode:
            LEReadMaximumDataLength.ReturnParameters(
                maximumTransmitOctets: 251, maximumTransmitTime: 2120, maximumReceiveOctets: 251,
                maximumReceiveTime: 2120
            ).encode(into: &parameters)
        case ReadLocalVersionInformation.opcode:
            ReadLocalVersionInformation.ReturnParameters().encode(into: &parameters)
        case ReadLocalSupportedCommands.opcode:
            parameters.write(zeros: 65)
        case ReadLocalSupportedFeatures.opcode:
            parameters.write(zeros: 9)
        case ReadBufferSize.opcode:
            ReadBufferSize.ReturnParameters(aclDataPacketLength: 1021, totalACLDataPackets: 8)
                .encode(into: &parameters)
        case LECreateConnection.opcode, LEExtendedCreateConnection.opcode, Disconnect.opcode,
            LEReadRemoteFeatures.opcode, LEConnectionUpdate.opcode, ReadRemoteVersionInformation.opcode,
            LESetPHY.opcode:
            return .status(.success)
        case LESetDataLength.opcode:
            LESetDataLength.ReturnParameters().encode(into: &parameters)
        case ReadRSSI.opcode:
            ReadRSSI.ReturnParameters(rssi: -61).encode(into: &parameters)
        default:
            parameters.write(UInt8(0))
        }
        return .complete(parameters.bytes)
    }
}
