import BLEPackets
import BLESimulator
import Testing

@Suite("Extended advertising and scanning")
struct ExtendedAdvertisingTests {
    let air = SimulatedAir()
    let central: TestHost
    let peripheral: TestHost
    let address = DeviceAddress(value: 0xC000_0000_0077, kind: .random)

    init() {
        central = .ready(air, .numbered(1))
        peripheral = .ready(air, .numbered(2))
    }

    private func set(
        _ properties: ExtendedAdvertisingProperties, data: [UInt8] = [2, 1, 6], scanResponse: [UInt8] = [],
        duration: UInt16 = 0, maximumEvents: UInt8 = 0
    ) -> HCIStatus? {
        #expect(
            peripheral.perform(
                LESetExtendedAdvertisingParameters(
                    advertisingHandle: 3, properties: properties, minimumInterval: .milliseconds(100),
                    maximumInterval: .milliseconds(100), ownAddressType: .random, secondaryPHY: .le2M,
                    advertisingSetIdentifier: 5)) == .success)
        #expect(
            peripheral.perform(LESetAdvertisingSetRandomAddress(advertisingHandle: 3, address: address)) == .success)
        var rest = data[...]
        while rest.count > 200 {
            let operation: DataFragmentOperation = rest.count == data.count ? .first : .intermediate
            #expect(
                peripheral.perform(
                    LESetExtendedAdvertisingData(
                        advertisingHandle: 3, operation: operation, data: Array(rest.prefix(200)))) == .success)
            rest = rest.dropFirst(200)
        }
        #expect(
            peripheral.perform(
                LESetExtendedAdvertisingData(
                    advertisingHandle: 3, operation: rest.count == data.count ? .complete : .last, data: Array(rest)))
                == .success)
        if !scanResponse.isEmpty {
            #expect(
                peripheral.perform(LESetExtendedScanResponseData(advertisingHandle: 3, data: scanResponse))
                    == .success)
        }
        return peripheral.perform(
            LESetExtendedAdvertisingEnable(
                isEnabled: true,
                sets: [.init(advertisingHandle: 3, duration: duration, maximumEvents: maximumEvents)]))
    }

    private func scan(_ host: TestHost, duration: UInt16 = 0, period: UInt16 = 0) -> HCIStatus? {
        host.perform(
            LESetExtendedScanParameters(
                le1M: .init(type: .active, interval: .milliseconds(60), window: .milliseconds(60))))
        return host.perform(LESetExtendedScanEnable(isEnabled: true, duration: duration, period: period))
    }

    @Test("an extended scan hears extended advertisements, with set identifier and secondary PHY")
    func heard() throws {
        #expect(set([.connectable]) == .success)
        #expect(scan(central) == .success)
        central.run(milliseconds: 200)
        let report = try #require(central.extendedReports.first)
        #expect(report.eventType == .connectable)
        #expect(report.address == address && report.data == [2, 1, 6])
        #expect(report.secondaryPHY == .le2M && report.advertisingSetIdentifier == 5)
    }

    @Test("a legacy scan does not hear extended advertisements, but legacy ones of an extended set")
    func legacyScan() {
        #expect(set([.connectable]) == .success)
        central.scan()
        central.run(milliseconds: 300)
        #expect(central.legacyReports.isEmpty)
        peripheral.perform(LESetExtendedAdvertisingEnable(isEnabled: false))
        peripheral.perform(LEClearAdvertisingSets())
        #expect(set(.legacyConnectableUndirected, scanResponse: [2, 0x0A, 4]) == .success)
        central.run(milliseconds: 300)
        #expect(central.legacyReports.contains { $0.eventType == .connectableUndirected && $0.address == address })
        #expect(central.legacyReports.contains { $0.eventType == .scanResponse && $0.data == [2, 0x0A, 4] })
    }

    @Test("an extended scan reports legacy advertisements with the legacy bit")
    func legacyBit() {
        #expect(set(.legacyConnectableUndirected, scanResponse: [2, 0x0A, 4]) == .success)
        #expect(scan(central) == .success)
        central.run(milliseconds: 200)
        #expect(
            central.extendedReports.prefix(2).map(\.eventType.rawValue) == [0x13, 0x1B]
                && central.extendedReports.allSatisfy { $0.secondaryPHY == nil })
    }

    @Test("long data comes in several reports, the last of which says that it is complete")
    func longData() {
        let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        #expect(set([], data: data) == .success)
        #expect(scan(central) == .success)
        central.run(milliseconds: 90)
        var whole: [UInt8] = []
        for report in central.extendedReports {
            whole += report.data
            if report.eventType.dataStatus == .complete { break }
        }
        #expect(whole == data)
        #expect(central.extendedReports.prefix(3).map(\.eventType.dataStatus.rawValue) == [1, 1, 0])
    }

    @Test("a link ends the set: Connection Complete first, then Advertising Set Terminated")
    func setTerminated() throws {
        #expect(set([.connectable]) == .success)
        #expect(
            central.perform(
                LEExtendedCreateConnection(
                    peerAddress: address,
                    le1M: .init(
                        scanInterval: .milliseconds(60), scanWindow: .milliseconds(60),
                        connection: TestHost.linkParameters))) == .success)
        central.run(milliseconds: 400)
        peripheral.collect()
        let link = try #require(peripheral.lastLink)
        let position = try #require(
            peripheral.events.firstIndex { if case .leEnhancedConnectionComplete = $0 { true } else { false } })
        let end = try #require(
            peripheral.events.firstIndex { if case .leAdvertisingSetTerminated = $0 { true } else { false } })
        #expect(position < end)
        guard case .leAdvertisingSetTerminated(let event) = peripheral.events[end] else { return }
        #expect(event.status == .success && event.advertisingHandle == 3)
        #expect(event.connectionHandle == link.connectionHandle)
    }

    @Test("a duration ends advertising with 0x3C, a number of events with 0x43")
    func advertisingEnds() {
        func statuses() -> [HCIStatus] {
            peripheral.events.compactMap {
                if case .leAdvertisingSetTerminated(let event) = $0 { event.status } else { nil }
            }
        }
        #expect(set([.connectable], duration: 50) == .success)
        peripheral.run(milliseconds: 520)
        #expect(statuses() == [.advertisingTimeout])
        #expect(set([.connectable], maximumEvents: 4) == .success)
        peripheral.run(milliseconds: 600)
        #expect(statuses() == [.advertisingTimeout, .limitReached])
    }

    @Test("a scan with a duration ends by itself and says so")
    func scanTimeout() {
        #expect(scan(central, duration: 30) == .success)
        central.run(milliseconds: 290)
        #expect(!central.events.contains { if case .leScanTimeout = $0 { true } else { false } })
        central.run(milliseconds: 20)
        #expect(central.events.contains { if case .leScanTimeout = $0 { true } else { false } })
    }

    @Test("a scan with a period listens in each period and rests between")
    func scanPeriod() {
        #expect(set([]) == .success)
        #expect(scan(central, duration: 30, period: 1) == .success)
        central.run(milliseconds: 300)
        let first = central.extendedReports.count
        #expect(first >= 2)
        central.run(milliseconds: 900)
        #expect(central.extendedReports.count == first)
        central.run(milliseconds: 400)
        #expect(central.extendedReports.count > first)
    }

    @Test("a scannable set is not enabled without a scan response, nor while a part of one is missing (7.8.56)")
    func scannableWithoutResponse() {
        #expect(
            peripheral.perform(LESetExtendedAdvertisingParameters(advertisingHandle: 1, properties: [.scannable]))
                == .success)
        func respond(_ operation: DataFragmentOperation) -> HCIStatus? {
            peripheral.perform(
                LESetExtendedScanResponseData(advertisingHandle: 1, operation: operation, data: [2, 9, 0x41]))
        }
        let enable = LESetExtendedAdvertisingEnable(isEnabled: true, sets: [.init(advertisingHandle: 1)])
        #expect(peripheral.perform(enable) == .commandDisallowed)
        #expect(respond(.first) == .success)
        #expect(
            peripheral.perform(
                LESetExtendedAdvertisingData(advertisingHandle: 1, operation: .complete, data: [])) == .success)
        #expect(peripheral.perform(enable) == .commandDisallowed)
        #expect(respond(.last) == .success)
        #expect(peripheral.perform(enable) == .success)
    }

    @Test("wrong combinations of properties are refused with 0x12, unknown sets with 0x42")
    func refused() {
        #expect(
            peripheral.perform(
                LESetExtendedAdvertisingParameters(advertisingHandle: 1, properties: [.connectable, .scannable]))
                == .invalidCommandParameters)
        #expect(
            peripheral.perform(
                LESetExtendedAdvertisingParameters(advertisingHandle: 1, properties: [.legacy, .connectable]))
                == .invalidCommandParameters)
        #expect(
            peripheral.perform(LERemoveAdvertisingSet(advertisingHandle: 1)) == .unknownAdvertisingIdentifier)
        #expect(
            peripheral.perform(
                LESetExtendedAdvertisingEnable(isEnabled: true, sets: [.init(advertisingHandle: 1)]))
                == .unknownAdvertisingIdentifier)
    }

    @Test("a running set refuses new parameters and its removal with 0x0C, and partial data")
    func running() {
        #expect(set([.connectable]) == .success)
        #expect(
            peripheral.perform(
                LESetExtendedAdvertisingParameters(advertisingHandle: 3, properties: [.connectable]))
                == .commandDisallowed)
        #expect(peripheral.perform(LERemoveAdvertisingSet(advertisingHandle: 3)) == .commandDisallowed)
        #expect(peripheral.perform(LEClearAdvertisingSets()) == .commandDisallowed)
        #expect(
            peripheral.perform(
                LESetAdvertisingSetRandomAddress(advertisingHandle: 3, address: address)) == .commandDisallowed)
        #expect(
            peripheral.perform(
                LESetExtendedAdvertisingData(advertisingHandle: 3, operation: .first, data: [1]))
                == .commandDisallowed)
        #expect(
            peripheral.perform(LESetExtendedAdvertisingData(advertisingHandle: 3, data: [2, 1, 4])) == .success)
    }
}
