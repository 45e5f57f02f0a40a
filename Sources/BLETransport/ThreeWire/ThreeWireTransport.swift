import BLEPackets
import Glibc

/// H5, the three-wire transport, on a serial port: packets that get lost on the line are sent again.
@safe
public final class ThreeWireTransport: HCITransport {
    /// How long the link may take until it is established.
    static let establishmentMicroseconds: UInt64 = 5_000_000
    private static let bufferByteCount = 4 * 1024

    /// The address that was opened.
    public let address: TransportAddress
    /// Called once the link is established for the first time.
    public var prepared: () -> Void = {}
    /// Whether the link has not been established yet.
    public private(set) var isPreparing = true
    /// Called once the link is established again, after the other side was reset or did not answer for long.
    public var packetsLost: () -> Void = {}

    private let port: PacketDescriptor
    private let buffer: UnsafeMutableRawBufferPointer
    private var link: ThreeWireLink
    private var receive: ((RawSpan) -> Void)?
    private var loop: EventLoop?
    private var deadline: EventLoop.Deadline?
    /// When the link must be established; `nil` while it is.
    private var limit: UInt64?
    private var isSettling = false

    /// - Parameters:
    ///   - descriptor: a serial port or one end of a pseudo-terminal; the transport owns and closes it.
    ///   - isSocket: `false` for files and serial ports.
    ///   - configuration: what this side can do.
    ///   - address: the address that the transport reports.
    public convenience init(
        descriptor: Int32, isSocket: Bool, configuration: ThreeWireConfiguration = ThreeWireConfiguration(),
        address: TransportAddress
    ) {
        self.init(
            descriptor: descriptor, isSocket: isSocket, configuration: configuration, address: address,
            cleanUp: { _ in })
    }

    init(
        descriptor: Int32, isSocket: Bool, configuration: ThreeWireConfiguration, address: TransportAddress,
        cleanUp: @escaping (Int32) -> Void
    ) {
        self.address = address
        link = ThreeWireLink(configuration: configuration)
        port = PacketDescriptor(
            descriptor: descriptor, isSocket: isSocket, joins: true,
            nameError: StreamTransport.nameError, cleanUp: cleanUp)
        unsafe buffer = .allocate(byteCount: Self.bufferByteCount, alignment: 16)
    }

    deinit { unsafe buffer.deallocate() }

    /// Whether the other side may take any time to establish the link, as a host does that comes later.
    public var waitsForPeer = false

    /// Begins to establish the link.
    /// - Throws: when the loop cannot watch the descriptor.
    public func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        try port.start(on: loop, readable: { self.read() }, closed: closed)
        self.receive = receive
        self.loop = loop
        deadline = loop.makeDeadline { [unowned self] in advance() }
        let now = loop.nowMicroseconds
        setLimit(at: now)
        link.start(at: now)
        // Nothing may be called within `start`, and nothing is: no event has come yet.
        settle()
    }

    /// Sends a packet, again and again until the other side has acknowledged it.
    public func send(_ packet: RawSpan) {
        guard port.isOpen, let loop else { return }
        guard link.send(packet, at: loop.nowMicroseconds) else {
            return fail(.sendQueueFull(byteCount: link.waitingByteCount))
        }
        if !isSettling { write() }
    }

    /// Ends the transport and closes its descriptor.
    public func close() {
        end()
        port.close()
    }

    /// Establishes the link anew: the chip has started again.
    func restartLink() {
        guard port.isOpen, let loop else { return }
        setLimit(at: loop.nowMicroseconds)
        link.restart(at: loop.nowMicroseconds)
        if !isSettling { write() }
    }

    // MARK: Work

    private func read() {
        let count = unsafe Glibc.read(port.descriptor, buffer.baseAddress, buffer.count)
        guard count > 0, let loop else {
            let code = errno
            if count == 0 { return fail(.closedByPeer) }
            if !isWouldBlock(code), code != EINTR { fail(StreamTransport.nameError("read", code)) }
            return
        }
        unsafe link.receive(
            UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]).bytes, at: loop.nowMicroseconds)
        settle()
    }

    private func advance() {
        // What has come meanwhile counts: this process may have been stopped.
        read()
        guard port.isOpen, let loop else { return }
        let now = loop.nowMicroseconds
        if let limit, limit <= now { return fail(.noThreeWirePeer) }
        link.advance(to: now)
        settle()
    }

    /// Delivers what the link has to say, then writes what follows from it.
    private func settle() {
        isSettling = true
        while port.isOpen, let event = link.nextEvent() {
            switch event {
            case .packet(let packet): receive?(packet.span.bytes)
            case .established: established()
            case .lost: setLimit(at: loop?.nowMicroseconds ?? 0)
            }
        }
        isSettling = false
        write()
    }

    private func established() {
        limit = nil
        if isPreparing {
            isPreparing = false
            prepared()
        } else {
            packetsLost()
        }
    }

    private func setLimit(at now: UInt64) { limit = waitsForPeer ? nil : now + Self.establishmentMicroseconds }

    private func write() {
        guard port.isOpen else { return }
        let octets = link.takeOutput()
        if !octets.isEmpty { port.send(octets.span.bytes) }
        guard port.isOpen else { return }
        guard let next = link.nextDeadline.map({ min($0, limit ?? $0) }) ?? limit else {
            deadline?.clear()
            return
        }
        deadline?.set(atMicroseconds: next)
    }

    // MARK: The end

    private func fail(_ error: TransportError) {
        end()
        port.fail(error)
    }

    private func end() {
        receive = nil
        packetsLost = {}
        prepared = {}
        deadline?.cancel()
        deadline = nil
    }
}
