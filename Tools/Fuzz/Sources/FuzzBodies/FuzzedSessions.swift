import BLEAppLifecycle
import BLEDaemon
import BLEHost
import BLEMessages
import BLEPackets

/// The sessions of a daemon over one engine: two tools, the second of them an operator's, an app and an operator,
/// driven by a list of steps: messages, octets, packets of the controller and time.
///
/// Whatever comes: each request of a tool ends at most once, a tool only names links that were reported to it, one that is
/// no operator removes and names no bonds, every message to a client can be decoded, and no limit is exceeded.
struct FuzzedSessions: ~Copyable {
    static let plain = 0, operating = 1
    private static let stepLimit = 400
    private static let packetLimit = 20_000
    private static let app = AppID(rawValue: "app")

    private let limits = ClientLimits()
    private var host = Host(configuration: HostConfiguration(hasCryptoProvider: false))
    private var controller: FuzzedController
    private var life = AppLifecycle(seed: (0..<32).map { UInt8($0) })
    private var tools: [FuzzedTool] = []
    private var appSession: AppSession
    private var operatorSession: OperatorSession
    private var information: ControllerInformation?
    private var now = Instant(microseconds: 1_000_000)
    private var packetCount = 0
    private var violation: String?

    private init(_ input: inout FuzzInput) {
        controller = FuzzedController(input.byte())
        appSession = AppSession(
            app: Self.app, isOperator: false, limits: limits, frames: FrameReader(limit: limits.messageOctets))
        operatorSession = OperatorSession(frames: FrameReader(limit: limits.messageOctets))
    }

    static func run(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        var run = FuzzedSessions(&input)
        run.begin()
        var steps = 0
        while !input.isAtEnd, run.violation == nil, steps < stepLimit {
            run.step(&input)
            steps += 1
        }
        for number in run.tools.indices where run.violation == nil { run.leave(number) }
        return run.violation
    }

    private mutating func begin() {
        life.declare(AppManifest(app: Self.app, backgroundModes: [.central, .peripheral]))
        life.launched(Self.app, inForeground: true, at: now)
        host.transportOpened(at: now)
        settle()
        tools = [Self.plain, Self.operating].map { FuzzedTool($0, limits) }
        for number in tools.indices { greet(number) }
        beginApp()
    }

    private mutating func greet(_ number: Int) {
        receive(number, FromClient.hello(Greeting(.tool)).framed())
        if let information { _ = tools[number].session.beginIfWaiting(information, bonds: []) }
        settle()
    }

    /// With a manager of each kind.
    private mutating func beginApp() {
        appSession = AppSession(
            app: Self.app, isOperator: false, limits: limits, frames: FrameReader(limit: limits.messageOctets))
        for request in [ClientRequest.createCentral(ManagerOptions()), .createPeripheral(ManagerOptions())] {
            var manager: UInt32 = 1
            if case .createPeripheral = request { manager = 2 }
            receiveApp(FromClient.appRequest(AppRequest(request, from: ManagerID(rawValue: manager))).framed())
        }
    }

    // MARK: Steps

    private mutating func step(_ input: inout FuzzInput) {
        let kind = input.byte()
        // The upper half says whose it is.
        let session = Int(kind >> 4) % 4
        switch kind & 0x0F {
        case 0: deliver(FrameReader.frame(message(input.counted(), to: session)), to: session)
        case 1: if let request = request(input.counted(), to: session) { deliver(request.framed(), to: session) }
        case 2: deliver(FrameReader.frame(message(input.read(Int(input.word() & 0x0FFF)), to: session)), to: session)
        case 3: deliver(FrameReader.frame(input.counted()), to: session)
        case 4: deliver(input.counted(), to: session)
        case 5:
            host.receive(connected(input.byte()).span.bytes, at: now)
            settle()
        case 6:
            host.receive(
                FuzzedHost.data(input.counted(), channel: UInt16(input.byte()), handle: handle(input.byte())).span
                    .bytes, at: now)
            settle()
        case 7:
            host.receive(
                FuzzedController.packet(
                    DisconnectionComplete(
                        status: .success, connectionHandle: ConnectionHandle(rawValue: handle(input.byte())),
                        reason: .remoteUserTerminatedConnection)
                ).span.bytes, at: now)
            settle()
        case 8: advance(by: Int64(input.word()) * 1000)
        case 9: controller.next = .status(input.byte())
        case 10: reconnect(session)
        case 11:
            life.suspend(Self.app, at: now)
            settle()
        case 12:
            life.enterForeground(Self.app, at: now)
            settle()
        default:
            host.receive(input.counted().span.bytes, at: now)
            settle()
        }
    }

