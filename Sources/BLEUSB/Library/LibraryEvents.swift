import BLETransport

/// Has the loop wait for what libusb waits for. Used on the loop's thread only.
@safe
final class LibraryEvents {
    private let loop: EventLoop
    private let handle: USBHandle
    private let ready: () -> Void
    private var registrations: [Int32: EventLoop.Registration] = [:]
    private var deadline: EventLoop.Deadline?
    private var problem: TransportError?
    /// What the loop watches is libusb's until `stop`.
    private var isStopped = false

    /// The bits of poll(2).
    private enum Poll { static let readable: Int16 = 1, writable: Int16 = 4 }

    /// - Parameter ready: called when libusb may have something to do.
    init(_ handle: USBHandle, on loop: EventLoop, ready: @escaping () -> Void) {
        self.handle = handle
        self.loop = loop
        self.ready = ready
    }

    /// - Throws: when the loop cannot watch a descriptor.
    func start() throws(TransportError) {
        deadline = loop.makeDeadline { [unowned self] in ready() }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let result = unsafe cusb_watch(
            handle.pointer,
            { descriptor, events, context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<LibraryEvents>.fromOpaque(context).takeUnretainedValue().add(descriptor, events)
            },
            { descriptor, context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<LibraryEvents>.fromOpaque(context).takeUnretainedValue().remove(descriptor)
            }, context)
        if let problem { throw problem }
        guard result == 0 else { throw .usb(.refused(handle.device, "watch", result)) }
    }

    private func add(_ descriptor: Int32, _ events: Int16) {
        guard !isStopped else { return }
        var interest: EventLoop.Interest = []
        if events & Poll.readable != 0 { interest.insert(.readable) }
        if events & Poll.writable != 0 { interest.insert(.writable) }
        registrations[descriptor]?.cancel()
        do throws(TransportError) {
            registrations[descriptor] = try loop.register(descriptor, for: interest) { [unowned self] _ in ready() }
        } catch { problem = error }
    }

    private func remove(_ descriptor: Int32) { registrations.removeValue(forKey: descriptor)?.cancel() }

    /// Lets libusb handle what is ready; the transfers that have ended are called back within.
    /// - Parameter waitMilliseconds: how long it may wait for something.
    /// - Returns: 0, or libusb's number of an error.
    func handle(waitMilliseconds: Int32 = 0) -> Int32 {
        let result = unsafe cusb_handle_events(handle.pointer, waitMilliseconds)
        guard !isStopped else { return result }
        let next = unsafe cusb_next_timeout_microseconds(handle.pointer)
        if next >= 0 {
            deadline?.set(atMicroseconds: loop.nowMicroseconds &+ UInt64(next))
        } else {
            deadline?.clear()
        }
        return result == LibraryError.interrupted ? 0 : result
    }

    /// Watches nothing any more; `handle` can still be called.
    func stop() {
        isStopped = true
        for registration in registrations.values { registration.cancel() }
        registrations = [:]
        deadline?.cancel()
        deadline = nil
    }
}
