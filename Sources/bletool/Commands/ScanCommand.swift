import ArgumentParser
import BLE

struct ScanCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lescan",
        abstract: "Discover advertising devices.",
        discussion: """
            On a terminal, a table of the devices: name, address, RSSI with its trend, when each was last heard, how \
            often it advertises, and what it offers. Keys sort and filter it; ? lists them, q ends the scan. Enter \
            connects to the chosen device and opens its page: services as a tree, values to read, write and subscribe \
            to; c there shows the command that does the same. Esc goes back to the table, and the link stays. Into a \
            pipe, and with --lines, --duplicates or --count, a line for each device, and another when its data \
            changes; with --duplicates, a line for each packet. Scans until ^C unless --duration or --count is given.

              bletool lescan --duration 5
              bletool --json lescan --service 180D --rssi -70 --count 1
            """,
        aliases: ["scan"])

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Flag(help: "Do not request scan responses, so that the scan sends nothing.")
    var passive = false

    @Flag(help: "Report every packet, not only changes.")
    var duplicates = false

    @Option("Stop after this many seconds.", "seconds", parsing: .unconditional) var duration: Seconds?

    @Option("Only devices that advertise this service; may be repeated.", "uuid") var service: [BluetoothUUID] = []

    @Option("Only devices with this name; case does not matter.", "name") var name: String?

    @Option("Only devices with at least this RSSI, in dBm.", "min", parsing: .unconditional) var rssi: Int8?

    @Option("Stop after this many reports.", "n", parsing: .unconditional) var count: Count?

    @Flag(help: "Scan on LE Coded, too, for devices of longer range.")
    var coded = false

    @Option(
        "Only this device, by its address or address/random; may be repeated. The controller filters if it can.",
        "address")
    var accept: [AddressArgument] = []

    @Flag(help: "Also report advertising directed to private addresses that cannot be resolved.")
    var unresolvedTargets = false

    func validate() throws {
        if accept.count > Int(UInt8.max) { throw ValidationError("--accept may be repeated at most 255 times.") }
        if let rssi, rssi > 20 {
            throw ValidationError("--rssi must be negative, for example --rssi -\(rssi).")
        }
        if let duration, duration.value == 0 { throw ValidationError("--duration must be greater than 0.") }
    }

    @Flag(help: "Print lines on a terminal too, instead of a table.")
    var lines = false

    @OptionGroup var keys: DeviceKeyArguments

    /// A person looks on, and asked for nothing that only lines can give.
    private func showsTable(on console: Console) -> Bool {
        !lines && !duplicates && count == nil && console.showsProgress && TerminalMode.isPossible
    }

    var request: ScanRequest {
        var request = ScanRequest(
            isActive: !passive, allowsDuplicates: duplicates, serviceUUIDs: service, minimumRSSI: rssi)
        request.scansCodedPHY = coded
        request.acceptList = accept.map(\.address)
        request.includesUnresolvedTargets = unresolvedTargets
        return request
    }

    func run(in session: Session) async throws {
        let duration = duration?.duration
        let keys = try keys.sensorKeys()
        let watch = ScanWatch(isShared: session.rawAdapter != nil)
        if showsTable(on: session.console) {
            let screen = ScanScreen(session, request: request, keys: keys, name: name, duration: duration)
            try await screen.run {
                try await withDeadline(after: duration) { begin in
                    try await session.reopening(watch: watch, preparing: screen.prepare) { adapter in
                        begin()
                        try await watch.counting(adapter) { try await screen.listen(adapter) }
                    }
                }
            }
            return try report(watch.trouble, on: session.console)
        }
        let printer = ScanPrinter(
            console: session.console, request: request, keys: keys, name: name, limit: count?.value)
        // A daemon or an adapter that is slow to open takes nothing of the time.
        try await withDeadline(after: duration) { begin in
            try await session.reopening(watch: watch) { adapter in
                begin()
                let progress = ScanProgress.start(adapter, console: session.console, duration: duration)
                defer { progress?.cancel() }
                try await watch.counting(adapter) { try await printer.print(adapter) }
            }
        }
        try report(watch.trouble, on: session.console)
        if let note = printer.emptyNote { session.console.note(note) }
    }

    /// Fails if no report came because the controller was not scanning. Who ends a scan at once has not waited for it.
    private func report(_ trouble: ScanTrouble?, on console: Console) throws {
        guard let trouble, !(trouble == .tooShort && console.isInterrupted) else { return }
        throw trouble.failure
    }
}
