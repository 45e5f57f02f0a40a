import Testing

@testable import BLECapture

/// HCI over USB, as Linux records it (Core 5.4, Vol 4, Part B, 2.2).
@Suite("Transfers on a USB")
struct USBTransferTests {
    private static let reset: [UInt8] = [0x03, 0x0C, 0x00]
    private static let complete: [UInt8] = [0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]

    /// A record of the monitor, in little-endian order.
    /// - Parameters:
    ///   - missing: octets of the transfer that are not in the record.
    ///   - request: type and number of a control request.
    private static func transfer(
        _ event: Character, kind: UInt8, endpoint: UInt8, device: UInt8 = 5, status: Int32 = 0, _ octets: [UInt8] = [],
        missing: Int = 0, request: [UInt8]? = nil
    ) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 0xFF) } }
        var record = [UInt8](repeating: 0, count: 8) + [event.asciiValue ?? 0, kind, endpoint, device, 1, 0]
        record += [request == nil ? 0x2D : 0, 0] + [UInt8](repeating: 0, count: 12)
        record +=
            number(UInt32(bitPattern: status)) + number(UInt32(octets.count + missing)) + number(UInt32(octets.count))
        return record + (request ?? [0, 0]) + [UInt8](repeating: 0, count: 6) + octets
    }

    private static func command(
        _ octets: [UInt8] = reset, device: UInt8 = 5, request: [UInt8] = [0x20, 0], missing: Int = 0
    ) -> [UInt8] {
        transfer("S", kind: 2, endpoint: 0, device: device, octets, missing: missing, request: request)
    }

    private static func event(_ octets: [UInt8], device: UInt8 = 5, status: Int32 = 0, missing: Int = 0) -> [UInt8] {
        transfer("C", kind: 1, endpoint: 0x81, device: device, status: status, octets, missing: missing)
    }

    private func reading(_ records: [[UInt8]]) -> Reading {
        var file = FileBuilder.pcap(bigEndian: false, link: 189)
        for record in records { file.pcapRecord(seconds: 1, fraction: 0, record) }
        return Reading(file.bytes)
    }

    private func packets(_ records: [[UInt8]]) -> [[UInt8]] { reading(records).records.map(\.bytes) }

    @Test("commands are control requests, events interrupts, and data bulk transfers; each has its direction")
    func kinds() {
        let data: [UInt8] = [0x40, 0x00, 0x02, 0x00, 0xAA, 0xBB]
        let found = reading([
            Self.command(), Self.transfer("C", kind: 2, endpoint: 0), Self.event(Self.complete),
            Self.transfer("S", kind: 3, endpoint: 0x02, data), Self.transfer("C", kind: 3, endpoint: 0x02),
            Self.transfer("S", kind: 3, endpoint: 0x82), Self.transfer("C", kind: 3, endpoint: 0x82, data),
            Self.transfer("C", kind: 0, endpoint: 0x83, [1, 2, 3]),
        ])
        #expect(found.errors.isEmpty)
        #expect(found.records.map(\.bytes) == [[1] + Self.reset, [4] + Self.complete, [2] + data, [2] + data])
        #expect(
            found.records.map(\.content)
                == [
                    .packet(.hostToController), .packet(.controllerToHost), .packet(.hostToController),
                    .packet(.controllerToHost),
                ])
    }

    @Test(
        "a packet in several transfers is one record, whatever comes between them from others", arguments: [1, 3, 16])
    func pieces(size: Int) {
        let event: [UInt8] = [0x3E, 0xFF] + (0..<255).map { UInt8($0) }
        var records = [Self.command(), Self.command(device: 6)]
        for start in stride(from: 0, to: event.count, by: size) {
            records.append(Self.event(Array(event[start..<min(start + size, event.count)])))
            if start == 0 { records += [Self.event(Self.complete, device: 6), Self.event([1, 2], device: 9)] }
        }
        records.append(Self.event(Self.complete))
        let found = reading(records)
        #expect(found.records.map(\.bytes).suffix(3) == [[4] + Self.complete, [4] + event, [4] + Self.complete])
        #expect(found.records.map(\.adapter) == [0, 1, 1, 0, 0])
        #expect(found.records.allSatisfy { $0.originalByteCount == $0.bytes.count })
    }

    @Test("a device is a controller from its first command on; what others send is passed over and counted")
    func others() throws {
        var file = FileBuilder.pcap(bigEndian: false, link: 189)
        let records = [
            Self.event(Self.complete), Self.event([0, 0, 4], device: 7), Self.command([1, 2, 9], device: 7),
            Self.command(request: [0x21, 9]), Self.command(), Self.event(Self.complete),
        ]
        for record in records { file.pcapRecord(seconds: 1, fraction: 0, record) }
        var reader = try CaptureReader(bytes: file.bytes)
        var count = 0
        while try reader.next() != nil { count += 1 }
        #expect(count == 2 && reader.foreignRecordCount == 4)
        #expect(reader.omission?.hasPrefix("4 records were left out: transfers of USB devices") == true)
    }

    @Test("a transfer that failed, or was only submitted, has no packet; what was left out is told")
    func incomplete() {
        // What follows the failed beginning of a packet is no packet: it may be the rest of a key.
        let pieces = [
            Self.event(Array(Self.complete.prefix(3)), status: -75), Self.event(Array(Self.complete.dropFirst(3))),
        ]
        #expect(packets([Self.command()] + pieces) == [[1] + Self.reset, [4] + Self.complete])
        #expect(packets([Self.command(), Self.event(Self.complete, status: -2)]) == [[1] + Self.reset])
        #expect(packets([Self.command(), Self.transfer("S", kind: 1, endpoint: 0x81, Self.complete)]).count == 1)
        let cut = reading([Self.command(), Self.event(Array(Self.complete.prefix(3)), missing: 3)])
        #expect(cut.records.last?.bytes == [4] + Self.complete.prefix(3))
        #expect(cut.records.last?.originalByteCount == 7)
    }

    @Test("damage costs the packet that it is in, and no more memory than one packet")
    func damaged() {
        // Shorter than the header, and a length beyond the record.
        let whole = Self.event(Self.complete)
        for count in 0..<48 {
            let found = reading([Self.command(), Array(whole.prefix(count)), whole])
            #expect(found.records.map(\.bytes) == [[1] + Self.reset, [4] + Self.complete])
            #expect(found.errors.count == 1)
        }
        var long = whole
        (long[32], long[36]) = (0xFF, 0xFF)
        #expect(reading([Self.command(), long]).records.last?.bytes == [4] + Self.complete)
        // Data that are always too short for what they say.
        let piece = Self.transfer(
            "C", kind: 3, endpoint: 0x82, [0x40, 0x20, 0xFF, 0xFF] + [UInt8](repeating: 1, count: 28))
        let found = reading([Self.command()] + [[UInt8]](repeating: piece, count: 5000))
        #expect(found.records.dropFirst().allSatisfy { $0.bytes.count <= 5 + 0xFFFF + 32 })
        #expect(found.records.count == 3)
        // More devices than a bus has.
        let crowd = (0..<200).map { Self.command(device: UInt8($0)) }
        #expect(packets(crowd).count == 16)
    }
}
