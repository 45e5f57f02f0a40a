import ArgumentParser
import BLE

struct ServeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Be a peripheral with the services in a file, or a serial line.",
        discussion: """
            Runs until ^C and prints connections, reads, writes and subscriptions. Written values are kept while it \
            runs and sent to subscribers. The file is JSON; only uuid is required:

              {"services":[{"uuid":"180D","primary":true,"includes":["180F"],
                "characteristics":[{"uuid":"2A37","properties":["read","notify"],
                  "permissions":["readable"],"value":"0040","notifyEvery":1,
                  "descriptors":[{"uuid":"2901","value":"70756c7365"}]}]},
                {"uuid":"180F"}]}

            Properties are read, write, writeWithoutResponse, notify, indicate, broadcast, \
            authenticatedSignedWrites, notifyEncryptionRequired and indicateEncryptionRequired; permissions are readable, writeable, \
            readEncryptionRequired and writeEncryptionRequired; without a list, everybody has the access that the \
            properties name. Centrals may pair; bonds, with the subscriptions of each central, are kept in the state \
            folder.

              bletool serve --profile heart.json --name Heart --advertise 180D
              bletool serve --profile lock.json --io display --mitm
              bletool serve --profile heart.json --bthome battery=80

            With --serial it has a UART service in place of a file. What a central writes goes to standard output, or to \
            the program at --pty or --listen, and what that sends goes to the central; it ends with that program.

              bletool serve --serial --name Port --pty /tmp/port
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup var advertising: AdvertisingOptions

    @Option("The services, as JSON.", "file", completion: .file(extensions: ["json"])) var profile: String?

    @Flag(help: "Be a serial line, with a UART service.")
    var serial = false

    @OptionGroup(title: "With --serial") var line: SerialOptions

    @Option("A service to advertise; may be repeated.", "uuid") var advertise: [BluetoothUUID] = []

    @Flag(help: "Accept enhanced bearers (EATT) from paired centrals.")
    var eatt = false

    @Flag(
        help: ArgumentHelp(
            "Say in the Generic Access service that this device resolves private addresses (2AA6)."))
    var addressResolution = false

    @OptionGroup var pairing: PairingArguments

    func validate() throws {
        guard serial != (profile != nil) else {
            throw ValidationError(
                serial
                    ? "--serial has a service of its own: leave out --profile."
                    : "Name the services with --profile FILE, or be a serial line with --serial.")
        }
        if line.isGiven, !serial { throw ValidationError("--uart, --pty and what belongs to them need --serial.") }
        guard !pairing.givesPasskey || pairing.mitm else {
            throw ValidationError(
                "--passkey needs --mitm: without it, devices pair without a passkey, and a fixed passkey is only "
                    + "given away. Use --io display --mitm --passkey N, or omit --passkey for a new number at each "
                    + "pairing.")
        }
    }

    func run(in session: Session) async throws {
        guard let profile else { return try await serveLine(in: session) }
        let served: ServedProfile
        let bytes = try TextFile.bytes(of: profile)
        do { served = try ServedProfile(bytes) } catch let failure as Failure {
            throw Failure("‘\(profile)’: \(failure.message)", status: .usage)
        }
        var advertising = advertising
        if advertising.name == nil { advertising.name = served.name }
        try await advertising.run(
            advertise, profile: served, pairing: pairing, acceptsBearers: eatt,
            reportsAddressResolution: addressResolution, in: session)
    }

    private func serveLine(in session: Session) async throws {
        let (console, options, profile) = (session.console, line, line.profile)
        let name = advertising.name ?? "Jelling"
        let end = try options.open(console)
        let line = SerialLine(console: console, end: end, linger: options.linger.duration)
        let adjust = try advertising.adjustment(
            pairing: pairing, isDirected: false, acceptsBearers: eatt, reportsAddressResolution: addressResolution,
            in: session)
        do {
            try await session.withAdapter(
                adjusting: {
                    try adjust(&$0)
                    $0.deviceName = name
                },
                { adapter in
                    let server = SerialServer(adapter: adapter, line: line, profile: profile, chunk: options.chunk)
                    try await line.run(ready: { console.reportReady(end, name: name) }) {
                        do {
                            try await server.run(SerialServer.advertisement(of: profile.service, name: name))
                        } catch {
                            // ^C may come before anything is advertised.
                            if !Task.isCancelled { throw error }
                        }
                    }
                })
        } catch {
            end.close()
            throw error
        }
    }
}
