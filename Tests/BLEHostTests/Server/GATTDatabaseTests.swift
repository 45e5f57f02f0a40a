import BLEPackets
import Testing

@testable import BLEHost

/// The table itself: what publishing makes of a service, where it stands, what is refused.
@Suite("GATT database")
struct GATTDatabaseTests {
    func refused(_ service: GATTServiceDefinition, by bench: ServerBench = ServerBench()) -> GATTPublishError? {
        do throws(GATTPublishError) {
            _ = try bench.server.publish(service, at: .zero)
            return nil
        } catch {
            return error
        }
    }

    @Test("a published service is a row of attributes as the specification orders them (SPEC PER-6, MOD-4)")
    func layout() throws {
        let bench = ServerBench(mtu: 100)
        let battery = try bench.publish(
            GATTServiceDefinition(
                uuid: BluetoothUUID(UInt16(0x180F)), isPrimary: false, characteristics: [.cached(0x2A19, [100])]))
        var measurement = GATTCharacteristicDefinition.dynamic(0x2A37, [.read, .notify])
        measurement.extendedProperties = .reliableWrite
        measurement.descriptors = [
            GATTDescriptorDefinition(uuid: .characteristicUserDescription, value: Array("Rate".utf8)),
            GATTDescriptorDefinition(uuid: BluetoothUUID(UInt16(0x2904)), value: nil),
        ]
        let long = try #require(BluetoothUUID("71DA3FD1-7E10-41C1-B16F-4430B506CDE7"))
        let heart = try bench.publish(
            GATTServiceDefinition(
                uuid: .heartRate, includedServices: [battery.range.first],
                characteristics: [
                    measurement, GATTCharacteristicDefinition(uuid: long, properties: .write, permissions: .writeable),
                ]))
        #expect(battery.range == AttributeHandleRange(1, 3))
        #expect(heart.range == AttributeHandleRange(4, 13))
        #expect(heart.characteristics[0].valueHandle == 7 && heart.characteristics[0].configuration == 9)
        #expect(heart.characteristics[0].descriptors == [10, 11])
        #expect(heart.characteristics[1].configuration == .none)
        #expect(bench.ask("100100ffff0128") == ["1106" + "010003000f18"])
        #expect(bench.ask("100100ffff0028") == ["1106" + "04000d000d18"])
        #expect(bench.ask("080100ffff0228") == ["0908" + "0500010003000f18"])
        #expect(bench.ask("0805000a000328") == ["0907" + "0600920700372a"])
        #expect(bench.ask("080b00ffff0328") == ["0915" + "0c00080d00" + "e7cd06b530446fb1c141107ed13fda71"])
        #expect(
            bench.ask("0406000d00") == [
                "0501" + "06000328" + "0700372a" + "08000029" + "09000229" + "0a000129"
                    + "0b000429" + "0c000328"
            ])
        #expect(bench.ask("040d00ffff") == ["0502" + "0d00" + "e7cd06b530446fb1c141107ed13fda71"])
        #expect(bench.ask("0a0800") == ["0b0100"] && bench.ask("0a0a00") == ["0b52617465"])
        #expect(bench.ask("0a0b00").isEmpty && bench.events.count == 1)
    }

    @Test("a service of 16 bits is also found by its UUID in 128 bits (Core 5.4, Vol 3, Part B, 2.5.1)")
    func findByLongUUID() throws {
        let bench = ServerBench(
            mtu: 23,
            try GATTDatabase(attributes: [
                .row(1, 0x2800, .readable, [0x0F, 0x18]), .row(3, 0x2800, .readable, [0x0D, 0x18]),
                .row(4, 0x2803, .readable, [2, 5, 0, 0x37, 0x2A]), .row(5, 0x2A37, .readable, [0x0D, 0x18]),
            ]))
        let long = "fb349b5f80000080001000" + "000d180000"
        #expect(bench.ask("060100ffff0028" + long) == ["07" + "03000500"])
        // Other values are octets.
        #expect(bench.ask("060100ffff372a" + long) == ["010601000a"])
    }

    @Test("find by type value gives ends of services and characteristics, and only readable values")
    func findByTypeValue() throws {
        let bench = ServerBench(
            mtu: 23,
            try GATTDatabase(attributes: [
                .row(1, 0x2800, .readable, [0x0D, 0x18]), .row(2, 0x2803, .readable, [2, 3, 0, 0x37, 0x2A]),
                .row(3, 0x2A37, .readable, [1]), .row(4, 0x2901, .readable, [1]), .row(9, 0x2A37, [], [1]),
                .row(10, 0x2800, .readable, [0x0D, 0x18]), .row(12, 0x2A37, .readable, [1, 2]),
            ]))
        #expect(bench.ask("060100ffff00280d18") == ["07" + "01000900" + "0a000c00"])
        #expect(bench.ask("060200ffff00280d18") == ["07" + "0a000c00"])
        #expect(bench.ask("060100ffff372a01") == ["07" + "03000300"])
        #expect(bench.ask("060100ffff0328" + "020300372a") == ["07" + "02000900"])
        #expect(bench.ask("060100ffff372a03") == ["010601000a"])
        #expect(bench.ask("060000ffff00280d18") == ["0106000001"])
        #expect(bench.ask("0602000100 00280d18".compact) == ["0106020001"])
        // Not a request for groups of characteristics (Core 5.4, Vol 3, Part G, 2.5.3).
        #expect(bench.ask("100100ffff0328") == ["0110010010"])
        #expect(bench.ask("100500ffff0128") == ["011005000a"])
        #expect(bench.ask("1002000100ff28") == ["0110020001"])
        #expect(bench.ask("040500080001").isEmpty == false)
        #expect(bench.ask("0405000800") == ["010405000a"])
        #expect(bench.ask("0400000800") == ["0104000001"])
    }

    @Test("lists end where the PDU is full", arguments: [23, 40, 517] as [UInt16])
    func fullPDUs(mtu: UInt16) throws {
        let rows = (1...60).map { RawAttribute.row(UInt16($0), 0x2800, .readable, [UInt8($0), 0x18]) }
        let bench = ServerBench(mtu: mtu, try GATTDatabase(attributes: rows))
        for (request, element, header) in [
            ("100100ffff0028", 6, 2), ("080100ffff0028", 4, 2), ("040100ffff", 4, 2), ("060100ffff00280118", 4, 1),
        ] {
            let pdu = bytes(try #require(bench.ask(request).first))
            let count = min((Int(mtu) - header) / element, request.hasPrefix("06") ? 1 : 60)
            #expect(pdu.count == header + count * element)
        }
    }

    @Test("a cached value must be read-only (SPEC PER-3)")
    func cachedValues() {
        var cached = GATTCharacteristicDefinition.cached(0x2A37, [1])
        cached.permissions = [.readable, .writeable]
        let uuid = BluetoothUUID.heartRateMeasurement
        #expect(refused(.of(0x180D, [cached])) == .cachedValueNotReadOnly(uuid))
        cached.permissions = .readable
        cached.properties = [.read, .writeWithoutResponse]
        #expect(refused(.of(0x180D, [cached])) == .cachedValueNotReadOnly(uuid))
        cached.properties = .read
        #expect(refused(.of(0x180D, [cached])) == nil)
        cached.value = [UInt8](repeating: 0, count: 513)
        #expect(refused(.of(0x180D, [cached])) == .valueTooLong(uuid))
    }

    @Test("apps may not set the extended properties (SPEC PER-4)")
    func properties() {
        #expect(
            refused(.of(0x180D, [.dynamic(0x2A37, [.read, .extendedProperties])]))
                == .propertyNotAllowed(.heartRateMeasurement))
    }

    @Test("several presentation formats get a list of their handles, unless the app has one (Vol 3, Part G, 3.3.3.6)")
    func aggregateFormat() throws {
        func format(_ unit: UInt8) -> GATTDescriptorDefinition {
            GATTDescriptorDefinition(
                uuid: .characteristicPresentationFormat, value: [4, 0, unit, 0x27, 1, 0, 0])
        }
        let bench = ServerBench(mtu: 64)
        var characteristic = GATTCharacteristicDefinition.dynamic(0x2A37, [.read, .notify])
        characteristic.descriptors = [
            format(1), GATTDescriptorDefinition(uuid: .characteristicUserDescription, value: [0x41]), format(2),
        ]
        let two = try bench.publish(.of(0x180D, [characteristic, .cached(0x2A38, [1])]))
        #expect(two.characteristics[0].descriptors == [5, 6, 7])
        #expect(bench.ask("0404000800") == ["0501" + "04000229" + "05000429" + "06000129" + "07000429" + "08000529"])
        #expect(bench.ask("0a0800") == ["0b" + "05000700"])
        #expect(bench.ask("120800" + "0500") == ["01" + "120800" + "03"])
        #expect(bench.ask("080100ffff0328").first?.contains("0900020a00382a") == true)
        characteristic.descriptors = [format(1)]
        #expect(try bench.publish(.of(0x1900, [characteristic])).range == .init(11, 15))
        characteristic.descriptors = [
            format(1), format(2),
            GATTDescriptorDefinition(uuid: .characteristicAggregateFormat, value: [5, 0, 7, 0]),
        ]
        #expect(try bench.publish(.of(0x1901, [characteristic])).range == .init(16, 22))
        #expect(bench.ask("0a1600") == ["0b" + "05000700"])
    }

    @Test("services of the system, unknown includes and descriptors of the server are refused (SPEC PER-6, 2.4)")
    func refusals() throws {
        for uuid in ["1800", "1801", "7905F431-B5CE-4E99-A40F-4B1E122D00D0"] {
            let uuid = try #require(BluetoothUUID(uuid))
            #expect(refused(GATTServiceDefinition(uuid: uuid)) == .uuidNotAllowed(uuid))
        }
        #expect(
            refused(GATTServiceDefinition(uuid: .heartRate, includedServices: [9])) == .includedServiceUnknown(9))
        var characteristic = GATTCharacteristicDefinition.dynamic(0x2A37)
        characteristic.descriptors = [GATTDescriptorDefinition(uuid: .clientCharacteristicConfiguration, value: [0])]
        #expect(refused(.of(0x180D, [characteristic])) == .descriptorNotAllowed(.clientCharacteristicConfiguration))
        #expect(refused(.of(0x180D, [.dynamic(0x2B2A)])) == .uuidNotAllowed(.databaseHash))
        do throws(GATTPublishError) {
            _ = try GATTDatabase(attributes: [.row(2, 0x2800), .row(2, 0x2800)])
            Issue.record("taken")
        } catch {
            #expect(error == .handlesOutOfOrder(2))
        }
        do throws(GATTPublishError) {
            _ = try GATTDatabase(attributes: [.row(0, 0x2800)])
            Issue.record("taken")
        } catch {
            #expect(error == .handlesOutOfOrder(0))
        }
    }

    // MARK: Coming and going

    @Test("a published service keeps its handles whatever other services come and go (SPEC PER-7)")
    func stableHandles() throws {
        let bench = ServerBench()
        let first = try bench.publish(.of(0x1900, [.dynamic(0x2B00)]))
        let second = try bench.publish(.of(0x1901, [.dynamic(0x2B01)]))
        #expect(first.range == AttributeHandleRange(1, 4) && second.range == AttributeHandleRange(5, 8))
        try bench.remove(first.range.first)
        // Another service never gets what a client may remember …
        let third = try bench.publish(.of(0x1902, [.dynamic(0x2B02)]))
        #expect(third.range == AttributeHandleRange(9, 12))
        // … but the same one comes back to its place.
        let again = try bench.publish(.of(0x1900, [.dynamic(0x2B00)]))
        #expect(again == first)
        #expect(bench.server.database.services == [first, second, third])
        try bench.remove(first.range.first)
        let other = try bench.publish(.of(0x1900, [.dynamic(0x2B00, [.read])]))
        #expect(other.range == AttributeHandleRange(13, 15))
    }

    @Test("when all handles are used up the lowest gap is used again, and then there is none")
    func handlesRunOut() throws {
        let bench = ServerBench()
        var services: [GATTPublishedService] = []
        let wide = (0..<100).map { GATTCharacteristicDefinition.cached(UInt16($0), []) }
        for number in 0..<326 { services.append(try bench.publish(.of(UInt16(number), wide))) }
        #expect(services.last?.range.last == 65526)
        #expect(refused(.of(0x1900, wide), by: bench) == .outOfHandles)
        try bench.remove(services[5].range.first)
        let small = try bench.publish(.of(0x1900, [.cached(1, []), .cached(2, []), .cached(3, []), .cached(4, [])]))
        #expect(small.range == AttributeHandleRange(65527, 65535))
        let next = try bench.publish(.of(0x1901, [.cached(1, [])]))
        #expect(next.range.first == services[5].range.first)
        #expect(refused(.of(5, wide), by: bench) == .outOfHandles)
        try bench.remove(next.range.first)
        #expect(try bench.publish(.of(5, wide)).range == services[5].range)
        bench.connect(ServerBench.link(1))
        #expect(bench.ask("0affff") == ["0b"])
    }

    @Test("an included service goes after the one that includes it (SPEC 2.4)")
    func includedServices() throws {
        let bench = ServerBench()
        let owner = ClientID(rawValue: 3)
        let inner = try bench.publish(.of(0x180F, []), owner: owner)
        let outer = try bench.publish(
            GATTServiceDefinition(uuid: .heartRate, includedServices: [inner.range.first]), owner: owner)
        do throws(GATTPublishError) {
            try bench.server.remove(inner.range.first, at: .zero)
            Issue.record("removed")
        } catch {
            #expect(error == .isIncluded(inner.range.first, by: outer.range.first))
        }
        let kept = try bench.publish(.of(0x1811, []))
        bench.server.removeAllServices(of: owner, at: .zero)
        #expect(bench.server.database.services == [kept])
        do throws(GATTPublishError) {
            try bench.server.remove(inner.range.first, at: .zero)
            Issue.record("removed")
        } catch {
            #expect(error == .unknownService(inner.range.first))
        }
    }

    @Test("a table that changes at random answers each handle and range as a list would")
    func randomChanges() throws {
        var generator = AdvertisingPackerPropertyTests.Generator(state: 9)
        var table = AttributeTable()
        var list: [Attribute] = []
        for _ in 0..<400 {
            let start = UInt16.random(in: 1...0xFFF0, using: &generator)
            let range = AttributeHandleRange(
                AttributeHandle(rawValue: start),
                AttributeHandle(rawValue: start + UInt16.random(in: 0...12, using: &generator)))
            if list.contains(where: { range.contains($0.handle) }) {
                table.remove(range)
                list.removeAll { range.contains($0.handle) }
            } else {
                let added = (range.first.rawValue...range.last.rawValue).map {
                    Attribute(
                        handle: AttributeHandle(rawValue: $0),
                        type: BluetoothUUID(UInt16.random(in: 0x2800...0x2805, using: &generator)),
                        permissions: .readable, value: .stored([]))
                }
                table.insert(added)
                list = (list + added).sorted { $0.handle < $1.handle }
            }
            #expect(table.attributes == list)
            let probe = AttributeHandle(rawValue: UInt16.random(in: 0...0xFFFF, using: &generator))
            #expect(table[probe] == list.first { $0.handle == probe })
            #expect(table.firstIndex(from: probe) == list.firstIndex { $0.handle >= probe } ?? list.count)
            let type = BluetoothUUID(UInt16.random(in: 0x2800...0x2805, using: &generator))
            let window = AttributeHandleRange(probe, .last)
            #expect(
                Array(table.handles(of: type, in: window))
                    == list.filter { $0.type == type && window.contains($0.handle) }.map(\.handle))
        }
        for attribute in list { #expect(table[attribute.handle] == attribute) }
    }
}
