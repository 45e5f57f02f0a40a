import ArgumentParser
import BLE

struct AdvertiseCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise",
        abstract: "Advertise without offering services.",
        discussion: """
            Runs until ^C, or for --duration seconds. What does not fit is omitted, or hashed into the overflow area with --emit-overflow; \
            ‘bletool ad pack’ shows the result beforehand.

              bletool advertise --name Lamp --service 180F
              bletool advertise --ibeacon e2c56db5-dffb-48d2-b060-d0f5a71096e0,1,2
              bletool advertise --eddystone-url https://example.com/
              bletool advertise --name Shed --bthome temperature=21.5,humidity=50
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup var advertising: AdvertisingOptions

    @Option("A service to advertise; may be repeated.", "uuid") var service: [BluetoothUUID] = []

    @Option("The advertising interval, 20 to 10240 ms.", "ms") var interval: Double?

    @Option("Stop after this many seconds.", "seconds", parsing: .unconditional) var duration: Seconds?

    func validate() throws {
        if let interval, !(20...10240).contains(interval) {
            throw ValidationError("The interval must be 20 to 10240 ms.")
        }
        if duration?.value == 0 { throw ValidationError("--duration must be greater than 0.") }
    }

    func run(in session: Session) async throws {
        try await advertising.run(
            service, interval: interval.map { .milliseconds($0) }, duration: duration?.duration, in: session)
    }
}