    private func handle(_ choice: UInt8) -> UInt16 {
        choice & 1 == 0 ? FuzzedHost.centralHandle : FuzzedHost.peripheralHandle
    }

    private func connected(_ choice: UInt8) -> [UInt8] {
        FuzzedHost.connected(
            handle: handle(choice), peer: Int(choice >> 4), role: choice & 1 == 0 ? .central : .peripheral)
    }

    /// A request that is drawn from these octets.
    private mutating func request(_ octets: [UInt8], to session: Int) -> FromClient? {
        switch session {
        case Self.plain, Self.operating:
            tools[session].number += 1
            return DrawnRequest.ofTool(tools[session].number, octets, known: tools[session].known)
        case 2: return DrawnRequest.ofApp(octets, from: ManagerID(rawValue: UInt32(octets.count % 2 + 1)))
        default: return DrawnRequest.ofOperator(octets)
        }
    }

    /// The content of a request, with what makes it one.
    private mutating func message(_ content: [UInt8], to session: Int) -> [UInt8] {
        switch session {
        case Self.plain, Self.operating:
            // Each number once, or the session ends.
            tools[session].number += 1
            var number = PacketWriter()
            number.write(UInt8(0x08))
            Self.writeVarint(tools[session].number, into: &number)
            return Self.field(2, number.bytes + content)
        case 2: return Self.field(3, [0x08, UInt8(content.count % 2 + 1)] + content)
        default: return Self.field(8, content)
        }
    }

