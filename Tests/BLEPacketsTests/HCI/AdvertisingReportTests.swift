import Testing

@testable import BLEPackets

@Suite("Advertising reports in place")
struct AdvertisingReportTests {
    /// Two reports in one event, as a controller sent them: an advertisement and the scan response to it.
    static let two = CodecSample.bytes(
        "02"
            + "00 00 a47a4c3e315c 0e 0201060aff0d0007065009040b00 c9"
            + "04 00 a47a4c3e315c 11 0d09426565576920424244313030020a00 c9")

    @Test("two reports in one event are both read (pain 16)")
    func twoReports() throws {
        var reports = try LEAdvertisingReports(decoding: Self.two.span.bytes)
        #expect(reports.remainingCount == 2)
        var seen: [LEAdvertisingReport.Report] = []
        while let report = try reports.next() { seen.append(report.copied()) }
        let address = DeviceAddress(value: 0x5C31_3E4C_7AA4, kind: .public)
        #expect(
            seen == [
                LEAdvertisingReport.Report(
                    eventType: .connectableUndirected, address: address,
                    data: CodecSample.bytes("0201060aff0d0007065009040b00"), rssi: -55),
                LEAdvertisingReport.Report(
                    eventType: .scanResponse, address: address,
                    data: CodecSample.bytes("0d09426565576920424244313030020a00"), rssi: -55),
            ])
        #expect(reports.remainingCount == 0)
    }

    @Test("a report whose data runs past the end is an error, and the walk ends there")
    func dataPastTheEnd() throws {
        var bytes = Self.two
        bytes[9] = 0x40  // the first report's data length
        var reports = try LEAdvertisingReports(decoding: bytes.span.bytes)
        do throws(DecodingError) {
            _ = try reports.next()
            Issue.record("decoded")
        } catch {
            #expect(error == .truncated(needed: 0x40, remaining: bytes.count - 10))
        }
        let isAtEnd = try reports.next() == nil
        #expect(isAtEnd)
    }

    @Test("an error in the second report does not take the first away")
    func errorBehindFirst() throws {
        let bytes = Array(Self.two.dropLast(3))
        var reports = try LEAdvertisingReports(decoding: bytes.span.bytes)
        let first = try reports.next()?.copied()
        #expect(first?.rssi == -55)
        do throws(DecodingError) {
            _ = try reports.next()
            Issue.record("decoded")
        } catch {
            #expect(error == .truncated(needed: 17, remaining: 15))
        }
    }

    @Test("an event that states more reports than it holds is an error after the last, and never runs on")
    func tooManyStated() throws {
        var bytes = Self.two
        bytes[0] = 0xFF
        var reports = try LEAdvertisingReports(decoding: bytes.span.bytes)
        var count = 0
        do throws(DecodingError) {
            while try reports.next() != nil { count += 1 }
            Issue.record("decoded")
        } catch {
            #expect(error == .truncated(needed: 9, remaining: 0))
        }
        #expect(count == 2)
    }

    @Test("an address type without meaning is an error, not a public address (pain 10)")
    func addressType() throws {
        var bytes = Self.two
        bytes[2] = 0x04
        var reports = try LEAdvertisingReports(decoding: bytes.span.bytes)
        do throws(DecodingError) {
            _ = try reports.next()
            Issue.record("decoded")
        } catch {
            #expect(error == .invalidValue(4, field: .addressType))
        }
    }

    @Test("an event without reports, and one without even their number")
    func empty() throws {
        var reports = try LEAdvertisingReports(decoding: CodecSample.bytes("00").span.bytes)
        let isEmpty = try reports.next() == nil
        #expect(isEmpty)
        do throws(DecodingError) {
            _ = try LEExtendedAdvertisingReports(decoding: CodecSample.bytes("").span.bytes)
            Issue.record("decoded")
        } catch {
            #expect(error == .truncated(needed: 1, remaining: 0))
        }
    }

    @Test("an extended report in place has all fields")
    func extended() throws {
        let bytes = CodecSample.bytes(
            "02 1b00 01 75a4bddced22 01 00 ff 7f a2 0000 00 000000000000 00"
                + "2000 ff 000000000000 03 02 05 f9 a6 5000 fe 112233445546 01 09")
        var reports = try LEExtendedAdvertisingReports(decoding: bytes.span.bytes)
        if let report = try reports.next() {
            #expect(report.eventType == [.connectable, .scannable, .scanResponse, .legacy])
            #expect(report.address == DeviceAddress(value: 0x22ED_DCBD_A475, kind: .random))
            #expect(report.primaryPHY == .le1M)
            #expect(report.secondaryPHY == nil)
            #expect(report.advertisingSetIdentifier == 0xFF)
            #expect(report.transmitPower == 127)
            #expect(report.rssi == -94)
            #expect(report.periodicAdvertisingInterval.rawValue == 0)
            #expect(report.data.byteCount == 0)
            #expect(report.eventType.dataStatus == .complete)
        } else {
            Issue.record("no first report")
        }
        if let report = try reports.next() {
            #expect(report.address == nil)
            #expect(report.reportedAddress == .anonymous)
            #expect(report.eventType.dataStatus == .incompleteMoreToCome)
            #expect(report.primaryPHY == .leCoded)
            #expect(report.secondaryPHY == .le2M)
            #expect(report.directAddress.kind == .unresolved)
            #expect(report.directAddress.deviceAddress == DeviceAddress(value: 0x4655_4433_2211, kind: .random))
            #expect(report.periodicAdvertisingInterval.milliseconds == 100)
            #expect(report.data.copied() == [9])
        } else {
            Issue.record("no second report")
        }
        let isAtEnd = try reports.next() == nil
        #expect(isAtEnd)
    }

    @Test("an unused direct address may hold anything; the advertiser's address may not")
    func unusedDirectAddress() throws {
        var bytes = CodecSample.bytes("01 1300 01 75a4bddced22 01 00 ff 7f a2 0000 77 010203040506 00")
        var reports = try LEExtendedAdvertisingReports(decoding: bytes.span.bytes)
        let report = try reports.next()?.copied()
        #expect(report?.directAddress.deviceAddress == nil)
        #expect(report?.directAddress.kind.rawValue == 0x77)
        bytes[3] = 0x77
        var others = try LEExtendedAdvertisingReports(decoding: bytes.span.bytes)
        do throws(DecodingError) {
            _ = try others.next()
            Issue.record("decoded")
        } catch {
            #expect(error == .invalidValue(0x77, field: .addressType))
        }
    }

    @Test("completed packets are read in place, and an event that is broken gives no credit at all (pain 11)")
    func completedPackets() throws {
        let bytes = CodecSample.bytes("02 4100 0200 4200 0100")
        var view = try NumberOfCompletedPacketsView(decoding: bytes.span.bytes)
        var seen: [CompletedPackets] = []
        while let (handle, count) = try view.next() {
            seen.append(CompletedPackets(connectionHandle: handle, count: count))
        }
        #expect(seen.map(\.connectionHandle.rawValue) == [0x41, 0x42])
        #expect(seen.map(\.count) == [2, 1])
        do throws(DecodingError) {
            _ = try NumberOfCompletedPacketsView(decoding: bytes.span.bytes.extracting(first: 7))
            Issue.record("decoded")
        } catch {
            #expect(error == .truncated(needed: 8, remaining: 6))
        }
    }

    @Test("Command Complete in place lends its return parameters")
    func commandComplete() throws {
        let bytes = CodecSample.bytes("01 0514 00 4100 bb")
        var reader = PacketReader(bytes.span.bytes)
        let view = try CommandCompleteView(decoding: &reader)
        #expect(view.commandCredits == 1)
        #expect(view.opcode == ReadRSSI.opcode)
        #expect(view.returnParameters.byteCount == 4)
        #expect(try view.decode(ReadRSSI.self).rssi == -69)
        #expect(view.copied().returnParameters == [0x00, 0x41, 0x00, 0xBB])
    }
}
