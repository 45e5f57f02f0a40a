import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets

/// A connected app: the requests of its managers, their events, and how many of those the app has not yet handled. A
/// value without I/O, like `ToolSession`.
///
///     open ──error, end──▶ ended
public struct AppSession {
    /// What the owner must do, in order.
    public enum Output {
        /// Pass this request to the life of apps; then call `taken` with the number.
        case request(ClientRequest, from: ManagerID, number: UInt64)
        /// The app has handled this many events of a manager, and the octets in them.
        case returned(ManagerID, events: Int, octets: Int)
        /// The app asks to move to this place.
        case move(AppMove)
        /// The app has begun or ended tasks: so many run.
        case tasks(Int)
        /// How the app pairs from now on, and whether it asks a person; `nil`: neither asks nor requires anything.
        case pairing(PairingOptions?, asks: Bool)
        /// The app's answer to a question.
        case answer(PairingQuestionID, PairingAnswer)
        /// Send this.
        case send(FromDaemon)
        /// End the connection after the messages before this have been sent.
        case close
    }

    /// The app.
    public let app: AppID
    /// Whether the app may replace bonds, which all clients share, and set pairing requirements that apply to all.
    var isOperator: Bool
    private let limits: ClientLimits
    private var frames: FrameReader
    private var outputs = Queue<Output>()
    private var hasEnded = false
    /// Which kinds of manager the app may have.
    private var roles: Set<ManagerRole> = [.central, .peripheral]
    /// Whether the app may ask a person during pairing.
    public var mayPair = true
    /// Managers whose role is not allowed: they are told so, and their requests are ignored.
    private var refused: Set<ManagerID> = []
    /// The managers that the app has created, in order.
    private var managers: [ManagerID] = []
    /// The role of each manager. Only for lookup, never iterated.
    private var roleOf: [ManagerID: ManagerRole] = [:]
    /// The octets of each event that a manager got and has not handled, in the order of `managers`.
    private var unhandled: [Queue<Int>] = []
    private var acknowledgements = 0
    /// Whether the app's time is limited, as far as it knows.
    private var isLimited = false
    private var questions = PairingQuestions()

    /// - Parameters:
    ///   - isOperator: whether the app may replace bonds, which all clients share, and set pairing requirements that
    ///     apply to all.
    ///   - frames: the reader, with any octets that followed the greeting.
    public init(app: AppID, isOperator: Bool, limits: ClientLimits, frames: FrameReader) {
        self.app = app
        self.isOperator = isOperator
        self.limits = limits
        self.frames = frames
    }

    /// What to do next; `nil` if there is nothing. The session decodes a message only when everything that earlier
    /// messages caused has been done.
    public mutating func nextOutput() -> Output? {
        while outputs.isEmpty, !hasEnded, receiveNext() {}
        return outputs.popFirst()
    }

    // MARK: From the app

    /// What the session may still decode, see `TurnLine`.
    public var allowance = Int.max

    /// Whether a message waits to be decoded.
    public var hasMessage: Bool { !hasEnded && frames.hasNext }

    /// Takes octets that were read from the socket; call `nextOutput` afterwards.
    public mutating func receive(_ bytes: RawSpan) {
        if !hasEnded { frames.append(bytes) }
    }

    /// Whether there was a message.
    private mutating func receiveNext() -> Bool {
        do throws(MessageError) {
            guard let message = try frames.nextMessage(&allowance) else { return false }
            try receive(message)
        } catch {
            refuse(error.refusalReason, "\(error)")
        }
        return true
    }

    private mutating func receive(_ message: FromClient) throws(MessageError) {
        switch message {
        case .appRequest(let request): try receive(request)
        case .appReturned(let manager, let events): handled(events, by: manager)
        case .appMove(let place, let tasks):
            if let tasks { outputs.append(.tasks(tasks)) }
            if let place { outputs.append(.move(place)) }
        case .appPairing(let asks, let options): pair(asks: asks, options ?? PairingOptions())
        case .appAnswer(let question, let answer):
            guard let answer = questions.allowed(answer, to: question, isOperator: isOperator) else { return }
            outputs.append(.answer(question, answer))
        case .hello, .request, .operatorRequest: throw .unexpected
        }
    }

    private mutating func receive(_ message: AppRequest) throws(MessageError) {
        let (manager, number, request) = (message.manager, message.number, message.request)
        switch request {
        case .createCentral, .createPeripheral:
            guard !managers.contains(manager) else { throw .invalidField }
            guard managers.count < limits.managers else {
                return refuse(.tooManyManagers, "an app has at most \(limits.managers) managers")
            }
            managers.append(manager)
            unhandled.append(Queue())
            let role: ManagerRole = if case .createCentral = request { .central } else { .peripheral }
            roleOf[manager] = role
            if !roles.contains(role) { refuse(manager, role) }
        case .release:
            if let place = managers.firstIndex(of: manager) {
                managers.remove(at: place)
                unhandled.remove(at: place)
            }
            roleOf[manager] = nil
            if refused.remove(manager) != nil { return taken(number) }
        // The life of apps logs requests of managers that do not exist.
        case .central, .peripheral, .channel: break
        }
        guard !refused.contains(manager) else { return taken(number) }
        outputs.append(.request(request, from: manager, number: number))
    }

