import BLEDaemonProtocol
import BLEHost
import BLEPackets

@testable import BLEDaemon

/// A session that is open, and what it made of requests.
struct ToolStage {
    static let client = ClientID(rawValue: 7)

    var session: ToolSession
    var submitted: [HostCommand] = []
    var sent: [WireFromDaemon.OneOf_Message] = []
    /// Whether the owner submits what it is to submit.
    var submits = true
    private var number: UInt64 = 0

    init(isOperator: Bool = false, user: UInt32? = nil, bonds: [Bond] = []) {
        session = ToolSession(client: Self.client, user: user, isOperator: isOperator, limits: ClientLimits())
        session.receive(
            WireFromClient.with {
                $0.hello.version = 1
                $0.hello.session = .tool
            }.framed().span.bytes)
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
            case .send(let message): if let message = message.message { sent.append(message) }
            default: break
            }
        }
    }

    @discardableResult
    mutating func request(_ fill: (inout WireRequest) -> Void) -> UInt64 {
        number += 1
        var message = WireFromClient()
        message.request.operation = number
        fill(&message.request)
        session.receive(message.framed().span.bytes)
        pump()
        return number
    }

    /// Why requests failed, by their numbers.
    var failures: [UInt64: WireFailure.Reason] {
        var found: [UInt64: WireFailure.Reason] = [:]
        for case .completed(let end) in sent {
            if case .failure(let failure)? = end.result { found[end.operation] = failure.reason }
        }
        return found
    }
}
