import Testing

@testable import BLEUSB

@Suite("USB descriptors")
struct USBDescriptorsTests {
    @Test("device, configurations, interfaces and endpoints are read")
    func reads() throws {
        let read = try USBDescriptors(SampleDescriptors.dongle)
        #expect(read.vendor == 0x0A12 && read.product == 1 && read.release == 0x0134)
        #expect(read.kind == .bluetooth)
        let interfaces = try #require(read.configurations.first).interfaces
        #expect(interfaces.map(\.number) == [0, 1, 1] && interfaces.map(\.setting) == [0, 0, 1])
        #expect(interfaces[0].endpoints.map(\.address) == [0x81, 0x82, 0x02])
        #expect(interfaces[0].endpoints.map(\.packetByteCount) == [16, 64, 64])
    }

    @Test("unknown descriptors are skipped, and longer ones read by what is known of them")
    func skipsUnknown() throws {
        let association: [UInt8] = [8, 11, 0, 2, 0xE0, 1, 1, 0]
        let longer: [UInt8] = [9, 5, 0x81, 3, 16, 0, 1, 0, 0]
        let read = try USBDescriptors(
            SampleDescriptors.device(SampleDescriptors.composite) + SampleDescriptors.configuration() + association
                + SampleDescriptors.interface(0) + longer + [2, 0x41])
        #expect(read.configurations[0].interfaces[0].endpoints[0].packetByteCount == 16)
    }

    @Test("the bits for high-speed transfers are not part of a packet's size")
    func masksSize() throws {
        let octets =
            SampleDescriptors.device(SampleDescriptors.bluetooth) + SampleDescriptors.configuration()
            + SampleDescriptors.interface(0) + SampleDescriptors.endpoint(0x81, 3, 0x1810)
        #expect(try USBDescriptors(octets).configurations[0].interfaces[0].endpoints[0].packetByteCount == 16)
    }

    @Test("descriptors that are cut off anywhere are refused or read in part")
    func cutOff() {
        for count in 0..<SampleDescriptors.dongle.count {
            _ = try? USBDescriptors(Array(SampleDescriptors.dongle[..<count]))
        }
        #expect(throws: USBDescriptorError.notADevice) { try USBDescriptors([]) }
        #expect(throws: USBDescriptorError.truncated(at: 0)) { try USBDescriptors([18, 1, 0]) }
        #expect(throws: USBDescriptorError.truncated(at: 18)) {
            try USBDescriptors(Array(SampleDescriptors.dongle[..<20]))
        }
    }

    @Test("lengths that no descriptor has are refused", arguments: [UInt8(0), 1, 8])
    func invalidLengths(length: UInt8) {
        #expect(throws: USBDescriptorError.invalidLength(length, at: 18)) {
            try USBDescriptors(
                SampleDescriptors.device(SampleDescriptors.bluetooth) + [length, 2] + [UInt8](repeating: 0, count: 16))
        }
    }

    @Test("a fake device with descriptors without end is refused, and costs no memory")
    func tooMany() {
        let device = SampleDescriptors.device(SampleDescriptors.bluetooth)
        func repeated(_ octets: [UInt8], _ count: Int) -> [UInt8] {
            Array([[UInt8]](repeating: octets, count: count).joined())
        }
        let many = [
            device + repeated(SampleDescriptors.configuration(), 9),
            device + SampleDescriptors.configuration() + repeated(SampleDescriptors.interface(0), 257),
            device + SampleDescriptors.configuration() + SampleDescriptors.interface(0)
                + repeated(SampleDescriptors.endpoint(0x81, 3, 16), 33),
            device + [UInt8](repeating: 2, count: 70_000),
        ]
        for octets in many { #expect(throws: USBDescriptorError.tooMany) { try USBDescriptors(octets) } }
    }

    @Test("what precedes its parent is skipped")
    func orphans() throws {
        let read = try USBDescriptors(
            SampleDescriptors.device(SampleDescriptors.bluetooth) + SampleDescriptors.endpoints()
                + SampleDescriptors.interface(0) + SampleDescriptors.configuration() + SampleDescriptors.endpoints())
        #expect(read.configurations == [USBConfiguration(value: 1)])
    }

    @Test("arbitrary octets, and honest ones with errors, never trap")
    func arbitrary() {
        var chance = Chance(34)
        for _ in 0..<20_000 {
            var octets = SampleDescriptors.dongle
            for _ in 0...chance.number(below: 6) {
                octets[chance.number(below: octets.count)] = UInt8(chance.number(below: 256))
            }
            if let read = try? USBDescriptors(octets) {
                _ = BluetoothFunction(read, activeConfiguration: octets[5], isNamed: true)
            }
            _ = try? USBDescriptors(SampleDescriptors.device(SampleDescriptors.bluetooth) + chance.octets(60))
        }
    }
}
