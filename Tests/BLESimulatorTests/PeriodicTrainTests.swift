import BLEPackets
import BLESimulator
import Testing

/// Core 5.4, Vol 4, Part E, 7.8.61 to 7.8.67.
@Suite("Periodic trains on the air")
struct PeriodicTrainTests {
    let air = SimulatedAir()
    let central: TestHost
    let peripheral: TestHost

    init() {
        central = .ready(air, .numbered(1))
        peripheral = .ready(air, .numbered(2))
    }

    /// Makes a set with a train of one event each second, and starts both.
    /// - Parameter subevents: how many it has; 0: a train without responses.
    private func advertise(subevents count: UInt8) {
        let interval = PeriodicAdvertisingInterval.milliseconds(1000)
        #expect(
            peripheral.perform(
                LESetExtendedAdvertisingParameters(
                    advertisingHandle: 3, properties: [], minimumInterval: .milliseconds(100),
                    maximumInterval: .milliseconds(100), advertisingSetIdentifier: 5)) == .success)
        if count > 0 {
            #expect(
                peripheral.perform(
                    LESetPeriodicAdvertisingParametersV2(
                        advertisingHandle: 3, minimumInterval: interval, maximumInterval: interval,
                        subeventCount: count, subeventInterval: 200, responseSlotDelay: 0, responseSlotSpacing: 0,
                        responseSlotCount: 0)) == .success)
        } else {
            #expect(
                peripheral.perform(
                    LESetPeriodicAdvertisingParameters(
                        advertisingHandle: 3, minimumInterval: interval, maximumInterval: interval)) == .success)
        }
        #expect(
            peripheral.perform(LESetPeriodicAdvertisingEnable(enable: .enabled, advertisingHandle: 3)) == .success)
        #expect(
            peripheral.perform(
                LESetExtendedAdvertisingEnable(isEnabled: true, sets: [.init(advertisingHandle: 3)])) == .success)
    }

    private func remove() {
        #expect(peripheral.perform(LESetPeriodicAdvertisingEnable(enable: [], advertisingHandle: 3)) == .success)
        #expect(
            peripheral.perform(
                LESetExtendedAdvertisingEnable(isEnabled: false, sets: [.init(advertisingHandle: 3)])) == .success)
        #expect(peripheral.perform(LERemoveAdvertisingSet(advertisingHandle: 3)) == .success)
    }

    private func follow(_ address: DeviceAddress) {
        central.perform(
            LESetExtendedScanParameters(
                le1M: .init(type: .passive, interval: .milliseconds(60), window: .milliseconds(60))))
        central.perform(LESetExtendedScanEnable(isEnabled: true))
        #expect(
            central.perform(
                LEPeriodicAdvertisingCreateSync(
                    advertisingSetIdentifier: 5, advertiserAddress: address,
                    synchronizationTimeout: .milliseconds(5000))) == .success)
        central.run(milliseconds: 500)
        #expect(
            central.events.contains {
                if case .lePeriodicAdvertisingSyncEstablishedV2 = $0 { true } else { false }
            })
        central.forget()
    }

    private var reports: [LEPeriodicAdvertisingReportV2] {
        central.events.compactMap { if case .lePeriodicAdvertisingReportV2(let report) = $0 { report } else { nil } }
    }

    @Test(
        "the train of a set that is made again with its handle asks for its own data, and for no others",
        arguments: [UInt8(4), 2], [false, true])
    func madeAgain(subevents: UInt8, isReset: Bool) {
        advertise(subevents: 4)
        // Its last subevent is still to come.
        peripheral.run(milliseconds: 600)
        if isReset { peripheral.prepare() } else { remove() }
        advertise(subevents: subevents)
        peripheral.forget()
        peripheral.run(milliseconds: 100_000)
        let requests = peripheral.events.compactMap { event -> LEPeriodicAdvertisingSubeventDataRequest? in
            if case .lePeriodicAdvertisingSubeventDataRequest(let request) = event { request } else { nil }
        }
        // Half of the subevents at a time.
        #expect(198...202 ~= requests.count, "\(requests.count)")
        #expect(requests.allSatisfy { $0.subeventCount == subevents / 2 })
    }

    @Test("a packet of a train whose set is made again with its handle is sent once", arguments: [false, true])
    func sentOnce(isReset: Bool) {
        advertise(subevents: 0)
        follow(SimulatedControllerConfiguration.address(2))
        // The next packet of the old train is still to come.
        if isReset { peripheral.prepare() } else { remove() }
        advertise(subevents: 0)
        central.forget()
        central.run(milliseconds: 20_000)
        #expect(19...21 ~= reports.count, "\(reports.count)")
    }

    @Test("the reports of a device's train count its events (Core 5.4, Vol 4, Part E, 7.7.65.15)")
    func deviceTrain() {
        let address = DeviceAddress(value: 0xC0DE_0000_0042, kind: .random)
        var advertisement = SimulatedAdvertisement(
            data: [2, 1, 6], isScannable: false, isExtended: true, advertisingSetIdentifier: 5)
        advertisement.train = SimulatedTrain(data: [1, 2, 3])
        air.addBroadcaster(SimulatedBroadcaster(address: address, advertisement: advertisement))
        follow(address)
        central.run(milliseconds: 1000)
        let counters = reports.map(\.eventCounter)
        #expect(counters.count >= 9)
        #expect(zip(counters, counters.dropFirst()).allSatisfy { $1 == $0 &+ 1 }, "\(counters)")
    }
}
