import BLEPackets
import Testing

@testable import BLEHost

/// Core 5.4, Vol 4, Part E, 7.8.10, 7.8.15 and 7.8.64.
@Suite("Scans with the filter accept list")
struct AcceptListScanTests {
    private static let wanted = [HostRig.peer(1), HostRig.peer(2)]
    private static let clear = LEClearFilterAcceptList.opcode
    private static let add = LEAddDeviceToFilterAcceptList.opcode

    private func request(_ devices: [DeviceAddress] = wanted) -> ScanRequest {
        var request = ScanRequest(isActive: false)
        request.acceptList = devices
        return request
    }

    private func rig() -> HostRig {
        let rig = HostRig()
        rig.features.insert(.extendedScanningFilterPolicies)
        rig.start()
        rig.forget()
        return rig
    }

    /// The filter policy of the last scan.
    private func policy(_ rig: HostRig) -> UInt8? {
        rig.commands.last { $0.opcode == LESetScanParameters.opcode }?.parameters.last
    }

    @Test("the list is written before the parameters, and the controller filters", arguments: [false, true])
    func usesList(includesUnresolved: Bool) {
        let rig = rig()
        var request = request()
        request.includesUnresolvedTargets = includesUnresolved
        rig.submit(.radio(.scan(request)))
        #expect(
            rig.commands.map(\.opcode) == [
                Self.clear, Self.add, Self.add, LESetScanParameters.opcode, LESetScanEnable.opcode,
            ])
        #expect(policy(rig) == (includesUnresolved ? 3 : 1))
    }

    @Test("a device that is not wanted is no discovery, even if the controller reports it")
    func hostFilters() {
        let rig = rig()
        rig.submit(.radio(.scan(request([HostRig.peer(1)]))))
        rig.receive(
            LEAdvertisingReport(reports: [
                .init(eventType: .nonConnectableUndirected, address: HostRig.peer(1), data: [], rssi: -40),
                .init(eventType: .nonConnectableUndirected, address: HostRig.peer(2), data: [], rssi: -40),
            ]))
        #expect(rig.discoveries.map(\.address) == [HostRig.peer(1)])
    }

    @Test("a second client that wants all devices has the scan begin again without the list")
    func secondClient() {
        let rig = rig()
        rig.submit(.radio(.scan(request())))
        let second = rig.submit(.radio(.scan(ScanRequest(isActive: false))), from: ClientID(rawValue: 2))
        #expect(policy(rig) == 0)
        rig.submit(.cancel(second))
        #expect(policy(rig) == 1)
        #expect(rig.count(of: Self.clear) == 2)
    }

    @Test("each client has its own devices, in whichever order they scan", arguments: [false, true])
    func ownDevices(isReversed: Bool) {
        let rig = rig()
        let requests = [request([HostRig.peer(1)]), ScanRequest(isActive: false)]
        for (number, request) in (isReversed ? requests.reversed() : requests).enumerated() {
            rig.submit(.radio(.scan(request)), from: ClientID(rawValue: UInt32(number) + 1))
        }
        for device in 1...2 { rig.receive(HostRig.report(HostRig.peer(device), data: [2, 1, 6])) }
        let named = ClientID(rawValue: isReversed ? 2 : 1)
        #expect(rig.discoveries.filter { $0.client == named }.map(\.address) == [HostRig.peer(1)])
        #expect(rig.discoveries.filter { $0.client != named }.map(\.address) == [HostRig.peer(1), HostRig.peer(2)])
    }

    @Test(
        "more devices than the list can hold, or a list that is refused, are filtered by the host",
        arguments: [true, false])
    func noRoom(isRefused: Bool) {
        let rig = HostRig()
        rig.acceptListSize = isRefused ? 4 : 1
        rig.start()
        if isRefused { rig.answers[Self.add] = .complete([HCIStatus.memoryCapacityExceeded.rawValue]) }
        rig.forget()
        rig.submit(.radio(.scan(request())))
        #expect(policy(rig) == 0)
        #expect(rig.count(of: Self.add) == (isRefused ? 1 : 0))
        rig.receive(HostRig.report(data: [2, 1, 6]))
        rig.receive(
            LEAdvertisingReport(reports: [
                .init(eventType: .nonConnectableUndirected, address: HostRig.peer(2), data: [], rssi: -40)
            ]))
        #expect(rig.discoveries.allSatisfy { Self.wanted.contains($0.address ?? HostRig.peer(9)) })
        #expect(rig.discoveries.contains { $0.address == HostRig.peer(2) })
    }

    @Test("a list that was refused keeps lists as long as it from the controller, but no shorter ones")
    func shorterList() {
        let rig = rig()
        let three = (1...3).map { HostRig.peer($0) }
        rig.answers[Self.add] = .complete([HCIStatus.memoryCapacityExceeded.rawValue])
        let first = rig.submit(.radio(.scan(request(three))))
        #expect(policy(rig) == 0)
        rig.submit(.cancel(first))
        rig.answers[Self.add] = nil
        let second = rig.submit(.radio(.scan(request())))
        #expect(policy(rig) == 1)
        rig.submit(.cancel(second))
        rig.forget()
        rig.submit(.radio(.scan(request(three))))
        #expect(policy(rig) == 0)
        #expect(rig.count(of: Self.add) == 0)
    }

    @Test("a list is no longer than those that the controller accepts for connection attempts")
    func limitOfConnections() {
        let rig = rig()
        rig.answers[Self.add] = .complete([HCIStatus.memoryCapacityExceeded.rawValue])
        let attempts = Self.wanted.map { rig.submit(.radio(.connect(ConnectRequest(peer: $0)))) }
        let cancelled = rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier)
        // The first attempt makes way for the list of both, which is refused.
        rig.receive(cancelled)
        #expect(rig.count(of: Self.add) == 1)
        rig.answers[Self.add] = nil
        for attempt in attempts { rig.submit(.cancel(attempt)) }
        rig.receive(cancelled)
        let scan = rig.submit(.radio(.scan(request())))
        #expect(policy(rig) == 0)
        rig.submit(.cancel(scan))
        rig.submit(.radio(.scan(request([HostRig.peer(1)]))))
        #expect(policy(rig) == 1)
    }

    @Test("connection attempts have the list first: they begin when the scan has left it")
    func connectionsComeFirst() throws {
        let rig = rig()
        rig.submit(.radio(.scan(request())))
        rig.forget()
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(3)))))
        let opcodes = rig.commands.map(\.opcode)
        let off = try #require(opcodes.firstIndex(of: LESetScanEnable.opcode))
        let begun = try #require(opcodes.firstIndex(of: LECreateConnection.opcode))
        #expect(off < begun, "\(opcodes)")
        #expect(policy(rig) == 0)
    }

    @Test("the target that could not be resolved is told, and another target is news")
    func tellsTarget() {
        let rig = rig()
        var request = request([HostRig.peer(1)])
        request.includesUnresolvedTargets = true
        rig.submit(.radio(.scan(request)))
        let targets: [UInt64] = [0x4012_3456_789A, 0x4012_3456_789A, 0x4FED_CBA9_8765]
        for target in targets {
            rig.receive(
                LEDirectedAdvertisingReport(reports: [
                    .init(
                        address: HostRig.peer(1), directAddress: ReportedAddress(kind: .random, value: target),
                        rssi: -40)
                ]))
        }
        #expect(
            rig.discoveries.map(\.unresolvedTarget)
                == [targets[0], targets[2]].map {
                    DeviceAddress(value: $0, kind: .random)
                })
    }
}
