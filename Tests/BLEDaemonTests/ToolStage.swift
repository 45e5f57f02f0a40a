import BLEHost
import BLEMessages
import BLEPackets

@testable import BLEDaemon

/// A session that is open, and what it made of requests.
struct ToolStage {
    static let client = ClientID(rawValue: 7)

    var session: ToolSession
    var submitted: [HostCommand] = []
    var sent: [FromDaemon] = []
    /// Whether the owner submits what it is to submit.
    var submits = true
    private var number: UInt64 = 0

    init(isOperator: Bool = false, user: UInt32? = nil, bonds: [Bond] = []) {
        session = ToolSession(client: Self.client, user: user, isOperator: isOperator, limits: ClientLimits())
        session.receive(FromClient.hello(Greeting(.tool)).framed().span.bytes)
        _ = session.nextOutput()
        session.controllerIsReady(ControllerInformation(), bonds: bonds)
        pump()
    }

    /// The engine numbers operations from 1000 on.
    mutating func pump() {
        while let output = session.nextOutput() {
            switch output {
            case .submit(_, let number) where !submits: session.notSubmitted(number)
            case .submit(let command, let number):
                submitted.append(command)
                session.submitted(number, as: OperationID(rawValue: 1000 + number.rawValue))
            case .send(let message): sent.append(message)
            default: break
            }
        }
    }

    @discardableResult
    mutating func request(_ command: HostCommand) -> UInt64 { request(own: .host(command)) }

    @discardableResult
    mutating func request(own command: ToolCommand) -> UInt64 {
        let operation = OperationID(rawValue: number + 1)
        return receive(FromClient.request(ToolRequest(operation, command)).framed())
    }

    /// - Parameter content: the fields of a command.
    @discardableResult
    mutating func request(raw content: [UInt8]) -> UInt64 { receive(RawMessage.request(number + 1, content)) }

    private mutating func receive(_ frame: [UInt8]) -> UInt64 {
        number += 1
        session.receive(frame.span.bytes)
        pump()
        return number
    }

    /// Why requests failed, by their numbers.
    var failures: [UInt64: HostFailure] {
        var found: [UInt64: HostFailure] = [:]
        for case .completed(let operation, .failure(let failure)) in sent { found[operation.rawValue] = failure }
        return found
    }
}