    private mutating func refuse(_ manager: ManagerID, _ role: ManagerRole) {
        refused.insert(manager)
        note("the app's manifest does not let it have a \(role.className)")
        tell(.stateChanged(.unauthorized, .restricted), to: manager, waiting: 0)
    }

    /// Which kinds of manager the app may have from now on. Managers of another kind end; one that was refused stays so
    /// until the app creates it again.
    public mutating func restrict(to roles: Set<ManagerRole>) {
        self.roles = roles
        for manager in managers where !refused.contains(manager) {
            guard let role = roleOf[manager], !roles.contains(role) else { continue }
            outputs.append(.request(.release, from: manager, number: 0))
            refuse(manager, role)
        }
    }

    private mutating func handled(_ count: Int, by manager: ManagerID) {
        guard let place = managers.firstIndex(of: manager) else { return }
        let events = min(count, unhandled[place].count)
        // One that gives nothing back is a request like any other.
        guard events > 0 else { return }
        var octets = 0
        for _ in 0..<events { octets += unhandled[place].popFirst() ?? 0 }
        outputs.append(.returned(manager, events: events, octets: octets))
        acknowledgements += 1
    }

    /// How many messages since the last call only said that the app has handled events. Each has taken one event at
    /// least, so there are no more of them than events, and they are not what it asks for, see `BusyMeter`.
    mutating func takeAcknowledgements() -> Int {
        defer { acknowledgements = 0 }
        return acknowledgements
    }

    private mutating func pair(asks: Bool, _ wanted: PairingOptions) {
        var options = wanted
        guard mayPair, asks || isOperator else { return outputs.append(.pairing(nil, asks: false)) }
        if !isOperator, options.requiresAuthentication || options.requiresSecureConnections {
            note("what it requires of pairing holds for its own pairings; only operators require it of all")
        }
        options.replacesBond = false
        options.passkey = nil
        outputs.append(.pairing(options, asks: asks))
    }

    // MARK: To the app

    /// The app may begin.
    public mutating func welcome(_ options: LaunchOptions, _ authorization: ManagerAuthorization) {
        send(.appWelcome(options, authorization))
    }

    /// Sends an event to a manager.
    /// - Parameter waiting: octets that the app has not read yet.
    public mutating func tell(_ event: ClientEvent, to manager: ManagerID, waiting: Int) {
        guard !hasEnded else { return }
        if !event.isAnswer { count(octets: event.approximateOctets, for: manager) }
        send(.appEvent(AppEvent(event, to: manager)))
        if waiting > limits.waitingOctets { refuse(.stuck, "the app does not read what it is sent") }
    }

    /// Whether the owner may send the app an event itself, because nothing waits before it.
    var mayBeTold: Bool { !hasEnded && outputs.isEmpty }

    /// Counts an event with this many octets that the app has to handle.
    mutating func count(octets: Int, for manager: ManagerID) {
        if let place = managers.firstIndex(of: manager) { unhandled[place].append(octets) }
    }

    /// The request with this number has been accepted, and all events that it caused at once have been sent.
    public mutating func taken(_ number: UInt64) {
        if number != 0 { send(.appTaken(number)) }
    }

    /// Sends a line for the app's log.
    public mutating func note(_ line: String) { send(.appNotice(.log(line))) }

    /// Tells the app that its time in the background is nearly over.
    public mutating func expiring() { send(.appNotice(.expiring)) }

    /// Tells the app how long it may still run.
    /// - Parameter span: `nil` if nothing limits it.
    public mutating func setTime(_ span: Microseconds?) {
        let isKnown = span == nil && !isLimited
        isLimited = span != nil
        guard !isKnown else { return }
        let milliseconds = span.map { min($0.rawValue / 1000, Int64(UInt32.max) - 1) }
        send(.appNotice(.remaining(milliseconds.map { UInt32(clamping: $0) } ?? .max)))
    }

    /// Tells the app that the controller can be used, with or without extended commands.
    public mutating func controllerIsReady(isExtended: Bool) { send(.appNotice(.extended(isExtended))) }

    /// Sends an alert for the user.
    public mutating func show(_ alert: Alert) { send(.appNotice(.alert(alert))) }

    /// Sends the progress of a pairing, with the device as this app knows it.
    public mutating func pairing(_ event: PairingEvent, on link: LinkID, with peer: PeripheralDescription) {
        questions.hear(event, on: link)
        send(.appPairing(AppPairing(event, on: link, with: peer)))
    }

    /// How many events of a manager the app has not yet handled.
    public func unhandledEvents(of manager: ManagerID) -> Int {
        managers.firstIndex(of: manager).map { unhandled[$0].count } ?? 0
    }

    /// How many events of all managers the app has not yet handled.
    var unhandledCount: Int { unhandled.reduce(0) { $0 + $1.count } }

    private mutating func send(_ message: FromDaemon) {
        if !hasEnded { outputs.append(.send(message)) }
    }

    // MARK: The end

    /// Ends the session and sends the app the reason.
    public mutating func refuse(_ reason: RefusalReason, _ text: String) {
        guard !hasEnded else { return }
        send(.refusal(reason, text))
        hasEnded = true
        outputs.append(.close)
    }
}
