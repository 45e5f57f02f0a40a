import BLEPackets
import Glibc

/// H4 over a stream of bytes: Unix and TCP sockets and serial ports.
@safe
public final class StreamTransport: HCITransport {
    /// The address that was opened.
    public let address: TransportAddress

    private let port: PacketDescriptor
    private let buffer: UnsafeMutableRawBufferPointer
    private var framer: LineFramer
    private var receive: ((RawSpan) -> Void)?
    private var loop: EventLoop?
    private var deadline: EventLoop.Deadline?
    /// Whether octets are being read; what a receiver sends meanwhile must not reach the framer.
    private var isReading = false
    /// Whether HCI Reset was sent meanwhile.
    private var hasSentReset = false
    /// Called when packets of the controller have been lost on a serial line; the transport looks for the answer to
    /// HCI Reset from then on.
    public var packetsLost: () -> Void = {}

    /// Room for hundreds of ACL packets of the usual size: what has come is read with one call.
    private static let bufferByteCount = 64 * 1024

    /// - Parameters:
    ///   - descriptor: a connected stream; the transport owns and closes it.
    ///   - isSocket: `false` for files and serial ports.
    ///   - address: the address that the transport reports.
    public convenience init(descriptor: Int32, isSocket: Bool, address: TransportAddress) {
        self.init(descriptor: descriptor, isSocket: isSocket, line: .exact, address: address)
    }

    init(
        descriptor: Int32, isSocket: Bool, line: LineFramer.Line, address: TransportAddress,
        cleanUp: @escaping (Int32) -> Void = { _ in }
    ) {
        self.address = address
        framer = LineFramer(line: line)
        port = PacketDescriptor(
            descriptor: descriptor, isSocket: isSocket, nameError: StreamTransport.nameError, cleanUp: cleanUp)
        unsafe buffer = .allocate(byteCount: StreamTransport.bufferByteCount, alignment: 16)
    }

    static func nameError(_ call: String, _ code: Int32) -> TransportError {
        // A serial port reports EIO when its device or its other end is gone.
        [EPIPE, ECONNRESET, EIO, ENXIO].contains(code) ? .closedByPeer : .system(call: call, code: code)
    }

    deinit { unsafe buffer.deallocate() }

    /// Begins to read; a packet is delivered as soon as all its octets have arrived.
    /// - Throws: when the loop cannot watch the descriptor.
    public func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        try port.start(on: loop, readable: { self.read() }, closed: closed)
        self.receive = receive
        self.loop = loop
    }

    /// Writes a packet, at once or as soon as the kernel accepts it.
    public func send(_ packet: RawSpan) {
        port.send(packet)
        guard Self.isReset(packet), port.isOpen else { return }
        hasSentReset = true
        if !isReading { noteReset() }
    }

    /// Ends the transport and closes its descriptor.
    public func close() {
        end()
        port.close()
    }

    /// One read each time the loop finds the stream readable: other work gets its turn in between.
    private func read() {
        let count = unsafe Glibc.read(port.descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else {
            let code = errno
            if count == 0 { return fail(.closedByPeer) }
            if !isWouldBlock(code), code != EINTR {
                end()
                port.fail(call: "read", code: code)
            }
            return
        }
        let chunk = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
        let now = framer.needsTime ? loop?.nowMicroseconds ?? 0 : 0
        settle { (framer: inout LineFramer) throws(TransportError) -> Bool in
            try unsafe framer.receive(chunk.bytes, at: now, deliver: { self.deliver($0) }, reply: { self.reply($0) })
        }
    }

    /// Runs the framer, and does what follows from it.
    private func settle(_ body: (inout LineFramer) throws(TransportError) -> Bool) {
        isReading = true
        let hasLost: Bool
        do throws(TransportError) { hasLost = try body(&framer) } catch {
            isReading = false
            return fail(error)
        }
        isReading = false
        if hasSentReset { noteReset() }
        if hasLost, port.isOpen { packetsLost() }
        arm()
    }

    // The receiver may close the transport in the middle of a chunk.
    private func deliver(_ packet: RawSpan) { if port.isOpen { receive?(packet) } }

    private func reply(_ octet: UInt8) { port.send([octet].span.bytes) }

    private static func isReset(_ packet: RawSpan) -> Bool {
        packet.byteCount == 4 && packet.byte(at: 0) == H4PacketType.command.rawValue && packet.byte(at: 1) == 0x03
            && packet.byte(at: 2) == 0x0C
    }

    private func noteReset() {
        hasSentReset = false
        framer.sentReset(at: loop?.nowMicroseconds ?? 0)
        arm()
    }

    // MARK: Time

    private func arm() {
        guard port.isOpen, let next = framer.nextDeadline, let loop else {
            deadline?.clear()
            return
        }
        if deadline == nil { deadline = loop.makeDeadline { [unowned self] in advance() } }
        deadline?.set(atMicroseconds: next)
    }

    private func advance() {
        // What has come meanwhile counts: this process may have been stopped.
        read()
        guard port.isOpen, let now = loop?.nowMicroseconds else { return }
        settle { (framer: inout LineFramer) throws(TransportError) -> Bool in
            try framer.advance(to: now) { self.deliver($0) }
        }
    }

    // MARK: The end

    private func fail(_ error: TransportError) {
        end()
        port.fail(error)
    }

    private func end() {
        receive = nil
        packetsLost = {}
        deadline?.cancel()
        deadline = nil
    }
}
