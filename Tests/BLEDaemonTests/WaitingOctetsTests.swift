import BLE
import BLEHost
import BLEMessages
import BLEPackets
import Foundation
import Synchronization
import Testing

@testable import BLEDaemon

@Suite("Octets in requests that wait")
struct WaitingOctetsTests {
    private func operation(_ number: UInt64) -> OperationID { OperationID(rawValue: number) }
    private let one = ClientID(rawValue: 0x8000_0001)
    private let two = ClientID(rawValue: 0x8000_0002)

    @Test("they count for the tool and for its user until the request has ended, once")
    func count() {
        var waiting = WaitingOctets()
        waiting.began(operation(1), from: one, of: 1000, octets: 300)
        waiting.began(operation(2), from: two, of: 1000, octets: 200)
        waiting.began(operation(3), from: two, of: 1000, octets: 0)
        #expect(waiting.of(one) == 300 && waiting.of(two) == 200 && waiting.of(user: 1000) == 500)
        #expect(waiting.of(user: 1001) == 0)
        for _ in 0..<2 { waiting.ended(operation(1)) }
        waiting.ended(operation(3))
        #expect(waiting.of(one) == 0 && waiting.of(two) == 200 && waiting.of(user: 1000) == 200)
        waiting.ended(operation(2))
        #expect(waiting.of(user: 1000) == 0)
    }

    @Test("every long request counts, and many short values count with what each costs")
    func sizes() {
        let (handle, link) = (
            AttributeHandle(rawValue: 3), LinkID(handle: ConnectionHandle(rawValue: 1), generation: 1)
        )
        let value = [UInt8](repeating: 1, count: 400)
        let channel = ChannelID(link: link, number: 1)
        var scan = ScanRequest()
        scan.acceptList = [DeviceAddress](repeating: DeviceAddress(value: 1, kind: .public), count: 100)
        scan.name = String(repeating: "a", count: 100)
        var set = AdvertisingSetRequest(data: value)
        set.scanResponse = value
        let service = GATTServiceDefinition(
            uuid: "180D",
            characteristics: [
                GATTCharacteristicDefinition(uuid: "2A37", properties: .read, permissions: .readable, value: value)
            ])
        let uuids = [BluetoothUUID](repeating: "180D", count: 100)
        let long: [HostCommand] = [
            .link(link, .gatt(.write(handle, value: value))), .link(link, .gatt(.writeLong(handle, value: value))),
            .link(link, .gatt(.writeCommand(handle, value: value))),
            .link(link, .gatt(.writeSigned(handle, value: value))),
            .link(link, .gatt(.discoverServices(uuids: uuids))), .channel(.send(channel, value)),
            .server(.publish(service)), .radio(.scan(scan)), .radio(.advertiseSet(set)),
            .radio(.advertise(AdvertiseRequest(.packed(localName: nil, serviceUUIDs: uuids)))),
            .radio(.advertise(AdvertiseRequest(.raw(advertisement: value, scanResponse: [])))),
            .sendHCICommand(opcode: HCIOpcode(rawValue: 1), parameters: value),
        ]
        for command in long { #expect(command.waitingOctets >= 400, "\(command)") }
        let writes = [AttributeWrite](repeating: AttributeWrite(handle: handle, value: [1]), count: 1000)
        #expect(HostCommand.link(link, .gatt(.reliableWrite(writes))).waitingOctets >= 65_000)
        #expect(HostCommand.link(link, .gatt(.read(handle))).waitingOctets == 0)
        #expect(HostCommand.cancel(operation(1)).waitingOctets == 0)
    }

    @Test(
        "a request with which too many octets would wait is refused as beyond a limit, and accepted when others ended")
    func refused() throws {
        var limits = ClientLimits()
        limits.requestOctets = 10_000
        let stage = try DaemonStage(limits: limits)
        let client = try stage.connect()
        #expect(try client.isWelcome())
        let wanted = ScanRequest(serviceUUIDs: [BluetoothUUID](repeating: "180D", count: 200))
        func scan(_ number: UInt64) {
            client.request(number, .radio(.scan(wanted)))
        }
        // Each takes some 3,000 octets as long as it runs; the one that is refused ends first.
        for number in UInt64(1)...4 { scan(number) }
        #expect(try client.end(of: 4) == .failure(.limitReached))
        client.request(5, .cancel(operation(1)))
        _ = try client.end(of: 5)
        scan(6)
        scan(7)
        #expect(try client.end(of: 7) == .failure(.limitReached))
        // Another program has its own.
        let other = try stage.connect()
        #expect(try other.isWelcome())
        other.request(1, .radio(.scan(wanted)))
        other.request(2, .cancel(operation(1)))
        #expect(try other.end(of: 1) == .failure(.cancelled))
    }

    @Test("the engine is told which user each program belongs to, and when it has gone")
    func owners() throws {
        let users = Users()
        let stage = try DaemonStage { $0.adapter.recorder = users }
        var client: RawClient? = try stage.connect()
        #expect(try client?.isWelcome() == true)
        let told = users.all
        #expect(told.count == 1)
        #expect(told.first?.0 == ClientUser(geteuid(), isOperator: true))
        client = nil
        while !users.all.contains(where: { $0.0 == nil }) {
            let other = try stage.connect()
            #expect(try other.isWelcome())
        }
        #expect(users.all.contains { $0.0 == nil && $0.1 == told.first?.1 })
    }
}

/// The users of which an engine was told.
private final class Users: HostInputObserver {
    private let told = Mutex<[(ClientUser?, ClientID)]>([])

    var all: [(ClientUser?, ClientID)] { told.withLock { $0 } }

    func began(_ configuration: HostConfiguration) {}
    func observe(_ input: HostInput, at time: Instant) {
        if case .user(let user, let client) = input { told.withLock { $0.append((user, client)) } }
    }
    func observeSent(_ packet: RawSpan, at time: Instant) {}
}
