import BLEAppLifecycle
import BLEDaemonProtocol
import BLEHost
import BLEPackets

/// One app that is connected: what its managers ask for, what they are told, and how much of that it has not handled.
/// A value without I/O, as `ToolSession`.
///
///     open ──error, end──▶ ended
public struct AppSession {
    /// What the owner has to do, in order.
    public enum Output {
        /// Give it to the life of apps; `taken` follows where there is a number.
        case request(ClientRequest, from: ManagerID, number: UInt64)
        /// So much of what a manager was told has been handled.
        case returned(ManagerID, events: Int, octets: Int)
        /// The app goes there.
        case move(WireAppMove.Place)
        /// How the app pairs from now on; `nil`: it asks nobody.
        case pairing(PairingOptions?)
        /// The answer to a question that the app was asked.
        case answer(PairingQuestionID, PairingAnswer)
        /// Send this.
        case send(WireFromDaemon)
        /// End the connection when what was sent is on its way.
        case close
    }

    /// Whose managers these are.
    public let app: AppID
    private let isOperator: Bool
    private let limits: ClientLimits
    private var frames: FrameReader
    private var outputs = Queue<Output>()
    private var hasEnded = false
    /// Which managers it may have.
    public var roles: Set<ManagerRole> = [.central, .peripheral]
    /// Whether it may ask a person while devices pair.
    public var mayPair = true
    /// Managers of another role: they are told so, and nothing that they ask for is done.
    private var refused: Set<ManagerID> = []
    /// Those that have been made, in order.
    private var managers: [ManagerID] = []
    /// What each was told and has not handled: octets of each event. Looked up only.
    private var unhandled: [ManagerID: Queue<Int>] = [:]
    /// Questions of pairings that it was asked, and whether a bond is at stake.
    private var questions: [PairingQuestionID: Bool] = [:]

    /// - Parameters:
    ///   - isOperator: whether it may replace bonds, which are everybody's, and make demands of pairing that hold for all.
    ///   - frames: with what has been read behind the greeting.
    public init(app: AppID, isOperator: Bool, limits: ClientLimits, frames: FrameReader) {
        self.app = app
        self.isOperator = isOperator
        self.limits = limits
        self.frames = frames
    }

    /// What is to be done next. A message is understood only when all that came of those before it has been done.
    public mutating func nextOutput() -> Output? {
        while outputs.isEmpty, !hasEnded, receiveNext() {}
        return outputs.popFirst()
    }

    // MARK: From the app

    /// Octets that were read; `nextOutput` follows.
    public mutating func receive(_ bytes: RawSpan) {
        if !hasEnded { frames.append(bytes) }
    }

    /// Whether there was a message.
    private mutating func receiveNext() -> Bool {
        do throws(WireError) {
            guard let octets = try frames.next() else { return false }
            try receive(try WireFromClient(octets: octets))
        } catch {
            if case .messageTooLong = error {
                refuse(.messageTooLong, "\(error)")
            } else {
                refuse(.protocol, "\(error)")
            }
        }
        return true
    }

    private mutating func receive(_ message: WireFromClient) throws(WireError) {
        switch message.message {
        case .appRequest(let request): try receive(request)
        case .appReturned(let returned): handled(Int(returned.events), by: ManagerID(rawValue: returned.manager))
        case .appMove(let move): outputs.append(.move(move.to))
        case .appPairing(let pairing): try receive(pairing)
        case .appAnswer(let answer): try receive(answer)
        case .hello, .request, .operatorRequest: throw .unexpectedMessage
        case nil: throw .invalidField
        }
    }

    private mutating func receive(_ wire: WireAppRequest) throws(WireError) {
        let manager = ManagerID(rawValue: wire.manager)
        let request = try ClientRequest(wire)
        switch request {
        case .createCentral, .createPeripheral:
            guard !managers.contains(manager) else { throw .invalidField }
            guard managers.count < limits.managers else {
                return refuse(.tooManyManagers, "an app has at most \(limits.managers) managers")
            }
            managers.append(manager)
            let role: ManagerRole = if case .createCentral = request { .central } else { .peripheral }
            if !roles.contains(role) {
                refused.insert(manager)
                note("the app's manifest does not let it have a \(role.className)")
                tell(.stateChanged(.unauthorized, .restricted), to: manager, waiting: 0)
            }
        case .release:
            managers.removeAll { $0 == manager }
            unhandled[manager] = nil
            if refused.remove(manager) != nil { return taken(wire.number) }
        // What a manager that is not there asks for is logged by the life of apps.
        case .central, .peripheral, .channel: break
        }
        guard !refused.contains(manager) else { return taken(wire.number) }
        outputs.append(.request(request, from: manager, number: wire.number))
    }

