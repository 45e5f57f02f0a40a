import BLEPackets
import BLESimulator
import Testing

@Suite("The demo world")
struct DemoWorldTests {
    let heart = SimulatedPeripheral.jellingHeart.address

    @Test("an active scan finds the sensor with its name and both beacons")
    func isFound() throws {
        let host = TestHost.ready(.demoWorld())
        #expect(host.scan() == .success)
        host.run(milliseconds: 500)
        let reports = host.legacyReports
        #expect(Set(reports.map(\.address.value)) == [0xC0DE_0000_0001, 0xC0DE_0000_0002, 0xC0DE_0000_0003])
        let response = try #require(reports.first { $0.address == heart && $0.eventType == .scanResponse })
        #expect(AdvertisingData(advertisement: response.data.span.bytes).localName == "Jelling Heart")
        let advertisement = try #require(reports.first { $0.address == heart && $0.eventType != .scanResponse })
        #expect(
            AdvertisingData(advertisement: advertisement.data.span.bytes).serviceUUIDs
                == [BluetoothUUID(0x180D as UInt16), BluetoothUUID(0x180F as UInt16)])
        let web = try #require(reports.first { $0.address.value == 0xC0DE_0000_0003 })
        #expect(AdvertisingData(advertisement: web.data.span.bytes).serviceData.count == 1)
        let beacon = try #require(reports.first { $0.address.value == 0xC0DE_0000_0002 })
        #expect(AdvertisingData(advertisement: beacon.data.span.bytes).manufacturerData.first?.company == 0xFFFF)
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
