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
            find it; with --transfer-to, this side tells another device. Runs until ^C unless --duration or --count is \
            given.

              bletool sync C0:DE:00:00:00:01/random --count 3
              bletool sync Clock --sid 2 --changes
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Argument("ADDRESS, ADDRESS/random or a name; of several addresses, the first that is heard is followed.")
    var peer: [PeerArgument] = []

    @Option("The Advertising SID, 0 to 15; by default the first that is heard.", "n") var sid: UInt8?

    @Option("How many packets may be skipped after each one, 0 to 499 (default: 0).", "n") var skip: UInt16 = 0

    @Option("After how long without a packet it is lost, 0.1 to 163.84 s.", "seconds") var timeout: Seconds?

    @Flag(help: "Print data only when they change.")
    var changes = false

    @Flag(help: "Look for it on LE Coded, too.")
    var coded = false

    @Option("Receive this subevent of a train with responses, 0 to 127; may be repeated.", "n")
    var subevent: [UInt8] = []

    @Option(
        help: ArgumentHelp(
            "Respond to each packet of a train with responses in this slot.", valueName: "slot=hex"),
        transform: SlotArgument.init)
    var respond: SlotArgument?

    @Option("Connect to this device, and follow what it transfers.", "peer") var via: PeerArgument?

    @Option("Connect to this device and tell it how to follow the train as well.", "peer") var transferTo: PeerArgument?

    @Option("Stop after this many packets.", "n", parsing: .unconditional) var count: Count?

    @Option("Stop after this many seconds.", "seconds", parsing: .unconditional) var duration: Seconds?

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    func validate() throws {
        guard peer.isEmpty != (via == nil) else {
            throw ValidationError("Name the device to follow, or with --via one that transfers; not both.")
        }
        if via != nil, transferTo != nil { throw ValidationError("--via and --transfer-to exclude each other.") }
        if peer.count > 1 {
            guard sid != nil, addresses.count == peer.count else {
                throw ValidationError(
                    "Several devices are followed by their addresses, such as C0:DE:00:00:00:01/random, and --sid.")
            }
            guard peer.count <= 255 else { throw ValidationError("At most 255 devices can be named.") }
        }
        if let sid, sid > 15 { throw ValidationError("--sid is 0 to 15.") }
        guard skip <= 499 else { throw ValidationError("--skip is 0 to 499.") }
        guard subevent.count <= 128, subevent.allSatisfy({ $0 < 128 }) else {
            throw ValidationError("--subevent is 0 to 127.")
        }
        if let timeout, !(0.1...163.84).contains(timeout.value) {
            throw ValidationError("--timeout is 0.1 to 163.84 s.")
        }
    }

    /// The devices whose whole addresses are known.
    private var addresses: [DeviceAddress] {
        peer.compactMap { if case .address(let address) = $0 { address } else { nil } }
    }

    private var options: PeriodicSyncSettings {
        var options = PeriodicSyncSettings()
        options.skip = skip
        if let timeout { options.timeout = .milliseconds(timeout.value * 1000) }
        options.reportsOnlyChanges = changes
        if !subevent.isEmpty { options.subevents = subevent }
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
                    var receiver: Peripheral?
                    if let peer = command.transferTo {
                        receiver = try await command.connect(to: peer, through: adapter, session)
                    }
                    let waiting = WaitingNote(
                        "looking for the periodic advertising \(command.sought)", on: session.console)
                    defer { waiting.end() }
                    let train = try await command.find(through: adapter, session.console)
                    guard try await command.follow(train, session.console, receiver, waiting) else {
                        throw command.notHeard
                    }
                }
            }
        }
    }

    /// Connects to the device that transfers a train, or receives one.
    private func connect(
        to peer: PeerArgument, through adapter: Adapter, _ session: Session
    ) async throws -> Peripheral {
        do { return try await session.connect(to: peer, through: adapter, connection.search) } catch {
            guard Task.isCancelled, !session.console.isInterrupted, let duration else { throw error }
            throw Failure(
                "\(peer.text) was not connected within \(duration.duration.secondsText) s: --duration includes the time "
                    + "to find the device", code: .deviceNotReached)
        }
    }

    /// Follows what a device transfers.
    private func followTransfers(of via: PeerArgument, through adapter: Adapter, _ session: Session) async throws {
        let console = session.console
        let peer = try await connect(to: via, through: adapter, session)
        let name = peer.address.addressText
        let train = try await adapter.receivePeriodicSyncs(on: peer.link, options)
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
    private func find(through adapter: Adapter, _ console: Console) async throws -> PeriodicSync {
        if let sid, addresses.count == peer.count {
            return try await follow(addresses.map { .init(address: $0, identifier: sid) }, through: adapter)
        }
        var scan = ScanRequest(isActive: false)
        scan.scansCodedPHY = coded
        for try await discovery in adapter.scan(scan) {
            guard let address = discovery.address, let identifier = discovery.advertisingSetIdentifier,
                discovery.periodicInterval != nil, sid == nil || sid == identifier, isPeer(discovery)
            else { continue }
            return try await follow([.init(address: address, identifier: identifier)], through: adapter)
        }
        throw notHeard
    }

    /// Whose periodic advertising is looked for.
    private var sought: String {
        let name =
            switch peer.first {
            case .address(let address), .untypedAddress(let address): "of \(address.addressText)"
            case .name(let name): "of \(name.quoted())"
            case nil: ""
            }
        return name + (peer.count > 1 ? " or the others" : "") + (sid.map { " with SID \($0)" } ?? "")
    }

    private var notHeard: Failure {
        Failure(
            "no periodic advertising \(sought) was heard; "
                + "‘bletool lescan’ lists its interval where a device has it",
            code: .deviceNotReached)
    }

    private func follow(
        _ advertisers: [PeriodicSyncRequest.Advertiser], through adapter: Adapter
    ) async throws -> PeriodicSync {
        var request = PeriodicSyncRequest(advertisers)
        request.options = options
        request.scansCodedPHY = coded
        return try await adapter.follow(request)
    }

    private func isPeer(_ discovery: Discovery) -> Bool {
        switch peer.first {
        case .address(let address): discovery.address?.withoutIdentityMark == address.withoutIdentityMark
        case .untypedAddress(let address): discovery.address?.value == address.value
        case .name(let name): name.isSameName(as: discovery.advertisingData.localNameWithoutPadding ?? "")
        case nil: false
        }
    }

    /// Prints what a train brings.
    /// - Parameters:
    ///   - receiver: the device to which it is transferred.
    ///   - waiting: ends when it is found.
    /// - Returns: whether it was found.
    private func follow(
        _ train: PeriodicSync, _ console: Console, _ receiver: Peripheral? = nil, _ waiting: WaitingNote? = nil
    ) async throws -> Bool {
        var follower = TrainFollower(
            console, printsOnlyChanges: changes,
            receiver: receiver.map { peripheral in
                TrainFollower.Receiver(name: peripheral.address.addressText) {
                    try await train.transfer(to: peripheral.link)
                }
            },
            responder: respond.map { slot in
                TrainFollower.Responder(slot: slot) { response in try await train.respond(response) }
            })
        for try await event in train {
            if case .synchronized = event { waiting?.end() }
            try await follower.handle(event)
            if follower.printedCount == count?.value { return true }
        }
        if train.droppedCount > 0 {
            console.note("\(train.droppedCount) reports were lost because output was too slow")
        }
        return follower.wasHeard
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
