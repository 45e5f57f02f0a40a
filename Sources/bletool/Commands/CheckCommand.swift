import ArgumentParser
import BLE
import BLEVirtualTransports

struct CheckCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Examine an adapter before you trust it.",
        // The parser would say that --with may be repeated.
        usage: "bletool check [--seconds <seconds>] [--with <transport>] [--pair] [--report <file>]",
        discussion: """
            Starts the controller, names its chip and its device, scans, resets it, scans again, and says what is weak \
            about it and what to do. With --with, a second adapter nearby is its counterpart: each hears the other's \
            advertising, they connect twice, and send data both ways. A line for each step: ok, weak, failed or \
            skipped; the last lines are the verdict. The exit status is 0 if the adapter is usable, 1 if not.

            Links of other programs end, as with every use of the adapter. Through bled, only what is harmless to its \
            other programs is done: no link, no advertising and no reset.

              bletool -t hci0 check
              bletool -t hci0 check --with hci1 --report hci0.md
              bletool -t sim:realtek-8761 check --with sim --seconds 3
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    static var trial: String { "bletool -t sim check" }

    @Option("How long to scan (default: 10).", "seconds") var seconds = Seconds(argument: "10")!

    @Option(
        help: ArgumentHelp(
            "The transport of a second adapter; beside a simulated one, sim or sim:PRESET. Presets: "
                + VirtualTransports.presetNames.joined(separator: ", ") + ".", valueName: "transport"),
        transform: GlobalOptions.transport)
    var with: [TransportAddress] = []

    private var second: TransportAddress? { with.first }

    @Flag(help: "Pair with the second adapter, too; nothing is stored.")
    var pair = false

    @Option(
        "Write a report without addresses, to attach to an issue.", "file", completion: .file(extensions: ["md"]))
    var report: String?

    func validate() throws {
        guard (0.1...3600).contains(seconds.value) else { throw ValidationError("--seconds is 0.1 to 3600.") }
        if with.count > 1 { throw ValidationError("--with is given twice: a check has one second adapter.") }
        if pair, with.isEmpty { throw ValidationError("--pair needs a second adapter: --with TRANSPORT.") }
        if let second, second == global.transport, !second.isSimulator {
            throw ValidationError("--with names the adapter of -t: name another one.")
        }
        if report == "-" {
            throw ValidationError("--report writes a file: name it, such as --report adapter.md.")
        }
        if report?.isEmpty == true { throw ValidationError("The value of --report is empty: name the file.") }
    }

    func run(in session: Session) async throws {
        let transport = try session.chosenTransport()
        if case .daemon = transport, second != nil {
            throw Failure(
                "a check through bled uses no second adapter, because it makes no links: stop bled, and name the adapter "
                    + "(-t hci0)", status: .usage)
        }
        let file = try report.map { try CheckReportFile($0) }
        let desk = CheckDesk(session.console)
        let learned = LearnedTraits()
        let check = CheckRun(
            session: session.on(transport), transport: transport, second: second.map { session.on($0).withoutFiles },
            pair: try simulatedPair(transport), duration: seconds.duration, pairs: pair, desk: desk, learned: learned)
        var isShared = false
        if case .daemon = transport { isShared = true }
        func conclude(isComplete: Bool) throws -> CheckVerdict {
            let verdict = CheckVerdict(
                desk.findings, traits: desk.information?.traits ?? [], at: transport, isShared: isShared,
                isComplete: isComplete)
            if isComplete { session.console.print(verdict.object, text: verdict.lines) }
            try file?.write(
                CheckReport(
                    findings: desk.findings, verdict: verdict, information: desk.information,
                    experience: learned.experience, transport: transport, hardware: transport.hardware,
                    isWithSecond: second != nil
                ).text)
            return verdict
        }
        do { try await check.run() } catch {
            // What was found until then is worth a report.
            if desk.findings.isEmpty { file?.release() } else { _ = try conclude(isComplete: false) }
            throw error
        }
        session.console.adapter = transport.adapterName
        let verdict = try conclude(isComplete: true)
        guard verdict.grade == .failed else { return }
        var failure = Failure("the adapter is \(verdict.text)")
        failure.isInOutput = true
        throw failure
    }

    /// Two simulated controllers must be on one air.
    private func simulatedPair(_ transport: TransportAddress) throws -> SimulatedPair? {
        guard let second, second.isSimulator || transport.isSimulator else { return nil }
        guard second.isSimulator, transport.isSimulator else {
            throw Failure("a simulated adapter and another one cannot hear each other", status: .usage)
        }
        do throws(TransportError) { return try SimulatedPair(transport, second) } catch {
            if case .notOffered = error {
                throw Failure(
                    "--with takes no scenario beside a simulated adapter, whose devices are those of -t: use sim or sim:PRESET",
                    status: .usage)
            }
            throw Failure.notOpened(error, isFile: true)
        }
    }
}
