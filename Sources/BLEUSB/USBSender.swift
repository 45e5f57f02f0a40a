import BLEPackets
import BLETransport

/// Sends packets to a device: commands one at a time, data several at once. What has to wait is queued, in order and
/// bounded. Used on the loop's thread only.
final class USBSender {
    private let handle: USBHandle
    private let fail: (USBFailure) -> Void
    private var command: USBTransfer?
    private var idle: [USBTransfer] = []
    private var data: [USBTransfer] = []
    private var commands = Queue<[UInt8]>()
    private var packets = Queue<[UInt8]>()
    /// How many octets wait.
    private(set) var waitingByteCount = 0
    /// Commands that the device did not take.
    private(set) var failedCommandCount = 0
    private var isEnded = false

    /// Far beyond what a host can have in flight (its credits and one command).
    private static let greatestWaitingByteCount = 1 << 20
    private static let dataTransferCount = 4
    /// Opcode, length and parameters.
    private static let greatestCommandByteCount = 3 + 255
    /// Handle, length and the greatest data that a controller may claim to take.
    private static let greatestDataByteCount = 4 + 0xFFFF
    /// One that never takes a command would keep all others from being sent.
    private static let commandTimeoutMilliseconds: UInt32 = 5000

    /// - Parameter fail: called when the transport cannot go on, perhaps within libusb.
    init(_ handle: USBHandle, fail: @escaping (USBFailure) -> Void) throws(TransportError) {
        self.handle = handle
        self.fail = fail
        command = USBTransfer(
            handle, .control, endpoint: 0, capacity: 8 + Self.greatestCommandByteCount,
            timeoutMilliseconds: Self.commandTimeoutMilliseconds, completed: { [unowned self] in commandEnded($0) })
        for _ in 0..<Self.dataTransferCount {
            let made = USBTransfer(
                handle, .bulk, endpoint: handle.device.function.dataOut.address, capacity: Self.greatestDataByteCount,
                completed: { [unowned self] in dataEnded($0) })
            guard let transfer = made else { throw .system(call: "libusb_alloc_transfer", code: 12) }
            data.append(transfer)
        }
        idle = data
        guard command != nil else { throw .system(call: "libusb_alloc_transfer", code: 12) }
    }

    /// Whether libusb still has a transfer.
    var isSending: Bool { command?.isInFlight ?? false || data.contains(where: \.isInFlight) }

    /// - Parameter packet: type octet first; types other than command, ACL and ISO data are dropped.
    /// - Returns: `false` if too much waits.
    func send(_ packet: RawSpan) -> Bool {
        guard let type = packet.byte(at: 0).flatMap(H4PacketType.init(rawValue:)) else { return true }
        guard waitingByteCount + packet.byteCount <= Self.greatestWaitingByteCount else { return false }
        let contents = packet.extracting(droppingFirst: 1).copied()
        switch type {
        case .command: commands.append(contents)
        // ISO data shares the endpoint (Linux btusb.c).
        case .acl, .iso: packets.append(contents)
        case .sco, .event: return true
        }
        waitingByteCount += contents.count
        sendWaiting()
        return true
    }

    /// Submits what can be submitted.
    func sendWaiting() {
        guard !isEnded else { return }
        if let command, !command.isInFlight, let next = commands.popFirst() {
            waitingByteCount -= next.count
            // Request 0 with value and index 0; both octets of the length (Core 5.4, Vol 4, Part B, 2.1.2).
            let head: [UInt8] = [
                handle.device.function.commandRequestType, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: next.count),
                UInt8(truncatingIfNeeded: next.count >> 8),
            ]
            check(command.submit(head, next.span.bytes))
        }
        while !idle.isEmpty, let next = packets.popFirst() {
            waitingByteCount -= next.count
            let result = idle[idle.count - 1].submit([], next.span.bytes)
            if result == 0 { idle.removeLast() }
            check(result)
        }
    }

    private func check(_ result: Int32) {
        if result != 0 { fail(.refused(handle.device, "write to", result)) }
    }

    /// The answer is an event. A device that refuses the request may still take the next one.
    private func commandEnded(_ transfer: USBTransfer) {
        switch transfer.end {
        case .completed: break
        case .noDevice: fail(.removed(handle.device))
        default: failedCommandCount += 1
        }
    }

    /// Data that is lost would leave the other side of the link with half of a frame.
    private func dataEnded(_ transfer: USBTransfer) {
        idle.append(transfer)
        switch transfer.end {
        case .completed: break
        case .noDevice: fail(.removed(handle.device))
        default: if !isEnded { fail(.transfersFailed(handle.device, "takes no data any more")) }
        }
    }

    /// Cancels what is on its way.
    func cancel() {
        isEnded = true
        command?.cancel()
        for transfer in data { transfer.cancel() }
    }
}
