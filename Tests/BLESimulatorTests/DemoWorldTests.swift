import BLEPackets
import BLESimulator
import Testing

@Suite("The demo world")
struct DemoWorldTests {
    let heart = SimulatedPeripheral.jellingHeart.address

    @Test("an active scan finds what is in the house, each with what it says")
    func isFound() throws {
        let host = TestHost.ready(.demoWorld())
        #expect(host.scan() == .success)
        host.run(milliseconds: 1500)
        let reports = host.legacyReports
        // The weather station is heard by extended scans only.
        #expect(Set(reports.map { $0.address.value & 0xFF }) == [1, 2, 3, 4, 5, 6])
        func data(_ number: UInt64, isResponse: Bool = false) throws -> AdvertisingData {
            let report = try #require(
                reports.first {
                    $0.address.value & 0xFF == number && ($0.eventType == .scanResponse) == isResponse
                })
            return AdvertisingData(advertisement: report.data.span.bytes)
        }
        #expect(try data(1, isResponse: true).localName == "Jelling Heart")
        #expect(
            try data(1).serviceUUIDs == [BluetoothUUID(0x180D as UInt16), BluetoothUUID(0x180F as UInt16)])
        #expect(try data(2).manufacturerData.first?.company == 0x004C)
        #expect(try data(3).serviceData.count == 1)
        #expect(try data(4, isResponse: true).localName == "Lock 271828")
        #expect(
            try data(5).localName == "Kitchen" && data(5).serviceData.first?.uuid == BluetoothUUID(0xFCD2 as UInt16))
        #expect(try data(6).manufacturerData.first?.company == 0x0499)
    }

    @Test("the extended advertisement is longer than a legacy one and on LE 2M; the values of sensors change")
    func changes() throws {
        let host = TestHost.ready(.demoWorld())
        host.perform(
            LESetExtendedScanParameters(
                le1M: .init(type: .active, interval: .milliseconds(60), window: .milliseconds(60))))
        #expect(host.perform(LESetExtendedScanEnable(isEnabled: true)) == .success)
        host.run(milliseconds: 30_000)
        let reports = host.extendedReports
        let station = reports.filter { $0.address?.value == 0xC0DE_0000_0007 }
        #expect(
            station.allSatisfy { $0.data.count > 31 && $0.secondaryPHY == .le2M && !$0.eventType.contains(.legacy) })
        #expect(!station.isEmpty)
        for number in [5, 6, 7] as [UInt64] {
            let values = Set(
                reports.filter {
                    $0.address?.value == 0xC0DE_0000_0000 | number && !$0.eventType.contains(.scanResponse)
                }.map(\.data))
            #expect(values.count >= 7, "\(number): \(values.count)")
        }
        // Those that are carried about come and go, the others stay within the jitter.
        func signals(_ number: UInt64) -> [Int8] {
            reports.filter { $0.address?.value == 0xC0DE_0000_0000 | number }.map(\.rssi)
        }
        for (number, least) in [(1, 10), (6, 20)] as [(UInt64, Int)] {
            let found = signals(number)
            #expect(Int(found.max() ?? 0) - Int(found.min() ?? 0) >= least, "\(number): \(found)")
        }
        #expect(signals(2).allSatisfy { abs(Int($0) + 68) <= 3 })
    }

    @Test("the sensor is connected, discovered, read, written and subscribed to by raw PDUs")
    func isUsed() throws {
        let host = TestHost.ready(.demoWorld())
        let link = try host.connect(to: heart)
        #expect(host.request([0x02, 0x05, 0x02], on: link) == [0x03, 0x05, 0x02])
        let services = try #require(host.request([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28], on: link))
        #expect(Array(services.prefix(2)) == [0x11, 6])
        #expect((services.count - 2) / 6 == 5)

        let list = try characteristics(host, link)
        func handle(_ uuid: UInt16) throws -> UInt16 { try #require(list[uuid]) }
        #expect(host.request([0x0A] + octets(try handle(0x2A38)), on: link) == [0x0B, 1])
        #expect(
            host.request([0x12] + octets(try handle(0x2A39)) + [7], on: link)
                == [0x01, 0x12] + octets(try handle(0x2A39)) + [0x80])
        #expect(host.request([0x12] + octets(try handle(0x2A39)) + [1], on: link) == [0x13])
        #expect(
            host.request([0x0A] + octets(try handle(0x2A37)), on: link)
                == [0x01, 0x0A] + octets(try handle(0x2A37)) + [0x02])

        #expect(host.request([0x12] + octets(try handle(0x2A37) + 1) + [1, 0], on: link) == [0x13])
        host.forget()
        host.run(milliseconds: 3_100)
        #expect(host.frames.map(\.payload).filter { $0.first == 0x1B }.count == 3)
        #expect(host.air.statistics(of: host.controller).rejections.isEmpty)
    }

    /// Value handles by the short UUID of their characteristics.
    private func characteristics(_ host: TestHost, _ link: ConnectionHandle) throws -> [UInt16: UInt16] {
        var found: [UInt16: UInt16] = [:]
        var next: UInt16 = 1
        for _ in 0..<64 {
            let answer = try #require(host.request([0x08] + octets(next) + [0xFF, 0xFF, 0x03, 0x28], on: link))
            guard answer.first == 0x09 else {
                #expect(answer == [0x01, 0x08] + octets(next) + [0x0A])
                break
            }
            let length = Int(answer[1])
            for start in stride(from: 2, to: answer.count, by: length) {
                let entry = Array(answer[start..<start + length])
                next = UInt16(entry[0]) + UInt16(entry[1]) << 8 + 1
                guard length == 7 else { continue }
                found[UInt16(entry[5]) + UInt16(entry[6]) << 8] = UInt16(entry[3]) + UInt16(entry[4]) << 8
            }
        }
        return found
    }
}

func octets(_ value: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)] }
