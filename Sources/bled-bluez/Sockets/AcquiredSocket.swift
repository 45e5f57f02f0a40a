import BLETransport
import Glibc

/// This service's end of a socket that a client has acquired: each packet is a value. It belongs to the loop's thread.
final class AcquiredSocket {
    private let descriptor: Int32
    private let loop: EventLoop
    /// `nil` while nothing is waited for.
    private var registration: EventLoop.Registration?
    private var isClosed = false
    private var waiting: [[UInt8]] = []
    private var reads = true
    private let receive: ([UInt8]) -> Void
    private let closed: () -> Void

    /// How many values may wait for a client that does not read; the oldest ones go.
    private static let waitingLimit = 256
    private static let valueLimit = 1024
    private static let readsOfTurn = 16

    /// Makes a pair of sockets.
    /// - Returns: also the client's end, which the caller closes.
    static func make(
        on loop: EventLoop, receive: @escaping ([UInt8]) -> Void, closed: @escaping () -> Void
    ) -> (socket: AcquiredSocket, clientEnd: Int32)? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        let socket = AcquiredSocket(ends[0], loop, receive, closed)
        socket.setInterest()
        guard socket.registration != nil else {
            Glibc.close(ends[0])
            Glibc.close(ends[1])
            return nil
        }
        return (socket, ends[1])
    }

    private init(
        _ descriptor: Int32, _ loop: EventLoop, _ receive: @escaping ([UInt8]) -> Void,
        _ closed: @escaping () -> Void
    ) {
        self.descriptor = descriptor
        self.loop = loop
        self.receive = receive
        self.closed = closed
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        registration?.cancel()
        registration = nil
        Glibc.close(descriptor)
    }

    /// Whether values of the client are read: it waits otherwise.
    func setReading(_ isReading: Bool) {
        reads = isReading
        setInterest()
    }

    func send(_ value: [UInt8]) {
        if waiting.count == Self.waitingLimit { waiting.removeFirst() }
        waiting.append(value)
        write()
    }

    private func setInterest() {
        var interest: EventLoop.Interest = reads ? .readable : []
        if !waiting.isEmpty { interest.insert(.writable) }
        if let registration, !interest.isEmpty { return registration.setInterest(interest) }
        registration?.cancel()
        registration = nil
        // While nothing is waited for, the end of the stream must not be reported either: what the client wrote before
        // is still to be read.
        guard !isClosed, !interest.isEmpty else { return }
        registration = try? loop.register(descriptor, for: interest) { [unowned self] in ready($0) }
    }

    private func ready(_ readiness: EventLoop.Readiness) {
        if readiness.contains(.writable) { write() }
        guard reads, !readiness.isDisjoint(with: [.readable, .failed]) else { return }
        var turn = 0
        var buffer = [UInt8](repeating: 0, count: Self.valueLimit)
        while !isClosed, reads, turn < Self.readsOfTurn {
            turn += 1
            let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                receive(Array(buffer[..<count]))
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN {
                return
            } else {
                return closed()
            }
        }
    }

    private func write() {
        var sent = 0
        while sent < waiting.count {
            let value = waiting[sent]
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
            let count = unsafe Glibc.send(descriptor, value, value.count, flags)
            if count < 0, errno == EINTR { continue }
            // The end is reported by itself.
            if count < 0, errno == EAGAIN { break }
            sent += 1
        }
        waiting.removeFirst(sent)
        setInterest()
    }
}
