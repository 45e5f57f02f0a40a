import BLEPackets
import BLESecurity
import BLESimulator
import TestSupport

@testable import BLEHost

/// A central and a peripheral that pair: each side a host of one world with its link, its user and the values of a
/// service.
final class TwoHosts {
    enum Side: Int, CaseIterable { case central, peripheral }

    struct Settings {
        var central = SecuritySettings()
        var peripheral = SecuritySettings()
        var centralHasCryptoProvider = true
        var peripheralHasCryptoProvider = true
        var limits: [Side: HostLimits] = [:]
        var bearers: [Side: EnhancedBearerSettings] = [:]

        /// Who can show and type, so that there is a passkey.
        static var passkey: Settings {
            var settings = Settings()
            settings.central.pairing.ioCapability = .keyboardOnly
            settings.peripheral.pairing.ioCapability = .displayOnly
            settings.peripheral.pairing.requiresAuthentication = true
            return settings
        }
    }

    static let serviceUUID = BluetoothUUID(0xFF00 as UInt16)
    static let peripheralAddress = DeviceAddress(value: 0x00AA_0100_0002, kind: .public)
    static let centralAddress = DeviceAddress(value: 0x00AA_0100_0001, kind: .public)

    private let world = World()
    private var links: [Side: LinkID] = [:]
    private(set) var published: GATTPublishedService?
    /// What a side's user answers; `nil` leaves the question open.
    var answer: (Side, PairingQuestion.Kind) -> PairingAnswer? = { _, _ in nil }
    /// What becomes of an H4 packet that a side sends.
    var change: (Side, [UInt8]) -> [UInt8]? = { $1 }

    var now: Instant { world.now }
    var cryptoProvider: (any CryptoProvider)? {
        get { engine(.central).cryptoProvider }
        set { for side in Side.allCases { engine(side).cryptoProvider = newValue } }
    }

    init(_ settings: Settings = Settings(), bonds: [Side: [Bond]] = [:]) {
        for side in Side.allCases {
            let isCentral = side == .central
            var controller = SimulatedControllerConfiguration()
            controller.publicAddress = isCentral ? Self.centralAddress : Self.peripheralAddress
            var configuration = HostConfiguration(
                limits: settings.limits[side] ?? HostLimits(),
                hasCryptoProvider: isCentral ? settings.centralHasCryptoProvider : settings.peripheralHasCryptoProvider,
                security: isCentral ? settings.central : settings.peripheral)
            configuration.enhancedBearers = settings.bearers[side]
            _ = HostStation(world, configuration: configuration, controller: controller)
        }
        answer = { [unowned self] _, kind in
            switch kind {
            case .enterPasskey: .passkey(passkey ?? 0)
            case .compare, .consent: .confirm(true)
            case .replaceBond: .confirm(false)
            }
        }
        world.start()
        for side in Side.allCases {
            engine(side).react = { [unowned self] event in react(to: event, side) }
            engine(side).change = { [unowned self] packet in change(side, packet) }
            submit(.security(.restoreBonds(bonds[side] ?? [])), by: side)
        }
        publish()
    }

    func publish() {
        func characteristic(
            _ uuid: UInt16, _ permissions: AttributePermissions, _ properties: CharacteristicProperties = [.read],
            keySize: UInt8 = 0
        ) -> GATTCharacteristicDefinition {
            GATTCharacteristicDefinition(
                uuid: BluetoothUUID(uuid), properties: properties, permissions: permissions,
                value: properties.contains(.read) && !properties.contains(.notify) ? [UInt8(uuid & 0xFF)] : nil,
                minimumKeySize: keySize)
        }
        let service = GATTServiceDefinition(
            uuid: Self.serviceUUID,
            characteristics: [
                characteristic(0xFF01, [.readable]), characteristic(0xFF02, [.readable, .readEncryption]),
                characteristic(0xFF03, [.readable, .readAuthentication]),
                characteristic(0xFF04, [.readable], [.read, .notify]),
                characteristic(0xFF05, [.writeable], [.authenticatedSignedWrites]),
                characteristic(0xFF06, [.readable, .readEncryption], keySize: 16),
                characteristic(0xFF07, [.readable, .readAuthorization]),
            ])
        guard case .success(.published(let published))? = result(of: .server(.publish(service)), by: .peripheral) else {
            return
        }
        self.published = published
    }