    private static func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        var writer = PacketWriter()
        writer.write(number << 3 | 2)
        writeVarint(UInt64(content.count), into: &writer)
        writer.write(bytes: content)
        return writer.bytes
    }

    private static func writeVarint(_ value: UInt64, into writer: inout PacketWriter) {
        var value = value
        while value > 0x7F {
            writer.write(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        writer.write(UInt8(value))
    }

    private mutating func deliver(_ octets: [UInt8], to session: Int) {
        switch session {
        case Self.plain, Self.operating: receive(session, octets)
        case 2: receiveApp(octets)
        default: receiveOperator(octets)
        }
        settle()
    }

    private mutating func reconnect(_ session: Int) {
        switch session {
        case Self.plain, Self.operating:
            leave(session)
            tools[session] = FuzzedTool(session, limits)
            greet(session)
        case 2:
            life.ended(Self.app, .crashed, at: now)
            settle()
            life.launched(Self.app, inForeground: true, at: now)
            beginApp()
        default: operatorSession = OperatorSession(frames: FrameReader(limit: limits.messageOctets))
        }
        settle()
    }

    private mutating func leave(_ number: Int) {
        for command in tools[number].session.left() { _ = host.submit(command, from: tools[number].client, at: now) }
        settle()
    }

    private mutating func advance(by microseconds: Int64) {
        now = Instant(microseconds: now.microseconds + microseconds)
        host.advance(to: now)
        life.advance(to: now)
        settle()
    }

    // MARK: Sessions

    private mutating func receive(_ number: Int, _ octets: [UInt8]) {
        tools[number].session.receive(octets.span.bytes)
        carryOut(number)
    }

    private mutating func carryOut(_ number: Int) {
        while violation == nil, let output = tools[number].session.nextOutput() {
            switch output {
            case .submit(let command, let request):
                violation = tools[number].mayNot(command)
                let operation = host.submit(command, from: tools[number].client, at: now)
                tools[number].session.submitted(request, as: operation)
                if tools[number].session.requestCount > limits.requests { violation = "more requests than the limit" }
            case .send(let message): violation = tools[number].send(message) ?? check(message)
            case .written: break
            case .serves: tools[number].session.serves(among: [])
            case .advertises: tools[number].session.controllerAdvertises(true)
            case .isApp, .isOperator, .pairing, .capture, .deviceName, .leave, .close: break
            }
        }
    }

    private mutating func receiveApp(_ octets: [UInt8]) {
        appSession.receive(octets.span.bytes)
        while violation == nil, let output = appSession.nextOutput() {
            switch output {
            case .request(let request, let manager, let number):
                life.receive(request, from: manager, of: Self.app, at: now)
                carryOutLife()
                appSession.taken(number)
            case .returned(let manager, let events, let octets):
                life.returned(events: events, octets: octets, by: manager, of: Self.app, at: now)
            case .send(let message): violation = check(message)
            case .move, .tasks, .pairing, .answer, .close: break
            }
        }
    }

    private mutating func carryOutLife() {
        while let output = life.nextOutput() {
            switch output {
            case .submit(let command, let client, let token):
                life.submitted(token, as: host.submit(command, from: client, at: now))
            case .event(let event, let manager, _): appSession.tell(event, to: manager, waiting: 0)
            case .discovered(let shared):
                for recipient in shared.recipients {
                    appSession.tell(shared.event(for: recipient), to: recipient.manager, waiting: 0)
                }
            case .alert(let alert): appSession.show(alert)
            case .process(.relaunch, _): life.launched(Self.app, inForeground: false, at: now)
            case .process, .alertWithdrawn, .log, .journal: break
            }
        }
    }

    private mutating func receiveOperator(_ octets: [UInt8]) {
        operatorSession.receive(octets.span.bytes)
        do throws(MessageError) {
            while let request = try operatorSession.next() {
                if case .answerAlert(let alert, let accepts) = request {
                    life.alertAnswered(AlertID(rawValue: alert), isAccepted: accepts, at: now)
                }
            }
        } catch {
            operatorSession = OperatorSession(frames: FrameReader(limit: limits.messageOctets))
        }
    }

    /// A client can decode it, and finds the same in it.
    private func check(_ message: FromDaemon) -> String? {
        let octets = message.framed()
        guard 1...BledProtocol.eventLimit ~= octets.count else { return "a message of \(octets.count) octets" }
        guard let decoded = try? FromDaemon(octets: octets[FrameReader.headerOctets...]), decoded.framed() == octets
        else {
            return "a client cannot decode \(message)"
        }
        return nil
    }

    // MARK: The engine

    private mutating func settle() {
        var progress = true
        while progress, violation == nil {
            progress = false
            var packets: [[UInt8]] = []
            host.drainPackets { packets.append($0.copied()) }
            while violation == nil, let event = host.nextEvent() {
                progress = true
                pass(event)
            }
            while let question = host.nextCryptoRequest() {
                progress = true
                host.answer(question.id, with: .failure(.unavailable), at: now)
            }
            for packet in packets where violation == nil {
                progress = true
                packetCount += 1
                let (answer, _) = controller.answer(packet)
                if let answer { host.receive(answer.span.bytes, at: now) }
            }
            if packetCount > Self.packetLimit { return }
        }
    }

    private mutating func pass(_ event: HostEvent) {
        switch event {
        case .ready(let information):
            self.information = information
            for number in tools.indices { tools[number].session.controllerIsReady(information) }
        case .reopenTransport:
            host.transportClosed(at: now)
            host.transportOpened(at: now)
        default: break
        }
        for number in tools.indices {
            tools[number].observe(event)
            tools[number].session.hear(event, waiting: 0)
            carryOut(number)
        }
        life.receive(event, at: now)
        carryOutLife()
        receiveApp([])
    }
}
