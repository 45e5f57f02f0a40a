import ArgumentParser
import BLE

struct AdPackCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        abstract: "Pack a name and services into an advertisement as Core Bluetooth does.",
        discussion: """
            Services that do not fit are hashed into the overflow area, which serve and advertise send only with \
            --emit-overflow.

              bletool ad pack --name Lamp --service 180F --service 180D
              bletool ad pack --bthome temperature=21.5,humidity=50
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Option("The name.", "name") var name: String?

    @Option("A service; may be repeated.", "uuid") var service: [BluetoothUUID] = []

    @Flag(help: "Pack as for an app in the background.")
    var background = false

    @Option(
        help: ArgumentHelp("The flags, an octet in hexadecimal.", valueName: "hex"),
        transform: { text in
            guard let number = HexNumber(argument: text), let flags = UInt8(exactly: number.value) else {
                throw ValidationError("the flags are one octet: use a number in hexadecimal, 0 to ff")
            }
            return flags
        })
    var flags: UInt8?

    @OptionGroup(title: "Beacons") var beacons: BeaconArguments

    @Flag(help: "Pack a beacon for extended advertising, which has room for 1650 octets.")
    var extended = false

    func validate() throws {
        guard !beacons.isEmpty else {
            if extended { throw ValidationError("--extended is for beacons; add one, such as --bthome battery=80.") }
            return
        }
        if background { throw ValidationError("--background leaves a beacon no room; leave one of them out.") }
        if flags != nil { throw ValidationError("a beacon has flags of its own; leave --flags out.") }
    }

    func run(in session: Session) async throws {
        if !beacons.isEmpty {
            let output = PackedAdvertisementOutput(
                try BeaconAdvertisement(
                    name: name, services: service, beacons: try await beacons.data(), isExtended: extended
                ).packed)
            return session.console.print(output.json, text: output.text)
        }
        var settings = AdvertisingPackerSettings(overflow: .on(company: OverflowArea.company))
        if let flags { settings.flags = AdvertisingFlags(rawValue: flags) }
        let contribution = AdvertisingContribution(
            localName: name, serviceUUIDs: service, state: background ? .background : .foreground)
        let output = PackedAdvertisementOutput(AdvertisingPacker.pack(contribution, settings: settings))
        session.console.print(output.json, text: output.text)
    }
}
