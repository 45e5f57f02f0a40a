import BLEDaemonProtocol
import BLEPackets
import BLETransport
import Foundation

/// Manages the apps that are installed at a daemon. Only root and the daemon's own user may use it.
public enum DaemonOperator {
    /// A request of an operator.
    public enum Request: Sendable {
        /// Lists the installed apps.
        case list
        /// Reads the manifests again.
        case reload
        /// Brings an app to the foreground; launches it if it does not run.
        case foreground(String)
        /// Sends an app to the background.
        case background(String)
        /// Stops an app until an event wakes it.
        case suspend(String)
        /// Force-quits an app: all its operations end, and no event launches it (SPEC SPR-30).
        case quit(String)
    }

    /// An app that is installed.
    public struct App: Hashable, Sendable {
        /// The state of its process.
        public enum Place: String, Sendable {
            case notRunning, foreground, background, woken, suspended, relaunching
        }

        /// The identifier in its manifest.
        public var identifier: String
        /// The state of its process.
        public var place: Place
        /// The process ID; `nil` if it does not run.
        public var process: UInt32?
        /// The user that it runs as.
        public var user: UInt32
        /// The background modes in its manifest.
        public var backgroundModes: [String]
    }

    /// Why a request failed.
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// There is no daemon, or the connection to it broke.
        case transport(TransportError)
        /// The daemon refused; the text is for people.
        case refused(String)

        public var description: String {
            switch self {
            case .transport(let error): error.description
            case .refused(let text): text
            }
        }
    }

    /// Sends a request to the daemon at a socket, and waits for the answer.
    /// - Returns: the installed apps for `list` and `reload`; empty for other requests.
    /// - Throws: `Failure`.
    public static func perform(_ request: Request, at path: String) async throws(Failure) -> [App] {
        let answer = await withCheckedContinuation { continuation in
            Conversation(path, WireOperatorRequest(request)) { continuation.resume(returning: $0) }.begin()
        }
        switch answer {
        case .failure(let failure): throw failure
        case .success(let answer) where !answer.error.isEmpty: throw .refused(answer.error)
        case .success(let answer): return answer.apps.map { App($0) }
        }
    }
}

/// One request, on a loop of its own.
private final class Conversation: @unchecked Sendable {
    // @unchecked Sendable is correct because only the loop uses the mutable state once it runs.
    private let path: String
    private let request: WireOperatorRequest
    private var frames = FrameReader(limit: BledProtocol.eventLimit)
    private var end: ((Result<WireOperatorAnswer, DaemonOperator.Failure>) -> Void)?
    private var loop: EventLoop?
    private var stream: ByteStream?

    init(
        _ path: String, _ request: WireOperatorRequest,
        end: @escaping (Result<WireOperatorAnswer, DaemonOperator.Failure>) -> Void
    ) {
        self.path = path
        self.request = request
        self.end = end
    }

    func begin() {
        do throws(TransportError) {
            let loop = try EventLoop(name: "operator")
            self.loop = loop
            let stream: ByteStream
            do throws(TransportError) { stream = try ByteStream.connect(unixPath: path) } catch {
                switch error {
                case .connectionRefused, .pathNotFound: throw .noDaemon(path: path)
                default: throw error
                }
            }
            try stream.start(
                on: loop, receive: { self.receive($0) },
                closed: { self.finish(.failure(.transport($0 ?? .closedByPeer))) })
            self.stream = stream
            var greeting = WireFromClient()
            greeting.hello.version = BledProtocol.version
            greeting.hello.session = .operator
            var asked = WireFromClient()
            asked.operatorRequest = request
            stream.send((greeting.framed() + asked.framed()).span.bytes)
            try loop.start()
        } catch {
            finish(.failure(.transport(error)))
        }
    }

    private func receive(_ bytes: RawSpan) {
        frames.append(bytes)
        do throws(WireError) {
            while let octets = try frames.next() {
                switch try WireFromDaemon(octets: octets).message {
                case .operatorAnswer(let answer): finish(.success(answer))
                case .refusal(let refusal): finish(.failure(.refused(refusal.text)))
                default: break
                }
            }
        } catch {
            finish(.failure(.transport(.daemonEnded(reason: "it speaks another protocol: \(error)"))))
        }
    }

    private func finish(_ result: Result<WireOperatorAnswer, DaemonOperator.Failure>) {
        guard let end else { return }
        self.end = nil
        stream?.close()
        loop?.stop()
        end(result)
    }
}

extension WireOperatorRequest {
    fileprivate init(_ request: DaemonOperator.Request) {
        self.init()
        switch request {
        case .list: list = WireNothing()
        case .reload: reload = WireNothing()
        case .foreground(let name): foreground = name
        case .background(let name): background = name
        case .suspend(let name): suspend = name
        case .quit(let name): quit = name
        }
    }
}

extension DaemonOperator.App {
    fileprivate init(_ app: WireInstalledApp) {
        identifier = app.identifier
        place =
            switch app.place {
            case .foreground: .foreground
            case .background: .background
            case .woken: .woken
            case .suspended: .suspended
            case .relaunching: .relaunching
            case .notRunning, .UNRECOGNIZED: .notRunning
            }
        process = app.process == 0 ? nil : app.process
        user = app.user
        backgroundModes = app.backgroundModes
    }
}
