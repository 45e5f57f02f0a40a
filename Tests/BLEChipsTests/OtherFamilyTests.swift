import BLEPackets
import Testing

@testable import BLEChips

@Suite("Other chips")
struct OtherFamilyTests {
    private static let address = DeviceAddress(value: 0x0011_2233_4455, kind: .public)

    /// A controller of Zephyr that supports these vendor commands.
    private static func zephyr(_ supported: [UInt8], _ opcode: UInt16) -> [UInt8]? {
        switch opcode {
        case 0x1001: PlayedChip.version(manufacturer: 0x05F1)
        case 0xFC02: [0] + supported
        case 0xFC01: [0, 0x02, 0x00, 0x02, 0x00, 0x00, 0x03, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00]
        case 0xFC09: [0, 1, 0x66, 0x55, 0x44, 0x33, 0x22, 0xD1] + [UInt8](repeating: 7, count: 16)
        default: [0]
        }
    }

    @Test("Zephyr is asked for its version and its static address, and takes an address, as far as it says so (A9)")
    func zephyr() throws {
        var chip = try PlayedChip(ChipSettings(family: .zephyr, baud: 1_000_000, address: Self.address))
        chip.run { opcode, _ in Self.zephyr([0x23, 0x01, 0, 0, 0, 0, 0, 0], opcode) }
        #expect(
            chip.transcript == [
                "01 03 0C 00", "01 01 10 00", "01 02 FC 00", "01 01 FC 00", "01 09 FC 00",
                "01 06 FC 06 55 44 33 22 11 00",
            ])
        let information = try #require(chip.information)
        #expect(information.staticAddress?.description == "D1:22:33:44:55:66/random")
        #expect(information.name == "platform 2, firmware 3.6")
    }

    @Test("a vendor command that Zephyr does not name is not sent")
    func zephyrWithout() throws {
        var chip = try PlayedChip(ChipSettings(family: .zephyr, address: Self.address))
        chip.run { opcode, _ in Self.zephyr([0x02, 0, 0, 0, 0, 0, 0, 0], opcode) }
        #expect(chip.transcript == ["01 03 0C 00", "01 01 10 00", "01 02 FC 00"])
        #expect(chip.information != nil)
        var refusing = try PlayedChip(ChipSettings(family: .zephyr))
        refusing.run { opcode, _ in opcode == 0xFC02 ? [0x01] : Self.zephyr([], opcode) }
        #expect(refusing.information?.staticAddress == nil)
    }

    @Test("addresses that Zephyr cuts off are an error, those that are not static are none")
    func zephyrHostile() throws {
        var short = try PlayedChip(ChipSettings(family: .zephyr))
        short.run { opcode, _ in
            opcode == 0xFC09 ? [0, 200, 1, 2, 3] : Self.zephyr([0x02, 0x01, 0, 0, 0, 0, 0, 0], opcode)
        }
        #expect(short.failure == .invalidAnswer(HCIOpcode(rawValue: 0xFC09)))
        var resolvable = try PlayedChip(ChipSettings(family: .zephyr))
        resolvable.run { opcode, _ in
            opcode == 0xFC09
                ? [0, 1, 1, 2, 3, 4, 5, 0x41] + [UInt8](repeating: 0, count: 16)
                : Self.zephyr([0x02, 0x01, 0, 0, 0, 0, 0, 0], opcode)
        }
        #expect(resolvable.information != nil)
        #expect(resolvable.information?.staticAddress == nil)
    }

    @Test("a chip of Texas Instruments gets its speed, and its address with the highest octet first")
    func texasInstruments() throws {
        var chip = try PlayedChip(ChipSettings(family: .texasInstruments, baud: 3_000_000, address: Self.address))
        chip.run { opcode, _ in opcode == 0x1001 ? PlayedChip.version(manufacturer: 0x000D) : [0] }
        #expect(
            chip.transcript == [
                "01 03 0C 00", "01 01 10 00", "01 36 FF 04 C0 C6 2D 00", "baud 3000000", "wait 10 ms",
                "01 06 FC 06 00 11 22 33 44 55",
            ])
        #expect(chip.information != nil)
    }

    @Test("without a named family the chip's manufacturer decides")
    func automatic() throws {
        var zephyr = try PlayedChip(ChipSettings(family: .automatic))
        zephyr.run { opcode, _ in Self.zephyr([0x02, 0x01, 0, 0, 0, 0, 0, 0], opcode) }
        #expect(zephyr.information?.family == .zephyr)
        #expect(zephyr.transcript.contains("01 09 FC 00"))
        var espressif = try PlayedChip(ChipSettings(family: .automatic))
        espressif.run { opcode, _ in opcode == 0x1001 ? PlayedChip.version(manufacturer: 0x02E5) : [0] }
        #expect(espressif.information != nil)
        #expect(espressif.transcript == ["01 03 0C 00", "01 01 10 00"])
        var qualcomm = try PlayedChip(ChipSettings(family: .automatic))
        qualcomm.run { opcode, _ in opcode == 0x1001 ? PlayedChip.version(manufacturer: 0x001D) : [0] }
        #expect(qualcomm.failure == .needsKernelDriver(.qualcomm))
    }

    @Test("families that only the kernel starts are an error that says how", arguments: ChipFamily.allCases)
    func kernelDrivers(family: ChipFamily) {
        do throws(ChipFailure) {
            _ = try ChipBringUp(settings: ChipSettings(family: family))
            #expect(!family.needsKernelDriver)
        } catch {
            #expect(family.needsKernelDriver)
            #expect(error.description.contains("user:N"))
        }
    }

    @Test("no events of a hostile chip trap", arguments: ChipFamily.allCases.filter { !$0.needsKernelDriver })
    func hostile(family: ChipFamily) throws {
        var state: UInt64 = 17
        func random() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        for _ in 0..<100 {
            var chip = try PlayedChip(ChipSettings(family: family, baud: 921_600))
            for length in 0..<8 {
                var packet: [UInt8] = [0x04, 0x0E]
                for _ in 0..<length { packet.append(random()) }
                chip.bringUp.receive(packet.span.bytes, at: 0)
            }
            let manufacturer = [0x000F, 0x005D, 0x05F1, 0x000D][Int(random() % 4)] as UInt16
            chip.run(files: [BroadcomTests.file]) { opcode, _ in
                if opcode == 0x1001, random() > 20 {
                    return PlayedChip.version(
                        manufacturer: manufacturer, hciVersion: 8, revision: 0x000D, subversion: 0x8723)
                }
                guard random() >= 30 else { return nil }
                var octets: [UInt8] = [0]
                for _ in 0..<random() % 40 { octets.append(random()) }
                return octets
            }
            #expect(chip.information != nil || chip.failure != nil)
        }
    }
}
