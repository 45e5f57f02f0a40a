import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// Devices that hide from strangers and find their friends, whole engines on simulated controllers.
@Suite("Private devices among each other")
struct PrivateWorldTests {
    /// What a controller makes of a resolving list.
    enum Kind: CaseIterable {
        case extended, legacy
        /// It has none.
        case without
        /// It takes it, and resolves nothing.
        case liar
    }

    static func key(_ number: Int) -> Key128 { Key128(rawValue: 0xA5A5_0000_0000_0001 << 32 | UInt128(number + 1)) }
    static func identity(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: 0x6A65_6C6C_6900 + UInt64(number), kind: .public)
    }

    static func bond(_ peer: Int, with own: Int) -> Bond {
        let key128 = Key128(rawValue: UInt128(min(peer, own) * 16 + max(peer, own) + 1))
        return Bond(
            identity: identity(peer), identityResolvingKey: key(peer), isSecureConnections: true,
            localKey: LongTermKey(key: key128), peerKey: LongTermKey(key: key128))
    }

    /// Stations that are private; each of `friends` is bonded with station 0. Their addresses change every minute.
    /// - Parameter kinds: of each station's controller.
    static func world(_ kinds: [Kind], friends: [Int] = [1], lists: UInt8 = 8) -> World {
        let world = World(
            hosts: kinds.count,
            { controller, number in
                if kinds[number] == .legacy {
                    let address = controller.publicAddress
                    controller = .core42(publicAddress: address)
                }
                if kinds[number] == .without { controller.features.remove(.linkLayerPrivacy) }
                controller.resolvingListSize = lists
            },
            configuration: { number in
                var configuration = HostConfiguration(
                    ownAddress: .resolvable(fallback: identity(number)), hasCryptoProvider: true)
                configuration.security.identityResolvingKey = key(number)
                configuration.privateAddressLifetime = .seconds(60)
                configuration.usesControllerResolution = true
                return configuration
            },
            bonds: { number in
                number == 0
                    ? friends.map { bond($0, with: 0) } : friends.contains(number) ? [bond(0, with: number)] : []
            })
        for (number, kind) in kinds.enumerated() where kind == .liar {
            world.air.changeFaults(of: world.hosts[number].controller) { $0.resolvesNothing = true }
        }
        return world
    }

    static let open = AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: []), interval: .milliseconds(100))

    static let slow = AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: []), interval: .milliseconds(1000))

    static func call(_ peer: Int, _ form: AdvertisingTarget.Form) -> HostCommand {
        .radio(
            .advertise(
                AdvertiseRequest(
                    .packed(localName: nil, serviceUUIDs: []), interval: .milliseconds(100),
                    target: AdvertisingTarget(peer: identity(peer), form: form))))
    }

    static func isEncrypted(_ station: HostStation) -> Bool {
        station.events.contains {
            if case .encryptionChanged(_, let security) = $0 { security.isEncrypted } else { false }
        }
    }

    /// Nothing was refused for coming at the wrong time.
    static func expectNoRefusal(_ world: World) {
        for station in world.hosts {
            let refused = world.air.statistics(of: station.controller).rejections.filter {
                $0.status == .commandDisallowed
            }
            #expect(refused == [])
        }
    }

    @Test(
        "a pending connection finds a bonded peer whose address has changed many times, hours later (SPEC CEN-9)",
        arguments: Kind.allCases)
    func rotation(kind: Kind) {
        let world = Self.world([.extended, kind])
        let (peripheral, central) = (world.hosts[0], world.hosts[1])
        let operation = central.submit(.radio(.connect(ConnectRequest(peer: Self.identity(0)))))
        world.run(for: .seconds(7200))
        #expect(central.results(of: operation).isEmpty)
        peripheral.submit(.radio(.advertise(Self.open)))
        #expect(world.run(for: .seconds(30)) { !central.results(of: operation).isEmpty && Self.isEncrypted(central) })
        #expect(central.links.map { $0.peer.withoutIdentityMark } == [Self.identity(0)])
        #expect(peripheral.centrals.map { $0.peer.withoutIdentityMark } == [Self.identity(1)])
        Self.expectNoRefusal(world)
    }

    @Test(
        "it does so again and again, from the accept list where the controller resolves", arguments: Kind.allCases)
    func twoFriends(kind: Kind) {
        let world = Self.world([kind, .extended, .extended], friends: [1, 2])
        let central = world.hosts[0]
        for number in 1...2 { world.hosts[number].submit(.radio(.advertise(Self.open))) }
        for _ in 0..<3 {
            central.forget()
            let operations = (1...2).map {
                central.submit(.radio(.connect(ConnectRequest(peer: Self.identity($0)))))
            }
            #expect(world.run(for: .seconds(60)) { operations.allSatisfy { !central.results(of: $0).isEmpty } })
            #expect(Set(central.links.map { $0.peer.withoutIdentityMark }) == [Self.identity(1), Self.identity(2)])
            for link in central.links { central.submit(.link(link.id, .disconnect)) }
            world.run(for: .seconds(150))
        }
        Self.expectNoRefusal(world)
    }

    @Test("a bonded peer without room in the list is found like the others")
    func listFull() {
        let world = Self.world([.extended, .extended, .extended, .legacy], friends: [1, 2, 3], lists: 1)
        let central = world.hosts[0]
        for number in 1...3 { world.hosts[number].submit(.radio(.advertise(Self.open))) }
        for _ in 0..<2 {
            let operations = (1...3).map {
                central.submit(.radio(.connect(ConnectRequest(peer: Self.identity($0)))))
            }
            #expect(world.run(for: .seconds(90)) { operations.allSatisfy { !central.results(of: $0).isEmpty } })
            for link in central.links { central.submit(.link(link.id, .disconnect)) }
            central.forget()
            world.run(for: .seconds(70))
        }
        Self.expectNoRefusal(world)
    }

    @Test("a stranger never sees an identity, whatever is advertised, scanned or connected", arguments: Kind.allCases)
    func stranger(kind: Kind) {
        let world = Self.world([kind, kind, .extended])
        let (peripheral, central, stranger) = (world.hosts[0], world.hosts[1], world.hosts[2])
        stranger.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
        central.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
        peripheral.submit(.radio(.advertise(Self.slow)))
        central.submit(.radio(.advertise(Self.slow)))
        world.run(for: .seconds(200))
        central.submit(.radio(.connect(ConnectRequest(peer: Self.identity(0)))))
        world.run(for: .seconds(200))
        #expect(central.links.count == 1)
        let seen = stranger.events.compactMap { if case .discovered(let found) = $0 { found.address } else { nil } }
        #expect(Set(seen).count > 6)
        #expect(seen.allSatisfy { $0.isResolvablePrivate })
        let known = central.events.compactMap { if case .discovered(let found) = $0 { found.address } else { nil } }
        #expect(Set(known).isSubset(of: [Self.identity(0).asIdentity]))
        Self.expectNoRefusal(world)
    }

    @Test(
        "a bonded peer answers directed advertising, and no one else sees anything",
        arguments: AdvertisingTarget.Form.all)
    func call(form: AdvertisingTarget.Form) {
        let world = Self.world([.extended, .extended, .extended])
        let (peripheral, central, stranger) = (world.hosts[0], world.hosts[1], world.hosts[2])
        stranger.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
        let pending = central.submit(.radio(.connect(ConnectRequest(peer: Self.identity(0)))))
        world.run(for: .seconds(200))
        let call = peripheral.submit(Self.call(1, form))
        #expect(world.run(for: .seconds(10)) { !central.results(of: pending).isEmpty && Self.isEncrypted(central) })
        #expect(peripheral.results(of: call) == (form == .highDutyCycle ? [.success(.done)] : []))
        #expect(!stranger.events.contains { if case .discovered = $0 { true } else { false } })
        Self.expectNoRefusal(world)
    }

    @Test(
        "high duty cycle advertising ends after 1.28 s; at the low duty cycle it continues and resumes",
        arguments: [true, false])
    func callInVain(isExtended: Bool) {
        let world = Self.world([isExtended ? .extended : .legacy, .extended])
        let (peripheral, central) = (world.hosts[0], world.hosts[1])
        let begin = world.now
        let high = peripheral.submit(Self.call(1, .highDutyCycle))
        #expect(world.run(for: .seconds(10)) { !peripheral.results(of: high).isEmpty })
        #expect(peripheral.results(of: high) == [.failure(.connectionFailed(.advertisingTimeout))])
        #expect(world.now < begin.advanced(by: .milliseconds(1400)))
        peripheral.submit(Self.call(1, .lowDutyCycle))
        world.run(for: .seconds(300))
        for _ in 0..<2 {
            central.forget()
            central.submit(.radio(.connect(ConnectRequest(peer: Self.identity(0)))))
            #expect(world.run(for: .seconds(10)) { !central.links.isEmpty && Self.isEncrypted(central) })
            for link in central.links { central.submit(.link(link.id, .disconnect)) }
            world.run(for: .seconds(5))
        }
        Self.expectNoRefusal(world)
    }

    @Test("a removed bond makes a peer a stranger, a new bond makes a stranger known, while everything continues")
    func bondsChange() {
        let world = Self.world([.extended, .extended], friends: [1])
        let (central, peripheral) = (world.hosts[0], world.hosts[1])
        peripheral.submit(.radio(.advertise(Self.open)))
        central.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
        func heard() -> Set<Bool> {
            central.forget()
            world.run(for: .seconds(130))
            return Set(
                central.events.compactMap {
                    if case .discovered(let found) = $0 { found.address?.kind == .publicIdentity } else { nil }
                })
        }
        #expect(heard() == [true])
        central.submit(.security(.removeBond(Self.identity(1))))
        #expect(heard() == [false])
        central.submit(.security(.restoreBonds([Self.bond(1, with: 0)])))
        #expect(heard() == [true])
        Self.expectNoRefusal(world)
    }

    @Test(
        "bonds, scans, directed advertising and connections may come and go at any moment: nothing is refused, and everything continues",
        arguments: 1...4 as ClosedRange<UInt64>)
    func anyOrder(seed: UInt64) {
        var state = seed
        func draw(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33 % bound
        }
        let kinds = Kind.allCases
        let world = Self.world([kinds[Int(seed) % kinds.count], .extended, .legacy], friends: [1, 2])
        let us = world.hosts[0]
        for number in 1...2 { world.hosts[number].submit(.radio(.advertise(Self.open))) }
        var running: [OperationID] = []
        for _ in 0..<80 {
            switch draw(8) {
            case 0: running.append(us.submit(.radio(.scan(ScanRequest()))))
            case 1: running.append(us.submit(.radio(.advertise(Self.open))))
            case 2:
                let forms = AdvertisingTarget.Form.all
                let usable = seed % 4 == 1 ? Array(forms.prefix(2)) : forms
                running.append(us.submit(Self.call(9, usable[Int(draw(UInt64(usable.count)))])))
            case 3:
                let peer = Self.identity(Int(draw(2)) + 1)
                running.append(us.submit(.radio(.connect(ConnectRequest(peer: peer)))))
            case 4:
                if !running.isEmpty {
                    us.submit(.cancel(running.remove(at: Int(draw(UInt64(running.count))))))
                }
            case 5: us.submit(.security(.removeBond(Self.identity(Int(draw(2)) + 1))))
            case 6: us.submit(.security(.restoreBonds((1...2).map { Self.bond($0, with: 0) })))
            default: for link in us.links { us.submit(.link(link.id, .disconnect)) }
            }
            world.run(for: .milliseconds(Int32(draw(3000))))
        }
        for operation in running { us.submit(.cancel(operation)) }
        us.submit(.security(.restoreBonds((1...2).map { Self.bond($0, with: 0) })))
        for link in us.links { us.submit(.link(link.id, .disconnect)) }
        world.run(for: .seconds(10))
        us.forget()
        let last = us.submit(.radio(.connect(ConnectRequest(peer: Self.identity(1)))))
        #expect(world.run(for: .seconds(60)) { !us.results(of: last).isEmpty })
        #expect(us.counters.desynchronisations == 0 && us.counters.controllerResets == 0)
        Self.expectNoRefusal(world)
    }
}

extension AdvertisingTarget.Form {
    static let all: [Self] = [.highDutyCycle, .lowDutyCycle, .extended]
}
