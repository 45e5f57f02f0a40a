import BLEPackets
import Testing

@testable import BLEHost

@Suite("Commands with the types of their answers")
struct HostOperationTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 7), generation: 1)

    /// Every kind of result, once.
    private static let results: [HostResult] = [
        .done, .connected(link), .gatt(.written), .gatt(.services([])), .gatt(.includedServices([])),
        .gatt(.characteristics([])), .gatt(.descriptors([])), .gatt(.attributeValues([])), .gatt(.value([1])),
        .published(
            GATTPublishedService(
                uuid: BluetoothUUID(UInt16(0x180F)), isPrimary: true, range: .all, characteristics: [], owner: .local)),
        .listening(spsm: 0x80),
        .channel(
            ChannelInformation(id: ChannelID(link: link, number: 1), spsm: 0x80, sendMTU: 23, receiveMTU: 23)),
        .accepted(false),
        .paired(
            PairingSummary(
                identity: DeviceAddress(value: 1, kind: .public), isSecureConnections: true, isAuthenticated: false,
                keySize: 16, isBonded: true)),
        .rssi(-1), .remoteVersion(RemoteVersion(version: 13, companyIdentifier: 2, subversion: 3)),
        .remoteFeatures([.encryption]),
        .connectionParameters(
            ConnectionParameters(
                interval: .milliseconds(30), peripheralLatency: 0, supervisionTimeout: .milliseconds(2000))),
        .dataLength(
            DataLength(
                maxTransmitOctets: 27, maxTransmitMicroseconds: 328, maxReceiveOctets: 27, maxReceiveMicroseconds: 328)),
        .phy(transmit: .le1M, receive: .le2M), .hciAnswer([0]),
    ]

    /// Which of the results an operation takes for its own.
    private func own<Answer>(_ operation: HostOperation<Answer>) -> [HostResult] {
        Self.results.filter { operation.answer(in: $0) != nil }
    }

    @Test("an operation accepts its own result, and no other")
    func own() {
        let link = Self.link
        #expect(own(.connect(ConnectRequest(peer: DeviceAddress(value: 1, kind: .public)))) == [.connected(link)])
        #expect(own(.readRSSI(on: link)) == [.rssi(-1)])
        #expect(own(.readRemoteVersion(on: link)).count == 1)
        #expect(own(.readRemoteFeatures(on: link)) == [.remoteFeatures([.encryption])])
        #expect(own(.setDataLength(octets: 27, microseconds: 328, on: link)).count == 1)
        #expect(own(.readPHY(on: link)) == [.phy(transmit: .le1M, receive: .le2M)])
        #expect(own(.setPHY(transmit: [], receive: [], on: link)) == [.phy(transmit: .le1M, receive: .le2M)])
        #expect(own(.discoverServices([], on: link)) == [.gatt(.services([]))])
        #expect(own(.discoverIncludedServices(in: .all, on: link)) == [.gatt(.includedServices([]))])
        #expect(own(.discoverCharacteristics([], in: .all, on: link)) == [.gatt(.characteristics([]))])
        #expect(own(.discoverDescriptors(in: .all, on: link)) == [.gatt(.descriptors([]))])
        #expect(own(.readUsingUUID(BluetoothUUID(UInt16(0x2A00)), in: .all, on: link)) == [.gatt(.attributeValues([]))])
        #expect(own(.read(AttributeHandle(rawValue: 3), on: link)) == [.gatt(.value([1]))])
        #expect(own(.gatt(.discoverSecondaryServices, on: link)).count == 7)
        #expect(own(.listen(spsm: nil, ChannelSettings(), requiresEncryption: false)) == [.listening(spsm: 0x80)])
        #expect(own(.openChannel(0x80, ChannelSettings(), on: link)).count == 1)
        #expect(own(.nameBond(DeviceAddress(value: 1, kind: .public), "a")) == [.accepted(false)])
        #expect(own(.pair(link, nil)).count == 1)
        #expect(own(.createOutOfBandData).isEmpty)
        #expect(own(.sendHCICommand(Reset.opcode, [])) == [.hciAnswer([0])])
    }

    @Test("a kind of answer passes on its own answers and every failure, with the type of the answer")
    func pass() {
        var ends: [Result<Int8, HostFailure>] = []
        let all = Self.results.map { Result<HostResult, HostFailure>.success($0) } + [.failure(.notConnected)]
        for result in all { HostAnswer.rssi.pass(result) { ends.append($0) } }
        #expect(ends == [.success(-1), .failure(.notConnected)])
    }
}
