import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// The controller's resolving list: when it is written, and when it is relied on.
@Suite("The controller's resolving list")
struct ResolvingListTests {
    static let bonds = (1...3).map { number in
        IdentityTests.bond(
            DeviceAddress(value: 0x0011_2233_0000 + UInt64(number), kind: .public),
            key: Key128(rawValue: UInt128(number) << 64 | 0x5A))
    }

    static func onAir(_ bond: Bond, _ number: UInt8 = 1) -> DeviceAddress {
        IdentityTests.privateAddress([0x40, 7, number], key: bond.identityResolvingKey ?? .zero)
    }

    static func rig(
        _ bonds: [Bond] = [bonds[0]], size: UInt8 = 4, isPrivate: Bool = false, isShared: Bool = false,
        starts: Bool = true, change: (HostRig) -> Void = { _ in }
    ) -> HostRig {
        var configuration = HostConfiguration(hasCryptoProvider: true)
        configuration.usesControllerResolution = true
        if isShared { configuration.ownership = .shared }
        if isPrivate {
            configuration.ownAddress = .resolvable(fallback: PrivateAddressTests.fallback)
            configuration.security.identityResolvingKey = PrivateAddressTests.key
        }
        let rig = HostRig(configuration: configuration)
        rig.cryptoProvider = SwiftCryptoProvider()
        rig.features = [.encryption, .linkLayerPrivacy]
        rig.resolvingListSize = size
        rig.submit(.security(.restoreBonds(bonds)))
        change(rig)
        guard starts else { return rig }
        rig.start()
        rig.forget()
        return rig
    }

    static func identityReport(_ bond: Bond) -> LEAdvertisingReport {
        HostRig.report(bond.identity.asIdentity, type: .connectableUndirected)
    }

    /// A rig whose controller has shown that it resolves.
    static func proven(
        _ bonds: [Bond], size: UInt8 = 4, isPrivate: Bool = false, change: (HostRig) -> Void = { _ in }
    ) -> HostRig {
        let rig = rig(bonds, size: size, isPrivate: isPrivate, change: change)
        rig.receive(identityReport(bonds[0]))
        rig.forget()
        return rig
    }

    static let changes = [
        LEAddDeviceToResolvingList.opcode, LERemoveDeviceFromResolvingList.opcode, LESetPrivacyMode.opcode,
        LESetResolvablePrivateAddressTimeout.opcode, LESetAddressResolutionEnable.opcode,
    ]

    static func changes(_ rig: HostRig) -> [HCIOpcode] {
        rig.commands.map(\.opcode).filter { changes.contains($0) }
    }

    // MARK: Writing

