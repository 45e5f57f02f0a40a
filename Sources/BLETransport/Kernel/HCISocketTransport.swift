import BLELinux
import BLEPackets
import Glibc

/// One of the kernel's adapters, through an HCI socket. The kernel preserves packet boundaries.
///
/// - `user:N`: exclusive: the kernel's stack does not use the adapter while the socket is open. The adapter must be
///   down; the kernel brings it up without initializing it, and takes it down again when the socket closes.
/// - `raw:N`: shared: the kernel's stack goes on using the adapter; both see all events, and commands of both go
///   through the kernel's queue. Only a filter on this socket is set.
///
/// Either way the adapter keeps the state in which it was found (`adapterBefore`).
@safe
public final class HCISocketTransport: HCITransport {
    /// The address that was opened: `user:` or `raw:` and the adapter's number.
    public let address: TransportAddress
    /// The state of the adapter before it was opened.
    public let adapterBefore: KernelAdapter

    private let port: PacketDescriptor
    /// Room for the packets of one call.
    private let batch: OpaquePointer
    private let isShared: Bool
    private var receive: ((RawSpan) -> Void)?

    /// Claims adapter `index` for this process.
    /// - Throws: `noBluetoothInKernel`, `noSuchAdapter`, `permissionDenied` (CAP_NET_ADMIN), `adapterUp`,
    ///   `adapterBusy`, `adapterInSetup`, `adapterBlocked`, or `system`.
    public static func openUserChannel(_ index: UInt16) throws(TransportError) -> sending HCISocketTransport {
        let adapter = try AdapterList.adapter(index)
        let address = TransportAddress.userChannel(adapter: index)
        let descriptor = try AdapterList.openSocket()
        guard clinux_hci_bind(descriptor, index, HCIChannel.user) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            switch code {
            case EPERM, EACCES:
                throw .permissionDenied(address, capability: .netAdmin, program: HoldingProcesses.ownProgram())
            case ENODEV:
                throw .noSuchAdapter(index: index, present: try AdapterList.adapters().map(\.name))
            // An adapter counts as up while its user channel is open: EBUSY means either.
            case EBUSY:
                if try isTakenByUserChannel(index) {
                    throw .adapterBusy(index: index, holders: HoldingProcesses.withHCISockets())
                }
                guard try AdapterList.adapter(index).isUp else { throw .adapterInSetup(index: index) }
                throw .adapterUp(index: index, daemon: HoldingProcesses.bluetoothDaemon())
            case EUSERS, EALREADY:
                throw .adapterBusy(index: index, holders: HoldingProcesses.withHCISockets())
            case ERFKILL:
                throw .adapterBlocked(index: index)
            default:
                throw .system(call: "bind", code: code)
            }
        }
        return try HCISocketTransport(descriptor: descriptor, address: address, adapter: adapter)
    }

    /// Opens adapter `index` and shares it with the kernel.
    /// - Throws: `noBluetoothInKernel`, `noSuchAdapter`, `permissionDenied` (CAP_NET_RAW), `adapterDown`, `adapterBusy`
    ///   (another process has the user channel), or `system`.
    public static func openRawChannel(_ index: UInt16) throws(TransportError) -> sending HCISocketTransport {
        let adapter = try AdapterList.adapter(index)
        let address = TransportAddress.rawChannel(adapter: index)
        let descriptor = try AdapterList.openSocket()
        do throws(TransportError) {
            try bindRawChannel(descriptor, adapter: adapter, address: address)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        return try HCISocketTransport(descriptor: descriptor, address: address, adapter: adapter)
    }

    private static func bindRawChannel(
        _ descriptor: Int32, adapter: KernelAdapter, address: TransportAddress
    ) throws(TransportError) {
        var isNarrowed: Int32 = 0
        guard unsafe clinux_hci_set_filter_events_and_acl(descriptor, &isNarrowed) == 0 else {
            throw .system(call: "setsockopt", code: errno)
        }
        // Without the capability the kernel accepts the filter, but passes only packets that it considers harmless.
        guard isNarrowed == 0 else {
            throw .permissionDenied(address, capability: .netRaw, program: HoldingProcesses.ownProgram())
        }
        guard adapter.isUp else { throw .adapterDown(index: adapter.index) }
        guard clinux_hci_enable_direction(descriptor) == 0 else {
            throw .system(call: "setsockopt", code: errno)
        }
        guard clinux_hci_bind(descriptor, adapter.index, HCIChannel.raw) == 0 else {
            let code = errno
            switch code {
            case EPERM, EACCES:
                throw .permissionDenied(address, capability: .netRaw, program: HoldingProcesses.ownProgram())
            case ENODEV: throw .adapterRemoved(index: adapter.index)
            default: throw .system(call: "bind", code: code)
            }
        }
        // The kernel would let both send, each in the middle of the other's procedures.
        guard clinux_hci_is_taken_by_user_channel(descriptor) == 0 else {
            throw .adapterBusy(index: adapter.index, holders: HoldingProcesses.withHCISockets())
        }
    }

    private static func isTakenByUserChannel(_ index: UInt16) throws(TransportError) -> Bool {
        let descriptor = try AdapterList.openSocket()
        defer { Glibc.close(descriptor) }
        return clinux_hci_bind(descriptor, index, HCIChannel.raw) == 0
            && clinux_hci_is_taken_by_user_channel(descriptor) != 0
    }

    /// - Parameter descriptor: a socket that preserves the limits of packets; owned from now on.
    init(descriptor: Int32, address: TransportAddress, adapter: KernelAdapter) throws(TransportError) {
        self.address = address
        adapterBefore = adapter
        let isShared = if case .rawChannel = address { true } else { false }
        self.isShared = isShared
        port = PacketDescriptor(
            descriptor: descriptor, isSocket: true,
            nameError: { call, code in
                switch code {
                // Another process took the shared adapter down. An exclusive one goes down only when it is removed.
                case ENETDOWN where isShared: .adapterDown(index: adapter.index)
                case ENETDOWN, EPIPE, ENODEV, ENXIO, EBADFD: .adapterRemoved(index: adapter.index)
                default: .system(call: call, code: code)
                }
            })
        guard let batch = unsafe clinux_hci_batch_make(H4Framer.maximumPacketByteCount) else {
            throw .system(call: "malloc", code: ENOMEM)
        }
        unsafe self.batch = batch
    }

    deinit { unsafe clinux_hci_batch_free(batch) }

    /// Begins to deliver packets of the controller; on a shared adapter, those that the kernel sends are left out.
    /// - Throws: when the loop cannot watch the socket.
    public func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        try port.start(on: loop, readable: { self.readPackets() }, closed: closed)
        self.receive = receive
    }

    /// Sends a packet in one write, at once or as soon as the kernel accepts it.
    public func send(_ packet: RawSpan) { port.send(packet) }

    /// Ends the transport; the adapter returns to its previous state.
    public func close() {
        receive = nil
        port.close()
    }

    /// As many packets as one call brings: then other work gets its turn.
    private func readPackets() {
        let count = unsafe clinux_hci_batch_receive(batch, port.descriptor)
        guard count >= 0 else {
            let code = errno
            if !isWouldBlock(code), code != EINTR {
                receive = nil
                port.fail(call: "recvmmsg", code: code)
            }
            return
        }
        for index in 0..<count {
            var (length, isOutgoing): (Int, Int32) = (0, 0)
            let bytes = unsafe clinux_hci_batch_packet(batch, index, &length, &isOutgoing)
            // The socket of a shared adapter also sees what the kernel sends.
            guard length > 0, !isShared || isOutgoing == 0 else { continue }
            unsafe receive?(UnsafeRawBufferPointer(start: bytes, count: length).bytes)
            guard port.isOpen else { return }
        }
    }
}
