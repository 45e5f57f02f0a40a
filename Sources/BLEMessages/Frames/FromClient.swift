import BLEAppLifecycle
import BLEHost

/// A message of a program to `bled`.
public enum FromClient: Choice, Equatable, Sendable {
    case hello(Greeting)
    // Of tools.
    case request(ToolRequest)
    // Of apps.
    case appRequest(AppRequest)
    /// So many more of a manager's events have been handled, in the order in which they came.
    case appReturned(ManagerID, events: Int)
    /// Where the app goes; `nil`: it stays where it is. And how many tasks it has begun and not ended: it counts as busy
    /// while there are any; `nil`: as before.
    case appMove(AppMove?, tasks: Int?)
    /// How the app's pairings are done; without a user to ask, the app is not asked. What it requires applies to its own
    /// pairings, and for those of all clients if the app is an operator's.
    case appPairing(asksSomebody: Bool, PairingOptions?)
    case appAnswer(PairingQuestionID, PairingAnswer)
    // Of operators.
    case operatorRequest(OperatorRequest)

    public static var blank: Self { .operatorRequest(.unknown) }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(1, "hello", &it, Self.hello) { if case .hello(let greeting) = $0 { greeting } else { nil } }
        try c.option(2, "request", &it, Self.request) { if case .request(let request) = $0 { request } else { nil } }
        try c.option(3, "app_request", &it, Self.appRequest) { if case .appRequest(let a) = $0 { a } else { nil } }
        try c.option(4, "app_returned", as: "AppReturned", &it, Self.appReturned, "manager", "events") {
            if case .appReturned(let manager, let events) = $0 { (manager, events) } else { nil }
        }
        try c.option(
            5, "app_move", as: "AppMove", &it,
            // A place of a newer client leaves the app where it is.
            { (to: UInt32, tasks) in .appMove(UInt8(exactly: to).flatMap { AppMove(rawValue: $0) }, tasks: tasks) },
            "to", "tasks",
            from: { if case .appMove(let place, let tasks) = $0 { (UInt32(place?.rawValue ?? 0), tasks) } else { nil } }
        )
        try c.option(
            6, "app_pairing", as: "AppPairing", &it, Self.appPairing, "asks_somebody", "options"
        ) { if case .appPairing(let asks, let options) = $0 { (asks, options) } else { nil } }
        try c.option(
            7, "app_answer", as: "AnswerPairing", &it, Self.appAnswer, "question",
            rest: { if case .appAnswer(let question, let answer) = $0 { (question, answer) } else { nil } })
        try c.option(8, "operator_request", &it, Self.operatorRequest) {
            if case .operatorRequest(let request) = $0 { request } else { nil }
        }
    }
}

/// Where an app goes.
public enum AppMove: UInt8, Scalar, Sendable {
    case foreground = 1
    case background, suspended

    public static var blank: Self { .foreground }
}

/// A request of a tool.
public struct ToolRequest: Message, Equatable, Sendable {
    /// The client's number for it, each used once; the completion and what belongs to it carry the same.
    public var operation: OperationID
    public var command: ToolCommand

    public init(_ operation: OperationID, _ command: ToolCommand) {
        self.operation = operation
        self.command = command
    }

    public static var blank: Self { Self(.blank, .blank) }
    public static var schemaName: String { "Request" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "operation", &it.operation)
        try c.choice(&it.command)
    }
}

/// What a tool asks for: of the engine, or of the daemon itself.
public enum ToolCommand: Choice, Equatable, Sendable {
    case host(HostCommand)
    /// How the pairings are done that the client's operations and services make necessary; it is asked.
    case servePairing(PairingOptions)
    /// Of operators: whether what crosses HCI is reported from now on, without keys.
    case capture(Bool)
    /// Ends everything that the client has asked for; completes when the controller has the commands for that.
    case leave

    public static var blank: Self { .leave }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.options(&it, Self.host) { if case .host(let command) = $0 { command } else { nil } }
        try c.option(
            20, "serve_pairing", &it, Self.servePairing, { if case .servePairing(let a) = $0 { a } else { nil } })
        try c.option(23, "capture", &it, Self.capture) { if case .capture(let isOn) = $0 { isOn } else { nil } }
        try c.option(30, "leave", &it, .leave)
    }
}
