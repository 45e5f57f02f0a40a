import Testing

@testable import BLEUSB

@Suite("A controller in a USB device")
struct BluetoothFunctionTests {
    @Test("a device of Bluetooth's class: endpoints and both interfaces")
    func deviceClass() throws {
        let function = try #require(try SampleDescriptors.function(SampleDescriptors.dongle))
        #expect(function.interface == 0 && function.voiceInterface == 1 && function.configuration == 1)
        #expect(function.events == USBEndpoint(address: 0x81, kind: .interrupt, packetByteCount: 16))
        #expect(function.dataIn.address == 0x82 && function.dataOut.address == 0x02)
        #expect(function.commandRequestType == 0x20)
    }

    @Test("an interface of Bluetooth's class in a composite device, with other endpoints, after another interface")
    func interfaceClass() throws {
        let octets =
            SampleDescriptors.device(SampleDescriptors.composite) + SampleDescriptors.configuration()
            + SampleDescriptors.interface(0, 0, [3, 1, 1]) + SampleDescriptors.endpoint(0x81, 3, 8)
            + SampleDescriptors.interface(2) + SampleDescriptors.endpoints(0x85, 0x86, 0x01)
        let function = try #require(try SampleDescriptors.function(octets))
        #expect(function.interface == 2 && function.voiceInterface == nil)
        #expect([function.events.address, function.dataIn.address, function.dataOut.address] == [0x85, 0x86, 0x01])
    }

    @Test(
        "a class of the vendor's is a controller's if the vendor is known for it, or the device is",
        arguments: [(0x0A5C, 0x9999, true), (0x05AC, 0x8290, true), (0x2FE3, 0x0100, true), (0x1234, 0x5678, false)])
    func vendorClass(vendor: Int, product: Int, isController: Bool) throws {
        let octets =
            SampleDescriptors.device(SampleDescriptors.vendor, vendor: UInt16(vendor), product: UInt16(product))
            + SampleDescriptors.configuration() + SampleDescriptors.interface(0, 0, SampleDescriptors.vendor)
            + SampleDescriptors.endpoints()
        #expect(try (SampleDescriptors.function(octets) != nil) == isController)
        // The user knows better.
        #expect(try SampleDescriptors.function(octets, isNamed: true) != nil)
    }

    @Test("a printer or a disk is never taken, even if it is named")
    func otherClasses() throws {
        for kind: [UInt8] in [[7, 1, 2], [8, 6, 0x50], [0xE0, 1, 4], [0xE0, 1, 3]] {
            let octets =
                SampleDescriptors.device([0, 0, 0]) + SampleDescriptors.configuration()
                + SampleDescriptors.interface(0, 0, kind) + SampleDescriptors.endpoints()
            #expect(try SampleDescriptors.function(octets, isNamed: true) == nil)
        }
    }

    @Test("an interface that lacks an endpoint, or has packets without room for a header, is not taken")
    func incomplete() throws {
        let head =
            SampleDescriptors.device(SampleDescriptors.bluetooth) + SampleDescriptors.configuration()
            + SampleDescriptors.interface(0)
        let lacking = [
            SampleDescriptors.endpoint(0x82, 2, 64) + SampleDescriptors.endpoint(0x02, 2, 64),
            SampleDescriptors.endpoint(0x81, 3, 16) + SampleDescriptors.endpoint(0x82, 2, 64),
            SampleDescriptors.endpoint(0x01, 3, 16) + SampleDescriptors.endpoints(0x01),
            SampleDescriptors.endpoint(0x81, 3, 0) + SampleDescriptors.endpoint(0x82, 2, 64)
                + SampleDescriptors.endpoint(0x02, 2, 64),
            SampleDescriptors.endpoint(0x81, 3, 16) + SampleDescriptors.endpoint(0x82, 2, 3)
                + SampleDescriptors.endpoint(0x02, 2, 64),
        ]
        for endpoints in lacking { #expect(try SampleDescriptors.function(head + endpoints) == nil) }
    }

    @Test("the configuration that is set counts; without one, the first")
    func configurations() throws {
        let octets =
            SampleDescriptors.device(SampleDescriptors.bluetooth) + SampleDescriptors.configuration(3)
            + SampleDescriptors.interface(0) + SampleDescriptors.endpoints() + SampleDescriptors.configuration(7)
            + SampleDescriptors.interface(0) + SampleDescriptors.endpoints(0x84)
        #expect(try SampleDescriptors.function(octets, active: 7)?.events.address == 0x84)
        #expect(try SampleDescriptors.function(octets, active: 0)?.configuration == 3)
        #expect(try SampleDescriptors.function(octets, active: 5) == nil)
    }

    @Test("an interface of diagnostics beside the controller's is left to others")
    func diagnostics() throws {
        let octets =
            SampleDescriptors.dongle + SampleDescriptors.interface(2, 0, [0xFF, 0xFF, 0xFF])
            + SampleDescriptors.endpoint(0x84, 2, 32) + SampleDescriptors.endpoint(0x04, 2, 32)
        let function = try #require(try SampleDescriptors.function(octets))
        #expect(function.interface == 0 && function.voiceInterface == 1)
    }

    @Test("Digianswer's devices take commands as requests of the vendor's")
    func digianswer() throws {
        let octets =
            SampleDescriptors.device(SampleDescriptors.vendor, vendor: 0x08FD, product: 1)
            + SampleDescriptors.configuration() + SampleDescriptors.interface(0) + SampleDescriptors.endpoints()
        #expect(try SampleDescriptors.function(octets)?.commandRequestType == 0x40)
    }
}
