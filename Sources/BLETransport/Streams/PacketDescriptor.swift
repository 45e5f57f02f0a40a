import BLELinux
import Glibc

/// A descriptor on the loop that sends packets: one write each, queued while the kernel accepts no more, ended once.
///
/// Transports supply the reading and the names of errors.
final class PacketDescriptor {
    let descriptor: Int32
    private let isSocket: Bool
    private let readsToEnd: Bool
    private let nameError: (_ call: String, _ code: Int32) -> TransportError
    private let cleanUp: (Int32) -> Void

    private var loop: EventLoop?
    private var registration: EventLoop.Registration?
    private var queue: SendQueue
    private var closed: ((TransportError?) -> Void)?
    private var isClosed = false
    /// Whether the other side takes nothing any more, while what it sent before is still read.
    private var isDeaf = false

    /// - Parameters:
    ///   - descriptor: owned from now on; made non-blocking.
    ///   - joins: whether the limits of packets may change when they are queued.
    ///   - readsToEnd: whether the end comes when everything has been read that the other side sent before it was gone,
    ///     and not when a packet cannot be sent any more.
    ///   - nameError: the error for a failed call with this errno value.
    ///   - cleanUp: runs right before the descriptor is closed.
    init(
        descriptor: Int32, isSocket: Bool, joins: Bool = false, readsToEnd: Bool = false,
        nameError: @escaping (_ call: String, _ code: Int32) -> TransportError,
        cleanUp: @escaping (Int32) -> Void = { _ in }
    ) {
        self.descriptor = descriptor
        self.isSocket = isSocket
        self.readsToEnd = readsToEnd
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
    /// Whether `readable` is called. The end of the other side waits, too, as what it sent comes before it.
    var isReading = true {
        didSet { if isReading != oldValue { updateInterest() } }
    }
    /// What the kernel has not taken yet.
    var waitingByteCount: Int { queue.byteCount }
    /// What the kernel has taken since the start.
    private(set) var takenByteCount: UInt64 = 0
    /// Called when less waits: the kernel has taken some of it, or the other side is gone and all was thrown away.
    var flushed: () -> Void = {}

    /// - Parameter readable: reads what has arrived, at least once.
    func start(
        on loop: EventLoop, readable: @escaping () -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        // A programming error: no input from outside starts a transport.
        precondition(self.loop == nil, "a transport can start only once")
        registration = try loop.register(descriptor, for: .readable) { readiness in
            if readiness.contains(.writable) { self.flush() }
            guard self.isOpen else { return }
            if readiness.contains(.failed), !self.isReading { return self.hasFailedUnread() }
            if !readiness.isDisjoint(with: [.readable, .failed]) { readable() }
            // A failure that reading does not show would be reported forever, and the loop would never sleep.
            if self.isOpen, readiness == .failed { self.fail(call: "epoll_wait", code: EPIPE) }
        }
        self.loop = loop
        self.closed = closed
    }

    func send(_ packet: RawSpan) {
        guard isOpen, !isDeaf else { return }
        var sent = 0
        if queue.isEmpty {
            let count = unsafe packet.withUnsafeBytes { unsafe write($0) }
            if count < 0 {
                guard isWouldBlock(errno) else { return writeFailed(errno) }
            } else {
                takenByteCount += UInt64(count)
                guard count < packet.byteCount else { return }
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

    /// The other side is gone. What it sent before stays in the kernel, which bounds it, until it may be read.
    private func hasFailedUnread() {
        // The kernel reports the end before it makes room: a wait for room would end only with the pause.
        if !queue.isEmpty { flush() }
        if isOpen, !isReading { registration?.pause() }
    }

    func close() { end(nil) }

    /// Ends with the error for a failed call.
    func fail(call: String, code: Int32) { end(nameError(call, code)) }

    func fail(_ error: TransportError) { end(error) }

    private func flush() {
        var failure: Int32?
        let before = queue.byteCount
        unsafe queue.flush { bytes in
            let count = unsafe write(bytes)
            if count < 0, !isWouldBlock(errno) { failure = errno }
            return count
        }
        takenByteCount += UInt64(before - queue.byteCount)
        if let failure { writeFailed(failure) }
        updateInterest()
        if queue.byteCount < before { flushed() }
    }

    /// Whether the other side is gone, and not only takes nothing any more.
    var isPeerGone: Bool {
        guard isOpen else { return true }
        var watched = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&watched, 1, 0) > 0 && watched.revents & Int16(POLLHUP) != 0
    }

    private func writeFailed(_ code: Int32) {
        // One that only closed its ear could ask without end and have nothing counted that it does not read.
        guard readsToEnd, code == EPIPE || code == ECONNRESET, isPeerGone else {
            return fail(call: "write", code: code)
        }
        isDeaf = true
        queue = SendQueue()
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
        flushed = {}
        guard let closed, let loop else { return }
        self.closed = nil
        self.loop = nil
        loop.runLater { closed(error) }
    }
}

func isWouldBlock(_ code: Int32) -> Bool { code == EAGAIN || code == EWOULDBLOCK }
