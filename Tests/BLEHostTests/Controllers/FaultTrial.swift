import BLEPackets
import BLESimulator
import TestSupport

@testable import BLEHost

/// What a client wants of an engine whose controller has a fault.
enum ClientWish: String, CaseIterable, Sendable {
    case start, scan, connect, pair, notify, advertise
}

/// One command that a controller refuses or does not answer.
struct CommandFault: Equatable, CustomStringConvertible {
    var opcode: HCIOpcode
    /// `nil`: it is never answered.
    var status: HCIStatus?

    var description: String {
        "0x" + String(opcode.rawValue, radix: 16) + (status.map { " refused with \($0)" } ?? " not answered")
    }
}

/// One engine on a controller with a fault, beside a device that is well.
final class FaultTrial {
    enum Outcome: Equatable {
        case met
        case ended(HostFailure)
        /// Neither within the time.
        case open
    }

    static let limit: Microseconds = .seconds(60)
    private static let service = BluetoothUUID(0xFF00 as UInt16)

    let world = World()
    let device: HostStation
    let station: HostStation
    private(set) var opcodes: [HCIOpcode] = []
    private var published: GATTPublishedService?
    private var eventsSeen = 0

    init(
        controller: SimulatedControllerConfiguration = SimulatedControllerConfiguration(),
        configuration: HostConfiguration? = nil
    ) {
        var other = SimulatedControllerConfiguration()
        other.publicAddress = World.address(1)
        var own = controller
        own.publicAddress = own.publicAddress == nil ? nil : World.address(2)
        let fallback = DeviceAddress(value: 0xC0DE_0000_00AA, kind: .random)
        var engine =
            configuration ?? HostConfiguration(ownAddress: .automatic(fallback: fallback), hasCryptoProvider: true)
        engine.hasCryptoProvider = true
        device = HostStation(world, configuration: HostConfiguration(hasCryptoProvider: true), controller: other)
        station = HostStation(world, configuration: engine, controller: own)
        // `run` does it.
        station.reopensTransport = false
        station.change = { [unowned self] packet in
            if packet.first == H4PacketType.command.rawValue, packet.count > 2 {
                opcodes.append(HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8))
            }
            return packet
        }
        device.start()
        published = device.publish(
            GATTServiceDefinition(
                uuid: Self.service,
                characteristics: [
                    GATTCharacteristicDefinition(
                        uuid: BluetoothUUID(0xFF04 as UInt16), properties: [.read, .notify], permissions: [.readable],
                        value: nil)
                ]))
        device.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Well", serviceUUIDs: [])))))
    }

    func set(_ fault: CommandFault) {
        world.air.changeFaults(of: station.controller) {
            if let status = fault.status {
                $0.refusals = [.init(fault.opcode, status: status)]
            } else {
                $0.unansweredCommands = [fault.opcode]
            }
        }
    }

    /// Lets time pass, and reopens the transport when the engine asks for it.
    @discardableResult
    func run(for span: Microseconds, until isDone: () -> Bool) -> Bool {
        let end = world.now.advanced(by: span)
        while world.now < end {
            if world.run(for: .milliseconds(250), until: isDone) { return true }
            for event in station.events[eventsSeen...] {
                guard case .reopenTransport = event else { continue }
                station.apply(.transportClosed)
                world.air.reopenTransport(of: station.controller)
                station.apply(.transportOpened)
            }
            eventsSeen = station.events.count
        }
        return isDone()
    }

    private var failure: HostFailure? {
        for case .failed(let failure) in station.events { return failure }
        return nil
    }

    /// Opens the transport.
    func start() -> Outcome {
        station.apply(.transportOpened)
        run(for: Self.limit) { station.isReady || failure != nil }
        if let failure { return .ended(failure) }
        return station.isReady ? .met : .open
    }

    /// What becomes of a wish within the time.
    func outcome(of wish: ClientWish) -> Outcome {
        switch wish {
        case .start: return station.isReady ? .met : failure.map { .ended($0) } ?? .open
        case .scan:
            let scan = station.submit(.radio(.scan(ScanRequest())))
            return outcome(of: scan) { !station.discoveries.isEmpty }
        case .connect: return connect().outcome
        case .pair:
            let (first, link) = connect()
            guard first == .met, let link else { return first }
            let pairing = station.submit(.security(.pair(link, PairingOptions())))
            return outcome(of: pairing) {
                if case .success? = station.results(of: pairing).first { true } else { false }
            }
        case .notify:
            let (first, link) = connect()
            guard first == .met, let link, let characteristic = published?.characteristics.first else { return first }
            let subscription = station.submit(
                .link(
                    link,
                    .gatt(
                        .subscribe(
                            characteristic.valueHandle, configuration: characteristic.configuration,
                            mode: .notifications))))
            return outcome(of: subscription) {
                device.submit(.server(.updateValue(characteristic.valueHandle, value: [7], links: nil)))
                return station.events.contains { if case .gatt(_, .notification) = $0 { true } else { false } }
            }
        case .advertise:
            let advertising = station.submit(
                .radio(.advertise(AdvertiseRequest(.packed(localName: "Faulty", serviceUUIDs: [])))))
            guard let address = station.ownAddress else { return .open }
            device.submit(.radio(.connect(ConnectRequest(peer: address))))
            return outcome(of: advertising) { !station.centrals.isEmpty }
        }
    }

    private func connect() -> (outcome: Outcome, link: LinkID?) {
        let operation = station.submit(.radio(.connect(ConnectRequest(peer: device.address))))
        let outcome = outcome(of: operation) {
            if case .success? = station.results(of: operation).first { true } else { false }
        }
        return (outcome, station.links.last?.id)
    }

    private func outcome(of operation: OperationID, isMet: () -> Bool) -> Outcome {
        func end() -> HostFailure? {
            if case .failure(let failure)? = station.results(of: operation).first { failure } else { nil }
        }
        run(for: Self.limit) { isMet() || end() != nil }
        if isMet() { return .met }
        return end().map { .ended($0) } ?? .open
    }
}

extension HostFailure {
    /// Whether the failure names the command, in what its user gets to see.
    func names(_ opcode: HCIOpcode) -> Bool {
        switch self {
        case .controller(_, opcode), .commandTimeout(opcode), .controllerFault(.unanswered(opcode)),
            .controllerFault(.refused(_, opcode)):
            true
        case .controllerUnresponsive: opcode == Reset.opcode
        case .controllerFault(.noLowEnergy): opcode == LEReadLocalSupportedFeatures.opcode
        // “the link could not be encrypted”, with the controller's status.
        case .security(.encryptionFailed), .security(.refusedByUs), .security(.timedOut), .security(.linkLost):
            opcode == LEEnableEncryption.opcode
        default: false
        }
    }
}
