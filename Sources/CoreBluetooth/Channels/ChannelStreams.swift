import Foundation

/// Calls a stream's delegate on the run loops in which the stream is scheduled.
///
/// An event is due from the time it happens until the delegate is called, so that none is lost while there is no run
/// loop or no delegate. An event that is no longer true by then is skipped.
final class StreamSchedule: @unchecked Sendable {
    // @unchecked Sendable is safe because the lock guards everything; a timer may be set from any thread.
    private struct Place {
        let loop: RunLoop
        let mode: RunLoop.Mode
        /// A timer that never fires until it is set. Setting it wakes the loop, which queued work does not do. As a
        /// source of the loop, it also keeps the loop running.
        let timer: Timer
    }

    private struct State {
        weak var stream: Stream?
        weak var delegate: (any StreamDelegate)?
        var places: [Place] = []
        var status = Stream.Status.notOpen
        /// The due events in the order in which they happened, each once.
        var due: [Stream.Event] = []
        var hasReportedEnd = false
    }

    private let state = Locked(State())
    /// The events that are true now.
    private let current: @Sendable () -> [Stream.Event]

    init(_ current: @escaping @Sendable () -> [Stream.Event]) { self.current = current }

    deinit { for place in state.with({ $0.places }) { place.timer.invalidate() } }

    func attach(_ stream: Stream) { state.with { $0.stream = stream } }

    var delegate: (any StreamDelegate)? {
        get { state.with { $0.delegate } }
        set {
            state.with { $0.delegate = newValue }
            update()
            wake()
        }
    }

    private var status: Stream.Status { state.with { $0.status } }

    var isOpen: Bool { status == .open }

    /// The status for the app: an open stream is at its end once that is its event.
    var streamStatus: Stream.Status {
        let status = status
        guard status == .open, let end = current().first(where: \.isEnd) else { return status }
        return end == .endEncountered ? .atEnd : .error
    }

    /// Whether the stream is open and this is true now.
    func has(_ event: Stream.Event) -> Bool { isOpen && current().contains(event) }

    func open() {
        let isFirst = state.with { state in
            guard state.status == .notOpen else { return false }
            state.status = .open
            state.due.append(.openCompleted)
            return true
        }
        guard isFirst else { return }
        update()
        wake()
    }

    /// Ends all events, on every loop.
    func close() {
        let places = state.with { state in
            state.status = .closed
            state.due = []
            defer { state.places = [] }
            return state.places
        }
        for place in places { place.timer.invalidate() }
    }

    func add(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        let isKnown = state.with { $0.places.contains { $0.loop === loop && $0.mode == mode } || $0.status == .closed }
        guard !isKnown else { return }
        let timer = Timer(fire: .distantFuture, interval: 1e9, repeats: true) { [weak self] _ in self?.deliver() }
        state.with { $0.places.append(Place(loop: loop, mode: mode, timer: timer)) }
        loop.add(timer, forMode: mode)
        update()
        wake()
    }

    func remove(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        let place = state.with { state in
            state.places.firstIndex { $0.loop === loop && $0.mode == mode }.map { state.places.remove(at: $0) }
        }
        place?.timer.invalidate()
        // The remaining loops take over the events for which that loop was woken.
        wake()
    }

    /// Makes the events due that are true now.
    func update() {
        let events = current()
        let isNew = state.with { state in
            guard state.status == .open else { return false }
            let new = events.filter { !state.due.contains($0) && !($0.isEnd && state.hasReportedEnd) }
            state.due += new
            return !new.isEmpty
        }
        if isNew { wake() }
    }

    private func wake() {
        let places = state.with { $0.due.isEmpty || $0.delegate == nil ? [] : $0.places }
        for place in places { place.timer.fireDate = Date() }
        // A program that gives its main thread to Dispatch never runs the main run loop.
        if places.contains(where: { $0.loop === RunLoop.main }) {
            DispatchQueue.main.async { [weak self] in self?.deliver() }
        }
    }

    /// Runs on a loop: calls the delegate for the due events. Events that become due meanwhile wait for the next run.
    private func deliver() {
        for event in state.with({ $0.due }) {
            let receiver: (Stream, any StreamDelegate)? = state.with { state in
                guard !state.places.isEmpty, let stream = state.stream, let delegate = state.delegate,
                    let index = state.due.firstIndex(of: event)
                else { return nil }
                state.due.remove(at: index)
                return (stream, delegate)
            }
            guard let (stream, delegate) = receiver, event == .openCompleted || current().contains(event) else {
                continue
            }
            if event.isEnd { state.with { $0.hasReportedEnd = true } }
            delegate.stream(stream, handle: event)
        }
    }
}

extension Stream.Event {
    fileprivate var isEnd: Bool { self == .endEncountered || self == .errorOccurred }
}

/// Receives octets from the other end of a channel.
final class ChannelInputStream: InputStream {
    private let pipe: ChannelPipe
    private let schedule: StreamSchedule

    init(_ pipe: ChannelPipe) {
        self.pipe = pipe
        schedule = StreamSchedule { pipe.inputEvents }
        super.init(data: Data())
        schedule.attach(self)
        pipe.attach(input: schedule)
    }

    override weak var delegate: (any StreamDelegate)? {
        get { schedule.delegate }
        set { schedule.delegate = newValue }
    }

    override var streamStatus: Stream.Status { schedule.streamStatus }
    override var streamError: (any Error)? { pipe.error }
    override var hasBytesAvailable: Bool { schedule.has(.hasBytesAvailable) }

    override func open() { schedule.open() }

    override func close() {
        schedule.close()
        pipe.close()
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { schedule.add(aRunLoop, mode) }
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { schedule.remove(aRunLoop, mode) }

    /// - Returns: the number of octets read; 0 if there are none now.
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard schedule.isOpen else { return -1 }
        let octets = pipe.read(upTo: len)
        for (index, octet) in octets.enumerated() { unsafe buffer[index] = octet }
        schedule.update()
        return octets.count
    }
}

/// Sends octets to the other end of a channel.
final class ChannelOutputStream: OutputStream {
    private let pipe: ChannelPipe
    private let schedule: StreamSchedule

    init(_ pipe: ChannelPipe) {
        self.pipe = pipe
        schedule = StreamSchedule { pipe.outputEvents }
        super.init(toMemory: ())
        schedule.attach(self)
        pipe.attach(output: schedule)
    }

    // Foundation requires this initializer in a subclass; it is unavailable, so nothing can call it.
    @available(*, unavailable)
    required init(toMemory: ()) { fatalError("only a channel creates its streams") }

    override weak var delegate: (any StreamDelegate)? {
        get { schedule.delegate }
        set { schedule.delegate = newValue }
    }

    override var streamStatus: Stream.Status { schedule.streamStatus }
    override var streamError: (any Error)? { pipe.error }
    override var hasSpaceAvailable: Bool { schedule.has(.hasSpaceAvailable) }

    override func open() { schedule.open() }

    override func close() {
        schedule.close()
        pipe.close()
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { schedule.add(aRunLoop, mode) }
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { schedule.remove(aRunLoop, mode) }

    /// - Returns: the number of octets accepted; 0 if there is no room now.
    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        guard schedule.isOpen else { return -1 }
        let count = unsafe pipe.put(UnsafeBufferPointer(start: buffer, count: len))
        if count > 0 { schedule.update() }
        return count
    }
}
