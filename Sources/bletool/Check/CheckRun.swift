import BLE
import BLESecurity
import BLEVirtualTransports
import Synchronization

/// Takes an adapter through the steps of `check`, alone and with a second adapter.
struct CheckRun: Sendable {
    let session: Session
    let transport: TransportAddress
    /// Uses the second adapter.
    let second: Session?
    /// The air that both share, if both are simulated.
    let pair: SimulatedPair?
    let duration: Duration
    /// Whether to pair with the second adapter.
    let pairs: Bool
    let desk: CheckDesk
    let learned: LearnedTraits

    private var console: Console { session.console }

    /// What to do with the controller depends on who else uses it.
    private enum Sharing { case none, kernel, daemon }

    private var sharing: Sharing {
        switch transport {
        case .daemon: .daemon
        case .rawChannel: .kernel
        default: .none
        }
    }

    /// - Throws: `Failure` when an adapter cannot be opened, or the check is interrupted. What an adapter does wrong is
    ///   a finding.
    func run() async throws {
        guard let second, sharing != .daemon else { return try await examine(beside: nil) }
        let pair = pair
        let adjust: (inout AdapterConfiguration) throws -> Void = { configuration in
            configuration.cryptoProvider = SwiftCryptoProvider()
            // The address that is kept may be the first one's.
            if second.ownAddress == nil { configuration.ownAddress = .automatic(fallback: .randomStatic()) }
            if let pair { configuration.makeVirtualTransport = { _ throws(TransportError) in try pair.open(1) } }
        }
        let isOpen = Mutex(false)
        do {
            try await second.withAdapter(adjusting: adjust) { other in
                isOpen.withLock { $0 = true }
                console.adapter = transport.adapterName
                do { try await examine(beside: other) } catch { throw naming("the first adapter", transport, error) }
            }
        } catch {
            guard !isOpen.withLock({ $0 }), let address = second.transport else { throw error }
            throw naming("the second adapter", address, error)
        }
    }

    /// Of two adapters, one has failed.
    private func naming(_ which: String, _ address: TransportAddress, _ error: any Error) -> any Error {
        guard var failure = error as? Failure, failure.code != .interrupted else { return error }
        failure.message = "\(which), \(address.adapterName): \(failure.message)"
        return failure
    }

    /// What ended the controller; `nil` if it can go on.
    private func loss(of adapter: Adapter) async -> Failure? {
        await adapter.end.map { Failure($0 as any Error) }
    }

    /// Whether the controller can go on.
    private func isThere(_ adapter: Adapter) async -> Bool {
        let hasEnded = await adapter.end != nil
        return !hasEnded && !desk.isGone
    }

    /// The controller has ended, or answers nothing: what is left cannot be done.
    private func giveUp() {
        let done = Set(desk.findings.map(\.step))
        desk.skip(
            CheckStep.allCases.filter { !done.contains($0) && ($0 != .pair || pairs) },
            because:
                "the controller is gone: see that it is plugged in, and try again; if it hangs, \(transport.cureOfHang)"
        )
    }

    private func examine(beside other: Adapter?) async throws {
        let watch = ScanWatch(isShared: sharing == .kernel)
        let heard = Mutex(0)
        let reset = Mutex<(isDue: Bool, answer: Double?)>((false, nil))
        let adjusted: (inout AdapterConfiguration) throws -> Void = { adjust(&$0, watch) }
        do {
            let observer = sharing == .daemon ? nil : watch
            try await session.withAdapter(observer: observer, adjusting: adjusted) { adapter in
                try await describe(adapter)
                let reports = try await receive(adapter, beside: other, watch)
                heard.withLock { $0 = reports }
                guard await isThere(adapter) else {
                    await note(adapter)
                    return giveUp()
                }
                if try await mayReset(adapter) {
                    let start = ContinuousClock.now
                    let isAnswered = (try? await adapter.sendHCICommand(Reset.opcode))?.first == 0
                    let time = start.duration(to: .now) / .milliseconds(1)
                    reset.withLock { $0 = (true, isAnswered ? time : nil) }
                }
                await note(adapter)
            }
        } catch let failure as Failure {
            guard desk.information == nil, failure.code == .controllerSilent || failure.code == .controllerRefused
            else {
                throw failure
            }
            desk.add(CheckFinding(.start, .failed, failure.message))
            return
        }
        let (isDue, answer) = reset.withLock { $0 }
        if isDue {
            try await startAgain(afterReset: answer, heard: heard.withLock { $0 }, beside: other)
        }
        guard !desk.findings.contains(where: { $0.step == .counters }) else { return }
        if let information = desk.information { desk.add(CheckJudge.commands(information)) }
        desk.add(CheckJudge.counters(desk.counters))
    }

