import BLE

/// Runs a machine over a link: writes what it wants written, and tells it what arrives and when.
struct MachineRunner: Sendable {
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
        case ended((any Error)?)
    }

    /// - Returns: the machine as it ended.
    /// - Throws: `UpdateError` when it failed, or the error that ended the link.
    func run<Machine: UpdateMachine>(
        _ machine: consuming Machine, progress: (_ done: Int, _ total: Int) -> Void
    ) async throws -> Machine {
        let (events, event) = AsyncStream<Event>.makeStream()
        let reader = Task {
            do {
                for try await value in values { event.yield(.value(value)) }
                event.yield(.ended(nil))
            } catch { event.yield(.ended(error)) }
        }
        var timer: (deadline: Instant, task: Task<Void, Never>)?
        defer {
            reader.cancel()
            timer?.task.cancel()
            event.finish()
        }
        var machine = machine
        machine.receive(.ready, at: now)
        var iterator = events.makeAsyncIterator()
        while true {
            while let action = machine.nextAction() {
                switch action {
                case .writeControl(let octets):
                    guard let control else { throw UpdateError.noUpdateService }
                    do { try await peripheral.write(octets, to: control) } catch let error as BLEError
                        where error.isLostLink && machine.restartsWithoutAnswer
                    { return machine }
                    machine.receive(.written, at: now)
                case .writePacket(let octets): try await peripheral.writeWithoutResponse(octets, to: packet)
                case .progress(let done, let total): progress(done, total)
                case .finished: return machine
                case .failed(let error): throw error
                }
            }
            let deadline = machine.nextDeadline
            if deadline != timer?.deadline {
                timer?.task.cancel()
                timer = deadline.map { deadline in
                    let wait = Duration.microseconds(max(0, now.distance(to: deadline).rawValue))
                    return (
                        deadline,
                        Task {
                            do { try await Task.sleep(for: wait) } catch { return }
                            event.yield(.time)
                        }
                    )
                }
            }
            guard let next = await iterator.next() else { throw CancellationError() }
            switch next {
            case .value(let value): machine.receive(.notified(value), at: now)
            case .time:
                timer = nil
                machine.advance(to: now)
            case .ended(let error):
                try Task.checkCancellation()
                throw error ?? BLEError.notConnected
            }
        }
    }
}
