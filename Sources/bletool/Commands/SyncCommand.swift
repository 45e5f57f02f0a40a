import ArgumentParser
import BLE
import BLEJSON
import BLEText

struct SyncCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Follow the periodic advertising of a device.",
        discussion: """
            Scans until the device's periodic advertising is found, and prints its data: a line for each packet. \
            ‘bletool lescan’ shows which devices have it. With --via, another device that is connected tells where to \
            find it. Runs until ^C unless --duration or --count is given.

              bletool sync C0:DE:00:00:00:01/random --count 3
              bletool sync Clock --sid 2 --changes
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Argument(help: "ADDRESS, ADDRESS/random or a name.")
    var peer: PeerArgument?

    @Option(help: ArgumentHelp("The Advertising SID, 0 to 15; by default the first that is heard.", valueName: "n"))
    var sid: UInt8?

    @Option(help: ArgumentHelp("How many packets may be skipped after each one, 0 to 499.", valueName: "n"))
    var skip: UInt16 = 0

    @Option(help: ArgumentHelp("After how long without a packet it is lost, 0.1 to 163.84 s.", valueName: "seconds"))
    var timeout: Seconds?

    @Flag(help: "Print data only when they change.")
    var changes = false

    @Flag(help: "Look for it on LE Coded, too.")
    var coded = false

    @Option(help: ArgumentHelp("Connect to this device, and follow what it transfers.", valueName: "peer"))
    var via: PeerArgument?

    @Option(parsing: .unconditional, help: ArgumentHelp("Stop after this many packets.", valueName: "n"))
    var count: Count?

    @Option(parsing: .unconditional, help: ArgumentHelp("Stop after this many seconds.", valueName: "seconds"))
    var duration: Seconds?

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard (peer == nil) != (via == nil) else {
            throw ValidationError("Name the device to follow, or with --via one that transfers; not both.")
        }
        if let sid, sid > 15 { throw ValidationError("--sid is 0 to 15.") }
        guard skip <= 499 else { throw ValidationError("--skip is 0 to 499.") }
        if let timeout, !(0.1...163.84).contains(timeout.value) {
            throw ValidationError("--timeout is 0.1 to 163.84 s.")
        }
    }

    private var options: TrainOptions {
        var options = TrainOptions()
        options.skip = skip
        if let timeout { options.timeout = .milliseconds(timeout.value * 1000) }
        options.reportsOnlyChanges = changes
        return options
    }

    func run(in session: Session) async throws {
        let command = self
        try await withDeadline(after: duration?.duration) { begin in
            try await session.withAdapter(adjusting: session.knowBonds) { adapter in
                begin()
                if let via = command.via {
                    try await command.followTransfers(of: via, through: adapter, session)
                } else {
                    let train = try await command.find(through: adapter, session.console)
                    guard try await command.follow(train, session.console) else { throw command.notHeard }
                }
            }
        }
    }

    /// Follows what a device transfers.
    private func followTransfers(of via: PeerArgument, through adapter: Adapter, _ session: Session) async throws {
        let console = session.console
        let peer: Peripheral
        do { peer = try await session.connect(to: via, through: adapter, connection.search) } catch {
            guard Task.isCancelled, !console.isInterrupted, let duration else { throw error }
            throw Failure(
                "\(via.text) was not connected within \(duration.duration.secondsText) s: --duration includes the time to "
                    + "find the device", code: .deviceNotReached)
        }
        let name = peer.address.addressText
        let train = try await adapter.receiveTrains(on: peer.link, options)
        console.print(
            ["event": "waiting", "address": .string(name)],
            text: "connected to \(name); waiting for what it transfers")
        do {
            if try await follow(train, console) { return }
        } catch BLEError.linkLost(let reason) {
            throw Failure(
                "the link to \(name) ended (\(reason)), and it transferred no periodic advertising that could be followed",
                code: .linkLost)
        }
        throw Failure(
            "\(name) stayed connected, but transferred no periodic advertising: it must follow or send some, and many "
                + "devices transfer it only when their app asks for it", code: .timeout)
    }

    /// Follows a train that the user has named, or scans until the device advertises one.
    private func find(through adapter: Adapter, _ console: Console) async throws -> Train {
        if case .address(let address)? = peer, let sid {
            return try await follow(.init(address: address, identifier: sid), through: adapter)
        }
        var scan = ScanRequest(isActive: false)
        scan.scansCodedPHY = coded
        for try await discovery in adapter.scan(scan) {
            guard let address = discovery.address, let identifier = discovery.advertisingSetIdentifier,
                discovery.periodicInterval != nil, sid == nil || sid == identifier, isPeer(discovery)
            else { continue }
            return try await follow(.init(address: address, identifier: identifier), through: adapter)
        }
        throw notHeard
    }

    private var notHeard: Failure {
        let name =
            switch peer {
            case .address(let address), .untypedAddress(let address): "of \(address.addressText)"
            case .name(let name): "of \(name.quoted())"
            case nil: ""
            }
        return Failure(
            "no periodic advertising \(name)\(sid.map { " with SID \($0)" } ?? "") was heard; "
                + "‘bletool lescan’ lists its interval where a device has it",
            code: .deviceNotReached)
    }

    private func follow(_ advertiser: TrainRequest.Advertiser, through adapter: Adapter) async throws -> Train {
        var request = TrainRequest([advertiser])
        request.options = options
        request.scansCodedPHY = coded
        return try await adapter.follow(request)
    }

    private func isPeer(_ discovery: Discovery) -> Bool {
        switch peer {
        case .address(let address): discovery.address?.withoutIdentityMark == address.withoutIdentityMark
        case .untypedAddress(let address): discovery.address?.value == address.value
        case .name(let name): name.isSameName(as: discovery.advertisingData.localNameWithoutPadding ?? "")
        case nil: false
        }
    }

    /// Prints what a train brings.
    /// - Returns: whether it was found.
    private func follow(_ train: Train, _ console: Console) async throws -> Bool {
        var printed = 0
        var last: [UInt8]?
        var wasHeard = false
        for try await event in train {
            switch event {
            case .synchronized(let information):
                wasHeard = true
                tell(information, console)
            case .lost(let address, let identifier):
                last = nil
                console.print(
                    Self.object("trainLost", address, identifier, []),
                    text: "\(address.addressText) \(address.kindText) SID \(identifier) is lost; looking for it again")
            case .report(let report):
                // Without the numbers of its data, the controller cannot tell what is new.
                if changes, last == report.data { continue }
                last = report.data
                tell(report, console)
                printed += 1
                if printed == count?.value { return true }
            }
        }
        if train.droppedCount > 0 {
            console.note("\(train.droppedCount) reports were lost because output was too slow")
        }
        return wasHeard
    }

    private func tell(_ information: TrainInformation, _ console: Console) {
        let interval = information.interval.milliseconds
        console.print(
            Self.object(
                "synchronized", information.advertiser, information.identifier,
                [
                    .init(key: "interval", value: .number(interval)),
                    .init(key: "phy", value: .string(information.phy.name)),
                    .init(key: "serviceData", value: information.serviceData.map { JSONValue($0) } ?? .null),
                ]),
            text: "following \(information.advertiser.addressText) \(information.advertiser.kindText) SID "
                + "\(information.identifier), every \(interval) ms, \(information.phy.name)")
    }

    private func tell(_ report: TrainReport, _ console: Console) {
        let data = Hexadecimal.text(report.data)
        console.print(
            Self.object(
                "train", report.advertiser, report.identifier,
                [
                    .init(key: "rssi", value: report.rssi == 127 ? .null : JSONValue(report.rssi)),
                    .init(key: "txPower", value: report.txPower.map { JSONValue($0) } ?? .null),
                    .init(key: "data", value: .string(data)),
                    .init(key: "truncated", value: .boolean(report.isTruncated)),
                ]),
            text: "\(report.advertiser.addressText) SID \(report.identifier)  "
                + "\(report.rssi == 127 ? "?" : String(report.rssi)) dBm  \(data)\(report.isTruncated ? "…" : "")")
    }

    private static func object(
        _ event: String, _ address: DeviceAddress, _ identifier: UInt8, _ members: [JSONValue.Member]
    ) -> JSONValue {
        .object(
            [
                .init(key: "event", value: .string(event)), .init(key: "address", value: .string(address.addressText)),
                .init(key: "addressType", value: .string(address.kindText)),
                .init(key: "sid", value: JSONValue(identifier)),
            ] + members)
    }
}

extension PHY {
    /// As the specification names it.
    var name: String {
        switch self {
        case .le1M: "LE 1M"
        case .le2M: "LE 2M"
        case .leCoded: "LE Coded"
        default: "PHY \(rawValue)"
        }
    }
}
