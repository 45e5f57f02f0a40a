import BLEDaemonProtocol
import Foundation
import Testing

@testable import BLEDaemon

@Suite("What operators see of the radio")
struct WantedOfRadioTests {
    @Test("long lists and data are cut, so that what programs ask for makes no operator's answer too long")
    func lengths() throws {
        var scan = WireWantedOfRadio()
        scan.scan.services = Array(repeating: Data(count: 16), count: 512)
        scan.scan.solicitedServices = scan.scan.services
        scan.scan.acceptList = Array(repeating: WireAddress(), count: 255)
        var set = WireWantedOfRadio()
        set.set.data = Data(count: 1650)
        set.set.scanResponse = set.set.data
        set.set.train.data = set.set.data
        var train = WireWantedOfRadio()
        train.train.advertisers = Array(repeating: WireTrainAdvertiser(), count: 255)
        scan.shorten()
        let lists = [scan.scan.services.count, scan.scan.solicitedServices.count, scan.scan.acceptList.count]
        #expect(lists == [16, 16, 16])
        set.shorten()
        let data = [set.set.data.count, set.set.scanResponse.count, set.set.train.data.count]
        #expect(data == [64, 64, 64])
        train.shorten()
        #expect(train.train.advertisers.count == 16)
        let name = String(repeating: "e\u{301}", count: 60_000)
        var named = WireWantedOfRadio()
        named.scan.name = name
        var packed = WireWantedOfRadio()
        packed.advertise.packed.localName = name
        packed.advertise.packed.services = scan.scan.services + scan.scan.services
        var raw = WireWantedOfRadio()
        raw.advertise.raw.advertisement = Data(count: 60_000)
        raw.advertise.raw.scanResponse = Data(count: 60_000)
        for wanted in [named, packed, raw] {
            var wanted = wanted
            wanted.shorten()
            #expect(try wanted.serializedData().count < 600)
        }
        var short = WireWantedOfRadio()
        short.scan.services = [Data([1, 2])]
        short.shorten()
        #expect(short.scan.services == [Data([1, 2])])
    }
}
