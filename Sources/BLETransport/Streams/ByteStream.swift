import BLELinux
import Glibc

/// A connected Unix stream socket on a loop, for what is not H4. Used on the loop's thread only.
@safe
public final class ByteStream {
    private let port: PacketDescriptor
    private let buffer: UnsafeMutableRawBufferPointer
    private var receive: ((RawSpan) -> Void)?
    private var loop: EventLoop?
    /// Whether something was written since the loop last waited: what is sent from then on waits in `unsent`.
    private var isGathering = false
    private var unsent: [UInt8] = []

    private static let bufferByteCount = 16 * 1024
    /// So much is written at once, whatever else the loop has to do: the other side reads as much at once, and works on it
    /// while the next part is made.
    private static let unsentByteCount = bufferByteCount

    /// - Parameter descriptor: a connected socket; it is taken over.
    public init(descriptor: Int32) {
        port = PacketDescriptor(
            descriptor: descriptor, isSocket: true, joins: true, readsToEnd: true,
            nameError: { call, code in
                [EPIPE, ECONNRESET].contains(code) ? .closedByPeer : .system(call: call, code: code)
            })
        unsafe buffer = .allocate(byteCount: Self.bufferByteCount, alignment: 16)
    }

    deinit { unsafe buffer.deallocate() }

    /// Connects to a Unix socket. A path that begins with `@` is an abstract name. It may block.
    /// - Throws: why there is no connection.
    public static func connect(unixPath path: String) throws(TransportError) -> ByteStream {
        ByteStream(descriptor: try StreamSockets.connect(unixPath: path))
    }

    /// The process at the other end of a Unix socket: for a stream that connected, the one that listens.
    public var peer: PeerCredentials? { PeerCredentials(of: port.descriptor) }

    /// Begins to read.
    /// - Parameters:
    ///   - receive: gets what is read, as it comes; the span ends with the call.
    ///   - closed: called once, as the last thing: with `nil` after `close()`, else with the reason.
    /// - Throws: when the loop cannot watch the descriptor.
    public func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        try port.start(on: loop, readable: { self.read() }, closed: closed)
        self.receive = receive
        self.loop = loop
    }

    /// Writes the first that is sent after the loop has waited at once, what follows together before the loop waits
    /// again, or as soon as the kernel takes it. Each write can wake the other side, which costs more than what is
    /// written; with the first one it can begin.
    public func send(_ bytes: RawSpan) {
        guard port.isOpen, isGathering else {
            gather()
            return port.send(bytes)
        }
        unsafe bytes.withUnsafeBytes { unsafe unsent.append(contentsOf: $0) }
        if unsent.count >= Self.unsentByteCount { flush() }
    }

    private func gather() {
        guard let loop, port.isOpen else { return }
        isGathering = true
        loop.runBeforeWait {
            self.isGathering = false
            self.flush()
        }
    }

    private func flush() {
        guard !unsent.isEmpty else { return }
        port.send(unsent.span.bytes)
        unsent.removeAll(keepingCapacity: unsent.count <= Self.bufferByteCount)
    }

    /// Octets that the kernel has not taken yet; beyond 1 MiB the stream ends with `TransportError.sendQueueFull`.
    public var waitingByteCount: Int { port.waitingByteCount + unsent.count }

    /// Octets that the kernel did not take, because the other side does not read. When it takes some, `flushed` is
    /// called.
    public var refusedByteCount: Int { port.waitingByteCount }

    /// Octets that the kernel has taken since the start.
    public var takenByteCount: UInt64 { port.takenByteCount }

    /// Called on the loop when the kernel has taken some of what it did not take before.
    public var flushed: () -> Void {
        get { port.flushed }
        set { port.flushed = newValue }
    }

    /// Whether what arrives is read; otherwise it waits in the kernel, and the other side soon cannot write.
    public var isReading: Bool {
        get { port.isReading }
        set { port.isReading = newValue }
    }

    /// Whether the other side has closed the stream, whatever is left to be read.
    public var isPeerGone: Bool { port.isPeerGone }

    /// Opens the process that connected the stream (pidfd_open(2)): its number may be another's by now.
    /// - Returns: a descriptor that the caller closes; negative if the process has ended.
    public func openPeerProcess() -> Int32 { port.isOpen ? clinux_peer_process(port.descriptor) : -1 }

    /// Ends the stream and closes its descriptor; what the kernel does not take at once is dropped.
    public func close() {
        flush()
        receive = nil
        port.close()
    }

    /// One read for each time that the loop finds the stream readable: other work gets its turn in between.
    private func read() {
        let count = unsafe Glibc.read(port.descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else {
            let code = errno
            if count == 0 {
                receive = nil
                port.fail(.closedByPeer)
            } else if !isWouldBlock(code), code != EINTR {
                receive = nil
                port.fail(call: "read", code: code)
            }
            return
        }
        unsafe receive?(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]).bytes)
    }
}
