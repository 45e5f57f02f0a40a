import BLEPackets
import Testing

@testable import BLEHost

/// Who is looked for while the controller cannot look for all.
@Suite("Turns of those who wait for connections")
struct ConnectionTurnsTests {
    private var connector = Connector()
    private var now = Instant(microseconds: 1_000_000)
    private var lastOperation: UInt64 = 0

    /// Clients of one user, each of which waits for absent devices.
    private mutating func crowd(owner: UInt32 = 1000, clients: Int = 30, devices: Int = 30) {
        for client in 0..<clients {
            for device in 0..<devices {
                add(
                    Int(owner) * 10_000 + client * devices + device, client: Int(owner) * 100 + client,
                    ClientUser(owner))
            }
        }
    }

    private mutating func add(_ peer: Int, client: Int, _ user: ClientUser) {
        lastOperation += 1
        connector.add(
            ConnectRequest(peer: HostRig.peer(peer)), operation: OperationID(rawValue: lastOperation),
            client: ClientID(rawValue: UInt32(client)), user: user)
    }

    /// The devices that are looked for.
    private mutating func window(
        _ size: Int = 8, _ policy: HostConfiguration.PendingConnectionPolicy = .acceptList
    ) -> [DeviceAddress] {
        switch connector.plan(
            timing: .gateway, policy: policy, acceptListSize: size, onSight: false, at: now)
        {
        case .directed(let peer, _): [peer]
        case .acceptList(let peers, _): peers
        case nil: []
        }
    }

    private mutating func pass(_ span: Microseconds = .seconds(11)) { now = now.advanced(by: span) }

    @Test("a device of another user is looked for at once, and in each turn, beside 900 absent ones of one user")
    mutating func besideCrowd() {
        crowd()
        #expect(window().count == 8)
        pass(.milliseconds(100))
        add(1, client: 1, ClientUser(1001))
        for _ in 0..<20 {
            let sought = window()
            #expect(sought.count == 8 && sought.contains(HostRig.peer(1)))
            pass()
        }
    }

    @Test("users have the same number of places, as far as they wait for so many devices")
    mutating func equalPlaces() {
        crowd()
        for peer in 1...6 { add(peer, client: 1, ClientUser(1001)) }
        add(7, client: 2, ClientUser(1002))
        let others = (1...6).map { HostRig.peer($0) }
        for _ in 0..<5 {
            let sought = window()
            #expect(sought.contains(HostRig.peer(7)))
            #expect((3...4).contains(sought.count { others.contains($0) }))
            pass()
        }
    }

    @Test("where only one device can be looked for, users take turns", arguments: [true, false])
    mutating func oneByOne(isDirected: Bool) {
        crowd()
        add(1, client: 1, ClientUser(1001))
        var turns = 0
        for _ in 0..<10 {
            let sought = isDirected ? window(8, .directedTurns(.seconds(5))) : window(1)
            if sought == [HostRig.peer(1)] { turns += 1 }
            pass()
        }
        #expect(turns == 5)
    }

    @Test("a user who asks anew in each turn gets no more turns than another")
    mutating func newcomersAgain() {
        crowd(clients: 1, devices: 5)
        add(1, client: 1, ClientUser(1001))
        var turns = 0
        for round in 0..<12 {
            if window(1) == [HostRig.peer(1)] { turns += 1 }
            pass()
            // All that the first user waits for is new.
            for operation in UInt64(1)...lastOperation where operation != 6 {
                _ = connector.remove(OperationID(rawValue: operation))
            }
            for device in 0..<5 {
                add(20_000_000 + 10 * round + device, client: 100_000 + round, ClientUser(1000))
            }
        }
        #expect((5...7).contains(turns), "\(turns)")
    }

    @Test("an operator's new device is looked for at once, also if each user has one place; later it takes its turn")
    mutating func operatorsFirst() {
        for user in 0..<12 { crowd(owner: UInt32(1000 + user), clients: 1, devices: 3) }
        #expect(window().count == 8)
        add(1, client: 1, ClientUser(1, isOperator: true))
        #expect(window().contains(HostRig.peer(1)))
        var missing = 0
        for _ in 0..<13 {
            pass()
            if !window().contains(HostRig.peer(1)) { missing += 1 }
        }
        #expect((1...8).contains(missing), "\(missing)")
        // All users have had turns.
        var seen = Set<DeviceAddress>()
        for _ in 0..<20 {
            seen.formUnion(window())
            pass()
        }
        #expect(seen.count == 37)
    }

    @Test("at the limit of connections that may be pending, a user has room who has few, and no user by many clients")
    mutating func room() {
        crowd(clients: 32, devices: 32)
        let crowd = ClientUser(1000)
        #expect(!connector.hasRoom(for: ClientID(rawValue: 999_999), crowd, limit: 1024))
        #expect(connector.hasRoom(for: ClientID(rawValue: 1), ClientUser(1001), limit: 1024))
        for peer in 1...64 { add(peer, client: peer, ClientUser(1001)) }
        #expect(!connector.hasRoom(for: ClientID(rawValue: 999), ClientUser(1001), limit: 1024))
        // Those of which nothing is known count one by one.
        #expect(connector.hasRoom(for: ClientID(rawValue: 999), limit: 1024))
    }

    @Test("a client that waits for several users, as a service does, gives each of them its turns")
    mutating func service() {
        for peer in 100..<130 { add(peer, client: 1, ClientUser(1000)) }
        #expect(window().count == 8)
        pass(.milliseconds(100))
        add(1, client: 1, ClientUser(1001))
        add(2, client: 1, ClientUser(1002))
        var seen = Set<DeviceAddress>()
        for _ in 0..<10 {
            let sought = window()
            #expect(sought.count == 8 && sought.contains(HostRig.peer(1)) && sought.contains(HostRig.peer(2)))
            seen.formUnion(sought)
            pass()
        }
        #expect(seen.count == 32)
    }

    @Test("two users who wait for the same device have one place for it, and both get the link")
    mutating func sharedDevice() {
        crowd()
        for user in UInt32(1001)...1003 { add(1, client: Int(user), ClientUser(user)) }
        for _ in 0..<3 {
            #expect(window().count { $0 == HostRig.peer(1) } == 1)
            pass()
        }
        #expect(connector.removePending(HostRig.peer(1)).count == 3)
        #expect(!window().contains(HostRig.peer(1)))
    }
}
