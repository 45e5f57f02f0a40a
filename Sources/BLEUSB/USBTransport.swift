import BLEPackets
import BLETransport

/// A controller at USB, taken from the kernel's driver (Core 5.4, Vol 4, Part B): commands are requests to endpoint 0,
/// events and ACL data come and go through endpoints of their own.
///
/// libusb and this transport work on the loop's thread; neither has another one.
public final class USBTransport: HCITransport {
    /// The address that was opened.
    public let address: TransportAddress
    /// The device.
    public let device: USBBluetoothDevice

    private let handle: USBHandle
    private var events: LibraryEvents?
    private var loop: EventLoop?
    private var receive: ((RawSpan) -> Void)?
    private var closed: ((TransportError?) -> Void)?
    private var isClosed = false
    /// What ends the transport as soon as libusb has returned.
    private var failure: USBFailure?

    private var turn = USBTurn()
    private var eventPackets = USBPacketAssembler(.event)
    private var dataPackets = USBPacketAssembler(.acl)
    private var inputs: [USBTransfer] = []
    /// Those whose octets are in the turn, to be submitted again after it: so the turn is bounded.
    private var emptied: [(transfer: USBTransfer, byteCount: Int)] = []
    private var sender: USBSender?
    private var failuresInARow = 0

    /// As many as BTstack has: one is filled while another is read.
    private static let transfersForEachInput = 3
    /// A transfer of data ends with a short packet. As Linux: the length of the greatest usual packet.
    private static let dataByteCount = 1024
    /// Failures that come alone are disturbances of the line.
    private static let greatestFailures = 8

    /// Octets that were not a packet, and packets that were not whole: a sign of a poor device or cable.
    public var counters: USBCounters {
        USBCounters(
            strayOctetCount: eventPackets.strayOctetCount + dataPackets.strayOctetCount,
            damagedPacketCount: eventPackets.damagedPacketCount + dataPackets.damagedPacketCount,
            failedTransferCount: failedTransferCount + (sender?.failedCommandCount ?? 0))
    }
    private var failedTransferCount = 0

    /// Opens a device and takes it from the kernel's driver, which gets it back when the transport ends. It needs no loop.
    /// - Throws: `TransportError.usb`, or `notOffered` for an address of another kind.
    public static func open(_ address: TransportAddress) throws(TransportError) -> sending USBTransport {
        USBTransport(try openHandle(address) { (handle) throws(TransportError) in try handle.take() }, address)
    }

    /// Resets a device that no transport of this process has: what repairs a controller that answers nothing any more.
    /// It takes some hundred milliseconds, and the device may come back with another number, at the same port.
    /// - Throws: `TransportError.usb`, or `notOffered` for an address of another kind.
    public static func reset(_ address: TransportAddress) throws(TransportError) {
        _ = try openHandle(address) { (handle) throws(TransportError) in
            let result = handle.reset()
            // It has come back already, under another number.
            guard result == 0 || result == LibraryError.notFound else {
                throw .usb(.refused(handle.device, "reset", result))
            }
        }
    }

    /// The first device for which `use` succeeds. Of several the first one's error is reported.
    private static func openHandle(
        _ address: TransportAddress, in list: USBDeviceList = USBDeviceList(),
        _ use: (USBHandle) throws(TransportError) -> Void
    ) throws(TransportError) -> sending USBHandle {
        guard case .usb(let selector) = address else { throw .notOffered(address) }
        var first: TransportError?
        for device in list.devices(selector) {
            do throws(TransportError) {
                let handle = try USBHandle(device)
                try use(handle)
                return handle
            } catch { first = first ?? error }
        }
        throw first
            ?? .usb(.missing(selector, isThere: list.contains(selector), present: list.bluetoothDevices()))
    }

    private init(_ handle: sending USBHandle, _ address: TransportAddress) {
        self.handle = handle
        self.address = address
        device = handle.device
    }

