import BLE
import Synchronization

/// Runs a machine over a link: writes what it wants written, and tells it what arrives and when.
///
/// One write is under way at a time. While it waits for the device, time and notifications reach the machine, so that a
/// device that takes no more does not stop its deadlines.
struct MachineRunner: Sendable {
    /// So many notifications may wait for the machine; a device that floods loses the rest.
    private static let waitingLimit = 1024

    let peripheral: Peripheral
    let control: AttributeHandle?
    let packet: AttributeHandle
    /// What arrives; ends with the link.
    let values: AsyncThrowingStream<[UInt8], any Error>
    private let start = ContinuousClock.now

    init(
        peripheral: Peripheral, control: AttributeHandle?, packet: AttributeHandle,
        values: AsyncThrowingStream<[UInt8], any Error>
    ) {
        self.peripheral = peripheral
        self.control = control
        self.packet = packet
        self.values = values
    }

    private var now: Instant {
        Instant(microseconds: Int64(start.duration(to: .now) / .microseconds(1)))
    }

    private enum Event: Sendable {
        case value([UInt8])
        case time
        /// The write is over, with its error.
        case written((any Error)?)
        case ended((any Error)?)
    }

    private final class Waiting: Sendable {
        private let count = Mutex(0)

        /// - Returns: whether there is room for one more.
        func add() -> Bool {
            count.withLock { count in
                guard count < MachineRunner.waitingLimit else { return false }
                count += 1
                return true
            }
        }

        func remove() { count.withLock { $0 -= 1 } }
    }

    /// - Returns: the machine as it ended.
    /// - Throws: `UpdateError` when it failed, or the error that ended the link.
    func run<Machine: UpdateMachine>(
        _ machine: consuming Machine, progress: (_ done: Int, _ total: Int) -> Void
    ) async throws -> Machine {
        let (events, event) = AsyncStream<Event>.makeStream()
        let waiting = Waiting()
        let reader = Task {
            do {
                for try await value in values where waiting.add() { event.yield(.value(value)) }
                event.yield(.ended(nil))
            } catch { event.yield(.ended(error)) }
        }
        var timer: (deadline: Instant, task: Task<Void, Never>)?
        var write: Task<Void, Never>?
        defer {
            reader.cancel()
            timer?.task.cancel()
            write?.cancel()
            event.finish()
        }
        var machine = machine
        machine.receive(.ready, at: now)
        var iterator = events.makeAsyncIterator()
        while true {
            if let failure = machine.failure { throw failure }
            while write == nil, let action = machine.nextAction() {
                switch action {
                case .writeControl(let octets):
                    guard let control else { throw UpdateError.noUpdateService }
                    write = writing(event) { try await peripheral.write(octets, to: control) }
                case .writePacket(let octets):
                    write = writing(event) { try await peripheral.writeWithoutResponse(octets, to: packet) }
                case .progress(let done, let total): progress(done, total)
                case .finished: return machine
                case .failed(let error): throw error
                }
            }
            // A deadline that has moved away is looked at when the timer ends.
            if let deadline = machine.nextDeadline, timer.map({ deadline < $0.deadline }) ?? true {
                timer?.task.cancel()
                let wait = Duration.microseconds(max(0, now.distance(to: deadline).rawValue))
                let task = Task {
                    do { try await Task.sleep(for: wait) } catch { return }
                    event.yield(.time)
                }
                timer = (deadline, task)
            }
            guard let next = await iterator.next() else { throw CancellationError() }
            switch next {
            case .value(let value):
                waiting.remove()
                machine.receive(.notified(value), at: now)
            case .time:
                timer = nil
                machine.advance(to: now)
            case .written(nil):
                write = nil
                machine.receive(.written, at: now)
            case .written(let error?):
                if machine.restartsWithoutAnswer, (error as? BLEError)?.isLostLink == true { return machine }
                throw error
            case .ended(let error):
                try Task.checkCancellation()
                let error = error ?? BLEError.notConnected
                if machine.restartsWithoutAnswer, (error as? BLEError)?.isLostLink == true { return machine }
                throw error
            }
        }
    }

    private func writing(
        _ event: AsyncStream<Event>.Continuation, _ body: @escaping @Sendable () async throws -> Void
    ) -> Task<Void, Never> {
        Task {
            do {
                try await body()
                event.yield(.written(nil))
            } catch { event.yield(.written(error)) }
        }
    }
}
