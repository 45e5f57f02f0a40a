import BLEPackets
import Glibc

/// H4 over a stream of bytes: Unix and TCP sockets and serial ports.
@safe
public final class StreamTransport: HCITransport {
    /// The address that was opened.
    public let address: TransportAddress

    private let port: PacketDescriptor
    private let buffer: UnsafeMutableRawBufferPointer
    private var framer = H4Framer()
    private var receive: ((RawSpan) -> Void)?

    /// Room for many events, or for several ACL packets of the usual size.
    private static let bufferByteCount = 16 * 1024

    /// - Parameters:
    ///   - descriptor: a connected stream; the transport owns and closes it.
    ///   - isSocket: `false` for files and serial ports.
    ///   - address: the address that the transport reports.
    public convenience init(descriptor: Int32, isSocket: Bool, address: TransportAddress) {
        self.init(descriptor: descriptor, isSocket: isSocket, address: address, cleanUp: { _ in })
    }

    init(descriptor: Int32, isSocket: Bool, address: TransportAddress, cleanUp: @escaping (Int32) -> Void) {
        self.address = address
        port = PacketDescriptor(
            descriptor: descriptor, isSocket: isSocket,
            nameError: { call, code in
                // A serial port reports EIO when its device or its other end is gone.
                [EPIPE, ECONNRESET, EIO, ENXIO].contains(code) ? .closedByPeer : .system(call: call, code: code)
            },
            cleanUp: cleanUp)
        unsafe buffer = .allocate(byteCount: StreamTransport.bufferByteCount, alignment: 16)
    }

    deinit { unsafe buffer.deallocate() }

    /// Begins to read; a packet is delivered as soon as all its octets have arrived.
    /// - Throws: when the loop cannot watch the descriptor.
    public func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        try port.start(on: loop, readable: { self.read() }, closed: closed)
        self.receive = receive
    }

    /// Writes a packet, at once or as soon as the kernel accepts it.
    public func send(_ packet: RawSpan) { port.send(packet) }

    /// Ends the transport and closes its descriptor.
    public func close() {
        receive = nil
        port.close()
    }

    /// One read each time the loop finds the stream readable: other work gets its turn in between.
    private func read() {
        let count = unsafe Glibc.read(port.descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else {
            let code = errno
            if count == 0 { return fail(.closedByPeer) }
            if !isWouldBlock(code), code != EINTR { port.fail(call: "read", code: code) }
            return
        }
        let chunk = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
        do throws(DecodingError) {
            try unsafe framer.receive(chunk.bytes) { packet in
                // The receiver may close the transport in the middle of a chunk.
                if port.isOpen { receive?(packet) }
            }
        } catch {
            if case .invalidValue(let octet, _) = error {
                fail(.framingLost(packetType: UInt8(truncatingIfNeeded: octet)))
            }
        }
    }

    private func fail(_ error: TransportError) {
        receive = nil
        port.fail(error)
    }
}
