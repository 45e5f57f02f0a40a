import Foundation
import Testing

@testable import BLECapture

/// Packed captures are read in place; Tools/Checks/sniffers compares what is read of whole ones with tshark.
@Suite("Packed captures")
struct UnpackingTests {
    private func file(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: ForeignFixture.folder.appendingPathComponent(name)))
    }

    @Test(
        "each is read in pieces of any size as it is in one", arguments: ["packed.gz", "packed.zip", "bugreport-2.txt"])
    func pieces(name: String) throws {
        let whole = try file(name)
        let once = Reading(whole)
        #expect(once.errors.isEmpty && once.records.count >= 7)
        for size in [1, 3, 100] { #expect(Reading(whole, maximumReadByteCount: size).records == once.records) }
    }

    @Test(
        "cut anywhere, or with any octet changed, it ends with an error or with fewer records",
        arguments: ["packed.gz", "packed.zip", "bugreport-1.txt"])
    func damaged(name: String) throws {
        let whole = try file(name)
        let count = Reading(whole).records.count
        for end in stride(from: 4, to: whole.count, by: 7) {
            let reading = Reading(Array(whole[..<end]))
            #expect(reading.records.count <= count)
            #expect(!reading.errors.isEmpty || reading.records.count <= count)
        }
        for place in stride(from: 0, to: whole.count, by: 5) {
            var changed = whole
            changed[place] ^= 0x55
            #expect(Reading(changed).records.count <= count + 1)
        }
    }

    @Test("an archive without a capture and a text without a log say so")
    func absent() {
        let end: [UInt8] = [0x50, 0x4B, 0x05, 0x06] + [UInt8](repeating: 0, count: 18)
        #expect(Reading(end).errors == [CaptureError(.noCapture(.zip))])
        let text = Array("========\n== dumpstate: 2023\nnothing\n".utf8)
        #expect(Reading(text).errors == [CaptureError(.noCapture(.androidReport))])
    }

    @Test("a packed file in a packed file is not unpacked")
    func nested() throws {
        // Stored in one block of DEFLATE (RFC 1951, 3.2.4), behind the header of gzip.
        let inner = try file("packed.gz")
        let length = UInt16(inner.count)
        let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1]
        let lengths = [length & 0xFF, length >> 8, ~length & 0xFF, ~length >> 8].map { UInt8($0) }
        #expect(Reading(head + lengths + inner).errors == [CaptureError(.packed(.gzip))])
    }
}
