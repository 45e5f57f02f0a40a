import BLE

/// A run of the benchmark on one way to a peer.
struct BenchRun: Sendable {
    let port: BenchPort
    let plan: BenchPlan
    let console: Console

    /// - Throws: `Failure` when the peer does not acknowledge in time, or an error of the library.
    func run(_ scenario: BenchScenario) async throws -> BenchResult {
        switch scenario {
        case .send: try await send()
        case .ping: try await ping()
        // Until one run is whole.
        case .receive, .pong:
            try await withFirstArrival { begun in try await answer(scenario, begun) { _ in false } }
        }
    }

    private func result(_ scenario: BenchScenario) -> BenchResult {
        BenchResult(scenario: scenario, bearer: port.bearer, bearerText: port.text)
    }

    private func packet(
        _ number: Int, _ byteCount: Int, flags: BenchPacket.Flags, since start: ContinuousClock.Instant
    ) -> BenchPacket {
        let time = start.duration(to: .now) / .microseconds(1)
        return .sequence(
            flags: number == plan.count - 1 ? flags.union(.last) : flags, number: UInt32(number),
            time: UInt32(truncatingIfNeeded: Int64(time)), byteCount: byteCount)
    }

    private func pause(before number: Int, since start: ContinuousClock.Instant) async throws {
        guard plan.pace > 0, number > 0 else { return try Task.checkCancellation() }
        try await Task.sleep(until: start + .milliseconds(plan.pace * number), clock: .continuous)
    }

    // MARK: The active side

    private func send() async throws -> BenchResult {
        var result = result(.send)
        let byteCount = try plan.byteCount(on: port)
        try await port.send(.reset)
        let start = ContinuousClock.now
        for number in 0..<plan.count {
            try await pause(before: number, since: start)
            try await port.send(packet(number, byteCount, flags: [], since: start))
            if number & 63 == 63 { console.showProgress("sent \(number + 1) of \(plan.count) packets …") }
        }
        let last = UInt32(plan.count - 1)
        let end = try await acknowledgement(of: last)
        result.packets = plan.count
        result.bytes = plan.count * byteCount
        result.seconds = start.duration(to: end) / .seconds(1)
        console.showProgress("")
        return result
    }

    private func ping() async throws -> BenchResult {
        var result = result(.ping)
        let byteCount = try plan.byteCount(on: port)
        try await port.send(.reset)
        let start = ContinuousClock.now
        for number in 0..<plan.count {
            try await pause(before: number, since: start)
            let sent = ContinuousClock.now
            try await port.send(packet(number, byteCount, flags: .wanted, since: start))
            let end = try await acknowledgement(of: UInt32(number))
            result.roundTrips.append(sent.duration(to: end) / .seconds(1))
            if number & 15 == 15 { console.showProgress("\(number + 1) of \(plan.count) round trips …") }
        }
        result.packets = plan.count
        result.bytes = plan.count * byteCount
        result.seconds = start.duration(to: .now) / .seconds(1)
        console.showProgress("")
        return result
    }

    /// - Returns: when it arrived.
    private func acknowledgement(of number: UInt32) async throws -> ContinuousClock.Instant {
        let port = port
        return try await withTimeout(
            plan.patience,
            overdue: Failure(
                "the peer did not acknowledge packet \(number) within \(plan.patience.secondsText) s; "
                    + "‘send’ needs a peer that runs ‘receive’, ‘ping’ one that runs ‘pong’", code: .timeout)
        ) {
            for try await arrival in port.arrivals {
                if case .acknowledgement(_, number) = arrival.packet { return arrival.time }
            }
            throw Task.isCancelled ? Failure.interrupted : Failure("the peer ended the benchmark", code: .linkLost)
        }
    }

    /// Fails if nothing arrives in time; what has begun may take as long as it takes.
    private func withFirstArrival(
        _ body: @escaping @Sendable (@escaping @Sendable () -> Void) async throws -> BenchResult
    ) async throws -> BenchResult {
        let (beginnings, beginning) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let patience = plan.patience
        return try await withThrowingTaskGroup(of: BenchResult?.self) { group in
            group.addTask { try await body { beginning.yield() } }
            group.addTask {
                try await withTimeout(
                    patience,
                    overdue: Failure(
                        "nothing arrived within \(patience.secondsText) s; ‘receive’ needs a peer that runs ‘send’, "
                            + "‘pong’ one that runs ‘ping’", code: .timeout)
                ) {
                    for await _ in beginnings { return }
                    // The stream also ends when the time is over.
                    throw Failure.interrupted
                }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() { if let result { return result } }
            throw Failure.interrupted
        }
    }

    // MARK: The other side

    /// Counts and acknowledges until `ended` says that a result was the last.
    /// - Parameters:
    ///   - scenario: `receive`, `pong`, or `nil` to acknowledge what the sender wants acknowledged.
    ///   - arrived: called for each packet.
    /// - Returns: the last result.
    @discardableResult
    func answer(
        _ scenario: BenchScenario?, _ arrived: () -> Void = {}, _ continues: (BenchResult) -> Bool
    ) async throws -> BenchResult {
        var result = result(scenario ?? .receive)
        var start: ContinuousClock.Instant?
        var expected: UInt32 = 0
        for try await (packet, time) in port.arrivals {
            arrived()
            switch packet {
            case .reset:
                result = self.result(scenario ?? .receive)
                start = time
                expected = 0
            case .acknowledgement: break
            case .sequence(let flags, let number, _, let byteCount):
                result.packets += 1
                result.bytes += byteCount
                if number > expected { result.lost += Int(number - expected) }
                expected = number &+ 1
                if scenario == .pong || flags.contains(.wanted) || flags.contains(.last) {
                    if flags.contains(.wanted), scenario == nil { result.scenario = .pong }
                    // Flags that Bumble does not know stay out.
                    let answer = BenchPacket.acknowledgement(flags: flags.intersection(.last), number: number)
                    do { try await port.send(answer) } catch {
                        // All has arrived, even if the sender does not wait for the last acknowledgement.
                        guard flags.contains(.last) else { throw error }
                    }
                }
                guard flags.contains(.last) else { continue }
                result.seconds = (start ?? time).duration(to: time) / .seconds(1)
                if !continues(result) { return result }
            }
        }
        throw Task.isCancelled ? Failure.interrupted : Failure("the peer ended the benchmark", code: .linkLost)
    }
}