    private func adjust(_ configuration: inout AdapterConfiguration, _ watch: ScanWatch) {
        configuration.observers.append(watch)
        learned.follow(&configuration, carriesOn: true)
        if second != nil { configuration.cryptoProvider = SwiftCryptoProvider() }
        if let pair { configuration.makeVirtualTransport = { _ throws(TransportError) in try pair.open(0) } }
    }

    /// Keeps what the adapter knows and has counted, before it is closed.
    private func note(_ adapter: Adapter) async {
        desk.information = await adapter.information
        desk.add(await adapter.counters)
    }

    // MARK: What it is

    private func describe(_ adapter: Adapter) async throws {
        let information = await adapter.information
        desk.information = information
        desk.add(CheckFinding(.start, .ok, "the controller has started"))
        desk.add(CheckJudge.chip(information))
        desk.add(CheckJudge.firmware(information.traits))
        let hardware = transport.hardware
        desk.add(CheckJudge.device(hardware, transport: transport.scheme))
        desk.add(CheckJudge.power(hardware))
    }

    // MARK: What it receives and sends

    /// - Returns: how many reports came.
    private func receive(_ adapter: Adapter, beside other: Adapter?, _ watch: ScanWatch) async throws -> Int {
        guard let other else {
            let tally = try await scan(adapter, for: nil, watch)
            if await isThere(adapter) { skipLinks() }
            return tally.figures.reports
        }
        let peer = CheckPeer(other)
        let serving = peer.start()
        let tally: ScanTally
        do {
            defer { serving.cancel() }
            tally = try await scan(adapter, for: peer.name, watch)
            guard await isThere(adapter) else { return tally.figures.reports }
            desk.add(
                CheckJudge.sighting(
                    .hear, reports: tally.sightings, strength: tally.strongest, seconds: tally.figures.seconds))
            try await CheckLinks(adapter: adapter, peer: peer, console: console, desk: desk, pairs: pairs)
                .run(tally.sighting?.address)
        }
        await serving.value
        guard await isThere(adapter) else { return tally.figures.reports }
        try await advertise(adapter, to: other)
        return tally.figures.reports
    }

    /// - Parameter name: of the second adapter.
    private func scan(_ adapter: Adapter, for name: String?, _ watch: ScanWatch) async throws -> ScanTally {
        let information = await adapter.information
        let own = [information.publicAddress, information.ownAddress].compactMap { $0 }
        let tally = ScanTally(name: name, own: own)
        let progress = ScanProgress.start(adapter, console: console, duration: duration)
        defer { progress?.cancel() }
        try await tally.scan(adapter, for: duration)
        progress?.cancel()
        var state = watch.state
        state.timeouts = await adapter.counters.commandTimeouts
        let trouble = tally.figures.reports == 0 ? ScanTrouble(state) : nil
        let silence = trouble == nil ? try await silence(of: adapter) : nil
        let failure = await loss(of: adapter) ?? tally.failure
        if let failure {
            desk.isGone = failure.code == .transportLost
            desk.add(CheckFinding(.scan, .failed, failure.message, tally.figures.object))
        } else if let silence {
            desk.isGone = true
            desk.add(CheckFinding(.scan, .failed, silence, tally.figures.object))
        } else {
            desk.add(CheckJudge.scan(tally.figures, trouble: trouble, hasSecond: name != nil))
        }
        return tally
    }

