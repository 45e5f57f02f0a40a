import BLEPackets
import Testing

@testable import BLEChips

@Suite("Broadcom chips")
struct BroadcomTests {
    /// Write RAM twice, then Launch RAM.
    static let hcd: [UInt8] = [
        0x4C, 0xFC, 0x06, 0x00, 0x00, 0x20, 0x00, 0xAA, 0xBB, 0x4C, 0xFC, 0x05, 0x02, 0x00, 0x20, 0x00, 0xCC, 0x4E,
        0xFC,
        0x04, 0xFF, 0xFF, 0xFF, 0xFF,
    ]
    static let file = ChipFile(name: "brcm/BCM43430A1.hcd", octets: hcd)

    /// A chip of a Raspberry Pi 3.
    static func answer(_ opcode: UInt16, _ parameters: [UInt8]) -> [UInt8]? {
        switch opcode {
        case 0x1001: PlayedChip.version(manufacturer: 0x000F, subversion: 0x2209)
        case 0x0C14: [0] + Array("BCM43430A1".utf8) + [UInt8](repeating: 0, count: 238)
        case 0x1009: [0, 0xAC, 0x1F, 0x12, 0xA0, 0x43, 0x43]
        default: [0]
        }
    }

    @Test("a chip gets its speed, its firmware, its speed again and its address, octet by octet")
    func whole() throws {
        let address = try #require(DeviceAddress("B8:27:EB:01:02:03"))
        var chip = try PlayedChip(ChipSettings(family: .broadcom, baud: 921_600, address: address))
        chip.run(files: [Self.file], answer: Self.answer)
        #expect(
            chip.transcript == [
                "01 03 0C 00", "01 01 10 00", "01 14 0C 00",
                "01 18 FC 06 00 00 00 10 0E 00", "baud 921600", "wait 10 ms",
                "read brcm/BCM43430A1.hcd",
                "01 2E FC 00", "wait 50 ms",
                "01 4C FC 06 00 00 20 00 AA BB", "01 4C FC 05 02 00 20 00 CC", "01 4E FC 04 FF FF FF FF",
                "wait 250 ms", "baud 115200", "01 03 0C 00",
                "01 18 FC 06 00 00 00 10 0E 00", "baud 921600", "wait 10 ms",
                "01 09 10 00", "01 01 FC 06 03 02 01 EB 27 B8",
            ])
        let information = try #require(chip.information)
        #expect(information.name == "BCM43430A1")
        #expect(information.firmware == "brcm/BCM43430A1.hcd")
        #expect(!information.hasDefaultAddress)
    }

    @Test("above 3 Mbaud the clock is made faster before the speed")
    func clock() throws {
        var chip = try PlayedChip(ChipSettings(family: .broadcom, baud: 4_000_000))
        chip.run(answer: Self.answer)
        #expect(
            chip.transcript == [
                "01 03 0C 00", "01 01 10 00", "01 14 0C 00", "01 45 FC 01 01", "01 18 FC 06 00 00 00 09 3D 00",
                "baud 4000000", "wait 10 ms", "read brcm/BCM43430A1.hcd", "01 09 10 00",
            ])
    }

    @Test("without its file a chip works with its ROM, and that is known; a default address is known, too")
    func withoutFirmware() throws {
        var chip = try PlayedChip(ChipSettings(family: .broadcom))
        chip.run(answer: Self.answer)
        #expect(!chip.transcript.contains { $0.hasPrefix("baud") })
        let information = try #require(chip.information)
        #expect(information.missingFirmware == ["brcm/BCM43430A1.hcd"])
        #expect(information.hasDefaultAddress)
    }

    @Test("an unknown chip's file has its own name, unless that is no name")
    func unknownChip() throws {
        for (name, wanted) in [("BCM4335C0", "read brcm/BCM4335C0.hcd"), ("BCM/../x", nil), ("Other", nil)] {
            var chip = try PlayedChip(ChipSettings(family: .broadcom))
            chip.run { opcode, parameters in
                switch opcode {
                case 0x1001: PlayedChip.version(manufacturer: 0x0131, subversion: 0x1234)
                case 0x0C14: [0] + Array(name.utf8) + [0]
                default: Self.answer(opcode, parameters)
                }
            }
            #expect(chip.transcript.first { $0.hasPrefix("read") } == wanted)
            #expect(chip.information != nil)
        }
    }

    @Test("a command that the chip refuses, answers too shortly or does not answer ends the start with its name")
    func refusals() throws {
        for opcode in [0x0C03, 0x1001, 0xFC18, 0xFC2E, 0xFC4C, 0xFC4E, 0x1009] as [UInt16] {
            var refusing = try PlayedChip(ChipSettings(family: .broadcom, baud: 921_600))
            refusing.run(files: [Self.file]) { $0 == opcode ? [0x0C] : Self.answer($0, $1) }
            #expect(refusing.failure == .refused(HCIOpcode(rawValue: opcode), HCIStatus(rawValue: 0x0C)))
            var silent = try PlayedChip(ChipSettings(family: .broadcom, baud: 921_600))
            silent.run(files: [Self.file]) { $0 == opcode ? nil : Self.answer($0, $1) }
            #expect(silent.failure == .unanswered(HCIOpcode(rawValue: opcode)))
            var short = try PlayedChip(ChipSettings(family: .broadcom, baud: 921_600))
            short.run(files: [Self.file]) { $0 == opcode ? [] : Self.answer($0, $1) }
            #expect(short.failure == .invalidAnswer(HCIOpcode(rawValue: opcode)))
        }
    }

    @Test("a chip that is still starting gets Reset a second time")
    func slowStart() throws {
        var chip = try PlayedChip(ChipSettings(family: .broadcom))
        var resets = 0
        chip.run { opcode, parameters in
            if opcode == 0x0C03 { resets += 1 }
            return opcode == 0x0C03 && resets == 1 ? nil : Self.answer(opcode, parameters)
        }
        #expect(chip.transcript.prefix(3) == ["01 03 0C 00", "wait 2000 ms", "01 03 0C 00"])
        #expect(chip.information != nil)
    }

    @Test("a file that is cut off anywhere, too long, empty or with other commands is refused and never traps")
    func hostileFiles() {
        for end in 0..<Self.hcd.count where ![9, 17].contains(end) {
            #expect(throws: ChipFailure.self) {
                try HCDFile(ChipFile(name: "x.hcd", octets: Array(Self.hcd[..<end])))
            }
        }
        let files: [[UInt8]] = [
            [0x03, 0x0C, 0x00], [UInt8](repeating: 0xFC, count: 3), [UInt8](repeating: 0, count: 2 << 20),
        ]
        for octets in files {
            do throws(ChipFailure) {
                _ = try HCDFile(ChipFile(name: "x.hcd", octets: octets))
                Issue.record("it was taken")
            } catch {
                #expect(error.description.contains("‘x.hcd’"))
            }
        }
    }

    @Test("a chip of another maker is not sent a vendor's command")
    func otherMaker() throws {
        var chip = try PlayedChip(ChipSettings(family: .broadcom, baud: 921_600))
        chip.run { opcode, _ in opcode == 0x1001 ? PlayedChip.version(manufacturer: 0x0002) : [0] }
        #expect(chip.failure == .otherFamily(.broadcom, manufacturer: 2))
        #expect(chip.transcript == ["01 03 0C 00", "01 01 10 00"])
    }
}