    /// Of the characteristic 0xFF00 + number.
    func handle(_ number: Int) -> AttributeHandle { published!.characteristics[number - 1].valueHandle }
    func configuration(_ number: Int) -> AttributeHandle { published!.characteristics[number - 1].configuration }

    // MARK: Doing

    func engine(_ side: Side) -> HostStation { world.hosts[side.rawValue] }

    /// Advertises and connects; both sides then have their link.
    @discardableResult
    func connect() -> Bool {
        links = [:]
        submit(
            .radio(
                .advertise(
                    AdvertiseRequest(
                        .packed(localName: "x", serviceUUIDs: []), resumesAfterConnection: false))), by: .peripheral)
        submit(.radio(.connect(ConnectRequest(peer: Self.peripheralAddress))), by: .central)
        return run(for: .seconds(20)) { self.link(.central) != nil && self.link(.peripheral) != nil }
    }

    func disconnect() {
        if let link = link(.central) { submit(.link(link, .disconnect), by: .central) }
        run(for: .seconds(3))
    }

    func link(_ side: Side) -> LinkID? { links[side] }

    @discardableResult
    func submit(_ command: HostCommand, by side: Side) -> OperationID { engine(side).submit(command) }

    func result(
        of command: HostCommand, by side: Side, within span: Microseconds = .seconds(60)
    ) -> Result<HostResult, HostFailure>? { engine(side).result(of: command, within: span) }

    func result(of operation: OperationID, _ side: Side) -> Result<HostResult, HostFailure>? {
        engine(side).results(of: operation).first
    }

    func pair(by side: Side = .central, _ options: PairingOptions? = nil) -> Result<HostResult, HostFailure>? {
        guard let link = link(side) else { return nil }
        return result(of: .security(.pair(link, options)), by: side)
    }

    func gatt(_ operation: GATTOperation) -> Result<HostResult, HostFailure>? {
        guard let link = link(.central) else { return nil }
        return result(of: .link(link, .gatt(operation)), by: .central)
    }

    /// Pairs though there is a bond.
    func pairAnew(by side: Side = .central) -> Result<HostResult, HostFailure>? {
        pair(by: side, PairingOptions(replacesBond: true))
    }

    func read(_ number: Int) -> Result<HostResult, HostFailure>? { gatt(.read(handle(number))) }

    // MARK: Seeing

    func pairingEvents(_ side: Side) -> [PairingEvent] {
        engine(side).events.compactMap { if case .pairing(_, let event) = $0 { event } else { nil } }
    }

    func failures(_ side: Side) -> [SecurityFailure] {
        pairingEvents(side).compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
    }

    var passkey: UInt32? {
        for side in Side.allCases {
            for event in pairingEvents(side).reversed() {
                if case .displayPasskey(let number) = event { return number }
            }
        }
        return nil
    }

    func security(_ side: Side) -> LinkSecurity? {
        engine(side).events.reversed().lazy.compactMap {
            if case .encryptionChanged(_, let security) = $0 { security } else { nil }
        }.first
    }

    /// The bonds as a store that heard every event has them.
    func bonds(_ side: Side) -> [Bond] { engine(side).host.rooms.pairings.bonds.table.all }

    func forget() {
        for host in world.hosts { host.forget() }
    }

    // MARK: Time

    @discardableResult
    func run(for span: Microseconds, until isDone: () -> Bool = { false }) -> Bool {
        world.run(for: span, until: isDone)
    }

    private func react(to event: HostEvent, _ side: Side) -> HostCommand? {
        switch event {
        case .connected(let information, _), .centralConnected(let information): links[side] = information.id
        case .disconnected, .centralDisconnected: links[side] = nil
        case .pairing(_, .question(let question)):
            return answer(side, question.kind).map { .security(.answerPairing(question.id, $0)) }
        default: break
        }
        return nil
    }
}

extension HostStation {
    /// As if somebody had failed at passkey entry.
    func fail(_ peer: PairingGuard.Peer, _ role: LinkRole, at now: Instant) {
        withHost {
            _ = $0.rooms.pairings.attempts.failures.guessFailed(peer, PairingGuard.FailedEntry(role: role), at: now)
        }
    }
}
