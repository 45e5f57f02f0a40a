import BLE

/// The steps of a check that need a link to the second adapter.
struct CheckLinks: Sendable {
    let adapter: Adapter
    let peer: CheckPeer
    let console: Console
    let desk: CheckDesk
    let pairs: Bool

    private static let connectTimeout = Duration.seconds(15)

    private var steps: [CheckStep] { [.connect, .write, .latency, .notify] + (pairs ? [.pair] : []) }

    /// - Parameter address: of the second adapter; `nil` if it was not heard.
    func run(_ address: DeviceAddress?) async throws {
        guard let address else { return desk.skip(steps, because: "the second adapter was not heard") }
        let before = await adapter.counters.connectionRetries
        let start = ContinuousClock.now
        let first: Peripheral
        do {
            first = try await connect(to: address)
        } catch {
            try Task.checkCancellation()
            desk.add(CheckFinding(.connect, .failed, Failure(error).message))
            return desk.skip(Array(steps.dropFirst()), because: "there is no link")
        }
        let interval = await first.information?.parameters.interval.milliseconds
        desk.add(
            CheckJudge.connect(
                milliseconds: start.duration(to: .now) / .milliseconds(1), interval: interval.map { Double($0) },
                retries: await adapter.counters.connectionRetries &- before))
        try await onLink(first, [.write, .latency]) { peripheral in
            let port = try await BenchPort.gatt(peripheral, withResponse: false)
            desk.add(CheckJudge.bench(.write, try await run(port, CheckPeer.plan, .send)))
            var pings = CheckPeer.plan
            pings.count = 30
            desk.add(CheckJudge.bench(.latency, try await run(port, pings, .ping)))
        }
        try await secondLink(address)
    }

    /// Another link, so that one that cannot be made again is noticed; the peer sends on it.
    private func secondLink(_ address: DeviceAddress) async throws {
        peer.notify(true)
        let steps: [CheckStep] = [.notify] + (pairs ? [.pair] : [])
        let peripheral: Peripheral
        do { peripheral = try await connect(to: address) } catch {
            try Task.checkCancellation()
            desk.add(CheckFinding(.notify, .failed, "no second link: \(Failure(error).message)"))
            return desk.skip(Array(steps.dropFirst()), because: "there is no link")
        }
        try await onLink(peripheral, steps) { peripheral in
            let port = try await BenchPort.gatt(peripheral, withResponse: false)
            desk.add(CheckJudge.bench(.notify, try await run(port, CheckPeer.plan, .receive)))
            guard pairs else { return }
            console.showProgress("pairing …")
            desk.add(CheckJudge.pair(try await peripheral.pair(PairingOptions(isBonding: false))))
        }
    }

    private func connect(to address: DeviceAddress) async throws -> Peripheral {
        let waiting = WaitingNote("connecting to the second adapter", limit: Self.connectTimeout, on: console)
        defer { waiting.end() }
        return try await adapter.connect(to: address, timeout: Self.connectTimeout)
    }

    private func run(_ port: BenchPort, _ plan: BenchPlan, _ scenario: BenchScenario) async throws -> BenchResult {
        let waiting = WaitingNote(
            scenario == .receive ? "receiving notifications" : scenario == .ping ? "measuring round trips" : "writing",
            on: console)
        defer { waiting.end() }
        let result = try await BenchRun(port: port, plan: plan, console: console).run(scenario)
        // The last acknowledgement must leave the controller before the link ends.
        if !scenario.isActive { try await Task.sleep(for: .milliseconds(300)) }
        return result
    }

    /// Does steps and ends the link. The first of them without a finding has failed, and those after it are left out.
    private func onLink(
        _ peripheral: Peripheral, _ steps: [CheckStep], _ body: (Peripheral) async throws -> Void
    ) async throws {
        do { try await body(peripheral) } catch {
            let done = Set(desk.findings.map(\.step))
            let left = steps.filter { !done.contains($0) }
            if !Task.isCancelled, let failed = left.first {
                desk.add(CheckFinding(failed, .failed, Failure(error).message))
                desk.skip(Array(left.dropFirst()), because: "the step before it failed")
            }
        }
        console.showProgress("")
        await Task { try? await peripheral.disconnect() }.value
        try Task.checkCancellation()
    }
}
