import BLEHost
import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("Values from acquired sockets")
struct SocketWriteTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 1), generation: 1)

    /// A device with one characteristic, which hangs: what is sent to it never ends.
    private struct Hanging {
        let path: String
        let link: LinkID
        var characteristic: String { path + "/service0001/char0002" }
    }

    /// Connects to devices that offer one characteristic each.
    private func connect(_ driver: inout ServiceDriver, _ count: Int) -> [Hanging] {
        (0..<count).map { number in
            let peer = DeviceAddress(value: 0xC0DE_0000_0100 + UInt64(number), kind: .random)
            let device = Hanging(
                path: ObjectPaths.device(peer, of: ServiceDriver.adapter),
                link: LinkID(handle: ConnectionHandle(rawValue: UInt16(number + 2)), generation: 1))
            driver.call(
                ServiceDriver.adapter, InterfaceName.adapter, "ConnectDevice",
                [.properties([("Address", .string(peer.addressText)), ("AddressType", .string("random"))])])
            driver.complete(.success(.connected(device.link)))
            driver.resolve(offering: [.read, .writeWithoutResponse])
            return device
        }
    }

    private func acquire(_ driver: inout ServiceDriver, _ path: String, user: UInt32) -> SocketID? {
        let call = driver.call(
            path, InterfaceName.characteristic, "AcquireWrite", [.properties([])], from: ":\(user).1", user: user)
        for case .reply(call, let values) in driver.effects {
            if case .descriptor(let socket)? = values.first { return socket }
        }
        return nil
    }

    /// Writes as long as the service reads, as the socket does.
    private func flood(_ driver: inout ServiceDriver, _ socket: SocketID) -> Int {
        var count = 0
        while count < 100, isRead(driver, socket) {
            driver.handle(.socketReceived(socket, [UInt8(count)]))
            count += 1
        }
        return count
    }

    private func isRead(_ driver: ServiceDriver, _ socket: SocketID) -> Bool {
        for case .setReading(socket, let isReading) in driver.effects.reversed() { return isReading }
        return true
    }

    private func sent(_ driver: ServiceDriver) -> [(ticket: Ticket, link: LinkID, value: [UInt8])] {
        driver.effects.compactMap {
            guard case .submit(_, let ticket, .link(let link, .gatt(.writeCommand(_, let value)))) = $0 else {
                return nil
            }
            return (ticket, link, value)
        }
    }

    @Test("One user's sockets on devices that hang leave others' sockets and reads their places; no value is lost")
    func shares() throws {
        var driver = ServiceDriver.ready()
        let devices = connect(&driver, 24)
        driver.effects = []
        var taken = 0
        for device in devices.prefix(22) {
            let socket = try #require(acquire(&driver, device.characteristic, user: 1000))
            taken += flood(&driver, socket)
        }
        // Half of the places, and one value of each socket that waits.
        #expect(sent(driver).count == 20)
        #expect(taken == 40)
        // Another user writes and reads, and so may the first one.
        let socket = try #require(acquire(&driver, devices[22].characteristic, user: 1001))
        #expect(flood(&driver, socket) == 8)
        #expect(sent(driver).filter { $0.link == devices[22].link }.map(\.value) == (0..<8).map { [$0] })
        for user in [1000, 1001, 1002] as [UInt32] {
            let read = driver.call(
                devices[23].characteristic, InterfaceName.characteristic, "ReadValue", [.properties([])],
                from: ":\(user).2", user: user)
            driver.complete(.success(.gatt(.value([7]))))
            #expect(driver.isAnswered(read) && driver.error(of: read) == nil)
        }
        // As values end, others follow: all of them, in their order.
        for _ in 0..<taken {
            for write in sent(driver) { driver.handle(.completed(0, write.ticket, .success(.gatt(.written)))) }
        }
        let values = sent(driver).filter { $0.link != devices[22].link }
        #expect(values.count == taken)
        for device in devices.prefix(22) {
            let own = values.filter { $0.link == device.link }.map(\.value)
            #expect(own == own.indices.map { [UInt8($0)] } && !own.isEmpty)
        }
        #expect(driver.service.adapters[0]?.waitingSockets == [] && driver.service.adapters[0]?.writesOfLinks == [:])
        #expect(driver.service.sockets.values.allSatisfy { !$0.isPaused && $0.pendingWrites == 0 })
    }

    @Test("A link that ends frees its sockets and their places; values that wait for it are sent to nobody")
    func ends() throws {
        var driver = ServiceDriver.ready()
        let devices = connect(&driver, 5)
        var sockets: [SocketID] = []
        for device in devices {
            let socket = try #require(acquire(&driver, device.characteristic, user: 1000))
            _ = flood(&driver, socket)
            sockets.append(socket)
        }
        let before = sent(driver)
        #expect(before.count == 20 && !isRead(driver, sockets[4]))
        driver.handle(.event(0, .disconnected(devices[4].link, .local, reason: .controller(.connectionTimeout))))
        driver.handle(.event(0, .disconnected(devices[0].link, .local, reason: .controller(.connectionTimeout))))
        #expect(driver.service.sockets.count == 3)
        for write in before { driver.handle(.completed(0, write.ticket, .failure(.notConnected))) }
        let after = sent(driver).dropFirst(before.count)
        #expect(!after.isEmpty && after.allSatisfy { $0.link != devices[0].link && $0.link != devices[4].link })
        for write in after { driver.handle(.completed(0, write.ticket, .success(.gatt(.written)))) }
        #expect(driver.service.adapters[0]?.waitingSockets == [] && driver.service.adapters[0]?.writesOfLinks == [:])
        _ = flood(&driver, sockets[1])
        driver.handle(.adapterLost(0))
        #expect(driver.service.sockets.isEmpty)
        #expect(!driver.service.works.values.contains { if case .socketWrite = $0 { true } else { false } })
    }
}
