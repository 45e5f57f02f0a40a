import BLEHost
import BLEPackets

@testable import BLEBlueZ

/// A service with a bus and a daemon that the test plays.
struct ServiceDriver {
    var service = BlueZService(BlueZSettings(hostName: "here"))
    var now = Instant(microseconds: 1)
    private var lastCall: UInt64 = 0
    /// What has come out, oldest first.
    var effects: [BlueZEffect] = []

    static let client = ":1.1"
    static let adapter = "/org/bluez/hci0"
    static let peer = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
    static let device = "/org/bluez/hci0/dev_C0_DE_00_00_00_01"

    /// A service with one adapter.
    static func ready() -> ServiceDriver {
        var driver = ServiceDriver()
        driver.handle(.adapterReady(AdapterDescription(number: 0, information: information)))
        driver.effects = []
        return driver
    }

    static var information: ControllerInformation {
        var information = ControllerInformation()
        information.publicAddress = DeviceAddress(value: 0x00AA_0100_0001, kind: .public)
        return information
    }

    mutating func handle(_ input: BlueZInput) {
        service.handle(input, at: now)
        take()
    }

    mutating func wait(seconds: Int64) {
        now = now.advanced(by: Microseconds(rawValue: seconds * 1_000_000))
        service.advance(to: now)
        take()
    }

    private mutating func take() { while let effect = service.nextEffect() { effects.append(effect) } }

    @discardableResult
    mutating func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        from client: String = Self.client, user: UInt32 = 0
    ) -> CallID {
        lastCall += 1
        let id = CallID(rawValue: lastCall)
        handle(
            .called(
                BusCall(
                    id: id, sender: client, user: user, path: path, interface: interface, member: member,
                    arguments: arguments)))
        return id
    }

    /// The error of a call; `nil` if it was not refused.
    func error(of call: CallID) -> BusError? {
        for case .refuse(call, let error) in effects { return error }
        return nil
    }

    func isAnswered(_ call: CallID) -> Bool {
        effects.contains {
            switch $0 {
            case .reply(call, _), .refuse(call, _): true
            default: false
            }
        }
    }

    /// The last command with a ticket, and the ticket.
    var lastCommand: (ticket: Ticket, command: HostCommand)? {
        for case .submit(_, let ticket, let command) in effects.reversed() { return (ticket, command) }
        return nil
    }

    mutating func complete(_ result: Result<HostResult, HostFailure>) {
        if let (ticket, _) = lastCommand { handle(.completed(0, ticket, result)) }
    }

    /// What came out, in short: `reply`, `refuse`, names of properties that changed, `+` and `-` with paths.
    var story: [String] {
        effects.flatMap { effect -> [String] in
            switch effect {
            case .reply: return ["reply"]
            case .refuse(_, let error): return [error.name]
            case .signal(let signal):
                switch signal.member {
                case "PropertiesChanged":
                    let names = signal.arguments[1].options?.map(\.name) ?? []
                    return [(names + (signal.arguments[2].texts ?? []).map { "!" + $0 }).joined(separator: " ")]
                case "InterfacesAdded": return ["+" + (signal.arguments[0].text ?? "")]
                default: return ["-" + (signal.arguments[0].text ?? "")]
                }
            default: return []
            }
        }
    }

    /// A report of the device.
    mutating func hears(_ address: DeviceAddress = Self.peer, rssi: Int8 = -50, data: [UInt8] = [2, 1, 6]) {
        handle(
            .event(
                0,
                .discovered(
                    Discovery(
                        scan: OperationID(rawValue: 1), client: .local, address: address, rssi: rssi,
                        isConnectable: true, isScannable: true, advertisement: data, scanResponse: [], txPower: nil,
                        isExtended: false, time: now))))
    }

    /// Finds the device, and connects.
    mutating func connect(_ link: LinkID) {
        call(Self.adapter, InterfaceName.adapter, "StartDiscovery")
        hears()
        call(Self.adapter, InterfaceName.adapter, "StopDiscovery")
        call(Self.device, InterfaceName.device, "Connect")
        let information = LinkInformation(
            id: link, peer: Self.peer, role: .central,
            parameters: ConnectionParameters(
                interval: .milliseconds(30), peripheralLatency: 0, supervisionTimeout: .milliseconds(4000)),
            attMTU: 23)
        handle(.event(0, .connected(information, .local)))
        complete(.success(.connected(link)))
    }

    /// The device connects as a central.
    mutating func comes(_ link: LinkID) {
        let information = LinkInformation(
            id: link, peer: Self.peer, role: .peripheral,
            parameters: ConnectionParameters(
                interval: .milliseconds(30), peripheralLatency: 0, supervisionTimeout: .milliseconds(4000)),
            attMTU: 23)
        handle(.event(0, .centralConnected(information)))
    }

    // MARK: What the device offers

    static let characteristic = device + "/service0001/char0002"

    /// Connects, and has the service find one characteristic.
    mutating func connect(_ link: LinkID, offering properties: CharacteristicProperties) {
        connect(link)
        resolve(offering: properties)
    }

    /// Answers everything that the service wants to know of the device.
    mutating func resolve(offering properties: CharacteristicProperties) {
        while let place = effects.firstIndex(where: { operation(of: $0) != nil }),
            let asked = operation(of: effects[place])
        {
            effects.remove(at: place)
            let result: GATTResult =
                switch asked.operation {
                case .exchangeMTU: .mtu(517)
                case .discoverServices:
                    .services([
                        DiscoveredService(
                            uuid: BluetoothUUID(UInt16(0x180D)), range: AttributeHandleRange(1, 4), isPrimary: true)
                    ])
                case .discoverIncludedServices: .includedServices([])
                case .discoverCharacteristics:
                    .characteristics([
                        DiscoveredCharacteristic(
                            handle: 2, valueHandle: 3, endHandle: 4, properties: properties,
                            uuid: BluetoothUUID(UInt16(0x2A37)))
                    ])
                case .discoverDescriptors:
                    .descriptors([DiscoveredDescriptor(handle: 4, uuid: .clientCharacteristicConfiguration)])
                default: .written
                }
            handle(.completed(0, asked.ticket, .success(.gatt(result))))
        }
    }

    /// The discoveries among the commands.
    private func operation(of effect: BlueZEffect) -> (ticket: Ticket, operation: GATTOperation)? {
        guard case .submit(_, let ticket, .link(_, .gatt(let operation))) = effect else { return nil }
        switch operation {
        case .exchangeMTU, .discoverServices, .discoverIncludedServices, .discoverCharacteristics,
            .discoverDescriptors:
            return (ticket, operation)
        default: return nil
        }
    }

    /// The last GATT operation that is wanted.
    var lastOperation: GATTOperation? {
        guard case .link(_, .gatt(let operation))? = lastCommand?.command else { return nil }
        return operation
    }

    /// The calls of clients' methods, with or without an answer.
    var requests: [BusRequest] {
        effects.compactMap {
            switch $0 {
            case .ask(_, let request), .tell(let request): request
            default: nil
            }
        }
    }

    /// Answers the last question.
    mutating func answer(_ answer: Result<[BusValue], BusError>) {
        for case .ask(let question, _) in effects.reversed() { return handle(.answered(question, answer)) }
    }
}
