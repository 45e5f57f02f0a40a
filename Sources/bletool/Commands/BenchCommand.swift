import ArgumentParser
import BLE

struct BenchCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure throughput and round trips to a device that runs the same benchmark.",
        discussion: """
            The other device is bletool bench --serve, or bumble-bench of Google's Bumble, whose protocol this is. \
            Without --scenario, the central sends packets and then pings, and the peripheral receives and answers. \
            With Bumble as the peer, choose: send needs its receive, ping its pong.

              bletool -t hci0 bench --serve
              bletool -t hci1 bench Bench
              bletool -t hci1 bench Bench --channel --size 1000
              bletool bench F1:F1:F1:F1:F1:F1 --scenario ping --count 100
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    @Argument("The peripheral: ADDRESS, ADDRESS/random or a name. Omit it with --serve.") var peer: PeerArgument?

    @Flag(help: "Be the peripheral: advertise, and serve GATT and channels until ^C.")
    var serve = false

    @Flag(help: "With --serve: end after the first result.")
    var once = false

    @Option("With --serve: the name to advertise.", "name") var name = "Bench"

    @Option(help: "What this side does: send, receive, ping or pong.")
    var scenario: BenchScenario?

    @Flag(help: "Use an L2CAP channel instead of GATT.")
    var channel = false

    @Option("The SPSM of the channel (default: \(BenchPort.spsm)).", "number")
    var spsm = Number16(value: BenchPort.spsm)

    @Option("Octets of a packet, 10 to 8192; by default 500, or what fits.", "octets") var size: Int?

    @Option("Packets in a run; by default 500, and 100 of them to ping.", "number") var count: Int?

    @Option("Milliseconds from one packet to the next (default: 0).", "milliseconds") var pace = 0

    @Option("How long to wait for an acknowledgement (default: 30).", "seconds") var patience = Seconds(argument: "30")!

    @Flag(help: "Write with responses, which shows the round trips of GATT.")
    var withResponse = false

    func validate() throws {
        if serve, peer != nil { throw ValidationError("--serve waits for centrals: omit the peer.") }
        if !serve, peer == nil {
            throw ValidationError("Name the peripheral, or be one with --serve; ‘bletool help bench’ has examples.")
        }
        if once, !serve { throw ValidationError("--once needs --serve.") }
        if serve, withResponse { throw ValidationError("--with-response is for the central.") }
        if let size, !(BenchPacket.headerByteCount...8192).contains(size) {
            throw ValidationError("--size is 10 to 8192.")
        }
        if let count, !(1...1_000_000).contains(count) { throw ValidationError("--count is 1 to 1000000.") }
        if !(0...60_000).contains(pace) { throw ValidationError("--pace is 0 to 60000.") }
        if !(1...0xFF).contains(spsm.value) { throw ValidationError("--spsm is 1 to 255.") }
    }

    private func plan(_ scenario: BenchScenario?) -> BenchPlan {
        BenchPlan(size: size, count: count ?? (scenario == .ping ? 100 : 500), pace: pace, patience: patience.duration)
    }

    func run(in session: Session) async throws {
        let (console, scenario, plan) = (session.console, scenario, plan(scenario))
        guard let peer else {
            let (name, once, spsm) = (name, once, spsm.value)
            let adjust: (inout AdapterConfiguration) throws -> Void = { $0.deviceName = name }
            return try await session.withAdapter(adjusting: adjust) { adapter in
                try await BenchServer(
                    adapter: adapter, plan: plan, console: console, scenario: scenario, endsAfterFirst: once,
                    spsm: spsm
                ).run(name: name)
            }
        }
        let (search, usesChannel, spsm, withResponse) = (connection.search, channel, spsm.value, withResponse)
        let pings = self.plan(.ping)
        try await session.withAdapter { adapter in
            let peripheral = try await session.connect(to: peer, through: adapter, search)
            let port: BenchPort
            do {
                port =
                    usesChannel
                    ? .channel(try await peripheral.openChannel(spsm, BenchPort.channelSettings))
                    : try await .gatt(peripheral, withResponse: withResponse)
            } catch let error as BLEError {
                switch error {
                case .notFound, .channel(.refused(.spsmNotSupported)), .channel(.invalidAnswer):
                    throw Failure(
                        "\(peer.text) does not run the benchmark: start ‘bletool bench --serve’ there, or bumble-bench",
                        code: .attributeNotFound)
                default: throw error
                }
            }
            for scenario in scenario.map({ [$0] }) ?? [.send, .ping] {
                let run = BenchRun(port: port, plan: scenario == .ping ? pings : plan, console: console)
                let result = try await run.run(scenario)
                console.print(result.object(role: "central"), text: result.text)
                // The last acknowledgement must leave the controller before the link ends.
                if !scenario.isActive { try await Task.sleep(for: .milliseconds(300)) }
            }
        }
    }
}
