import BLEHost
import BLEPackets

/// An engine, a clock and a controller, driven by a list of steps: packets, commands and time.
///
/// Whatever comes: each operation ends once, every packet is well-formed and fits the controller's buffers, deadlines
/// lie ahead once they have been served, and after the transport is gone nothing is left to do.
struct FuzzedHost: ~Copyable {
    enum Role { case bearer, central, peripheral, security, channels, bearers }

    static let centralHandle: UInt16 = 0x40
    static let peripheralHandle: UInt16 = 0x41
    /// Steps of one input, and packets that one step may lead to.
    private static let stepLimit = 400
    private static let packetLimit = 20_000

    var host: Host
    var controller: FuzzedController
    var now = Instant(microseconds: 1_000_000)
    var violation: String?
    var operations: [OperationID] = []
    private var ends: [OperationID: Int] = [:]
    /// What was asked, for the message.
    private var commands: [OperationID: HostCommand] = [:]
    var links: [LinkID] = []
    var requests: [GATTRequestID] = []
    var channels: [ChannelID] = []
    var questions: [UInt64] = []
    /// Of pairing, to the user.
    var pairingQuestions: [PairingQuestionID] = []
    var cryptoProvider = FuzzedCryptoProvider()
    /// Questions to the crypto provider that wait for the input.
    var heldQuestions: [PendingCryptoRequest] = []
    private let role: Role
    private var packetCount = 0
    /// The engine has asked for its transport to be opened again.
    private var isReopening = false

    private init(_ input: inout FuzzInput, _ role: Role) {
        self.role = role
        controller = FuzzedController(input.byte())
        var configuration = HostConfiguration(hasCryptoProvider: role == .security || role == .bearers)
        if role == .bearers { configuration.enhancedBearers = EnhancedBearerSettings(opened: 2, credits: 2) }
        host = Host(configuration: configuration)
    }

    static func run(_ bytes: [UInt8], _ role: Role) -> String? {
        var input = FuzzInput(bytes)
        var run = FuzzedHost(&input, role)
        run.begin()
        var steps = 0
        while !input.isAtEnd, run.violation == nil, steps < Self.stepLimit {
            switch role {
            case .security: run.securityStep(&input)
            case .channels: run.channelStep(&input)
            case .bearers: run.bearerStep(&input)
            default: run.step(&input, role)
            }
            steps += 1
        }
        if run.violation == nil { run.end() }
        return run.violation
    }

    // MARK: The beginning and the end

    private mutating func begin() {
        host.transportOpened(at: now)
        settle()
        if role == .bearers { restoreBonds() }
        if role != .peripheral {
            submit(.radio(.connect(ConnectRequest(peer: Self.peer(1)))))
            receive(Self.connected(handle: Self.centralHandle, peer: 1, role: .central))
            receive(Self.data([0x03, 0xF7, 0x00], channel: 4, handle: Self.centralHandle))
        }
        if role != .central {
            submit(.server(.publish(Self.service)))
            submit(.channel(.listen(spsm: 0x80, ChannelSettings(), requiresEncryption: false)))
            submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Fuzz", serviceUUIDs: [Self.service.uuid])))))
            receive(Self.connected(handle: Self.peripheralHandle, peer: 2, role: .peripheral))
        }
        if role == .bearers { encryptLinks() }
    }

    private mutating func end() {
        host.transportClosed(at: now)
        settle()
        // While the transport is being reopened the engine stores what is wanted of it.
        if isReopening { submit(.stop) }
        // What the crypto provider was asked it answers, however late.
        answerHeldQuestions()
        advance(by: 100_000_000)
        guard violation == nil else { return }
        for operation in operations where ends[operation, default: 0] != 1 {
            violation = "\(command(of: operation)) has ended \(ends[operation, default: 0]) times"
            return
        }
        if let deadline = host.nextDeadline { violation = "a deadline is left without a transport: \(deadline)" }
    }

    private func command(of operation: OperationID) -> String {
        commands[operation].map { "\(operation), \($0)," } ?? "\(operation)"
    }

    // MARK: Inputs

    mutating func submit(_ command: HostCommand) {
        let operation = host.submit(command, at: now)
        operations.append(operation)
        commands[operation] = command
        settle()
    }

    mutating func receive(_ packet: [UInt8]) {
        host.receive(packet.span.bytes, at: now)
        settle()
    }

    mutating func apply(_ change: (inout Host, Instant) -> Void) {
        change(&host, now)
        settle()
    }

    /// Serves every deadline on the way, as far as there are not too many.
    mutating func advance(by microseconds: Int64) {
        // The engine does not wait for ever for the end of a link, and then counts its packets no more.
        if !controller.endingLinks.isEmpty { controller.isBufferCountLost = true }
        let end = Instant(microseconds: now.microseconds + microseconds)
        var steps = 0
        while violation == nil, let deadline = host.nextDeadline, deadline <= end, steps < 300 {
            now = max(now, deadline)
            host.advance(to: now)
            settle()
            steps += 1
            if let again = host.nextDeadline, again <= now {
                // One more turn is fair: what the controller answered just now may be due at once.
                host.advance(to: now)
                settle()
                if let third = host.nextDeadline, third < now { violation = "a deadline stays in the past: \(third)" }
            }
        }
        now = end
        host.advance(to: now)
        settle()
    }

