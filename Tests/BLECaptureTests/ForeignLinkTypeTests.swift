import Testing

@testable import BLECapture

@Suite("Captures that carry no HCI")
struct ForeignLinkTypeTests {
    private let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]

    private func refusal(_ bytes: [UInt8]) -> CaptureError? {
        do throws(CaptureError) {
            _ = try CaptureReader(bytes: bytes)
            return nil
        } catch { return error }
    }

    private func pcapng(links: [UInt16], packets: Int = 2) -> FileBuilder {
        var file = FileBuilder(bigEndian: false)
        file.section()
        for link in links { file.interface(link: link) }
        for number in 0..<packets { file.enhancedPacket(ticks: UInt64(number), [1, 2, 3, 4, 5]) }
        return file
    }

    @Test(
        "pcap and pcapng without HCI are refused when they are opened, by the same words",
        arguments: [0, 1, 105, 113, 147, 186, 255, 266, 288, 999] as [UInt16])
    func refused(link: UInt16) {
        let error = CaptureError(.unsupportedLinkType(UInt32(link)))
        var file = FileBuilder.pcap(bigEndian: false, link: UInt32(link))
        file.pcapRecord(seconds: 1, fraction: 2, [1, 2, 3, 4, 5])
        #expect(refusal(file.bytes) == error)
        #expect(refusal(pcapng(links: [link]).bytes) == error)
        #expect(refusal(pcapng(links: [link, 1], packets: 0).bytes) == error)
        #expect(Reading(pcapng(links: [link]).bytes, maximumReadByteCount: 3).errors == [error])
    }

    @Test("the refusal says what the link type is, whether it may carry HCI, and what to do")
    func texts() {
        func text(_ link: UInt32) -> String { "\(CaptureError(.unsupportedLinkType(link)))" }
        let remedy =
            ": record HCI on the host, with btmon, Android's snoop log or PacketLogger, or the air with a sniffer; "
            + "Wireshark may read this file"
        #expect(
            text(255)
                == "link type 255 (the baseband of Bluetooth BR/EDR, as sniffers record it) carries no HCI packets"
                + remedy)
        #expect(text(105) == "link type 105 (Wi-Fi) carries no HCI packets" + remedy)
        #expect(text(1) == "link type 1 (Ethernet) carries no HCI packets" + remedy)
        #expect(
            text(266) == "link type 266 (USB, as macOS records it) may carry HCI packets, but is not read"
                + remedy)
        #expect(text(999) == "link type 999 is not known as one that carries HCI packets" + remedy)
        for link in [186, 266, 288, 293, 294, 295, 1003, 1004] as [UInt32] {
            #expect(CaptureLinkType(rawValue: link).mayCarryHCI && !CaptureLinkType(rawValue: link).isRead)
        }
        for link in [187, 189, 201, 220, 249, 254, 1001, 1002, 2001] as [UInt32] {
            #expect(CaptureLinkType(rawValue: link).isRead)
            #expect(CaptureLinkType(rawValue: link).explanation == "link type \(link) carries HCI packets")
        }
        for link in [192, 251, 256, 272] as [UInt32] {
            #expect(CaptureLinkType(rawValue: link).isRead && !CaptureLinkType(rawValue: link).mayCarryHCI)
        }
        #expect(
            CaptureLinkType(rawValue: 251).explanation
                == "link type 251: the link layer of Bluetooth LE, as sniffers record it")
        for link in [1, 255, 999, .max] as [UInt32] { #expect(!CaptureLinkType(rawValue: link).mayCarryHCI) }
    }

    @Test("a pcapng file with HCI and other interfaces is read, and says what was left out")
    func mixed() throws {
        var file = pcapng(links: [1, 255, 201], packets: 2)
        file.enhancedPacket(interface: 1, ticks: 3, [1])
        file.enhancedPacket(interface: 2, ticks: 4, [0, 0, 0, 0] + reset)
        var reader = try CaptureReader(bytes: file.bytes)
        let isThere = try reader.next() != nil
        let isOver = try reader.next() == nil
        #expect(isThere && isOver)
        #expect(reader.foreignRecordCount == 3)
        #expect(reader.foreignLinkTypes.map(\.rawValue) == [1, 255])
        let explanations = [1, 255].map { CaptureLinkType(rawValue: $0).explanation }
        #expect(reader.omission == "3 records were left out: " + explanations.joined(separator: "; "))
    }

    @Test("HCI is found behind the packets of a sniffer, in the same section and in the next")
    func behind() throws {
        for isSectionNew in [false, true] {
            var file = pcapng(links: [255], packets: 3)
            if isSectionNew { file.section() }
            file.interface(link: 254)
            file.enhancedPacket(interface: isSectionNew ? 0 : 1, ticks: 9, [0, 0, 0, 2] + reset.dropFirst())
            let reader = try CaptureReader(bytes: file.bytes)
            let isMonitor = reader.holdsMonitorRecords
            #expect(isMonitor && reader.foreignRecordCount == 3)
            let reading = Reading(file.bytes)
            #expect(reading.errors.isEmpty)
            #expect(reading.records == [Recorded(.packet(.hostToController), reset, at: 9)])
        }
    }

    @Test("a file of HCI has no omission, nor has one without interfaces")
    func nothingLeftOut() throws {
        var reader = try CaptureReader(bytes: pcapng(links: [201], packets: 0).bytes)
        while try reader.next() != nil {}
        #expect(reader.omission == nil)
        var empty = FileBuilder(bigEndian: true)
        empty.section()
        #expect(Reading(empty.bytes).errors.isEmpty)
        empty.block(0x0BAD) { $0.raw([1, 2, 3, 4]) }
        var other = try CaptureReader(bytes: empty.bytes)
        let isOver = try other.next() == nil
        #expect(isOver && other.omission == "1 record was left out: not packets, but entries of other kinds")
    }

    @Test("a cut capture of a sniffer is refused by its kind, and thousands of kinds do not fill the memory")
    func damaged() throws {
        let whole = pcapng(links: [255]).bytes
        for count in (28 + 20)..<whole.count {
            #expect(refusal(Array(whole[..<count])) == CaptureError(.unsupportedLinkType(255)))
        }
        var file = FileBuilder(bigEndian: true)
        file.section()
        for link in 300..<3000 as Range<UInt16> { file.interface(link: link) }
        file.section()
        file.interface(link: 187)
        let reader = try CaptureReader(bytes: file.bytes)
        #expect(reader.foreignLinkTypes.count == 8)
    }
}
