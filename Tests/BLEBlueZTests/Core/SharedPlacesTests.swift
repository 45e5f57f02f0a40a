import BLEHost
import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("Places that users share")
struct SharedPlacesTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 1), generation: 1)

    @Test(
        "One user takes half, the next one half of the rest; who is trusted also the last one; each is given back once")
    func halves() {
        var places = SharedPlaces<Int>(32)
        var next = 0
        var counts: [Int] = []
        for user in 1...5 as ClosedRange<UInt32> {
            let before = next
            while places.hasRoom(for: user, isTrusted: false) {
                places.take(next, for: user)
                next += 1
            }
            counts.append(next - before)
        }
        #expect(counts == [16, 8, 4, 2, 1])
        #expect(!places.hasRoom(for: 6, isTrusted: false) || places.hasRoom(for: 6, isTrusted: true))
        places.take(next, for: 0)
        #expect(!places.hasRoom(for: 0, isTrusted: true))
        for _ in 0..<2 { places.leave(0) }
        #expect(places.hasRoom(for: 0, isTrusted: true) && !places.hasRoom(for: 1, isTrusted: false))
        for key in 0...next { places.leave(key) }
        #expect(places.hasRoom(for: 1, isTrusted: false))
    }

    private func connect(_ driver: inout ServiceDriver, _ number: Int, user: UInt32) -> CallID {
        let address = "C0:00:00:00:\(number / 90 + 10):\(number % 90 + 10)"
        let options = BusValue.properties([("Address", .string(address)), ("AddressType", .string("random"))])
        return driver.call(
            ServiceDriver.adapter, InterfaceName.adapter, "ConnectDevice", [options], from: ":\(user).\(number)",
            user: user)
    }

    private func connections(_ driver: ServiceDriver) -> Int {
        driver.effects.count { if case .submit(_, _, .radio(.connect)) = $0 { true } else { false } }
    }

    @Test("Connections that one user asks for without end are refused at once; others connect, and end their links")
    func connections() {
        var driver = ServiceDriver.ready()
        driver.connect(Self.link)
        driver.effects = []
        var calls: [CallID] = []
        for number in 0..<300 { calls.append(connect(&driver, number, user: 1000)) }
        #expect(connections(driver) == 16 && driver.service.devices.count == 17)
        let refused = calls.filter { driver.error(of: $0)?.text == "le-connection-concurrent-connection-limit" }
        #expect(refused == Array(calls[16...]))
        let end = driver.call(ServiceDriver.device, InterfaceName.device, "Disconnect", user: 1001)
        #expect(driver.lastCommand?.command == .link(Self.link, .disconnect))
        driver.handle(.event(0, .disconnected(Self.link, .local, reason: .releasedByClient)))
        #expect(driver.isAnswered(end))
        let again = driver.call(ServiceDriver.device, InterfaceName.device, "Connect", user: 1001)
        #expect(connections(driver) == 17)
        driver.complete(.failure(.controllerLost))
        #expect(driver.error(of: again) == .notReady)
        // What took too long gives its places back when the daemon has let it go.
        driver.wait(seconds: 21)
        var cancelled: [Ticket] = []
        for case .cancel(_, let ticket) in driver.effects { cancelled.append(ticket) }
        #expect(cancelled.count == 16)
        let early = connect(&driver, 301, user: 1000)
        #expect(driver.error(of: early) == .tooManyConnections)
        for ticket in cancelled { driver.handle(.completed(0, ticket, .failure(.cancelled))) }
        let late = connect(&driver, 302, user: 1000)
        #expect(!driver.isAnswered(late))
    }

    @Test("A connection is for the user who asked for it, also when it is tried again")
    func users() {
        var driver = ServiceDriver.ready()
        for user in [1000, 1001] as [UInt32] {
            _ = connect(&driver, Int(user), user: user)
            driver.complete(.failure(.connectionFailed(.connectionFailedToBeEstablished)))
            driver.wait(seconds: 1)
        }
        var named: [UInt32?] = []
        for case .submit(_, _, .radio(.connect(let request))) in driver.effects { named.append(request.user?.number) }
        #expect(named == [1000, 1000, 1001, 1001])
    }

    @Test("A connection that is tried again has one place")
    func retries() {
        var driver = ServiceDriver.ready()
        for round in 0..<100 {
            let call = connect(&driver, round, user: 1000)
            driver.complete(.failure(.connectionFailed(.connectionFailedToBeEstablished)))
            driver.wait(seconds: 1)
            driver.complete(.failure(.controllerLost))
            #expect(driver.error(of: call) == .notReady)
        }
    }

    @Test("Reads of a device that does not answer leave room for others")
    func reads() {
        var driver = ServiceDriver.ready()
        driver.connect(Self.link, offering: [.read, .notify])
        let read = { (driver: inout ServiceDriver, client: String, user: UInt32) in
            driver.call(
                ServiceDriver.characteristic, InterfaceName.characteristic, "ReadValue", [.properties([])],
                from: client, user: user)
        }
        var refused = 0
        for number in 0..<200 {
            let call = read(&driver, ":1.\(number)", 1000)
            if driver.error(of: call) == .tooManyRequests { refused += 1 }
        }
        #expect(refused == 120)
        let other = read(&driver, ":2.1", 1001)
        #expect(!driver.isAnswered(other))
        driver.complete(.success(.gatt(.value([7]))))
        #expect(driver.isAnswered(other) && driver.error(of: other) == nil)
    }

    @Test("With nearly no request left, operations on attributes end at once, and links still end")
    func nearlyNone() {
        var settings = BlueZSettings(hostName: "here")
        settings.requestsOfAll = 30
        var driver = ServiceDriver()
        driver.service = BlueZService(settings)
        driver.handle(.adapterReady(AdapterDescription(number: 0, information: ServiceDriver.information)))
        driver.connect(Self.link, offering: [.read, .notify])
        driver.effects = []
        let calls = (0..<60).map { _ in
            driver.call(
                ServiceDriver.characteristic, InterfaceName.characteristic, "ReadValue", [.properties([])])
        }
        let refused = calls.filter { driver.isAnswered($0) }
        #expect(refused.count >= 30 && refused.allSatisfy { driver.error(of: $0) == .inProgress("In Progress") })
        #expect(driver.effects.count { if case .refuse = $0 { true } else { false } } == refused.count)
        driver.call(ServiceDriver.device, InterfaceName.device, "Disconnect")
        #expect(driver.lastCommand?.command == .link(Self.link, .disconnect))
    }
}
