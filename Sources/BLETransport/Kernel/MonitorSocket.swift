import BLELinux
import Glibc

/// The kernel's monitor channel: a copy of what crosses HCI of every adapter, for any user of it.
@safe
public struct MonitorSocket: ~Copyable {
    /// The longest frame: a header, and a packet as long as its length field allows.
    private static let maximumFrameByteCount = 6 + 0xFFFF

    private let descriptor: Int32
    private let memory: UnsafeMutableRawBufferPointer

    /// - Throws: `TransportError.noBluetoothInKernel`, `permissionDenied` (CAP_NET_RAW), or `system`.
    public init() throws(TransportError) {
        descriptor = try Self.bound()
        unsafe memory = .allocate(byteCount: Self.maximumFrameByteCount, alignment: 16)
    }

    private static func bound() throws(TransportError) -> Int32 {
        let descriptor = try AdapterList.openSocket()
        guard clinux_hci_bind(descriptor, HCIChannel.noAdapter, HCIChannel.monitor) < 0 else {
            return descriptor
        }
        let code = errno
        Glibc.close(descriptor)
        switch code {
        case EPERM, EACCES:
            throw .permissionDenied(
                .rawChannel(adapter: 0), capability: .netRaw, program: HoldingProcesses.ownProgram())
        default: throw .system(call: "bind", code: code)
        }
    }

    deinit {
        Glibc.close(descriptor)
        unsafe memory.deallocate()
    }

    /// Waits for the next frame: opcode, adapter and length, two octets each and least significant first, then the
    /// payload.
    /// - Parameter milliseconds: how long to wait at most.
    /// - Returns: what `body` returns; `nil` when no frame came in time.
    /// - Throws: `TransportError.system`.
    public func nextFrame<Result>(
        within milliseconds: Int32, _ body: (RawSpan) -> Result
    ) throws(TransportError) -> Result? {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waited, 1, milliseconds) > 0 else { return nil }
        let count = unsafe recv(descriptor, memory.baseAddress, memory.count, Int32(MSG_DONTWAIT))
        guard count >= 0 else {
            let code = errno
            if code == EAGAIN || code == EINTR { return nil }
            throw .system(call: "recv", code: code)
        }
        return unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: memory[..<count])))
    }
}