    /// Whether the controller answers after the scan: one that hangs while nothing is sent to it looks like an empty place.
    private func silence(of adapter: Adapter) async throws -> String? {
        guard sharing != .daemon, await adapter.end == nil else { return nil }
        let waiting = LateNote("asking whether the controller still answers", on: console)
        defer { waiting.end() }
        do {
            _ = try await adapter.sendHCICommand(ReadLocalVersionInformation.opcode)
            return nil
        } catch {
            try Task.checkCancellation()
            return "it stopped answering while it scanned; \(transport.cureOfHang), or use another adapter"
        }
    }

    private func skipLinks() {
        let steps: [CheckStep] = [.hear, .connect, .write, .latency, .notify, .advertise]
        switch sharing {
        case .daemon:
            desk.skip(
                steps + [.reset], because: "other programs use the controller: bled is asked for nothing but a scan")
        case .none, .kernel: desk.skip(steps, because: "needs a second adapter: --with TRANSPORT")
        }
    }

    private func advertise(_ adapter: Adapter, to other: Adapter) async throws {
        if sharing == .kernel {
            return desk.skip([.advertise], because: "the kernel decides what this adapter advertises")
        }
        let name = CheckPeer.makeName()
        let tally = ScanTally(name: name, own: [])
        let sending = Task {
            do {
                try await adapter.advertise(
                    AdvertiseRequest(.packed(localName: name, serviceUUIDs: []), isConnectable: false))
            } catch { if !Task.isCancelled { tally.failure = Failure(error) } }
        }
        defer { sending.cancel() }
        let waiting = WaitingNote("waiting for the second adapter to hear this one", on: console)
        defer { waiting.end() }
        try await tally.scan(other, for: duration, endsEarly: true)
        if let failure = tally.failure, tally.sightings == 0 {
            return desk.add(CheckFinding(.advertise, .failed, failure.message))
        }
        desk.add(
            CheckJudge.sighting(
                .advertise, reports: tally.sightings, strength: tally.strongest, seconds: tally.figures.seconds))
    }

    // MARK: Reset

    /// Whether the controller is reset: it must be used by nobody else, and must not leave its bus.
    private func mayReset(_ adapter: Adapter) async throws -> Bool {
        switch sharing {
        case .daemon: return false
        case .kernel:
            desk.skip([.reset], because: "the kernel and its programs use the controller (raw:)")
            return false
        case .none:
            guard await !adapter.information.traits.contains(.leavesOnReset) else {
                desk.skip([.reset], because: "it would leave its bus")
                return false
            }
            return true
        }
    }

    /// The engine does not know of the Reset, so it is closed; the next one begins with a Reset of its own.
    /// - Parameter answer: how long the answer to the Reset took, in milliseconds; `nil` if none came.
    private func startAgain(afterReset answer: Double?, heard: Int, beside other: Adapter?) async throws {
        let watch = ScanWatch()
        let start = ContinuousClock.now
        let advertising = other.map { CheckPeer($0).advertise() }
        defer { advertising?.cancel() }
        let adjusted: (inout AdapterConfiguration) throws -> Void = { adjust(&$0, watch) }
        do {
            try await session.withoutFiles.withAdapter(observer: watch, adjusting: adjusted) { adapter in
                let time = start.duration(to: .now) / .milliseconds(1)
                let waiting = WaitingNote("waiting for the first report after the reset", on: console)
                defer { waiting.end() }
                let tally = ScanTally(name: nil, own: [])
                try await tally.scan(adapter, for: duration, endsEarly: true)
                var state = watch.state
                state.timeouts = await adapter.counters.commandTimeouts
                state.reports = UInt64(tally.figures.reports)
                if let failure = tally.failure {
                    desk.add(CheckFinding(.reset, .failed, failure.message))
                } else {
                    desk.add(
                        CheckJudge.reset(
                            answer: answer, start: time, reports: (heard, tally.figures.reports),
                            trouble: ScanTrouble(state)))
                }
                await note(adapter)
            }
        } catch let failure as Failure {
            if Task.isCancelled { throw failure }
            desk.add(CheckFinding(.reset, .failed, "cannot be used after a reset: \(failure.message)"))
        }
    }
}
