import BLEHost
import BLEPackets
import Testing

@testable import BLEBlueZ

/// Numbers that are the same in each run.
private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}

@Suite("Any inputs in any order")
struct ChanceTests {
    private static let characteristic = ServiceDriver.device + "/service0001/char0002"
    private static let clients = [":1.1", ":1.2", ":1.3"]
    private static let calls: [(path: String, interface: String, member: String)] = [
        (ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery"),
        (ServiceDriver.adapter, InterfaceName.adapter, "StopDiscovery"),
        (ServiceDriver.adapter, InterfaceName.adapter, "SetDiscoveryFilter"),
        (ServiceDriver.adapter, InterfaceName.adapter, "RemoveDevice"),
        (ServiceDriver.adapter, InterfaceName.adapter, "ConnectDevice"),
        (ServiceDriver.adapter, InterfaceName.gattManager, "RegisterApplication"),
        (ServiceDriver.adapter, InterfaceName.gattManager, "UnregisterApplication"),
        (ServiceDriver.adapter, InterfaceName.advertisingManager, "RegisterAdvertisement"),
        (ServiceDriver.adapter, InterfaceName.advertisingManager, "UnregisterAdvertisement"),
        (ServiceDriver.adapter, InterfaceName.monitorManager, "RegisterMonitor"),
        (ServiceDriver.adapter, InterfaceName.properties, "Set"),
        (ServiceDriver.device, InterfaceName.device, "Connect"),
        (ServiceDriver.device, InterfaceName.device, "Disconnect"),
        (ServiceDriver.device, InterfaceName.device, "Pair"),
        (ServiceDriver.device, InterfaceName.device, "CancelPairing"),
        (characteristic, InterfaceName.characteristic, "StartNotify"),
        (characteristic, InterfaceName.characteristic, "StopNotify"),
        (characteristic, InterfaceName.characteristic, "AcquireNotify"),
        (characteristic, InterfaceName.characteristic, "AcquireWrite"),
        (characteristic, InterfaceName.characteristic, "ReadValue"),
        (characteristic, InterfaceName.characteristic, "WriteValue"),
        ("/org/bluez", InterfaceName.agentManager, "UnregisterAgent"),
        (ServiceDriver.adapter, InterfaceName.monitorManager, "UnregisterMonitor"),
        ("/org/bluez", InterfaceName.agentManager, "RegisterAgent"),
        ("/org/bluez", InterfaceName.agentManager, "RequestDefaultAgent"),
        ("/", InterfaceName.objectManager, "GetManagedObjects"),
    ]

    private static func arguments(_ member: String, _ dice: inout Dice) -> [BusValue] {
        switch member {
        case "SetDiscoveryFilter":
            let options: [[(name: String, value: BusValue)]] = [
                [], [("RSSI", .int16(-60))], [("Nonsense", .byte(1))], [("UUIDs", .strings(["180D"]))],
            ]
            return [.properties(options.randomElement(using: &dice) ?? [])]
        case "RemoveDevice": return [.path(ServiceDriver.device)]
        case "ConnectDevice":
            return [
                .properties([("Address", .string("C0:DE:00:00:00:02")), ("AddressType", .string("random"))])
            ]
        case "RegisterApplication", "RegisterAdvertisement": return [.path("/app"), .properties([])]
        case "UnregisterApplication", "UnregisterAdvertisement", "RegisterMonitor", "UnregisterMonitor",
            "RequestDefaultAgent", "UnregisterAgent":
            return [.path("/app")]
        case "AcquireNotify", "AcquireWrite", "ReadValue": return [.properties([])]
        case "WriteValue": return [.octets([1]), .properties([("offset", .uint16(.random(in: 0...2, using: &dice)))])]
        case "RegisterAgent": return [.path("/app"), .string("")]
        case "Set":
            return [
                .string(InterfaceName.adapter), .string("Powered"), .variant(.boolean(.random(using: &dice))),
            ]
        default: return []
        }
    }

    private static let service = DiscoveredService(
        uuid: BluetoothUUID(UInt16(0x180D)), range: AttributeHandleRange(1, 4), isPrimary: true)
    private static let notifying = DiscoveredCharacteristic(
        handle: 2, valueHandle: 3, endHandle: 4, properties: [.read, .notify, .writeWithoutResponse],
        uuid: BluetoothUUID(UInt16(0x2A37)))

    private static let application = BusValue.dictionary(
        of: "oa{sa{sv}}",
        [
            .init(
                .path("/app/s"),
                .dictionary(
                    of: "sa{sv}",
                    [
                        .init(
                            .string(InterfaceName.service),
                            .properties([("UUID", .string("180D")), ("Primary", .boolean(true))]))
                    ]))
        ])

    private static func answer(_ request: BusRequest, _ dice: inout Dice) -> Result<[BusValue], BusError> {
        guard Int.random(in: 0..<4, using: &dice) > 0 else { return .failure(.doesNotExist) }
        switch request.member {
        case "GetManagedObjects": return .success([application])
        case "GetAll": return .success([.properties([("Type", .string("peripheral"))])])
        case "RequestPasskey": return .success([.uint32(123_456)])
        default: return .success([])
        }
    }

    @Test("Each call is answered exactly once, whatever happens meanwhile", arguments: 1...100)
    func calls(seed: UInt64) {
        var dice = Dice(state: seed)
        var driver = ServiceDriver.ready()
        var open: Set<CallID> = []
        var answered: Set<CallID> = []
        var tickets: [(ticket: Ticket, command: HostCommand)] = []
        var questions: [(id: QuestionID, request: BusRequest)] = []
        var links: [LinkID] = []
        var sockets: Set<SocketID> = []
        var hasAdapter = true
        var generation: UInt32 = 0

        func read() {
            for effect in driver.effects {
                switch effect {
                case .reply(let call, let values):
                    if case .descriptor(let socket)? = values.first { sockets.insert(socket) }
                    #expect(answered.insert(call).inserted, "\(call) was answered twice")
                    open.remove(call)
                case .refuse(let call, _):
                    #expect(answered.insert(call).inserted, "\(call) was answered twice")
                    open.remove(call)
                case .submit(_, let ticket, let command): tickets.append((ticket, command))
                case .ask(let id, let request): questions.append((id, request))
                case .closeSocket(let socket): #expect(sockets.remove(socket) != nil, "\(socket) was closed twice")
                default: break
                }
            }
            driver.effects = []
        }

        func end(_ place: Int) {
            let (ticket, command) = tickets.remove(at: place)
            guard Int.random(in: 0..<4, using: &dice) > 0 else {
                return driver.handle(.completed(0, ticket, .failure(.cancelled)))
            }
            switch command {
            case .radio(.connect(let request)):
                generation += 1
                let link = LinkID(handle: ConnectionHandle(rawValue: 1), generation: generation)
                links.append(link)
                let information = LinkInformation(
                    id: link, peer: request.peer, role: .central,
                    parameters: ConnectionParameters(
                        interval: .milliseconds(30), peripheralLatency: 0, supervisionTimeout: .milliseconds(4000)),
                    attMTU: 23)
                driver.handle(.event(0, .connected(information, .local)))
                driver.handle(.completed(0, ticket, .success(.connected(link))))
            case .security(.pair):
                let summary = PairingSummary(
                    identity: ServiceDriver.peer, isSecureConnections: true, isAuthenticated: false, keySize: 16,
                    isBonded: true)
                driver.handle(.completed(0, ticket, .success(.paired(summary))))
            case .radio(.advertiseSet):
                driver.handle(.advertisingSet(ticket, .started(transmitPower: 0)))
                tickets.append((ticket, command))
            case .link(_, .gatt(let operation)):
                let result: GATTResult =
                    switch operation {
                    case .discoverServices: .services([Self.service])
                    case .discoverIncludedServices: .includedServices([])
                    case .discoverCharacteristics: .characteristics([Self.notifying])
                    case .discoverDescriptors:
                        .descriptors([DiscoveredDescriptor(handle: 4, uuid: .clientCharacteristicConfiguration)])
                    case .subscribe: .subscribed
                    case .unsubscribe: .unsubscribed
                    case .read: .value([1])
                    default: .written
                    }
                driver.handle(.completed(0, ticket, .success(.gatt(result))))
            default: driver.handle(.completed(0, ticket, .success(.done)))
            }
        }

        for _ in 0..<2000 {
            switch Int.random(in: 0..<12, using: &dice) {
            case 0...4:
                let call = Self.calls.randomElement(using: &dice) ?? Self.calls[0]
                let client = Self.clients.randomElement(using: &dice) ?? Self.clients[0]
                open.insert(
                    driver.call(
                        call.path, call.interface, call.member, Self.arguments(call.member, &dice), from: client,
                        user: client == Self.clients[0] ? 0 : 1000))
            case 5, 6:
                if let place = tickets.indices.randomElement(using: &dice) { end(place) }
            case 7:
                if let place = questions.indices.randomElement(using: &dice) {
                    let (id, request) = questions.remove(at: place)
                    driver.handle(.answered(id, Self.answer(request, &dice)))
                }
            case 8:
                if let socket = sockets.min(by: { $0.rawValue < $1.rawValue }) {
                    driver.handle(Bool.random(using: &dice) ? .socketClosed(socket) : .socketReceived(socket, [1]))
                }
                driver.hears(rssi: .random(in: -90...(-30), using: &dice))
                if let link = links.last {
                    let value = GATTNotification(handle: 3, value: [1], isIndication: true, clients: [.local])
                    driver.handle(.event(0, .gatt(link, .notification(value))))
                }
            case 9:
                if let link = links.popLast() {
                    driver.handle(
                        .event(0, .disconnected(link, .local, reason: .controller(.remoteUserTerminatedConnection))))
                }
            case 10: driver.wait(seconds: .random(in: 0..<3, using: &dice))
            default:
                if Int.random(in: 0..<10, using: &dice) == 0 {
                    driver.handle(.clientLeft(Self.clients.randomElement(using: &dice) ?? Self.clients[0]))
                } else if Int.random(in: 0..<30, using: &dice) == 0 {
                    hasAdapter.toggle()
                    tickets = []
                    links = []
                    driver.handle(
                        hasAdapter
                            ? .adapterReady(AdapterDescription(number: 0, information: ServiceDriver.information))
                            : .adapterLost(0))
                }
            }
            read()
        }
        // In the end the daemon goes, and with it all that is open.
        driver.handle(.adapterLost(0))
        for _ in 0..<3 { driver.wait(seconds: 100) }
        read()
        #expect(open.isEmpty, "\(open) were never answered")
        #expect(sockets.isEmpty, "\(sockets) were never closed")
        #expect(driver.service.devices.isEmpty && driver.service.applications.isEmpty)
        #expect(!driver.service.works.values.contains { if case .socketWrite = $0 { true } else { false } })
        for client in Self.clients { driver.handle(.clientLeft(client)) }
        read()
        #expect(driver.service.clients.isEmpty && driver.service.questions.isEmpty)
    }
}
