import ArgumentParser
import BLE

/// Advertising options of `serve` and `advertise`.
struct AdvertisingOptions: ParsableArguments {
    @Option("The device name, in advertisements and for centrals that read it.", "name") var name: String?

    @Flag(help: "Advertise like an app in the background: no name, and services only in the overflow area.")
    var background = false

    @Flag(help: "Send the overflow area, which has Apple's company identifier.")
    var emitOverflow = false

    @Option(
        "Address only this bonded device, by directed advertising: ADDRESS, ADDRESS/random or a name, as "
            + "‘bletool bonds’ " + "lists it.", "peer")
    var directed: PeerArgument?

    @Option(
        help: ArgumentHelp(
            "How --directed advertises: low, until the device connects and again after each disconnection; high, at "
                + "the fastest rate for 1.28 s; "
                + "extended, like low with an extended advertisement.", valueName: "form"))
    var directedForm: DirectedForm?

    @Option(
        help: ArgumentHelp(
            "An advertising set of its own, such as name=Sensor,interval=500,phy=coded; may be repeated.",
            discussion: AdvertisingSetArgument.help, valueName: "set"),
        transform: AdvertisingSetArgument.request)
    var set: [AdvertisingSetRequest] = []

    @Flag(help: "Tell each device that connects how to follow the periodic advertising of the sets.")
    var transferTrains = false

    @OptionGroup(title: "Beacons") var beacons: BeaconArguments

    @OptionGroup(title: "Beacons") var beaconKey: BeaconKeyArguments

    @Flag(
        help:
            "Send the beacon with extended advertising, which has room for 1650 octets; older scanners do not receive it."
    )
    var extended = false

    enum DirectedForm: String, ExpressibleByArgument, CaseIterable {
        case low, high, extended

        var form: AdvertisingTarget.Form {
            switch self {
            case .low: .lowDutyCycle
            case .high: .highDutyCycle
            case .extended: .extended
            }
        }
    }

    func validate() throws {
        if directed == nil, directedForm != nil { throw ValidationError("--directed-form needs --directed.") }
        if transferTrains, !set.contains(where: { $0.train != nil }) {
            throw ValidationError("--transfer-trains needs a --set with periodic=….")
        }
        if beaconKey.isGiven, beacons.bthome.isEmpty {
            throw ValidationError("--key encrypts what --bthome says, and there is none; add --bthome NAME=VALUE.")
        }
        guard !beacons.isEmpty else {
            if extended { throw ValidationError("--extended is for beacons; for other data use --set data=….") }
            return
        }
        let other =
            if background { "--background" } else if emitOverflow { "--emit-overflow" } else if directed != nil {
                "--directed"
            } else { nil as String? }
        if let other { throw ValidationError("\(other) leaves a beacon no room; leave one of them out.") }
    }

    /// - Throws: `Failure` when there is no such bond.
    private func target(among known: () async throws -> [Bond]) async throws -> AdvertisingTarget? {
        guard let directed else { return nil }
        let bonds = try await known()
        guard let peer = try directed.bond(among: bonds)?.identity else {
            throw Failure("there is no bond with \(directed.text); see ‘bletool bonds’", code: .noBond)
        }
        return AdvertisingTarget(peer: peer, form: directedForm?.form ?? .lowDutyCycle)
    }

    func contribution(_ services: [BluetoothUUID]) -> AdvertisingContribution {
        AdvertisingContribution(
            localName: name, serviceUUIDs: services, state: background ? .background : .foreground)
    }

    var settings: AdvertisingPackerSettings {
        AdvertisingPackerSettings(overflow: emitOverflow ? .on(company: OverflowArea.company) : .off)
    }

    /// What the options change in the configuration of the adapter.
    func adjustment(
        pairing: PairingArguments?, isDirected: Bool, acceptsBearers: Bool, reportsAddressResolution: Bool,
        in session: Session
    ) throws -> (inout AdapterConfiguration) throws -> Void {
        let pairingOptions = try pairing?.options()
        let (name, settings) = (name, settings)
        return { configuration in
            if let pairing, session.rawAdapter == nil {
                try session.secure(&configuration, pairing: pairingOptions, confirms: pairing.yes)
            }
            if pairing == nil, isDirected { try session.secure(&configuration, pairing: nil, needsStore: true) }
            if let name { configuration.deviceName = name }
            configuration.advertising = settings
            configuration.reportsAddressResolution = reportsAddressResolution
            if acceptsBearers { configuration.enhancedBearers = EnhancedBearerSettings() }
        }
    }

    /// Opens the adapter and advertises until ^C.
    /// - Parameter duration: how long at most; `nil`: no limit.
    func run(
        _ services: [BluetoothUUID], interval: AdvertisingInterval? = nil, duration: Duration? = nil,
        profile: ServedProfile? = nil,
        pairing: PairingArguments? = nil, acceptsBearers: Bool = false,
        reportsAddressResolution: Bool = false, in session: Session
    ) async throws {
        let target = try await target(among: session.knownBonds)
        // With sets, the shared advertisement is sent only if something is asked of it.
        let isShared = set.isEmpty || !services.isEmpty || target != nil || profile == nil && name != nil
        let (sets, transfersTrains) = (set, transferTrains)
        if !beacons.isEmpty {
            return try await runBeacon(
                services, interval: interval, duration: duration, profile: profile, pairing: pairing,
                acceptsBearers: acceptsBearers, reportsAddressResolution: reportsAddressResolution, in: session)
        }
        guard !transfersTrains || isShared || sets.contains(where: \.isConnectable) else {
            let shared = profile == nil ? "--name or --service" : "--advertise"
            throw Failure(
                "--transfer-trains tells the devices that connect, and nothing here accepts connections; add a --set with "
                    + "connectable, or \(shared)", status: .usage)
        }
        if emitOverflow, case .daemon = try session.chosenTransport() {
            throw Failure(
                "--emit-overflow is for a controller of this program's own; through bled, only apps send the overflow area",
                status: .usage)
        }
        let request = AdvertiseRequest(
            .packed(localName: name, serviceUUIDs: services), isInBackground: background, interval: interval,
            target: target)
        var packed = AdvertisingPacker.pack(contribution(services), settings: settings)
        if let target {
            packed.scanResponse = []
            if target.form != .extended { packed.advertisement = [] }
        }
        let packedAdvertisement = packed
        let adjust = try adjustment(
            pairing: pairing, isDirected: target != nil, acceptsBearers: acceptsBearers,
            reportsAddressResolution: reportsAddressResolution, in: session)
        try await session.withAdapter(adjusting: adjust) { adapter in
            try await PeripheralRunner(
                adapter, console: session.console, request: isShared ? request : nil, packed: packedAdvertisement,
                sets: sets, transfersTrains: transfersTrains, duration: duration
            ).run(profile)
        }
    }
}
