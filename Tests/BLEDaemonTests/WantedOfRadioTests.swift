import BLEHost
import BLEMessages
import BLEPackets
import Testing

@testable import BLEDaemon

@Suite("What operators see of the radio")
struct WantedOfRadioTests {
    @Test("long lists and data are cut, so that what programs ask for makes no operator's answer too long")
    func lengths() throws {
        let services = Array(repeating: BluetoothUUID(high: 1, low: 2), count: 512)
        let address = DeviceAddress(value: 0, kind: .public)
        var scan = ScanRequest(serviceUUIDs: services)
        scan.solicitedServiceUUIDs = services
        scan.acceptList = Array(repeating: address, count: 255)
        guard case .scan(let shortScan) = DaemonStatus.Wanted.Work.scan(scan).shortened else {
            return #expect(Bool(false))
        }
        let lists = [
            shortScan.serviceUUIDs.count, shortScan.solicitedServiceUUIDs?.count, shortScan.acceptList.count,
        ]
        #expect(lists == [16, 16, 16])
        let data = [UInt8](repeating: 0, count: 1650)
        var set = AdvertisingSetRequest(data: data)
        set.scanResponse = data
        set.train = PeriodicAdvertising(data: data)
        guard case .advertiseSet(let shortSet) = DaemonStatus.Wanted.Work.advertiseSet(set).shortened else {
            return #expect(Bool(false))
        }
        #expect([shortSet.data.count, shortSet.scanResponse.count, shortSet.train?.data.count] == [64, 64, 64])
        let train = PeriodicSyncRequest(Array(repeating: .init(address: address, identifier: 0), count: 255))
        guard
            case .followPeriodicAdvertising(let shortTrain) = DaemonStatus.Wanted.Work.followPeriodicAdvertising(train)
                .shortened
        else {
            return #expect(Bool(false))
        }
        #expect(shortTrain.advertisers.count == 16)
        let name = String(repeating: "e\u{301}", count: 60_000)
        let long = [UInt8](repeating: 0, count: 60_000)
        let works: [DaemonStatus.Wanted.Work] = [
            .scan(ScanRequest(name: name)),
            .advertise(AdvertiseRequest(.packed(localName: name, serviceUUIDs: services))),
            .advertise(AdvertiseRequest(.raw(advertisement: long, scanResponse: long))),
        ]
        for work in works {
            #expect(try DaemonStatus.Wanted(client: "", work: work.shortened).encoded().count < 600)
        }
        let short = DaemonStatus.Wanted.Work.scan(ScanRequest(serviceUUIDs: ["0102"]))
        #expect(short.shortened == short)
    }
}
