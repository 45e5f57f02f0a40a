import BLEPackets

/// A buffer that goes to a device or comes from it, again and again. Used on the loop's thread only.
@safe
final class USBTransfer {
    enum Kind: Int32 { case control, bulk, interrupt }

    /// How a transfer ended.
    enum End: Int32 { case completed, failed, timedOut, cancelled, stalled, noDevice, overflow }

    private let pointer: OpaquePointer
    private let capacity: Int
    /// Called within `USBHandle`'s handling of events, once for each submission.
    private let completed: (USBTransfer) -> Void
    private(set) var isInFlight = false

    /// - Parameter timeoutMilliseconds: 0: none.
    init?(
        _ handle: USBHandle, _ kind: Kind, endpoint: UInt8, capacity: Int, timeoutMilliseconds: UInt32 = 0,
        completed: @escaping (USBTransfer) -> Void
    ) {
        self.capacity = capacity
        self.completed = completed
        // The context is this object: it is set below, when it exists.
        let box = Box()
        let context = unsafe Unmanaged.passUnretained(box).toOpaque()
        guard
            let made = unsafe cusb_transfer_create(
                handle.pointer, kind.rawValue, endpoint, capacity, timeoutMilliseconds,
                { _, context in
                    guard let context = unsafe context else { return }
                    unsafe Unmanaged<Box>.fromOpaque(context).takeUnretainedValue().transfer?.ended()
                }, context)
        else { return nil }
        unsafe pointer = made
        self.box = box
        box.transfer = self
    }

    /// What libusb gets in place of the transfer.
    private final class Box {
        weak var transfer: USBTransfer?
    }

    private let box: Box

    deinit {
        // One that libusb still has cannot be released: it is better lost.
        if isInFlight { _ = unsafe Unmanaged.passRetained(box) } else { unsafe cusb_transfer_destroy(pointer) }
    }

    private func ended() {
        isInFlight = false
        completed(self)
    }

    /// - Returns: 0, or libusb's number of an error.
    func submit(byteCount: Int) -> Int32 {
        let result = unsafe cusb_transfer_submit(pointer, byteCount)
        isInFlight = result == 0
        return result
    }

    /// Fills the buffer and submits it; what does not fit is an error.
    func submit(_ head: [UInt8] = [], _ bytes: RawSpan) -> Int32 {
        let count = head.count + bytes.byteCount
        guard count <= capacity, let data = unsafe cusb_transfer_data(pointer) else { return LibraryError.inputOutput }
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: data, count: count)
        unsafe buffer.copyBytes(from: head)
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[head.count...]).copyMemory(from: bytes)
        }
        return submit(byteCount: count)
    }

    func cancel() { if isInFlight { _ = unsafe cusb_transfer_cancel(pointer) } }

    /// How it ended.
    var end: End { unsafe End(rawValue: cusb_transfer_status(pointer)) ?? .failed }

    /// What came from the device.
    func withReceived(_ body: (RawSpan) -> Void) {
        guard let data = unsafe cusb_transfer_data(pointer) else { return }
        let count = unsafe min(cusb_transfer_length(pointer), capacity)
        unsafe body(UnsafeRawBufferPointer(start: data, count: count).bytes)
    }
}
