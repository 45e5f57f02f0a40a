import BLEPackets
import Testing

@testable import BLEChips

@Suite("Realtek chips")
struct RealtekTests {
    /// A file for project 9 with patches for the ROM versions 0 and 1.
    static func firmware(
        patches: [(chip: UInt16, octets: [UInt8])], project: UInt8 = 9, version: UInt32 = 0x1234_5678
    ) -> [UInt8] {
        func two(_ number: Int) -> [UInt8] {
            [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
        }
        var octets = Array("Realtech".utf8)
        octets += littleEndian(version)
        octets += two(patches.count)
        for patch in patches { octets += two(Int(patch.chip)) }
        for patch in patches { octets += two(patch.octets.count) }
        var offset = octets.count + 4 * patches.count
        for patch in patches {
            octets += littleEndian(UInt32(offset))
            offset += patch.octets.count
        }
        for patch in patches { octets += patch.octets }
        // Two records, read from the end: one that is passed over, and the project before it.
        let records: [UInt8] = [project, 1, 0, 0xEE, 0xEE, 2, 7, 0x51, 0x04, 0xFD, 0x77]
        return octets + records
    }

    /// The speed of 115,200 baud, and another entry.
    static let configuration: [UInt8] = [
        0x55, 0xAB, 0x23, 0x87, 0x0C, 0x00, 0x0C, 0x00, 0x04, 0x14, 0xC0, 0x52, 0x02, 0x3C, 0x00, 0x02, 0x01, 0x02,
    ]
    static let patch = (0..<600).map { UInt8(truncatingIfNeeded: $0) }

    static func files(_ firmware: [UInt8]) -> [ChipFile] {
        [
            ChipFile(name: "rtl_bt/rtl8723ds_fw.bin", octets: firmware),
            ChipFile(name: "rtl_bt/rtl8723ds_config.bin", octets: configuration),
        ]
    }

    static func answer(_ opcode: UInt16, _ parameters: [UInt8]) -> [UInt8]? {
        switch opcode {
        case 0x1001: PlayedChip.version(manufacturer: 0x005D, hciVersion: 8, revision: 0x000D, subversion: 0x8723)
        case 0xFC6D: [0, 1]
        case 0xFC20: [0, parameters[0]]
        default: [0]
        }
    }

    @Test("a chip gets its speed, and the patch for its ROM with version and configuration, in pieces")
    func whole() throws {
        var chip = try PlayedChip(ChipSettings(family: .realtek, baud: 1_500_000))
        let firmware = Self.firmware(patches: [(1, [UInt8](repeating: 9, count: 40)), (2, Self.patch)])
        var image: [UInt8] = []
        var indexes: [UInt8] = []
        chip.run(files: Self.files(firmware)) { opcode, parameters in
            if opcode == 0xFC20 {
                indexes.append(parameters[0])
                image += parameters.dropFirst()
            }
            return Self.answer(opcode, parameters)
        }
        let information = try #require(chip.information)
        #expect(information.name == "rtl8723ds")
        #expect(indexes == [0, 1, 0x82])
        var configuration = Self.configuration
        configuration.replaceSubrange(9..<13, with: [0x02, 0x80, 0x92, 0x04])
        var expected = Array(Self.patch.dropLast(4))
        expected += littleEndian(0x1234_5678)
        expected += configuration
        #expect(image == expected)
        #expect(
            chip.transcript.filter { !$0.hasPrefix("01 20 FC") } == [
                "01 03 0C 00", "01 01 10 00", "01 6D FC 00", "read rtl_bt/rtl8723ds_fw.bin",
                "read rtl_bt/rtl8723ds_config.bin", "01 17 FC 04 02 80 92 04", "wait 10 ms", "baud 1500000",
                "wait 50 ms", "01 03 0C 00",
            ])
    }

    @Test("the index of pieces goes from 127 to 1, and an image of whole pieces ends with an empty one")
    func indexWraps() throws {
        // 259 pieces with the configuration.
        let patch = [UInt8](repeating: 0x5A, count: 259 * 252 - Self.configuration.count)
        let octets = Self.firmware(patches: [(2, patch)])
        var chip = try PlayedChip(ChipSettings(family: .realtek))
        var indexes: [UInt8] = []
        var lengths: [Int] = []
        chip.run(files: Self.files(octets)) { opcode, parameters in
            if opcode == 0xFC20 {
                indexes.append(parameters[0])
                lengths.append(parameters.count - 1)
            }
            return Self.answer(opcode, parameters)
        }
        #expect(chip.information != nil)
        #expect(indexes.count == 260)
        #expect(Array(indexes[126...129]) == [126, 127, 1, 2])
        #expect(Array(indexes[253...256]) == [126, 127, 1, 2])
        #expect(indexes.last == 0x85)
        #expect(lengths.last == 0)
        #expect(lengths.dropLast().allSatisfy { $0 == 252 })
        #expect(!chip.transcript.contains { $0.hasPrefix("baud") })
    }