    /// Begins to receive.
    /// - Throws: when the loop cannot watch libusb's descriptors, or the device takes no transfers.
    public func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        // A programming error: no input from outside starts a transport.
        precondition(self.loop == nil, "a transport can start only once")
        let function = device.function
        // A started transport stays alive until it is closed.
        let events = LibraryEvents(handle, on: loop) { self.handleEvents() }
        self.events = events
        self.loop = loop
        do throws(TransportError) {
            try events.start()
            sender = try USBSender(handle) { [unowned self] in failure = failure ?? $0 }
            for _ in 0..<Self.transfersForEachInput {
                // Exactly one packet: an event that ends with a full one would otherwise wait for the next event.
                try addInput(.interrupt, function.events, byteCount: function.events.packetByteCount)
                let packet = function.dataIn.packetByteCount
                try addInput(.bulk, function.dataIn, byteCount: max(Self.dataByteCount / packet, 1) * packet)
            }
        } catch {
            end(nil)
            throw error
        }
        self.receive = receive
        self.closed = closed
    }

    private func addInput(
        _ kind: USBTransfer.Kind, _ endpoint: USBEndpoint, byteCount: Int
    ) throws(TransportError) {
        let isEvents = kind == .interrupt
        let made = USBTransfer(handle, kind, endpoint: endpoint.address, capacity: byteCount) {
            [unowned self] in arrived($0, isEvents: isEvents, byteCount: byteCount)
        }
        guard let transfer = made else { throw .system(call: "libusb_alloc_transfer", code: 12) }
        let result = transfer.submit(byteCount: byteCount)
        guard result == 0 else { throw .usb(.refused(device, "read", result)) }
        inputs.append(transfer)
    }

    // MARK: Receiving

    private func handleEvents() {
        guard !isClosed, let events else { return }
        let result = events.handle()
        deliver()
        guard !isClosed else { return }
        resubmit()
        if failure == nil, result != 0 { failure = .refused(device, "read", result) }
        if let failure { return end(.usb(failure)) }
        sender?.sendWaiting()
        if let failure { end(.usb(failure)) }
    }

    /// Within libusb: the packets are delivered afterwards.
    private func arrived(_ transfer: USBTransfer, isEvents: Bool, byteCount: Int) {
        guard !isClosed else { return }
        switch transfer.end {
        case .completed:
            failuresInARow = 0
            transfer.withReceived { piece in
                if isEvents {
                    eventPackets.receive(piece) { turn.add(event: $0) }
                } else {
                    dataPackets.receive(piece) { turn.add(data: $0) }
                }
            }
        case .noDevice: failure = failure ?? .removed(device)
        case .stalled: failure = failure ?? .transfersFailed(device, "has stopped sending (an endpoint has stalled)")
        case .failed, .timedOut, .cancelled, .overflow:
            failedTransferCount += 1
            failuresInARow += 1
            if isEvents { eventPackets.pieceWasLost() } else { dataPackets.pieceWasLost() }
            if failuresInARow > Self.greatestFailures {
                failure = failure ?? .transfersFailed(device, "fails again and again")
            }
        }
        emptied.append((transfer, byteCount))
    }

    private func deliver() {
        for packet in turn.take() {
            // The receiver may close the transport.
            guard !isClosed else { return }
            receive?(packet.span.bytes)
        }
    }

    private func resubmit() {
        let waiting = emptied
        emptied.removeAll(keepingCapacity: true)
        guard failure == nil else { return }
        for (transfer, byteCount) in waiting {
            let result = transfer.submit(byteCount: byteCount)
            if result != 0 { failure = failure ?? .refused(device, "read", result) }
        }
    }

    // MARK: Sending and ending

    /// Sends a command or ACL data; packets of other types are dropped.
    public func send(_ packet: RawSpan) {
        guard !isClosed, let sender else { return }
        guard sender.send(packet) else { return end(.sendQueueFull(byteCount: sender.waitingByteCount)) }
        if let failure { end(.usb(failure)) }
    }

    /// Ends the transport; the kernel's driver has the device again when this returns.
    public func close() { end(nil) }

    private func end(_ error: TransportError?) {
        guard !isClosed else { return }
        isClosed = true
        receive = nil
        let isGone = if case .usb(let failure) = error, failure.kind == .removed { true } else { false }
        cancelTransfers()
        events?.stop()
        events = nil
        sender = nil
        inputs = []
        emptied = []
        handle.close(isGone: isGone)
        guard let closed, let loop else { return }
        self.closed = nil
        loop.runLater { closed(error) }
    }

    /// The kernel ends a cancelled transfer at once, so it is there to be fetched.
    private func cancelTransfers() {
        for transfer in inputs { transfer.cancel() }
        sender?.cancel()
        var roundsLeft = 100
        while inputs.contains(where: \.isInFlight) || sender?.isSending ?? false, roundsLeft > 0 {
            roundsLeft -= 1
            guard let events, events.handle(waitMilliseconds: 10) == 0 else { return }
        }
    }
}