    @Test("the bonds are written into the list, in device privacy mode, then resolution is on (7.8.38, 7.8.44, 7.8.77)")
    func written() throws {
        let rig = Self.rig(Array(Self.bonds[..<2]), starts: false)
        rig.submit(.radio(.scan(ScanRequest())))
        rig.start()
        #expect(
            Self.changes(rig) == [
                LEAddDeviceToResolvingList.opcode, LEAddDeviceToResolvingList.opcode, LESetPrivacyMode.opcode,
                LESetPrivacyMode.opcode, LESetAddressResolutionEnable.opcode,
            ])
        let add = try #require(rig.commands.first { $0.opcode == LEAddDeviceToResolvingList.opcode })
        #expect(add.parameters[0] == 0 && Array(add.parameters[1..<7]) == Self.bonds[0].identity.octets)
        // We show our identity: nobody is shown a private address of ours.
        #expect(Array(add.parameters[23..<39]) == [UInt8](repeating: 0, count: 16))
        #expect(rig.commands.first { $0.opcode == LESetPrivacyMode.opcode }?.parameters.last == 1)
        let on = try #require(rig.commands.lastIndex { $0.opcode == LESetAddressResolutionEnable.opcode })
        let scan = try #require(rig.commands.firstIndex { $0.opcode == LESetScanEnable.opcode })
        #expect(on < scan)
    }

    @Test("where we are private, the list holds our key, and the controller changes its addresses as often as we do")
    func ownKey() throws {
        let rig = Self.rig(isPrivate: true, starts: false)
        rig.start()
        let add = try #require(rig.commands.first { $0.opcode == LEAddDeviceToResolvingList.opcode })
        #expect(Array(add.parameters[23..<39]) == PrivateAddressTests.key.octets)
        let timeout = try #require(rig.commands.first { $0.opcode == LESetResolvablePrivateAddressTimeout.opcode })
        #expect(timeout.parameters == [0x84, 0x03])
    }

    @Test("nothing is written without bonds that have a key, without a list, on a shared controller, or unless wanted")
    func notWritten() {
        let withoutKey = IdentityTests.bond(key: nil)
        #expect(Self.changes(Self.rig([withoutKey], starts: false, change: { $0.start() })).isEmpty)
        #expect(Self.changes(Self.rig(size: 0, starts: false, change: { $0.start() })).isEmpty)
        #expect(Self.changes(Self.rig(isShared: true, starts: false, change: { $0.start() })).isEmpty)
        #expect(
            Self.changes(
                Self.rig(
                    starts: false,
                    change: {
                        $0.features = []
                        $0.start()
                    })
            ).isEmpty)
        let unwanted = HostRig(configuration: HostConfiguration(hasCryptoProvider: true))
        unwanted.features = [.linkLayerPrivacy]
        unwanted.resolvingListSize = 4
        unwanted.submit(.security(.restoreBonds(Self.bonds)))
        unwanted.start()
        #expect(Self.changes(unwanted).isEmpty)
    }

    @Test(
        "a change of the list waits until nothing is scanned, advertised or initiated, and all of that continues afterwards"
    )
    func changeWhileBusy() throws {
        let rig = Self.proven(Array(Self.bonds[..<1]))
        rig.submit(.radio(.scan(ScanRequest())))
        rig.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "x", serviceUUIDs: [])))))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.forget()
        rig.submit(.security(.restoreBonds(Array(Self.bonds[..<2]))))
        // The cancelled attempt has not told its end.
        #expect(Self.changes(rig).isEmpty)
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        #expect(Self.changes(rig) == [LEAddDeviceToResolvingList.opcode, LESetPrivacyMode.opcode])
        let add = try #require(rig.commands.firstIndex { $0.opcode == LEAddDeviceToResolvingList.opcode })
        let mode = try #require(rig.commands.firstIndex { $0.opcode == LESetPrivacyMode.opcode })
        for opcode in [LESetScanEnable.opcode, LESetAdvertisingEnable.opcode] {
            let switches = rig.commands.enumerated().filter { $0.element.opcode == opcode }
            #expect(switches.map { $0.element.parameters[0] } == [0, 1])
            #expect(switches[0].offset < add && switches[1].offset > mode)
        }
        #expect(rig.commands.firstIndex { $0.opcode == LECreateConnectionCancel.opcode } ?? .max < add)
        #expect(rig.commands.firstIndex { $0.opcode == LECreateConnection.opcode } ?? 0 > mode)
        #expect(rig.counters.desynchronisations == 0)
    }

    @Test("a removed bond leaves the list, and one with a new key is written again")
    func unbonded() throws {
        let rig = Self.proven(Array(Self.bonds[..<2]))
        rig.submit(.security(.removeBond(Self.bonds[0].identity)))
        #expect(Self.changes(rig) == [LERemoveDeviceFromResolvingList.opcode])
        #expect(Array(try #require(rig.commands.first).parameters[1...]) == Self.bonds[0].identity.octets)
        rig.forget()
        rig.submit(.security(.restoreBonds([IdentityTests.bond(Self.bonds[1].identity, key: Key128(rawValue: 99))])))
        #expect(
            Self.changes(rig) == [
                LERemoveDeviceFromResolvingList.opcode, LEAddDeviceToResolvingList.opcode, LESetPrivacyMode.opcode,
            ])
    }

    @Test("a reset controller is given its list again, and must show again that it resolves (pain 6)")
    func reset() {
        let rig = Self.proven(Array(Self.bonds[..<2]))
        rig.receive(HardwareError(hardwareCode: 1))
        #expect(rig.count(of: LEAddDeviceToResolvingList.opcode) == 2)
        #expect(rig.count(of: LESetAddressResolutionEnable.opcode) == 1)
        rig.forget()
        rig.submit(.radio(.connect(ConnectRequest(peer: Self.bonds[1].identity))))
        #expect(rig.count(of: LECreateConnection.opcode) == 0)
        #expect(rig.count(of: LESetScanEnable.opcode) == 1)
    }

    // MARK: Its size

    @Test("peers without room in the list are resolved by the host, beside the controller")
    func listFull() throws {
        let rig = Self.proven(Self.bonds, size: 2)
        let listed = rig.submit(.radio(.connect(ConnectRequest(peer: Self.bonds[1].identity))))
        #expect(rig.commands.map(\.opcode) == [LECreateConnection.opcode])
        rig.submit(.cancel(listed))
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        rig.forget()
        rig.submit(.radio(.connect(ConnectRequest(peer: Self.bonds[2].identity))))
        #expect(rig.count(of: LECreateConnection.opcode) == 0)
        let address = Self.onAir(Self.bonds[2])
        rig.receive(HostRig.report(address, type: .connectableUndirected))
        let create = try #require(rig.commands.first { $0.opcode == LECreateConnection.opcode })
        #expect(create.parameters[5] == 1 && Array(create.parameters[6..<12]) == address.octets)
    }

    @Test("a list that is shorter than the controller says is used as far as it goes")
    func listShorter() {
        let rig = Self.rig(Self.bonds, starts: false)
        rig.answers[LESetPrivacyMode.opcode] = .status(.unknownCommand)
        rig.start()
        #expect(rig.count(of: LESetAddressResolutionEnable.opcode) == 1)
        let other = Self.rig([Self.bonds[0]])
        other.answers[LEAddDeviceToResolvingList.opcode] = .complete([HCIStatus.memoryCapacityExceeded.rawValue])
        other.submit(.security(.restoreBonds(Self.bonds)))
        #expect(other.count(of: LEAddDeviceToResolvingList.opcode) == 1)
        other.receive(Self.identityReport(Self.bonds[0]))
        other.submit(.radio(.connect(ConnectRequest(peer: Self.bonds[0].identity))))
        #expect(other.count(of: LECreateConnection.opcode) == 1)
    }

    @Test("a controller that refuses its list is asked a bounded number of times, and the host resolves")
    func refused() throws {
        for status in [HCIStatus.unknownCommand, .commandDisallowed] {
            let rig = Self.rig(starts: false)
            rig.answers[LEAddDeviceToResolvingList.opcode] = .complete([status.rawValue])
            rig.start()
            #expect(rig.isReady)
            #expect(rig.count(of: LEAddDeviceToResolvingList.opcode) == (status == .unknownCommand ? 1 : 3))
            rig.submit(.radio(.connect(ConnectRequest(peer: Self.bonds[0].identity))))
            rig.receive(HostRig.report(Self.onAir(Self.bonds[0]), type: .connectableUndirected))
            let create = try #require(rig.commands.first { $0.opcode == LECreateConnection.opcode })
            #expect(Array(create.parameters[6..<12]) == Self.onAir(Self.bonds[0]).octets)
        }
    }

    @Test("a controller that never answers for its list is used without it")
    func silent() {
        let rig = Self.rig(starts: false)
        rig.answers[LEAddDeviceToResolvingList.opcode] = .silence
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.count(of: LESetScanEnable.opcode) == 0)
        rig.advance(by: .seconds(3))
        #expect(rig.count(of: LESetScanEnable.opcode) == 1)
        #expect(rig.counters.controllerResets == 0)
    }

    @Test("a key of two bonds is left to the host, which chooses neither")
    func sharedKey() {
        let twin = IdentityTests.bond(Self.bonds[1].identity, key: Self.bonds[0].identityResolvingKey)
        let rig = Self.rig([Self.bonds[0], twin, Self.bonds[2]], starts: false)
        rig.start()
        #expect(rig.count(of: LEAddDeviceToResolvingList.opcode) == 1)
    }

    // MARK: Relying on it

    @Test("until the controller has named an identity the host scans; then it initiates to the identity (type 0x02)")
    func evidence() throws {
        let rig = Self.rig()
        rig.submit(.radio(.connect(ConnectRequest(peer: Self.bonds[0].identity))))
        #expect(rig.count(of: LECreateConnection.opcode) == 0)
        rig.receive(Self.identityReport(Self.bonds[0]))
        let create = try #require(rig.commands.first { $0.opcode == LECreateConnection.opcode })
        #expect(create.parameters[5] == 2 && Array(create.parameters[6..<12]) == Self.bonds[0].identity.octets)
        // Nobody wants to scan any more.
        #expect(rig.commands.last { $0.opcode == LESetScanEnable.opcode }?.parameters.first == 0)
    }

    @Test("a link is evidence, too: a bonded central that is named by its identity (7.7.65.10)")
    func evidenceByLink() {
        let rig = Self.rig()
        rig.receive(IdentityTests.peripheralLink(Self.bonds[0].identity.asIdentity))
        rig.receive(
            DisconnectionComplete(
                status: .success, connectionHandle: ConnectionHandle(rawValue: 0x40),
                reason: .remoteUserTerminatedConnection))
        rig.forget()
        rig.submit(.radio(.connect(ConnectRequest(peer: Self.bonds[0].identity))))
        #expect(rig.commands.map(\.opcode) == [LECreateConnection.opcode])
    }

    @Test(
        "a controller that takes the list and resolves nothing is never relied on: pending connections are made (A69)")
    func liar() throws {
        let rig = Self.rig(Array(Self.bonds[..<2]))
        let operation = rig.submit(.radio(.connect(ConnectRequest(peer: Self.bonds[0].identity))))
        rig.receive(HostRig.report(Self.onAir(Self.bonds[0]), type: .connectableUndirected))
        let create = try #require(rig.commands.first { $0.opcode == LECreateConnection.opcode })
        #expect(create.parameters[5] == 1 && Array(create.parameters[6..<12]) == Self.onAir(Self.bonds[0]).octets)
        rig.receive(rig.connectionComplete(Self.onAir(Self.bonds[0])))
        rig.receive(EncryptionChange(connectionHandle: ConnectionHandle(rawValue: 0x40), state: .on))
        rig.receive(frame: [0x03, 23, 0], handle: 0x40)
        #expect(rig.results(of: operation).count == 1)
        #expect(rig.links.map(\.peer) == [Self.bonds[0].identity.asIdentity])
        // A forged identity does not change that.
        rig.receive(Self.identityReport(Self.bonds[1]))
        rig.forget()
        rig.submit(.radio(.connect(ConnectRequest(peer: Self.bonds[1].identity))))
        #expect(rig.count(of: LECreateConnection.opcode) == 0)
    }

    @Test("an address that was heard before its bond was in the list is no evidence against the controller")
    func lateResolution() {
        let rig = Self.rig([Self.bonds[0]])
        rig.cryptoProvider = nil
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        rig.receive(HostRig.report(Self.onAir(Self.bonds[0])))
        rig.submit(.security(.restoreBonds(Array(Self.bonds[..<2]))))
        rig.cryptoProvider = SwiftCryptoProvider()
        rig.receive(Self.identityReport(Self.bonds[0]))
        rig.forget()
        rig.submit(.radio(.connect(ConnectRequest(peer: Self.bonds[0].identity))))
        #expect(rig.count(of: LECreateConnection.opcode) == 1)
    }

    @Test("several bonded peers with private addresses wait in the accept list, by their identities (pain 3)")
    func acceptList() throws {
        let rig = Self.proven(Self.bonds)
        let operations = Self.bonds.map { rig.submit(.radio(.connect(ConnectRequest(peer: $0.identity)))) }
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        let listed = rig.commands.filter { $0.opcode == LEAddDeviceToFilterAcceptList.opcode }.suffix(3)
        #expect(listed.map { $0.parameters } == Self.bonds.map { [0] + $0.identity.octets })
        #expect(rig.commands.last?.opcode == LECreateConnection.opcode)
        #expect(rig.commands.last?.parameters[4] == InitiatorFilterPolicy.acceptList.rawValue)
        // Nothing is scanned for, and it waits as long as it takes (SPEC CEN-9).
        #expect(rig.count(of: LESetScanEnable.opcode) == 0)
        rig.advance(by: .seconds(86400))
        rig.receive(
            LEEnhancedConnectionComplete(
                connectionHandle: ConnectionHandle(rawValue: 0x40), role: .central,
                peerAddress: Self.bonds[1].identity.asIdentity, peerResolvableAddress: Self.onAir(Self.bonds[1]),
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000)))
        rig.receive(EncryptionChange(connectionHandle: ConnectionHandle(rawValue: 0x40), state: .on))
        rig.receive(frame: [0x03, 23, 0], handle: 0x40)
        #expect(operations.map { rig.results(of: $0).count } == [0, 1, 0])
        #expect(rig.count(of: LEEnableEncryption.opcode) == 1)
    }

    @Test(
        "our own address is the controller's for bonded peers and the host's for strangers (type 0x03), once it resolves"
    )
    func ownAddressType() throws {
        let rig = Self.rig(isPrivate: true)
        rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.commands.last { $0.opcode == LESetScanParameters.opcode }?.parameters[5] == 1)
        rig.receive(Self.identityReport(Self.bonds[0]))
        rig.submit(.radio(.connect(ConnectRequest(peer: Self.bonds[0].identity))))
        #expect(rig.commands.last { $0.opcode == LECreateConnection.opcode }?.parameters[12] == 3)
        rig.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "x", serviceUUIDs: [])))))
        #expect(rig.commands.last { $0.opcode == LESetAdvertisingParameters.opcode }?.parameters[5] == 1)
    }

    @Test(
        "directed advertising to an address that the controller does not know leads to a connection, not to a discovery (7.7.65.11)"
    )
    func directedReport() {
        let rig = Self.proven([Self.bonds[0]]) { $0.features.insert(.extendedScanningFilterPolicies) }
        rig.submit(.radio(.scan(ScanRequest())))
        var report = PacketWriter()
        LEDirectedAdvertisingReport(reports: [
            .init(
                address: Self.bonds[0].identity.asIdentity,
                directAddress: ReportedAddress(kind: .random, value: 0x4000_0000_0001), rssi: -40)
        ]).encodePacket(into: &report)
        rig.receive(report.bytes)
        #expect(rig.discoveries.isEmpty)
        #expect(rig.counters.malformedPackets == 0 && rig.counters.advertisingReports == 2)
    }
}
