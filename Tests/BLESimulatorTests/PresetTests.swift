import BLEPackets
import BLESimulator
import Testing

@Suite("Controllers of real families")
struct PresetTests {
    let air = SimulatedAir.demoWorld()
    let heart = SimulatedPeripheral.jellingHeart.address

    private func host(_ preset: SimulatedControllerPreset) -> TestHost {
        TestHost(air, controller: air.addController(preset))
    }

    @Test("each has a name, and a name has at most one")
    func names() {
        #expect(
            SimulatedControllerPreset.allCases.map(\.name) == [
                "csr-clone", "realtek-8761", "ats2851", "intel-ax2xx", "broadcom-pi", "zephyr-usb", "esp32",
                "mediatek-7922", "cc2564", "virtual-machine",
            ])
        for preset in SimulatedControllerPreset.allCases {
            #expect(SimulatedControllerPreset(name: preset.name) == preset)
        }
        #expect(SimulatedControllerPreset(name: "realtek") == nil)
    }

    @Test("each says who it is: manufacturer, HCI revision, LMP subversion, version, address")
    func identities() {
        let expected: [SimulatedControllerPreset: [UInt64]] = [
            .csrClone: [0x000A, 0x0810, 0x1012, 6, 0x001A_7DDA_7113],
            .realtek8761: [0x005D, 0xDFC6, 0xD922, 10, 0x8C88_4B00_0000],
            .ats2851: [0x03E0, 0x0001, 0x0001, 12, 0x3125_8600_0000],
            .intelAX2xx: [0x0002, 0x2231, 0x2231, 11, 0xA4C3_F000_0000],
            .broadcomPi: [0x0131, 0x0182, 0x6119, 9, 0xAAAA_AAAA_AAAA],
            .zephyrUSB: [0x05F1, 0x0000, 0xFFFF, 13, 0],
            .esp32: [0x02E5, 0x000A, 0x0011, 8, 0x240A_C400_0000],
            .mediatek7922: [0x0046, 0x0000, 0x2309, 12, 0x1418_C300_0000],
            .cc2564: [0x000D, 0x0000, 0x9A1A, 7, 0xD03A_E900_0000],
            .virtualMachine: [0x000F, 0x0100, 0x0100, 6, 0x000C_2900_0000],
        ]
        for preset in SimulatedControllerPreset.allCases {
            let host = host(preset)
            host.perform(Reset())
            let version = host.query(ReadLocalVersionInformation())
            let address = host.query(ReadBDADDR())?.address.value
            #expect(
                [
                    UInt64(version?.manufacturer.rawValue ?? 0), UInt64(version?.hciSubversion ?? 0),
                    UInt64(version?.lmpSubversion ?? 0), UInt64(version?.lmpVersion.rawValue ?? 0), address,
                ] == expected[preset]?.map(Optional.some), "\(preset.name)")
        }
    }

    @Test("units of a family differ in their addresses, unless all have the same (A13)")
    func units() {
        for preset in SimulatedControllerPreset.allCases {
            let addresses = Set([0, 1, 255].map { preset.configuration(unit: $0).publicAddress })
            let isShared = [.csrClone, .broadcomPi, .zephyrUSB].contains(preset)
            #expect(addresses.count == (isShared ? 1 : 3), "\(preset.name)")
        }
    }

    @Test("BR/EDR is claimed by the dual-mode chips, and what a host of it reads at its start is answered")
    func classic() {
        for preset in SimulatedControllerPreset.allCases {
            let host = host(preset)
            let features = host.query(ReadLocalSupportedFeatures())?.features ?? 0
            #expect(features >> 38 & 1 == 1)
            #expect((features >> 37 & 1 == 1) == (preset == .zephyrUSB))
            host.forget()
            // Read Class of Device.
            host.send([1, 0x23, 0x0C, 0])
            host.run(milliseconds: 1)
            #expect((host.packets.last?[1] == 0x0E) == (preset != .zephyrUSB), "\(preset.name)")
        }
    }

    /// Scans with the commands that the controller really has.
    private func hears(_ host: TestHost) -> Bool {
        if host.scan() != .success { return false }
        host.run(milliseconds: 1000)
        host.perform(LESetScanEnable(isEnabled: false))
        return host.legacyReports.contains { $0.address == heart }
    }

    @Test("each scans, connects and reads with legacy commands", arguments: SimulatedControllerPreset.allCases)
    func works(preset: SimulatedControllerPreset) throws {
        let host = host(preset)
        host.perform(Reset())
        host.perform(SetEventMask(mask: EventMask(rawValue: .max)))
        #expect(host.perform(LESetEventMask(mask: .afterReset)) == .success)
        // Without a public address, a random one is used.
        let random = DeviceAddress(value: 0xC000_0000_0042, kind: .random)
        let isAddressed = preset != .zephyrUSB
        #expect((host.perform(LESetRandomAddress(address: random)) == .success) == (preset != .virtualMachine))
        let own = isAddressed ? OwnAddressType.public : .random
        host.perform(LESetScanParameters(type: .active, ownAddressType: own))
        #expect(host.perform(LESetScanEnable(isEnabled: true)) == .success)
        host.run(milliseconds: 1000)
        #expect(host.legacyReports.contains { $0.address == heart })
        host.perform(LESetScanEnable(isEnabled: false))
        #expect(
            host.perform(
                LECreateConnection(
                    scanInterval: .milliseconds(60), scanWindow: .milliseconds(60), peerAddress: heart,
                    ownAddressType: own, parameters: TestHost.linkParameters)) == .success)
        host.run(milliseconds: 500)
        #expect(host.connectionResults == [.success])
        let handle = ConnectionHandle(rawValue: 0x40)
        #expect(host.request([0x0A, 3, 0], on: handle)?.first == 0x0B)
        if preset == .broadcomPi {
            host.perform(LESetScanEnable(isEnabled: true))
            #expect(host.perform(LEReadRemoteFeatures(connectionHandle: handle)) == nil)
        }
    }

    @Test("a claimed extended scan is an unknown command (A7, A45)")
    func actions() {
        let host = host(.ats2851)
        host.prepare()
        let commands = host.query(ReadLocalSupportedCommands())?.commands
        for opcode in [
            LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode, LEExtendedCreateConnection.opcode,
            LESetResolvablePrivateAddressTimeout.opcode,
        ] {
            #expect(commands?.contains(opcode) == true)
        }
        #expect(commands?.contains(octet: 37, bit: 5) == true && commands?.contains(octet: 37, bit: 7) == true)
        #expect(host.perform(LESetExtendedScanEnable(isEnabled: true)) == .unknownCommand)
        // Legacy scanning beside extended advertising.
        #expect(host.perform(LEClearAdvertisingSets()) == .success)
        #expect(hears(host))
    }

    @Test("the static address of the chip is read by a vendor command (A9)")
    func zephyr() {
        let host = host(.zephyrUSB)
        host.send([1, 0x09, 0xFC, 0])
        host.run(milliseconds: 1)
        #expect(host.packets.last.map { Array($0[6...14]) } == [0, 1, 0x5E, 0x11, 0x05, 0xF1, 0x5E, 0xDE, 0])
    }

    @Test("advertising and scanning exclude each other (A44)")
    func oneAtATime() {
        let host = host(.cc2564)
        host.prepare()
        #expect(host.advertise() == .success)
        #expect(host.scan() == .commandDisallowed)
        host.perform(LESetAdvertisingEnable(isEnabled: false))
        #expect(host.scan() == .success)
        #expect(host.advertise() == .commandDisallowed)
    }

    @Test("it hears for five minutes after each Reset (A28)")
    func fades() {
        let host = host(.intelAX2xx)
        for _ in 0..<2 {
            host.prepare()
            #expect(hears(host))
            air.advance(to: air.nowMicroseconds + 300_000_000)
            host.forget()
            #expect(!hears(host))
            #expect(!hears(host))
        }
    }

    @Test("USB dongles have an identity, chips on a UART have none")
    func usb() {
        let without = SimulatedControllerPreset.allCases.filter { $0.usbIdentity == nil }
        #expect(without == [.broadcomPi, .esp32, .cc2564])
        #expect(
            SimulatedControllerPreset.csrClone.usbIdentity
                == SimulatedUSBIdentity(vendor: 0x0A12, product: 0x0001, release: 0x0134))
    }
}
