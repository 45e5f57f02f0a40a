import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// Places, identifiers and ends of advertising sets.
@Suite("Ends of advertising sets")
struct AdvertisingSetEndTests {
    private static let handle = ConnectionHandle(rawValue: 0x40)

    /// An engine with a bond, on a controller with extended advertising; nobody answers its cryptography.
    private func rig() -> HostRig {
        let rig = HostRig(configuration: HostConfiguration(hasCryptoProvider: true))
        rig.features = [.encryption, .extendedAdvertising]
        rig.submit(.security(.restoreBonds([IdentityTests.bond()])))
        rig.start()
        rig.forget()
        return rig
    }

    private func terminated(_ set: UInt8) -> LEAdvertisingSetTerminated {
        LEAdvertisingSetTerminated(advertisingHandle: set, connectionHandle: Self.handle)
    }

    @Test("a scannable set with extended PDUs needs a scan response (Core 5.4, Vol 4, Part E, 7.8.56)")
    func scannable() {
        #expect(AdvertisingSetRequest(isScannable: true).fault == .misplacedData)
        #expect(AdvertisingSetRequest(scanResponse: [2, 9, 0x41], isScannable: true).fault == nil)
        #expect(AdvertisingSetRequest(usesLegacyPDUs: true, isScannable: true).fault == nil)
        let world = AdvertisingSetTests.world()
        let host = world.hosts[0]
        let set = host.submit(
            .radio(.advertiseSet(AdvertisingSetRequest(scanResponse: [2, 9, 0x41], isScannable: true))))
        #expect(
            host.result(of: .radio(.changeAdvertisingSet(set, AdvertisingSetRequest(isScannable: true))))
                == .failure(.invalidRequest(.advertisingSet(.misplacedData))))
    }

    @Test("a controller that goes on disallowing a set ends it, after it was asked a limited number of times")
    func disallowed() {
        let rig = rig()
        let enable = LESetExtendedAdvertisingEnable.opcode
        rig.answers[enable] = .complete([HCIStatus.commandDisallowed.rawValue])
        let set = rig.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: [2, 1, 6]))))
        rig.advance(by: .seconds(5))
        #expect(rig.results(of: set).isEmpty, "another activity may have been in the way")
        rig.advance(by: .seconds(60))
        #expect(rig.results(of: set) == [.failure(.controller(.commandDisallowed, enable))])
        #expect(rig.count(of: enable) <= 12)
    }

    @Test("a set is advertised again if its central left before it was known who it was")
    func unresolvedCentral() {
        let rig = rig()
        let set = rig.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: [2, 1, 6], isConnectable: true))))
        #expect(rig.count(of: LESetExtendedAdvertisingEnable.opcode) == 1)
        rig.receive(IdentityTests.peripheralLink(IdentityTests.address))
        rig.receive(terminated(1))
        #expect(rig.nextCryptoRequest() != nil, "the address is being resolved")
        rig.receive(DisconnectionComplete(connectionHandle: Self.handle, reason: .remoteUserTerminatedConnection))
        #expect(rig.count(of: LESetExtendedAdvertisingEnable.opcode) == 2)
        let events = rig.events.compactMap { event -> AdvertisingSetEvent? in
            if case .advertisingSet(set, _, let event) = event { event } else { nil }
        }
        #expect(events == [.started(transmitPower: 0), .stopped, .started(transmitPower: 0)])
    }

    @Test(
        "the shared advertisement ends by a connection, even if the last set goes while it is made",
        arguments: [true, false])
    func sharedEnds(hasSetAtLast: Bool) {
        let rig = rig()
        let request = AdvertiseRequest(.packed(localName: "x", serviceUUIDs: []), resumesAfterConnection: false)
        let shared = rig.submit(.radio(.advertise(request)))
        let set = rig.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: [2, 1, 6]))))
        let remove = LERemoveAdvertisingSet.opcode
        rig.answers[remove] = .silence
        rig.submit(.cancel(set))
        #expect(rig.count(of: remove) == 1)
        rig.receive(IdentityTests.peripheralLink(HostRig.peer))
        if !hasSetAtLast { rig.receive(CommandComplete(opcode: remove, returnParameters: [0])) }
        #expect(rig.results(of: shared).isEmpty)
        rig.receive(terminated(0))
        #expect(rig.results(of: shared) == [.success(.done)])
    }

    @Test("a set that is made after a connection is not ended by the event about the one before")
    func lateEvent() {
        let rig = rig()
        rig.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "x", serviceUUIDs: [])))))
        rig.receive(IdentityTests.peripheralLink(HostRig.peer))
        rig.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: [2, 1, 6]))))
        rig.forget()
        rig.receive(terminated(0))
        #expect(!rig.events.contains(.advertisingChanged(isAdvertising: false)))
    }

    @Test("without a set left, the shared advertisement fails with a limit instead of waiting in silence")
    func noRoomForShared() {
        let world = AdvertisingSetTests.world { $0.advertisingSets = 2 }
        let host = world.hosts[0]
        let sets = (0..<2).map { number in
            host.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: AdvertisingSetTests.data(UInt8(number))))))
        }
        world.run(for: .seconds(1))
        let request = HostCommand.radio(.advertise(AdvertiseRequest(.packed(localName: "x", serviceUUIDs: []))))
        #expect(host.result(of: request) == .failure(.limitReached))
        host.submit(.cancel(sets[0]))
        let shared = host.submit(request)
        #expect(world.run(for: .seconds(5)) { host.events.contains(.advertisingChanged(isAdvertising: true)) })
        #expect(host.results(of: shared).isEmpty)
    }

    @Test("sets without an identifier of their own get one that no other set has")
    func identifiers() {
        let world = AdvertisingSetTests.world()
        let (advertiser, scanner) = (world.hosts[0], world.hosts[1])
        var named = AdvertisingSetRequest(data: AdvertisingSetTests.data(1))
        named.identifier = 2
        let others = [2, 3].map { AdvertisingSetRequest(data: AdvertisingSetTests.data($0)) }
        for request in [named] + others { advertiser.submit(.radio(.advertiseSet(request))) }
        scanner.submit(.radio(.scan(ScanRequest())))
        world.run(for: .seconds(2))
        let found = scanner.discoveries.map(\.advertisingSetIdentifier)
        #expect(found.count == 3 && Set(found).count == 3 && found.contains(2))
        var sets = AdvertisingSets()
        for handle in 1...20 as ClosedRange<UInt8> {
            sets.entries.append(
                AdvertisingSets.Entry(
                    operation: OperationID(rawValue: UInt64(handle)), client: .local, request: AdvertisingSetRequest(),
                    handle: handle, identifier: sets.freeIdentifier(for: handle)))
        }
        #expect(Set(sets.entries.prefix(15).map(\.identifier)).count == 15)
        #expect(sets.entries.allSatisfy { 1...15 ~= $0.identifier })
    }
}
