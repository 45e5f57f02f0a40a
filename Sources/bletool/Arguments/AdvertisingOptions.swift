import ArgumentParser
import BLE

/// How `serve` and `advertise` show themselves.
struct AdvertisingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The name to advertise, and to be read by who connects.", valueName: "name"))
    var name: String?

    @Flag(help: "Advertise like an app in the background: no name, services in the overflow area alone.")
    var background = false

    @Flag(help: "Send the overflow area, which bears Apple's company identifier.")
    var emitOverflow = false

    func contribution(_ services: [BluetoothUUID]) -> AdvertisingContribution {
        AdvertisingContribution(
            localName: name, serviceUUIDs: services, state: background ? .background : .foreground)
    }

    var settings: AdvertisingPackerSettings {
        AdvertisingPackerSettings(overflow: emitOverflow ? .on(company: OverflowArea.company) : .off)
    }

    /// Opens the adapter and advertises until ^C.
    func run(
        _ services: [BluetoothUUID], interval: AdvertisingInterval? = nil, profile: ServedProfile? = nil,
        pairing: PairingArguments? = nil, in session: Session
    ) async throws {
        let request = AdvertiseRequest(
            .packed(localName: name, serviceUUIDs: services), isInBackground: background, interval: interval)
        let packed = AdvertisingPacker.pack(contribution(services), settings: settings)
        let adjust: (inout AdapterConfiguration) throws -> Void = { configuration in
            if let pairing, session.rawAdapter == nil {
                try session.secure(&configuration, pairing: pairing.options, confirms: pairing.yes)
            }
            if let name { configuration.deviceName = name }
            configuration.advertising = settings
        }
        try await session.withAdapter(adjusting: adjust) { adapter in
            try await PeripheralRunner(adapter, console: session.console, request: request, packed: packed)
                .run(profile)
        }
    }
}
