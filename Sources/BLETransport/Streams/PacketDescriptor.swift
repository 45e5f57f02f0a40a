import BLELinux
import BLEPackets
import Glibc

/// A descriptor on the loop that sends packets: one write each, queued while the kernel accepts no more, ended once.
///
/// Transports supply the reading and the names of errors.
final class PacketDescriptor {
    let descriptor: Int32
    private let isSocket: Bool
    private let nameError: (_ call: String, _ code: Int32) -> TransportError
    private let cleanUp: (Int32) -> Void

    private var loop: EventLoop?
    private var registration: EventLoop.Registration?
    private var queue: SendQueue
    private var closed: ((TransportError?) -> Void)?
    private var isClosed = false

    /// - Parameters:
    ///   - descriptor: owned from now on; made non-blocking.
    ///   - joins: whether the limits of packets may change when they are queued.
    ///   - nameError: the error for a failed call with this errno value.
    ///   - cleanUp: runs right before the descriptor is closed.
    init(
        descriptor: Int32, isSocket: Bool, joins: Bool = false,
        nameError: @escaping (_ call: String, _ code: Int32) -> TransportError,
        cleanUp: @escaping (Int32) -> Void = { _ in }
    ) {
        self.descriptor = descriptor
        self.isSocket = isSocket
        self.nameError = nameError
        self.cleanUp = cleanUp
        queue = SendQueue(joins: joins)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    deinit {
        guard !isClosed else { return }
        cleanUp(descriptor)
        Glibc.close(descriptor)
    }

    /// Whether packets can still be sent and received.
    var isOpen: Bool { !isClosed }
    /// Whether `readable` is called. The end of the other side is reported nevertheless, and then what it sent before.
    var isReading = true {
        didSet { if isReading != oldValue { updateInterest() } }
    }
    /// What the kernel has not taken yet.
    var waitingByteCount: Int { queue.byteCount }

    /// - Parameter readable: reads what has arrived, at least once.
    func start(
        on loop: EventLoop, readable: @escaping () -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        // A programming error: no input from outside starts a transport.
        precondition(self.loop == nil, "a transport can start only once")
        registration = try loop.register(descriptor, for: .readable) { readiness in
            if readiness.contains(.writable) { self.flush() }
            if self.isOpen, !readiness.isDisjoint(with: [.readable, .failed]) { readable() }
            // A failure that reading does not show would be reported forever, and the loop would never sleep.
            if self.isOpen, readiness == .failed { self.fail(call: "epoll_wait", code: EPIPE) }
        }
        self.loop = loop
        self.closed = closed
    }

    func send(_ packet: RawSpan) {
        guard isOpen else { return }
        var sent = 0
        if queue.isEmpty {
            let count = unsafe packet.withUnsafeBytes { unsafe write($0) }
            if count < 0 {
                guard isWouldBlock(errno) else { return fail(call: "write", code: errno) }
            } else if count >= packet.byteCount {
                return
            } else {
                sent = count
            }
        }
        guard queue.append(packet, alreadySent: sent) else {
            return fail(.sendQueueFull(byteCount: queue.byteCount))
        }
        updateInterest()
    }

    private func updateInterest() {
        var interest: EventLoop.Interest = isReading ? .readable : []
        if !queue.isEmpty { interest.insert(.writable) }
        registration?.setInterest(interest)
    }

    func close() { end(nil) }

    /// Ends with the error for a failed call.
    func fail(call: String, code: Int32) { end(nameError(call, code)) }

    func fail(_ error: TransportError) { end(error) }

    private func flush() {
        var failure: Int32?
        unsafe queue.flush { bytes in
            let count = unsafe write(bytes)
            if count < 0, !isWouldBlock(errno) { failure = errno }
            return count
        }
        if let failure { return fail(call: "write", code: failure) }
        updateInterest()
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        while true {
            // A closed socket must end as an error here, not as SIGPIPE.
            let count =
                unsafe isSocket
                ? Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                : Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    private func end(_ error: TransportError?) {
        guard isOpen else { return }
        isClosed = true
        registration?.cancel()
        registration = nil
        cleanUp(descriptor)
        Glibc.close(descriptor)
        queue = SendQueue()
        guard let closed, let loop else { return }
        self.closed = nil
        self.loop = nil
        loop.runLater { closed(error) }
    }
}

func isWouldBlock(_ code: Int32) -> Bool { code == EAGAIN || code == EWOULDBLOCK }
