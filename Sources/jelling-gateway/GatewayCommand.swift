import ArgumentParser
import BLE
import BLEGateway
import BLEStateFiles
import Glibc

/// The program's arguments. Its help and its manual page are generated from here.
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jelling-gateway",
        abstract: "From Bluetooth LE devices to an MQTT broker and Home Assistant.",
        discussion: """
            Scans on one or more adapters, decodes what sensors and beacons say, and publishes a JSON document for each \
            device and change:

              jelling-gateway -t user:0 --mqtt mqtt://localhost
              jelling-gateway -t sim --print
              jelling-gateway --config /etc/jelling-gateway.yaml
              jelling-gateway --mqtt mqtts://user@broker --mqtt-password-file /etc/jelling-gateway/password

            Topics: jelling/NAME/devices/ADDRESS, with the decoded values under "values", and jelling/NAME/status, \
            "online" or "offline". A Bluetooth proxy for Home Assistant is in the settings: esphome. Without -t, the gateway uses the controller of bled if it listens, otherwise the first \
            adapter through the HCI user channel. Messages wait on disk while the broker is away. SIGHUP, or a change \
            of the file, loads the configuration again. A password belongs in a file, also in the credential \
            "mqtt-password" of systemd: arguments can be read by other users. The exit status is 0 on success, 1 if the gateway failed, and \
            2 for wrong usage or configuration.
            """,
        version: gatewayVersion)

    @Option(
        name: [.customShort("t"), .long],
        help: ArgumentHelp(
            """
            An adapter: user:N, unix:PATH, tcp:HOST:PORT, uart:DEVICE@BAUD, usb[:VID:PID|:BUS-PORT], sim[:FILE], bled[:SOCKET]; may be repeated.
            """,
            valueName: "transport"))
    var transport: [String] = []

    @Option(help: ArgumentHelp("The broker, mqtt://[USER[:PASSWORD]@]HOST[:PORT] or mqtts://….", valueName: "url"))
    var mqtt: String?

    @Option(
        help: ArgumentHelp("A file with the password for the broker, read at each connection.", valueName: "file"))
    var mqttPasswordFile: String?

    @Option(help: ArgumentHelp("The gateway's name in topics; by default that of the machine.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("A file with settings, in YAML or JSON.", valueName: "file"))
    var config: String?

    @Flag(help: "Check the settings, and the files and addresses that they name, and do nothing else.")
    var check = false

    @Flag(help: "Print the documents, one in a line.")
    var print = false

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Stop after printing this many documents.", valueName: "n"),
        transform: NumberArgument.count)
    var count: Int?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Stop after this many seconds.", valueName: "seconds"),
        transform: NumberArgument.seconds)
    var duration: Double?

    @Flag(help: "Announce devices to Home Assistant.")
    var homeAssistant = false

    @Option(
        help: ArgumentHelp(
            "Serve the live page /live, /api, /events, /health and /metrics on a loopback address and port.",
            valueName: "address:port"))
    var http: String?

    @Option(help: ArgumentHelp("Where the queue and the bonds are kept.", valueName: "dir"))
    var state: String?

    func validate() throws {
        if count != nil, !print { throw ValidationError("--count needs --print.") }
    }

    func run() async throws {
        hidePassword()
        // Not in `validate`, which comes before the complaint about a mistyped --mqtt.
        let isSet = ["MQTT", "CONFIG"].contains { Self.environment("JELLING_GATEWAY_" + $0) != nil }
        if !print, !check, mqtt == nil, http == nil, config == nil, !isSet {
            Self.say(
                "error: nowhere to publish: name a broker with --mqtt mqtt://HOST, or use --print or --http to see the documents"
            )
            throw ExitCode(2)
        }
        let source = SettingsSource(arguments: self)
        let requests = check ? nil : ReloadRequests(settings: source.path)
        let (settings, review) = source.readAll()
        if !settings.isUsed, !print, review.problems.isEmpty { source.reportNoUse(review) }
        let checks = SettingsCheck(
            settings: settings, stateFolder: GatewayProgram.stateFolder(settings), review: review)
        if check { checks.checkAll() } else { checks.checkStart() }
        guard review.problems.isEmpty else {
            for line in WrongSettings(problems: review.problems).lines { Self.say("error: \(line)") }
            throw ExitCode(2)
        }
        guard let requests else { return Self.say("the settings are right") }
        let program = GatewayProgram(source: source, settings: settings, requests: requests, options: self)
        guard await program.run() else { throw ExitCode(1) }
    }

    private func hidePassword() {
        guard let mqtt, let password = BrokerURL.password(in: mqtt) else { return }
        let isHidden = VisibleArguments.hide(password, in: mqtt)
        Self.say(
            "warning: other users could read the password in --mqtt \(isHidden ? "until now" : "while this runs"), and "
                + "the shell may keep it; use --mqtt-password-file")
    }

    static func environment(_ name: String) -> String? {
        unsafe getenv(name).flatMap { unsafe $0.pointee == 0 ? nil : String(cString: $0) }
    }

    static func say(_ text: String) {
        let line = Array("jelling-gateway: \(text)\n".utf8)
        _ = unsafe write(2, line, line.count)
    }
}
