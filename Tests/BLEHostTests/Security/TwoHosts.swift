import BLEPackets
import BLESecurity
import BLESimulator

@testable import BLEHost

/// A central and a peripheral, two whole engines on one simulated air under one virtual clock.
final class TwoHosts {
    enum Side: Int, CaseIterable { case central, peripheral }

    struct Settings {
        var central = SecuritySettings()
        var peripheral = SecuritySettings()
        var centralHasToolbox = true
        var peripheralHasToolbox = true

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

    private let air = SimulatedAir()
    private let controllers: [SimulatedControllerID]
    private var hosts: [Engine]
    private(set) var now = Instant.zero
    private(set) var published: GATTPublishedService?
    var toolbox: any SecurityToolbox = CryptoToolbox()
    /// What a side's user answers; `nil` leaves the question open.
    var answer: (Side, PairingQuestion.Kind) -> PairingAnswer? = { _, _ in nil }
    /// What becomes of an H4 packet that a side sends.
    var change: (Side, [UInt8]) -> [UInt8]? = { $1 }

    /// An engine in a box: it cannot be copied into an array.
    final class Engine {
        var host: Host
        var events: [HostEvent] = []
        var link: LinkID?

        init(_ configuration: HostConfiguration) { host = Host(configuration: configuration) }
    }

    init(_ settings: Settings = Settings(), bonds: [Side: [Bond]] = [:]) {
        controllers = [Self.centralAddress, Self.peripheralAddress].map { [air] address in
            var configuration = SimulatedControllerConfiguration()
            configuration.publicAddress = address
            return air.addController(configuration)
        }
        hosts = Side.allCases.map {
            Engine(
                HostConfiguration(
                    hasToolbox: $0 == .central ? settings.centralHasToolbox : settings.peripheralHasToolbox,
                    security: $0 == .central ? settings.central : settings.peripheral))
        }
        answer = { [unowned self] _, kind in
            switch kind {
            case .enterPasskey: .passkey(passkey ?? 0)
            case .compare, .consent: .confirm(true)
            }
        }
        for side in Side.allCases {
            hosts[side.rawValue].host.transportOpened(at: now)
            settle()
            submit(.restoreBonds(bonds[side] ?? []), by: side)
        }
        run(for: .seconds(5)) { self.hosts.allSatisfy { $0.host.isReady } }
        publish()
    }

    private func publish() {
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
        guard case .success(.published(let published))? = result(of: .publish(service), by: .peripheral) else { return }
        self.published = published
    }

    /// Of the characteristic 0xFF00 + number.
    func handle(_ number: Int) -> AttributeHandle { published!.characteristics[number - 1].valueHandle }
    func configuration(_ number: Int) -> AttributeHandle { published!.characteristics[number - 1].configuration }

    // MARK: Doing

    func engine(_ side: Side) -> Engine { hosts[side.rawValue] }

    /// Advertises and connects; both sides then have their link.
    @discardableResult
    func connect() -> Bool {
        engine(.central).link = nil
        engine(.peripheral).link = nil
        submit(
            .advertise(
                AdvertiseRequest(
                    .packed(localName: "x", serviceUUIDs: []), resumesAfterConnection: false)), by: .peripheral)
        submit(.connect(ConnectRequest(peer: Self.peripheralAddress)), by: .central)
        return run(for: .seconds(20)) { self.link(.central) != nil && self.link(.peripheral) != nil }
    }

    func disconnect() {
        if let link = link(.central) { submit(.disconnect(link), by: .central) }
        run(for: .seconds(3))
    }

    func link(_ side: Side) -> LinkID? { engine(side).link }

    @discardableResult
    func submit(_ command: HostCommand, by side: Side) -> OperationID {
        let operation = engine(side).host.submit(command, at: now)
        settle()
        return operation
    }

    func result(
        of command: HostCommand, by side: Side, within span: Microseconds = .seconds(60)
    ) -> Result<HostResult, HostFailure>? {
        let operation = submit(command, by: side)
        run(for: span) { self.result(of: operation, side) != nil }
        return result(of: operation, side)
    }

    func result(of operation: OperationID, _ side: Side) -> Result<HostResult, HostFailure>? {
        for event in engine(side).events {
            if case .completed(operation, let result) = event { return result }
        }
        return nil
    }

    func pair(by side: Side = .central, _ options: PairingOptions? = nil) -> Result<HostResult, HostFailure>? {
        guard let link = link(side) else { return nil }
        return result(of: .pair(link, options), by: side)
    }

    func gatt(_ operation: GATTOperation) -> Result<HostResult, HostFailure>? {
        guard let link = link(.central) else { return nil }
        return result(of: .gatt(link, operation), by: .central)
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
    func bonds(_ side: Side) -> [Bond] { engine(side).host.bonds.all }

    func forget() {
        for engine in hosts { engine.events.removeAll() }
    }

    // MARK: Time

    @discardableResult
    func run(for span: Microseconds, until isDone: () -> Bool = { false }) -> Bool {
        let end = now.advanced(by: span)
        while !isDone() {
            var next = air.nextDeadlineMicroseconds.map { Instant(microseconds: $0) }
            for engine in hosts { next = earliest(next, engine.host.nextDeadline) }
            let moment = next.map { min($0, end) } ?? end
            let isOver = next.map { $0 > end } ?? true
            now = max(now, moment)
            air.advance(to: now.microseconds)
            for engine in hosts {
                if let deadline = engine.host.nextDeadline, deadline <= now { engine.host.advance(to: now) }
            }
            settle()
            if isOver { return isDone() }
        }
        return true
    }

    private func settle() {
        var progress = true
        while progress {
            progress = false
            for side in Side.allCases where settle(side) { progress = true }
        }
    }

    private func settle(_ side: Side) -> Bool {
        let engine = engine(side)
        var progress = false
        while let question = engine.host.nextToolboxQuestion() {
            progress = true
            engine.host.answer(question.id, with: toolbox.answer(question.request), at: now)
        }
        var packets: [[UInt8]] = []
        engine.host.drainPackets { packets.append($0.copied()) }
        for packet in packets {
            progress = true
            guard let packet = change(side, packet) else { continue }
            air.send(packet.span.bytes, to: controllers[side.rawValue], at: now.microseconds)
        }
        while let packet = air.nextPacket(from: controllers[side.rawValue]) {
            progress = true
            engine.host.receive(packet.span.bytes, at: now)
        }
        while let event = engine.host.nextEvent() {
            progress = true
            engine.events.append(event)
            handle(event, side, engine)
        }
        return progress
    }

    private func handle(_ event: HostEvent, _ side: Side, _ engine: Engine) {
        switch event {
        case .connected(let information, _): engine.link = information.id
        case .centralConnected(let information): engine.link = information.id
        case .disconnected, .centralDisconnected: engine.link = nil
        case .pairing(_, .question(let question)):
            guard let answer = answer(side, question.kind) else { return }
            _ = engine.host.submit(.answerPairing(question.id, answer), at: now)
        default: break
        }
    }
}
