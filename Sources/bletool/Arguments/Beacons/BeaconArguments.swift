import ArgumentParser
import BLE
import BLESensors

/// What a beacon says, of `advertise`, `serve` and `ad pack`.
struct BeaconArguments: ParsableArguments {
    @Option(
        "Be an iBeacon: UUID,MAJOR,MINOR, and the signal at one metre in dBm behind it, by default -59.", "beacon")
    var ibeacon: IBeaconArgument?

    @Option("Be an AltBeacon: UUID,MAJOR,MINOR, with ,POWER or ,POWER,COMPANY behind it.", "beacon")
    var altbeacon: AltBeaconArgument?

    @Option("Send an address of the web, as Eddystone does; 17 octets behind https://.", "url")
    var eddystoneUrl: EddystoneURLArgument?

    @Option(
        "Send an identifier as Eddystone does: NAMESPACE,INSTANCE of 20 and 12 hexadecimal digits, and the signal at no distance in dBm behind it, by default -18.",
        "beacon")
    var eddystoneUid: EddystoneUIDArgument?

    @Option(
        help: ArgumentHelp(
            "Be a sensor of BTHome v2: NAME=VALUE,…, such as temperature=21.5,humidity=50; may be repeated.",
            discussion: "A unit may follow the number: distance=2m. A wrong name lists all of them.",
            valueName: "values"),
        transform: BTHomeArgument.parse)
    var bthome: [BTHomeArgument] = []

    /// The measurements of all `--bthome`.
    private var frame: BTHomeFrame? {
        bthome.isEmpty ? nil : BTHomeFrame(bthome.flatMap(\.measurements))
    }

    /// Whether one was asked for.
    var isEmpty: Bool {
        ibeacon == nil && altbeacon == nil && eddystoneUrl == nil && eddystoneUid == nil && bthome.isEmpty
    }

    /// The data, each with its option.
    /// - Parameter seal: encrypts the measurements; `nil` leaves them readable for everybody.
    /// - Throws: what `seal` throws.
    func data(
        sealedBy seal: ((BTHomeFrame) async throws -> BeaconData)? = nil
    ) async throws -> [(option: String, data: BeaconData)] {
        var all: [(option: String, data: BeaconData)] = []
        if let ibeacon { all.append(("--ibeacon", ibeacon.frame.data)) }
        if let altbeacon { all.append(("--altbeacon", altbeacon.frame.data)) }
        if let eddystoneUrl { all.append(("--eddystone-url", eddystoneUrl.frame.data)) }
        if let eddystoneUid { all.append(("--eddystone-uid", eddystoneUid.frame.data)) }
        if let frame { all.append(("--bthome", try await seal?(frame) ?? frame.data)) }
        return all
    }
}
