import ArgumentParser
import BLE

struct AdvertiseCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise",
        abstract: "Advertise without offering services.",
        discussion: """
            Runs until ^C. What does not fit is omitted, or hashed into the overflow area with --emit-overflow; \
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

    func validate() throws {
        guard let interval else { return }
        guard (20...10240).contains(interval) else { throw ValidationError("The interval must be 20 to 10240 ms.") }
    }

    func run(in session: Session) async throws {
        try await advertising.run(service, interval: interval.map { .milliseconds($0) }, in: session)
    }
}
