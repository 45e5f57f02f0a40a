import BLE
import BLESensors
import Synchronization

/// A live scan on a terminal: what the browser shows, drawn when it changes, and the keys that change it.
final class ScanScreen: Sendable {
    /// How often ages and rates are drawn anew.
    private static let drawInterval = Duration.milliseconds(250)
    /// Values may come faster than a person sees.
    private static let shortestInterval = Duration.milliseconds(40)

    private struct State {
        var browser = Browser()
        var painter = ScreenPainter()
        /// Packets by the quarter second, for their rate.
        var counts: [Int] = []
        var lastCount = 0
        var agent: ScreenAgent?
        var refusal: Failure?
        /// Whether time alone changes nothing on the screen.
        var isStill = false
    }

    private let session: Session
    private let request: ScanRequest
    private let keys: SensorKeys?
    private let name: String?
    private let duration: Duration?
    private let start = ContinuousClock.now
    private let state = Mutex(State())
    /// Something has changed that is shown.
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation
    /// The screen was still, and time counts again.
    private let stirs: AsyncStream<Void>
    private let stir: AsyncStream<Void>.Continuation
    /// What the browser wants, in its order.
    private let actions: AsyncStream<Browser.Action>
    private let act: AsyncStream<Browser.Action>.Continuation
    private let links: Mutex<DeviceLinks?> = Mutex(nil)

    private var console: Console { session.console }

    init(_ session: Session, request: ScanRequest, keys: SensorKeys?, name: String?, duration: Duration?) {
        self.session = session
        var request = request
        // The strength and the interval come from every packet.
        request.allowsDuplicates = true
        self.request = request
        self.keys = keys
        self.name = name
        self.duration = duration
        (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        (stirs, stir) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        (actions, act) = AsyncStream<Browser.Action>.makeStream()
    }

    /// Lets an adapter pair, and ask on this screen. Where the bonds cannot be read, it only scans.
    func prepare(_ configuration: inout AdapterConfiguration) {
        let agent = ScreenAgent { [weak self] in
            self?.ask($0) ?? false
        } withdraw: { [weak self] in
            self?.withdraw($0)
        }
        var refusal: Failure?
        do {
            try session.prepareGATT(&configuration, asking: agent)
        } catch {
            refusal = Failure(error)
        }
        state.withLock { ($0.agent, $0.refusal) = (agent, refusal) }
    }

    /// Draws until `q` is pressed, the time is over or the task is cancelled; the table stays on the terminal.
    func run(_ scan: @escaping @Sendable () async throws -> Void) async throws {
        TerminalMode.begin(takesControlC: false, screen: true) { [weak self] in self?.repaint() }
        console.holdNotes { [weak self] in self?.change.yield() }
        let keyboard = Keyboard()
        defer {
            keyboard.stop()
            TerminalMode.end()
            console.holdNotes(nil)
            printReport()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                try await scan()
                // A scan ends only on request.
            }
            group.addTask { [self] in
                for await key in keyboard.keys {
                    let rows = TerminalMode.size.rows
                    guard perform(state.withLock({ $0.browser.press(key, rows: rows, at: now) })) else { return }
                    change.yield()
                }
                // Without a keyboard the scan goes on.
                try await Task.sleep(for: .seconds(1_000_000_000))
            }
            group.addTask { [self] in
                while !Task.isCancelled {
                    let isStill = count()
                    change.yield()
                    guard isStill else {
                        try await Task.sleep(for: Self.drawInterval)
                        continue
                    }
                    for await _ in stirs { break }
                }
            }
            group.addTask { [self] in
                for await _ in changes {
                    draw()
                    try await Task.sleep(for: Self.shortestInterval)
                }
            }
            group.addTask { [self] in
                for await action in actions { await carryOut(action) }
            }
            do { _ = try await group.next() } catch is CancellationError {}
        }
    }