    mutating func answerHeldQuestions() {
        cryptoProvider.isHeld = false
        while !heldQuestions.isEmpty {
            let question = heldQuestions.removeFirst()
            let result = cryptoProvider.answer(question.request)
            apply { $0.answer(question.id, with: result, at: $1) }
        }
    }

    // MARK: Outputs

    private mutating func settle() {
        var progress = true
        while progress, violation == nil {
            progress = false
            var packets: [[UInt8]] = []
            host.drainPackets { packets.append($0.copied()) }
            while let event = host.nextEvent() { observe(event) }
            while let question = host.nextCryptoRequest() { progress = ask(question) || progress }
            for packet in packets where violation == nil {
                progress = true
                packetCount += 1
                let (answer, wrong) = controller.answer(packet)
                violation = wrong
                if let answer { host.receive(answer.span.bytes, at: now) }
            }
            if packetCount > Self.packetLimit { violation = "the engine sends without end" }
        }
    }

    /// - Returns: whether the question was answered, which may have led to something.
    private mutating func ask(_ question: PendingCryptoRequest) -> Bool {
        questions.append(question.id)
        guard role == .security || role == .bearers else { return false }
        if cryptoProvider.isHeld {
            heldQuestions.append(question)
            guard heldQuestions.count > 64 else { return false }
            // Each question gets an answer.
            host.answer(heldQuestions.removeFirst().id, with: .failure(.unavailable), at: now)
            return true
        }
        host.answer(question.id, with: cryptoProvider.answer(question.request), at: now)
        packetCount += 1
        return true
    }

    private mutating func observe(_ event: HostEvent) {
        switch event {
        case .completed(let operation, let result):
            ends[operation, default: 0] += 1
            if ends[operation, default: 0] > 1 { violation = "\(command(of: operation)) has ended twice" }
            if case .success(.channel(let channel)) = result { channels.append(channel.id) }
        case .reopenTransport: isReopening = true
        case .ready: isReopening = false
        case .connected(let link, _), .centralConnected(let link): links.append(link.id)
        case .disconnected(let link, _, _), .centralDisconnected(let link, _):
            controller.linkEnded(link.handle.rawValue)
        case .server(.read(let request)): requests.append(request.id)
        case .server(.write(let request)): if request.needsAnswer { requests.append(request.id) }
        case .channel(.opened(let channel, _)): channels.append(channel.id)
        case .pairing(_, .question(let question)): pairingQuestions.append(question.id)
        default: break
        }
        if links.count > 64 { links.removeFirst() }
        if requests.count > 64 { requests.removeFirst() }
        if channels.count > 64 { channels.removeFirst() }
        if questions.count > 64 { questions.removeFirst() }
        if pairingQuestions.count > 64 { pairingQuestions.removeFirst() }
    }

    // MARK: Samples

    static func peer(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: 0xC0FF_EE00_0000 + UInt64(number), kind: .random)
    }

    static func connected(handle: UInt16, peer number: Int, role: ConnectionRole) -> [UInt8] {
        FuzzedController.packet(
            LEConnectionComplete(
                status: .success, connectionHandle: ConnectionHandle(rawValue: handle), role: role,
                peerAddress: peer(number), interval: .milliseconds(30), latency: 0,
                supervisionTimeout: .milliseconds(5000)))
    }

    /// A whole L2CAP frame in one ACL packet.
    static func data(_ payload: [UInt8], channel: UInt16, handle: UInt16) -> [UInt8] {
        var frame = PacketWriter()
        frame.write(UInt16(clamping: payload.count))
        frame.write(channel)
        frame.write(bytes: payload)
        return fragment(frame.bytes, handle: handle, isStart: true)
    }

    static func fragment(_ bytes: [UInt8], handle: UInt16, isStart: Bool) -> [UInt8] {
        var packet = PacketWriter()
        ACLDataPacket.encodePacketHeader(
            into: &packet, handle: ConnectionHandle(rawValue: handle & 0x0FFF),
            boundary: isStart ? .first : .continuing, length: bytes.count)
        packet.write(bytes: bytes)
        return packet.bytes
    }

    /// Values that do not change, values that are read, and values that are notified.
    static let service = GATTServiceDefinition(
        uuid: BluetoothUUID(0x180D as UInt16),
        characteristics: [
            .init(
                uuid: BluetoothUUID(0x2A38 as UInt16), properties: .read, permissions: .readable,
                value: [UInt8](repeating: 7, count: 60)),
            .init(
                uuid: BluetoothUUID(0x2A39 as UInt16), properties: [.read, .write, .writeWithoutResponse],
                permissions: [.readable, .writeable, .commandWriteable]),
            .init(
                uuid: BluetoothUUID(0x2A37 as UInt16), properties: [.read, .notify, .indicate], permissions: .readable),
            .init(
                uuid: BluetoothUUID(0x2A19 as UInt16), properties: [.read, .write],
                permissions: [.readEncryption, .writeAuthentication]),
        ])
}
