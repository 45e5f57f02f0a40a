import ArgumentParser
import BLE
import BLEJSON

struct LinkCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Watch the radio of a link: PHYs, power, path loss.",
        discussion: """
            Connects, prints how the link runs, and then what changes. Omits what a controller does not \
            support, or does not report within 2 s. Runs until ^C unless --duration is given.

              bletool link Lamp --phys 1m,2m --duration 10
              bletool link Lamp --path-loss 60-80 --avoid 0-10,36
              bletool link Lamp --subrate 4
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    @Option("Report when the path loss leaves these bounds or comes back: 2 to 253 dB, at least 4 apart.", "low-high")
    var pathLoss: PathLossBounds?

    @Option(
        "Encrypt with the bond's key (bletool pair), and report when no packet has proved the device's key for this "
            + "time, 0.01 to 655.35 s.", "seconds")
    var ping: Seconds?

    @Option("Data channels to keep off, such as 0-10,36.", "list") var avoid: ChannelList?

    @Option("Use one connection event in this many, 1 to 500, and one more after each that carried data.", "factor")
    var subrate: UInt16?

    @Option("Stop after this many seconds.", "seconds", parsing: .unconditional) var duration: Seconds?

    @Argument("ADDRESS, ADDRESS/random or a name.") var peer: PeerArgument

    func validate() throws {
        if let ping, !(0.01...655.35).contains(ping.value) {
            throw ValidationError("--ping takes 0.01 to 655.35 seconds.")
        }
        if let subrate, !(1...500).contains(subrate) { throw ValidationError("--subrate takes 1 to 500.") }
    }

    func run(in session: Session) async throws {
        let command = self
        func adjust(_ configuration: inout AdapterConfiguration) throws {
            try session.knowBonds(&configuration)
            configuration.timing.allowsSubrating = command.subrate != nil
        }
        try await session.withAdapter(adjusting: adjust) { adapter in
            if let avoid = command.avoid { try await adapter.useChannels(avoid.remaining) }
            let events = await adapter.events()
            let peripheral = try await session.connect(to: command.peer, through: adapter, command.connection.search)
            try await command.ask(for: peripheral, session.console)
            try await command.describe(peripheral, session.console)
            try await withDeadline(after: command.duration?.duration) {
                try await command.follow(events, of: peripheral, session.console)
            }
        }
    }

    // MARK: Asking

    /// How long the controller may take to report one thing. Some never send the event that belongs to a command, and
    /// the engine waits 40 s for it.
    private static let patience = Duration.seconds(2)
    /// The same for what the user asked for: it takes some connection events, which may be 4 s apart.
    private static let longPatience = Duration.seconds(15)

    /// Waits for what the controller reports, but not for long.
    @discardableResult
    private static func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTimeout(limit, overdue: Failure(BLEError.procedureTimeout), body)
    }

    /// Requests the reports; only those that the user asked for must be possible.
    private func ask(for peripheral: Peripheral, _ console: Console) async throws {
        try? await Self.within(Self.patience) { try await peripheral.reportTransmitPower(local: true, remote: true) }
        if let zones = pathLoss?.zones {
            try await Self.within(Self.longPatience) { try await peripheral.monitorPathLoss(zones: zones) }
        }
        if let subrate, let parameters = await peripheral.information?.parameters {
            let wanted = SubrateParameters(
                minimumFactor: subrate, maximumFactor: subrate, continuationNumber: min(1, subrate - 1),
                supervisionTimeout: parameters.supervisionTimeout)
            try await Self.within(Self.longPatience) { try await peripheral.setSubrate(wanted) }
        }
        if let ping {
            try await Self.within(Self.longPatience) { try await peripheral.encrypt() }
            try await Self.within(Self.longPatience) {
                try await peripheral.setAuthenticatedPayloadTimeout(ping.duration)
            }
        }
    }

    private func describe(_ peripheral: Peripheral, _ console: Console) async throws {
        guard let parameters = await peripheral.information?.parameters else {
            throw try await Self.end(of: peripheral)
        }
        async let measured = try? Self.within(Self.patience) { try await peripheral.readRSSI() }
        let phys = try? await Self.within(Self.patience) { try await peripheral.readPHY() }
        let phy = Self.powerPHY(phys?.transmit ?? .le1M)
        let peersPHY = Self.powerPHY(phys?.receive ?? .le1M)
        async let remote = try? Self.within(Self.patience) {
            try await peripheral.readRemoteTransmitPower(on: peersPHY)
        }
        let own = try? await Self.within(Self.patience) { try await peripheral.readTransmitPower(on: phy) }
        let (rssi, peers) = await (measured, remote)
        let strength = rssi.flatMap { $0 == 127 ? nil : $0 }
        var lines = [
            "address          \(peripheral.address.addressText) \(peripheral.address.kindText)",
            "parameters       \(LinkTexts.text(parameters))",
        ]
        if let phys { lines.append("PHY              \(phys.transmit.name) out, \(phys.receive.name) in") }
        if let strength { lines.append("RSSI             \(strength) dBm") }
        if let own { lines.append("own power        \(LinkTexts.text(own, maximum: own.maximum))") }
        if let peers { lines.append("device's power   \(LinkTexts.text(peers))") }
        console.print(
            [
                "event": "radio", "address": .string(peripheral.address.addressText),
                "addressType": .string(peripheral.address.kindText),
                "interval": .number(parameters.interval.milliseconds),
                "latency": JSONValue(parameters.peripheralLatency),
                "timeout": .number(parameters.supervisionTimeout.milliseconds),
                "transmitPHY": JSONValue(phys?.transmit.name), "receivePHY": JSONValue(phys?.receive.name),
                "rssi": strength.map { JSONValue($0) } ?? .null, "power": own?.level.map { JSONValue($0) } ?? .null,
                "maximumPower": own?.maximum.map { JSONValue($0) } ?? .null,
                "peersPower": peers?.level.map { JSONValue($0) } ?? .null,
            ], text: lines.joined(separator: "\n"))
    }

    /// LE Coded is sent with eight symbols for each bit unless a host asks for two.
    private static func powerPHY(_ phy: PHY) -> PowerPHY { PowerPHY(rawValue: phy.rawValue) }

    // MARK: Reports

    private func follow(_ events: AdapterEvents, of peripheral: Peripheral, _ console: Console) async throws {
        let link = peripheral.link
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                // The end of the time, or ^C, ends both tasks: neither order of theirs is an error.
                guard let end = try? await Self.end(of: peripheral) else { return }
                throw end
            }
            group.addTask {
                for try await event in events { Self.show(event, of: link, console) }
            }
            _ = try await group.next()
        }
    }

    /// Waits for the end of a link.
    /// - Returns: why it ended: the adapter's own error if the adapter has ended as well.
    /// - Throws: `CancellationError`.
    private static func end(of peripheral: Peripheral) async throws -> any Error {
        let reason = try await peripheral.waitForDisconnection()
        guard reason == .controllerLost else { return BLEError.linkLost(reason) }
        // Whatever is asked of an adapter that has ended is refused with the error that ended it.
        do {
            try await within(patience) { try await peripheral.readRSSI() }
        } catch let error as BLEError where error != .notConnected {
            return error
        } catch {
            // The controller was reset, and only its links are lost.
        }
        return BLEError.linkLost(reason)
    }

    private static func show(_ event: AdapterEvent, of link: LinkID, _ console: Console) {
        switch event {
        case .linkReport(link, let report): show(report, console)
        case .connectionParametersChanged(link, let parameters):
            console.print(
                [
                    "event": "parametersChanged", "interval": .number(parameters.interval.milliseconds),
                    "latency": JSONValue(parameters.peripheralLatency),
                    "timeout": .number(parameters.supervisionTimeout.milliseconds),
                ], text: LinkTexts.text(parameters))
        case .phyChanged(link, let transmit, let receive):
            console.print(
                ["event": "physChanged", "transmit": .string(transmit.name), "receive": .string(receive.name)],
                text: "\(transmit.name) out, \(receive.name) in")
        case .subrateChanged(link, let subrate):
            console.print(
                [
                    "event": "subrateChanged", "factor": JSONValue(subrate.factor),
                    "continuation": JSONValue(subrate.continuationNumber), "latency": JSONValue(subrate.latency),
                    "timeout": .number(subrate.supervisionTimeout.milliseconds),
                ], text: LinkTexts.text(subrate))
        case .linkReport, .connectionParametersChanged, .phyChanged, .recovering, .ready, .subrateChanged,
            .dataLengthChanged, .cleartextRefused:
            break
        }
    }

    private static func show(_ report: LinkReport, _ console: Console) {
        switch report {
        case .transmitPower(let power, let isPeers):
            console.print(
                [
                    "event": "transmitPower", "side": .string(isPeers ? "device" : "own"),
                    "power": power.level.map { JSONValue($0) } ?? .null, "least": .boolean(power.isLeast),
                    "greatest": .boolean(power.isGreatest),
                ], text: LinkTexts.text(report))
        case .pathLoss(let loss):
            console.print(
                [
                    "event": "pathLoss", "zone": .string("\(loss.zone)"),
                    "decibels": loss.decibels.map { JSONValue($0) } ?? .null,
                ], text: LinkTexts.text(report))
        case .unauthenticated: console.print(["event": "unauthenticated"], text: LinkTexts.text(report))
        }
    }
}

/// The bounds of the middle zone of path loss, such as `60-80`.
struct PathLossBounds: ExplainedArgument, Equatable, Sendable {
    var zones: PathLossZones

    init?(argument: String) {
        let parts = argument.split(separator: "-", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 2, let low = parts[0], let high = parts[1], low >= 2, high < 254, low + 4 <= high else {
            return nil
        }
        zones = PathLossZones(low: low, high: high)
    }

    static func mistake(in text: String) -> String {
        "use two numbers of decibels, 2 to 253 and at least 4 apart, such as 60-80"
    }
}

/// Data channels and ranges of them, such as `0-10,36`.
struct ChannelList: ExplainedArgument, Equatable, Sendable {
    /// The other channels, at least two.
    var remaining: ChannelMap

    init?(argument: String) {
        var map = ChannelMap.all.rawValue
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { UInt8($0) }
            guard 1...2 ~= ends.count, let first = ends[0], let last = ends[ends.count - 1], first <= last, last <= 36
            else { return nil }
            for channel in first...last { map &= ~(1 << UInt64(channel)) }
        }
        guard map.nonzeroBitCount >= 2 else { return nil }
        remaining = ChannelMap(rawValue: map)
    }

    static func mistake(in text: String) -> String {
        "use channels and ranges of them, 0 to 36, such as 0-10,36; two channels at least must remain"
    }
}
