import BLEAppLifecycle
import BLEHost
import BLETransport

/// A program that has connected: a tool until it says that it is an app.
final class Connection {
    let stream: ByteStream
    let peer: PeerCredentials
    /// Whether it is root's or the daemon's own user's.
    let isOperator: Bool
    var tool: ToolSession
    var app: AppSession?
    /// What it asks for as an operator.
    var operating: OperatorSession?
    /// When the process of an app may be stopped: one that has just begun makes its managers first.
    var mayStopAt: UInt64 = 0
    /// Whether the life of apps counts it as a process.
    var isLaunched = false
    /// How its person pairs; `nil`: it asks nobody.
    var pairing: PairingOptions?
    /// By when it has to greet.
    let greetingDeadline: UInt64
    /// Whether it stands in the daemon's list of those to be looked at.
    var isPending = false

    init(
        _ stream: ByteStream, _ peer: PeerCredentials, isOperator: Bool, _ tool: ToolSession, greetingDeadline: UInt64
    ) {
        self.stream = stream
        self.peer = peer
        self.isOperator = isOperator
        self.tool = tool
        self.greetingDeadline = greetingDeadline
    }

    func receive(_ bytes: RawSpan) {
        if app != nil {
            app?.receive(bytes)
        } else if operating != nil {
            operating?.receive(bytes)
        } else {
            tool.receive(bytes)
        }
    }

    /// Whether it is a tool, as far as it has said.
    var isTool: Bool { app == nil && operating == nil }

    /// The app that it is.
    var appID: AppID? { isLaunched ? app?.app : nil }
}
