import BLE
import BLEDaemonClient
import BLEHost
import BLEMessages
import BLEVirtualTransports
import Foundation
import Synchronization

import class BLETransport.EventLoop

@testable import BLEDaemon

/// A daemon on the built-in simulator, on a socket of its own.
final class DaemonStage: @unchecked Sendable {
    // @unchecked Sendable holds because the daemon is touched on the loop's thread alone.
    let path = "@jelling-\(UUID())"
    private let loop: EventLoop
    private let daemon: Daemon

    init(
        limits: ClientLimits = ClientLimits(), users: Set<UInt32> = [geteuid()],
        configure: (inout Daemon.Configuration) -> Void = { _ in }
    ) throws {
        loop = try EventLoop(name: "bled")
        var configuration = Daemon.Configuration(
            transport: .simulator(scenario: nil),
            adapter: AdapterConfiguration(makeVirtualTransport: VirtualTransports.open), socketPath: path, users: users)
        configuration.limits = limits
        configure(&configuration)
        daemon = try Daemon(configuration, on: loop)
        let loop = loop
        daemon.onStopped = { loop.stop() }
        try loop.start()
    }

    deinit {
        nonisolated(unsafe) let daemon = daemon
        loop.run { unsafe daemon.stop() }
        loop.join()
    }

    func open() async throws -> Adapter {
        var configuration = AdapterConfiguration()
        DaemonClient.join(&configuration)
        return try await Adapter.open("bled:\(path)", configuration: configuration)
    }

    /// Holds the daemon up while `body` runs; then it finds all that was sent meanwhile at once.
    func whileBusy(_ body: () -> Void) {
        let reached = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        loop.run {
            reached.signal()
            done.wait()
        }
        reached.wait()
        body()
        done.signal()
    }

    /// Calls `body` on the loop, without waiting for it.
    func begin(_ body: @escaping @Sendable (Daemon) -> Void) {
        nonisolated(unsafe) let daemon = daemon
        loop.run { unsafe body(daemon) }
    }

    /// Calls `body` on the loop.
    func withDaemon<Value: Sendable>(_ body: @escaping @Sendable (Daemon) -> Value) -> Value {
        let done = DispatchSemaphore(value: 0)
        let result = Mutex<Value?>(nil)
        begin { daemon in
            let value = body(daemon)
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        return result.withLock { $0! }
    }

    /// A bare connection.
    func connect() throws -> RawClient { try RawClient(path) }
}

/// Says to a daemon whatever a test wants, with blocking calls that give up after ten seconds.
final class RawClient {
    let descriptor: Int32
    private var frames = FrameReader(limit: BledProtocol.eventLimit)

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        name[0] = 0
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe Glibc.connect(descriptor, $0, length) }
        }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    @discardableResult
    func send(_ octets: [UInt8]) -> Bool {
        var sent = 0
        while sent < octets.count {
            let count = unsafe octets.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress! + sent, octets.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Sends frames, numbered from 1, until the other side has not read for a second.
    /// - Parameter expected: before so many, it is waited for longer: the machine may stand still.
    /// - Returns: the number of the last one.
    func sendUntilFull(atLeast expected: UInt64 = 0, _ frame: (UInt64) -> [UInt8]) -> UInt64 {
        var last: UInt64 = 0
        var rest: [UInt8] = []
        var pauses = 0
        while pauses < (last > expected ? 100 : 3000) {
            if rest.isEmpty {
                last += 1
                rest = frame(last)
            }
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count > 0 {
                rest.removeFirst(count)
                pauses = 0
            } else if errno == EAGAIN {
                usleep(10_000)
                pauses += 1
            } else {
                return last
            }
        }
        // The rest of one that is sent in part.
        if rest.count < frame(last).count { send(rest) } else if !rest.isEmpty { last -= 1 }
        return last
    }

    @discardableResult
    func send(_ message: FromClient) -> Bool { send(message.framed()) }

    @discardableResult
    func request(_ operation: UInt64, _ command: HostCommand) -> Bool { send(.request(operation, command)) }

    func greet(version: UInt32 = BledProtocol.version, session: SessionKind = .tool) {
        send(.hello(Greeting(session, version: version)))
    }

    /// The next message; `nil` at the end of the connection, or when none came in time.
    func next() throws -> FromDaemon? {
        while true {
            if let octets = try frames.next() { return try FromDaemon(octets: octets) }
            var buffer = [UInt8](repeating: 0, count: 16 * 1024)
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            let octets = Array(buffer.prefix(count))
            frames.append(octets.span.bytes)
        }
    }

    /// Skips to the daemon's last word.
    func refusal() throws -> RefusalReason? {
        while let message = try next() {
            if case .refusal(let reason, _) = message { return reason }
        }
        return nil
    }

    /// Greets and waits to be let in.
    func isWelcome() throws -> Bool {
        greet()
        guard case .welcome? = try next() else { return false }
        return true
    }

    /// The end of an operation; other messages are skipped.
    func end(of operation: UInt64) throws -> Result<HostResult, HostFailure>? {
        while let message = try next() {
            if case .completed(OperationID(rawValue: operation), let result) = message { return result }
        }
        return nil
    }
}

extension FromClient {
    /// A tool's request.
    static func request(_ operation: UInt64, _ command: HostCommand) -> FromClient {
        .request(ToolRequest(OperationID(rawValue: operation), .host(command)))
    }
}
