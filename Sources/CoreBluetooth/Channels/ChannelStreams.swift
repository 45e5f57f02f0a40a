import Foundation

/// Where a stream tells its delegate of events: the run loops that it was scheduled in.
final class StreamSchedule: @unchecked Sendable {
    // @unchecked Sendable holds because everything is touched under the lock; a run loop takes work from any thread.
    private struct State {
        weak var stream: Stream?
        weak var delegate: (any StreamDelegate)?
        var places: [(loop: RunLoop, mode: RunLoop.Mode)] = []
        var status = Stream.Status.notOpen
    }

    private let state = Locked(State())

    func attach(_ stream: Stream) { state.with { $0.stream = stream } }

    var delegate: (any StreamDelegate)? {
        get { state.with { $0.delegate } }
        set { state.with { $0.delegate = newValue } }
    }

    var status: Stream.Status {
        get { state.with { $0.status } }
        set { state.with { $0.status = newValue } }
    }

    func add(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        state.with { state in
            guard !state.places.contains(where: { $0.loop === loop && $0.mode == mode }) else { return }
            state.places.append((loop, mode))
        }
    }

    func remove(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        state.with { $0.places.removeAll { $0.loop === loop && $0.mode == mode } }
    }

    /// Calls the delegate on the run loop, if the event still holds there.
    func tell(_ event: Stream.Event, while holds: @escaping @Sendable () -> Bool = { true }) {
        guard let place = state.with({ $0.places.first }) else { return }
        place.loop.perform(inModes: [place.mode]) { [self] in
            guard holds(),
                let (stream, delegate) = state.with({ state in
                    state.stream.flatMap { stream in state.delegate.map { (stream, $0) } }
                })
            else { return }
            delegate.stream(stream, handle: event)
        }
    }
}

/// Octets from the other end of a channel.
final class ChannelInputStream: InputStream {
    private let pipe: ChannelPipe
    private let schedule = StreamSchedule()

    init(_ pipe: ChannelPipe) {
        self.pipe = pipe
        super.init(data: Data())
        schedule.attach(self)
        pipe.attach(input: self)
    }

    override weak var delegate: (any StreamDelegate)? {
        get { schedule.delegate }
        set { schedule.delegate = newValue }
    }

    override var streamStatus: Stream.Status {
        if schedule.status == .open, pipe.isEnded, !pipe.hasBytes { return pipe.error == nil ? .atEnd : .error }
        return schedule.status
    }

    override var streamError: (any Error)? { pipe.error }
    override var hasBytesAvailable: Bool { schedule.status == .open && pipe.hasBytes }

    override func open() {
        schedule.status = .open
        schedule.tell(.openCompleted)
        if pipe.hasBytes { tell(.hasBytesAvailable) }
    }

    override func close() {
        schedule.status = .closed
        pipe.close()
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { schedule.add(aRunLoop, mode) }
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { schedule.remove(aRunLoop, mode) }

    /// - Returns: how many octets were read; 0 when there are none just now.
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard schedule.status == .open else { return -1 }
        let octets = pipe.take(upTo: len)
        for (index, octet) in octets.enumerated() { buffer[index] = octet }
        if pipe.hasBytes { tell(.hasBytesAvailable) }
        return octets.count
    }

    func tell(_ event: Stream.Event) {
        guard schedule.status == .open else { return }
        let pipe = pipe
        schedule.tell(event) { event != .hasBytesAvailable || pipe.hasBytes }
    }
}

/// Octets to the other end of a channel.
final class ChannelOutputStream: OutputStream {
    private let pipe: ChannelPipe
    private let schedule = StreamSchedule()

    init(_ pipe: ChannelPipe) {
        self.pipe = pipe
        super.init(toMemory: ())
        schedule.attach(self)
        pipe.attach(output: self)
    }

    @available(*, unavailable)
    required init(toMemory: ()) { fatalError("a channel's stream is made by its channel") }

    override weak var delegate: (any StreamDelegate)? {
        get { schedule.delegate }
        set { schedule.delegate = newValue }
    }

    override var streamStatus: Stream.Status {
        if schedule.status == .open, pipe.isEnded { return pipe.error == nil ? .atEnd : .error }
        return schedule.status
    }

    override var streamError: (any Error)? { pipe.error }
    override var hasSpaceAvailable: Bool { schedule.status == .open && pipe.hasRoom }

    override func open() {
        schedule.status = .open
        schedule.tell(.openCompleted)
        if pipe.hasRoom { tell(.hasSpaceAvailable) }
    }

    override func close() {
        schedule.status = .closed
        pipe.close()
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { schedule.add(aRunLoop, mode) }
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { schedule.remove(aRunLoop, mode) }

    /// - Returns: how many octets were taken; 0 when there is no room just now.
    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        guard schedule.status == .open else { return -1 }
        let count = pipe.put(UnsafeBufferPointer(start: buffer, count: len))
        if count > 0, pipe.hasRoom { tell(.hasSpaceAvailable) }
        return count
    }

    func tell(_ event: Stream.Event) {
        guard schedule.status == .open else { return }
        let pipe = pipe
        schedule.tell(event) { event != .hasSpaceAvailable || pipe.hasRoom }
    }
}