    @Test("firmware that is there already is dropped, once, and then the ROM's chip is known")
    func dropsFirmware() throws {
        for recovers in [true, false] {
            var chip = try PlayedChip(ChipSettings(family: .realtek))
            var hasDropped = false
            chip.run(files: Self.files(Self.firmware(patches: [(2, Self.patch)]))) { opcode, parameters in
                if opcode == 0xFC66 {
                    hasDropped = recovers
                    return nil
                }
                if opcode == 0x1001, !hasDropped {
                    return PlayedChip.version(manufacturer: 0x005D, hciVersion: 8, revision: 0xDFC6, subversion: 0xD922)
                }
                return Self.answer(opcode, parameters)
            }
            #expect(
                chip.transcript.prefix(6) == [
                    "01 03 0C 00", "01 01 10 00", "01 66 FC 00", "wait 200 ms", "link", "01 03 0C 00",
                ])
            #expect((chip.information != nil) == recovers)
            if !recovers { #expect(chip.failure == .unknownChip(.realtek, subversion: 0xD922, revision: 0xDFC6)) }
        }
    }

    @Test("a missing file is named with the package that has it; so is one for another chip, or without this ROM")
    func files() throws {
        let good = Self.firmware(patches: [(2, Self.patch)])
        var newFormat = good
        newFormat.replaceSubrange(0..<8, with: Array("RTBTCore".utf8))
        let cases: [([ChipFile], String)] = [
            ([], "rtl8723ds_fw.bin"), ([Self.files(good)[0]], "rtl8723ds_config.bin"),
            (Self.files(Self.firmware(patches: [(2, Self.patch)], project: 14)), "another chip"),
            (Self.files(Self.firmware(patches: [(1, Self.patch)])), "ROM version 1"),
            (Self.files(newFormat), "sections"),
        ]
        for (files, word) in cases {
            var chip = try PlayedChip(ChipSettings(family: .realtek))
            chip.run(files: files, answer: Self.answer)
            let failure = try #require(chip.failure)
            #expect(failure.description.contains(word))
            if case .missingFirmware = failure { #expect(failure.description.contains("firmware-realtek")) }
            #expect(!chip.transcript.contains { $0.hasPrefix("01 20 FC") })
        }
    }

    @Test("no file of firmware or configuration traps: cut off, with wrong lengths, or with any octet changed")
    func hostileFiles() {
        let good = Self.firmware(patches: [(1, Array(Self.patch.prefix(30))), (2, Array(Self.patch.prefix(40)))])
        func read(_ octets: [UInt8]) {
            do throws(ChipFailure) {
                let firmware = try RealtekFirmware(ChipFile(name: "x", octets: octets))
                for rom in 0...255 as ClosedRange<UInt8> {
                    do throws(ChipFailure) { _ = try firmware.patch(forROM: rom) } catch {}
                }
            } catch {}
        }
        for end in 0...good.count {
            read(Array(good[..<end]))
            var ended = Array(good[..<end])
            ended += good.suffix(4)
            read(ended)
        }
        for index in good.indices {
            for value in [0x00, 0x01, 0x7F, 0x80, 0xFF] as [UInt8] {
                var changed = good
                changed[index] = value
                read(changed)
            }
        }
        for end in 0..<Self.configuration.count {
            #expect(throws: ChipFailure.self) {
                try RealtekConfiguration(ChipFile(name: "x", octets: Array(Self.configuration[..<end])))
            }
        }
        for index in Self.configuration.indices {
            var changed = Self.configuration
            changed[index] = 0xFF
            do throws(ChipFailure) {
                var configuration = try RealtekConfiguration(ChipFile(name: "x", octets: changed))
                configuration.setSpeed(1)
            } catch {}
        }
    }

    @Test("a speed that the chips do not have is an error before anything is loaded")
    func unknownSpeed() throws {
        var chip = try PlayedChip(ChipSettings(family: .realtek, baud: 123_456))
        chip.run(answer: Self.answer)
        #expect(chip.failure == .unsupportedBaud(123_456))
    }
}
