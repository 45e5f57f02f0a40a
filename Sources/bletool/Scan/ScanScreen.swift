import BLE
import BLESensors
import Synchronization

/// A live scan on a terminal: the table, drawn again and again, and the keys that change it.
final class ScanScreen: Sendable {
    private static let drawInterval = Duration.milliseconds(250)

    private struct State {
        var table = ScanTable()
        /// Packets by the quarter second, for their rate.
        var counts: [Int] = []
        var lastCount = 0
    }

    private let console: Console
    private let request: ScanRequest
    private let keys: SensorKeys?
    private let name: String?
    private let duration: Duration?
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    init(console: Console, request: ScanRequest, keys: SensorKeys?, name: String?, duration: Duration?) {
        self.console = console
        var request = request
        // The strength and the interval come from every packet.
        request.allowsDuplicates = true
        self.request = request
        self.keys = keys
        self.name = name
        self.duration = duration
    }

    /// Draws until `q` is pressed, the time is over or the task is cancelled; the table stays on the terminal.
    func run(_ scan: @escaping @Sendable () async throws -> Void) async throws {
        TerminalMode.begin(takesControlC: false, screen: true)
        console.holdsNotes = true
        let keyboard = Keyboard()
        defer {
            keyboard.stop()
            TerminalMode.end()
            console.holdsNotes = false
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
                    let goesOn = state.withLock { $0.table.press(key, page: max(1, TerminalMode.size.rows - 4)) }
                    guard goesOn else { return }
                    draw()
                }
                // Without a keyboard the scan goes on.
                try await Task.sleep(for: .seconds(1_000_000_000))
            }
            group.addTask { [self] in
                while !Task.isCancelled {
                    count()
                    draw()
                    try await Task.sleep(for: Self.drawInterval)
                }
            }
            do { _ = try await group.next() } catch is CancellationError {}
        }
    }

    /// Shows the discoveries of an adapter until its scan ends.
    func listen(_ adapter: Adapter) async throws {
        for try await discovery in adapter.scan(request) {
            if let name, !name.isSameName(as: discovery.advertisingData.localNameWithoutPadding ?? "") { continue }
            let now = now
            state.withLock { state in
                state.table.add(discovery, at: now) {
                    DiscoveryOutput($0, scanFor: request.serviceUUIDs, keys: keys)
                }
            }
        }
    }

    /// Seconds since the beginning.
    private var now: Double { start.duration(to: .now) / .seconds(1) }

    private func count() {
        state.withLock { state in
            state.counts.append(state.table.reports - state.lastCount)
            state.lastCount = state.table.reports
            if state.counts.count > 8 { state.counts.removeFirst() }
        }
    }

    private func canvas(_ state: State) -> ScanTable.Canvas {
        let size = TerminalMode.size
        let seconds = Double(max(1, state.counts.count)) * (Self.drawInterval / .seconds(1))
        return ScanTable.Canvas(
            columns: size.columns, rows: size.rows, isColoured: console.showsColours,
            isUnicode: TerminalMode.showsUnicode, now: now, rate: Int(Double(state.counts.reduce(0, +)) / seconds),
            left: duration.map { max(0, Int(($0 / .seconds(1) - now).rounded(.up))) }, note: console.lastHeldNote)
    }

    private func draw() {
        let lines = state.withLock { $0.table.screen(canvas($0)) }
        // One change, if the terminal supports that: nothing flickers.
        var text = "\u{1B}[?2026h\u{1B}[H"
        text += lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
        text += "\u{1B}[J\u{1B}[?2026l"
        console.write(Array(text.utf8).span.bytes)
    }

    private func printReport() {
        let lines = state.withLock { state in
            var canvas = canvas(state)
            canvas.isColoured = false
            return state.table.report(canvas)
        }
        console.write(Array((lines.joined(separator: "\n") + "\n").utf8).span.bytes)
    }
}