    private mutating func handled(_ count: Int, by manager: ManagerID) {
        guard let told = unhandled[manager]?.count, told > 0 else { return }
        let events = min(count, told)
        var octets = 0
        for _ in 0..<events { octets += unhandled[manager]?.popFirst() ?? 0 }
        outputs.append(.returned(manager, events: events, octets: octets))
    }

    private mutating func receive(_ wire: WireAppPairing) throws(WireError) {
        var options = try wire.pairingOptions()
        guard mayPair, wire.asksSomebody || isOperator else { return outputs.append(.pairing(nil)) }
        // What is demanded holds for every app's pairings: a plain user's app only says what its person can do.
        if !isOperator {
            let asked = PairingOptions(ioCapability: options.ioCapability, asksConsent: options.asksConsent)
            if asked != options { note("what it demands of pairing is not for it to demand of all; it is left out") }
            options = asked
        }
        options.replacesBond = false
        options.passkey = nil
        outputs.append(.pairing(options))
    }

    private mutating func receive(_ wire: WireAnswerPairing) throws(WireError) {
        let (question, answer) = try wire.answered()
        guard let isAboutBond = questions.removeValue(forKey: question) else { return }
        let mayNot = isAboutBond && !isOperator && answer == .confirm(true)
        outputs.append(.answer(question, mayNot ? .confirm(false) : answer))
    }

    // MARK: To the app

    /// The app may begin.
    public mutating func welcome(_ options: LaunchOptions, _ authorization: ManagerAuthorization) {
        send {
            $0.appWelcome.version = BledProtocol.version
            $0.appWelcome.launchCentrals = options.centrals
            $0.appWelcome.launchPeripherals = options.peripherals
            $0.appWelcome.authorization = UInt32(authorization.rawValue)
        }
    }

    /// A manager is told something.
    /// - Parameter waiting: octets that the app has not read yet.
    public mutating func tell(_ event: ClientEvent, to manager: ManagerID, waiting: Int) {
        guard !hasEnded else { return }
        if !event.isAnswer, managers.contains(manager) {
            unhandled[manager, default: Queue()].append(event.approximateOctets)
        }
        send { $0.appEvent = WireAppEvent(event, to: manager) }
        if waiting > limits.waitingOctets { refuse(.stuck, "the app does not read what it is sent") }
    }

    /// The request with this number has been taken in, and all that it caused has been told.
    public mutating func taken(_ number: UInt64) {
        if number != 0 { send { $0.appTaken = number } }
    }

    /// A line for the app's log.
    public mutating func note(_ line: String) { send { $0.appNotice.log = line } }

    /// Its time in the background is nearly over.
    public mutating func expiring() { send { $0.appNotice.expiring = WireNothing() } }

    /// The controller can be used, with or without extended commands.
    public mutating func controllerIsReady(isExtended: Bool) { send { $0.appNotice.extended = isExtended } }

    /// Something that the user is to know.
    public mutating func show(_ alert: Alert) { send { $0.appNotice.alert = WireAppAlert(alert) } }

    /// How a pairing goes, with the device as this app knows it.
    public mutating func pairing(_ event: PairingEvent, on link: LinkID, with peer: PeripheralDescription) {
        if case .question(let question) = event {
            if case .replaceBond = question.kind {
                questions[question.id] = true
            } else {
                questions[question.id] = false
            }
        }
        switch event {
        case .paired, .failed: questions = [:]
        case .started, .displayPasskey, .question, .passkeyLocked, .securityRequested: break
        }
        send { $0.appPairing = WireAppPairingProgress(event, on: link, with: peer) }
    }

    /// How much of what a manager was told has not been handled.
    public func unhandledEvents(of manager: ManagerID) -> Int { unhandled[manager]?.count ?? 0 }

    /// Whether everything that it was told has been handled.
    public var isIdle: Bool { managers.allSatisfy { unhandledEvents(of: $0) == 0 } }

    private mutating func send(_ fill: (inout WireFromDaemon) -> Void) {
        guard !hasEnded else { return }
        var message = WireFromDaemon()
        fill(&message)
        outputs.append(.send(message))
    }

    // MARK: The end

    /// Ends the session with a reason that the app is told.
    public mutating func refuse(_ reason: WireRefusal.Reason, _ text: String) {
        guard !hasEnded else { return }
        send {
            $0.refusal.reason = reason
            $0.refusal.text = text
        }
        hasEnded = true
        outputs.append(.close)
    }
}
