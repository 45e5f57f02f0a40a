import ArgumentParser
import BLE

struct ScanCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lescan",
        abstract: "Discover advertising devices.",
        discussion: """
            Prints a line for each device, and another when its data changes; with --duplicates, a line for each \
            packet. Scans until ^C unless --duration or --count is given.

              bletool lescan --duration 5
              bletool --json lescan --service 180D --rssi -70 --count 1
            """,
        aliases: ["scan"])

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Flag(help: "Do not request scan responses, so that the scan sends nothing.")
    var passive = false

    @Flag(help: "Report every packet, not only changes.")
    var duplicates = false

    @Option(parsing: .unconditional, help: ArgumentHelp("Stop after this many seconds.", valueName: "seconds"))
    var duration: Seconds?

    @Option(help: ArgumentHelp("Only devices that advertise this service; may be repeated.", valueName: "uuid"))
    var service: [BluetoothUUID] = []

    @Option(help: ArgumentHelp("Only devices with this name; case does not matter.", valueName: "name"))
    var name: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only devices with at least this RSSI, in dBm.", valueName: "min"))
    var rssi: Int8?

    @Option(parsing: .unconditional, help: ArgumentHelp("Stop after this many reports.", valueName: "n"))
    var count: Count?

    @OptionGroup var keys: DeviceKeyArguments

    var request: ScanRequest {
        ScanRequest(
            isActive: !passive, allowsDuplicates: duplicates, serviceUUIDs: service, minimumRSSI: rssi)
    }

    func run(in session: Session) async throws {
        let printer = ScanPrinter(
            console: session.console, request: request, keys: keys.sensorKeys, name: name, limit: count?.value)
        try await withDeadline(after: duration?.duration) { [duration] in
            try await session.reopening { adapter in
                let progress = ScanProgress.start(adapter, console: session.console, duration: duration?.duration)
                defer { progress?.cancel() }
                try await printer.print(adapter)
            }
        }
    }
}
