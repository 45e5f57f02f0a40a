import BLE
import BLEJSON
import BLEScripts
import BLEStateFiles
import BLEText
import Synchronization

/// The shell of `gatt PEER`: operations over one connection, typed one after the other.
actor GATTShell {
    private let session: Session
    private let adapter: Adapter
    private let peer: PeerArgument
    private let search: PeerSearch
    private let console: Console
    private var runner: GATTRunner?
    private var words = ShellWords()
    private var background: [Task<Void, Never>] = []
    private var hasFailed = false
    private let arrivals = ArrivalCounter()

    init(_ session: Session, _ adapter: Adapter, _ peer: PeerArgument, _ search: PeerSearch) {
        self.session = session
        self.adapter = adapter
        self.peer = peer
        self.search = search
        console = session.console
    }

    private enum Event: Sendable {
        case key(Key)
        case finished(goesOn: Bool)
        case keyboardGone
    }

    /// At a terminal: edits lines, runs them, and shows what comes in between.
    func runInteractively() async throws {
        try await connect()
        console.note("Tab completes, ‘help’ lists the commands, ^D ends")
        TerminalMode.begin(takesControlC: true, screen: false)
        let history = ShellHistory(state: session.state)
        let keyboard = Keyboard()
        let (events, sender) = AsyncStream<Event>.makeStream()
        let reading = Task {
            for await key in keyboard.keys { sender.yield(.key(key)) }
            sender.yield(.keyboardGone)
        }
        defer {
            reading.cancel()
            keyboard.stop()
            console.setInput(nil)
            TerminalMode.end()
        }
        var editor = LineEditor(history: history.load())
        var command: Task<Void, Never>?
        var waiting: [Key] = []
        show(editor)
        reading: for await event in events {
            switch event {
            case .keyboardGone: break reading
            case .finished(let goesOn):
                command = nil
                guard goesOn else { break reading }
                show(editor)
            case .key(.control("c")) where command != nil:
                waiting = []
                command?.cancel()
            case .key(let key): if waiting.count < LineEditor.historyLimit { waiting.append(key) }
            }
            while command == nil, !waiting.isEmpty {
                let words = words
                switch editor.press(waiting.removeFirst(), complete: words.completions) {
                case .edited: show(editor)
                case .cancelled:
                    leaveLine("^C")
                    show(editor)
                case .end:
                    leaveLine("")
                    break reading
                case .clear:
                    console.setInput(nil)
                    console.write(Array("\u{1B}[H\u{1B}[2J".utf8).span.bytes)
                    show(editor)
                case .choices(let choices):
                    leaveLine(String(editor.text))
                    console.explain(choices.joined(separator: "  "))
                    show(editor)
                case .line(let line):
                    leaveLine(line)
                    command = Task {
                        let goesOn = await perform(line)
                        sender.yield(.finished(goesOn: goesOn))
                    }
                }
            }
        }
        command?.cancel()
        await command?.value
        do throws(StateFileError) { try history.save(editor.history) } catch {
            console.note("the history was not kept: \(error)")
        }
    }

    /// From a pipe: each line in turn.
    /// - Throws: `Failure` at the end when a line failed.
    func runLines(_ input: StandardInput = StandardInput()) async throws {
        try await connect()
        var input = input
        while let line = await input.nextLine() {
            guard await perform(line) else { break }
        }
        if Task.isCancelled { return }
        if hasFailed {
            var failure = Failure("at least one command failed")
            failure.isInOutput = true
            throw failure
        }
    }

    /// Ends what runs beside the commands.
    func end() {
        for task in background { task.cancel() }
        background = []
        runner = nil
    }

    private var prompt: String { runner == nil ? "[not connected] > " : "[\(peerName)] > " }
    private var peerName: String { if case .name(let name) = peer { name.printable(limit: 32) } else { peer.text } }

    private func show(_ editor: LineEditor) {
        console.setInput(editor.shown(prompt: prompt, columns: TerminalMode.size.columns))
    }

    /// Leaves the typed line on the screen and continues below it.
    private func leaveLine(_ text: String) {
        console.setInput(nil)
        console.explain(prompt + text)
    }

    // MARK: Commands

    /// - Returns: `false` when the shell is to end.
    private func perform(_ line: String) async -> Bool {
        do {
            var words = try GATTScript.words(line[...])
            guard let first = words.first else { return true }
            let verb = ShellWords.otherNames[first] ?? first
            words[0] = verb
            switch verb {
            case "quit": return false
            case "help": console.explain(ShellWords.help(columns: TerminalMode.size.columns))
            case "connect":
                if runner != nil { throw Failure("the device is connected already") }
                try await connect()
            case "disconnect":
                try await connectedRunner.peripheral.disconnect()
            case "info": try await showInformation(connectedRunner.peripheral)
            case "wait": try await wait(words)
            case "unsubscribe":
                for target in try GATTScript.targets(words) { try await connectedRunner.unsubscribe(target) }
            case "read": for step in try GATTScript.steps(words) { try await connectedRunner.perform(step) }
            case "subscribe":
                let steps = try GATTScript.steps(words)
                try refuseForm(of: steps)
                // The device may send its first value before the subscription is printed.
                let counts = arrivals.restart()
                for step in steps {
                    if case .wait(let count, let duration, _) = step {
                        // What arrives is printed anyway.
                        try await wait(count: count, duration: duration, counts)
                    } else {
                        try await connectedRunner.perform(step)
                    }
                }
            default:
                guard ShellWords.verbs.contains(where: { $0.name == verb }) else {
                    let suggestion = Suggestion(for: first, among: ShellWords.verbs.map(\.name)).text
                    throw Failure("‘\(first)’ is not a command" + (suggestion.isEmpty ? "; see ‘help’" : suggestion))
                }
                for step in try GATTScript.steps(words) { try await connectedRunner.perform(step) }
            }
        } catch {
            hasFailed = true
            let failure = Failure(error)
            // ^C ended one command, not the shell.
            if failure.code == .interrupted, !Task.isCancelled || TerminalMode.isPossible {
                console.note("cancelled")
            } else {
                console.report(failure)
            }
        }
        return true
    }

    private var connectedRunner: GATTRunner {
        get throws {
            guard let runner else { throw Failure("the link has ended; ‘connect’ connects again", code: .linkLost) }
            return runner
        }
    }

    private func connect() async throws {
        end()
        let peripheral = try await session.connect(to: peer, through: adapter, search)
        let arrivals = arrivals
        let memory = await session.databaseMemory(of: peripheral, through: adapter)
        let runner = GATTRunner(peripheral, console: console, memory: memory) { arrivals.add() }
        self.runner = runner
        words = ShellWords()
        background = [
            Task { await self.printValues(runner) },
            Task {
                guard let contents = try? await peripheral.discoverContents() else { return }
                self.learn(contents, from: runner)
            },
        ]
        await session.remember(peer, of: peripheral, through: adapter)
    }

    private func learn(_ contents: [ServiceContents], from runner: GATTRunner) {
        if self.runner?.peripheral.link == runner.peripheral.link { words = ShellWords(contents) }
    }

    /// Prints what comes, until the link ends.
    private func printValues(_ runner: GATTRunner) async {
        do { try await runner.perform(.wait(count: nil, duration: nil)) } catch {
            let failure = Failure(error)
            guard failure.code != .interrupted, self.runner?.peripheral.link == runner.peripheral.link else { return }
            self.runner = nil
            console.note("\(failure.message); ‘connect’ connects again")
        }
    }

    private func wait(_ words: [String]) async throws {
        let steps = try GATTScript.steps(words)
        try refuseForm(of: steps)
        guard case .wait(let count, let duration, _)? = steps.first else { return }
        guard count != nil || duration != nil else { throw Failure("wait needs --count or --duration", status: .usage) }
        try await wait(count: count, duration: duration, arrivals.restart())
    }

    /// A form of values is for the output of one wait; here, what arrives is printed whether a command waits or not.
    private func refuseForm(of steps: [GATTStep]) throws {
        for case .wait(_, _, let form?) in steps {
            throw Failure(
                "the shell prints what arrives in the form of its characteristic; leave out --\(form.rawValue), or use "
                    + "it with ‘bletool gatt PEER subscribe’ or in a script", status: .usage)
        }
    }

    /// - Parameter counts: how many values have arrived since the command began.
    private func wait(count: Int?, duration: Duration?, _ counts: AsyncStream<Int>) async throws {
        let overdue = Failure(
            "fewer values than \(count ?? 0) arrived within \(duration?.secondsText ?? "") s", code: .timeout)
        do {
            try await withTimeout(duration, overdue: overdue) {
                guard let count else { return try await Task.sleep(for: .seconds(1_000_000_000)) }
                for await arrived in counts where arrived >= count { return }
                throw Failure.interrupted
            }
        } catch let failure as Failure where failure == overdue && count == nil {
            // The time that was asked for is over.
        }
    }

    private func showInformation(_ peripheral: Peripheral) async throws {
        let address = peripheral.address
        let (mtu, rssi, security) = (
            await peripheral.attMTU, try? await peripheral.readRSSI(), await peripheral.security
        )
        let encryption = security.map {
            $0.isEncrypted ? "encrypted\($0.isAuthenticated ? ", authenticated" : "")" : "not encrypted"
        }
        console.print(
            [
                "event": "link", "address": .string(address.addressText), "addressType": .string(address.kindText),
                "mtu": JSONValue(mtu), "rssi": JSONValue(rssi.flatMap { $0 == 127 ? nil : $0 }),
                "encrypted": JSONValue(security?.isEncrypted),
            ],
            text:
                "\(address.addressText) \(address.kindText)  MTU \(mtu)  \(rssi.map { "\($0) dBm" } ?? "RSSI unknown")  "
                + (encryption ?? "not encrypted"))
    }
}