    /// Shows the discoveries of an adapter until its scan ends, and uses it for the devices that are opened.
    func listen(_ adapter: Adapter) async throws {
        let links = DeviceLinks(session, refusal: state.withLock { $0.refusal }) { [weak self] in
            self?.handle($2, of: $0, number: $1)
        }
        await links.use(adapter)
        self.links.withLock { $0 = links }
        do { try await show(adapter.scan(request)) } catch {
            self.links.withLock { $0 = nil }
            await links.lose(Failure(await adapter.cause(of: error)).message)
            throw error
        }
        await links.end()
    }

    private func show(_ scan: Scan) async throws {
        for try await discovery in scan {
            if let name, !name.isSameName(as: discovery.advertisingData.localNameWithoutPadding ?? "") { continue }
            let now = now
            state.withLock { state in
                state.browser.table.add(discovery, at: now) {
                    DiscoveryOutput($0, scanFor: request.serviceUUIDs, keys: keys)
                }
                if state.isStill {
                    state.isStill = false
                    stir.yield()
                }
            }
        }
    }

    // MARK: What the browser wants

    /// - Returns: `false` when it is over.
    private func perform(_ wanted: [Browser.Action]) -> Bool {
        for action in wanted {
            switch action {
            case .end: return false
            case .repaint: repaint()
            case .answer(let id, let answer): state.withLock { $0.agent }?.answer(id, answer)
            case .link, .watch: act.yield(action)
            }
        }
        return true
    }

    private func carryOut(_ action: Browser.Action) async {
        let links = links.withLock { $0 }
        switch action {
        case .link(let device, let task):
            if let links { return await links.perform(task, on: device) }
            if case .connect(let number) = task { handle(.ended("the adapter is away"), of: device, number: number) }
        case .watch(let device): await links?.watch(device)
        case .end, .repaint, .answer: break
        }
    }

    private func handle(_ event: LinkEvent, of device: DeviceAddress, number: Int) {
        _ = perform(state.withLock { $0.browser.handle(event, of: device, number: number, at: now) })
        change.yield()
    }

    private func ask(_ question: ScreenQuestion) -> Bool {
        defer { change.yield() }
        return state.withLock { $0.browser.ask(question) }
    }

    private func withdraw(_ id: UInt64) {
        state.withLock { $0.browser.withdraw(id) }
        change.yield()
    }

    // MARK: Drawing

    /// Seconds since the beginning.
    private var now: Double { start.duration(to: .now) / .seconds(1) }

    /// - Returns: whether the screen stays as it is until a device is found.
    private func count() -> Bool {
        state.withLock { state in
            let reports = state.browser.table.reports
            state.counts.append(reports - state.lastCount)
            state.lastCount = reports
            if state.counts.count > 8 { state.counts.removeFirst() }
            state.isStill = duration == nil && reports == 0
            return state.isStill
        }
    }

    private func figures(_ state: State) -> ScanTable.Figures {
        let seconds = Double(max(1, state.counts.count)) * (Self.drawInterval / .seconds(1))
        return ScanTable.Figures(
            now: now, rate: Int(Double(state.counts.reduce(0, +)) / seconds),
            left: duration.map { max(0, Int(($0 / .seconds(1) - now).rounded(.up))) }, note: console.lastHeldNote)
    }

    private func canvas(isColoured: Bool) -> Canvas {
        let size = TerminalMode.size
        return Canvas(
            columns: size.columns, rows: size.rows, isColoured: isColoured, isUnicode: TerminalMode.showsUnicode)
    }

    private func draw() {
        guard TerminalMode.isOnScreen else { return }
        let canvas = canvas(isColoured: console.showsColours)
        let text = state.withLock { state in
            let lines = state.browser.screen(canvas, figures(state), session.commandText)
            return state.painter.paint(lines, columns: canvas.columns)
        }
        if !text.isEmpty { console.write(Array(text.utf8).span.bytes) }
    }

    /// The terminal has another size, or shows something else.
    private func repaint() {
        state.withLock { $0.painter.forget() }
        change.yield()
    }

    private func printReport() {
        let canvas = canvas(isColoured: false)
        let lines = state.withLock { state in
            state.browser.table.report(canvas, figures(state)).map(canvas.legible)
        }
        console.write(Array((lines.joined(separator: "\n") + "\n").utf8).span.bytes)
    }
}
