import Foundation
import Testing

@testable import bletool

@Suite("Points in time")
struct TimestampTests {
    @Test("times are written as RFC 3339 does, with microseconds")
    func text() throws {
        #expect(Timestamp.text(unixMicroseconds: 0) == "1970-01-01T00:00:00.000000Z")
        #expect(Timestamp.text(unixMicroseconds: -1) == "1969-12-31T23:59:59.999999Z")
        #expect(Timestamp.text(unixMicroseconds: 951_868_799_000_007) == "2000-02-29T23:59:59.000007Z")
        #expect(Timestamp.text(unixMicroseconds: 4_107_542_400_000_000) == "2100-03-01T00:00:00.000000Z")
        // Foundation counts the same days.
        let format = Date.ISO8601FormatStyle(timeZone: .gmt)
        for day in stride(from: -40_000, to: 60_000, by: 97) {
            let seconds = Int64(day) * 86_400 + 45_296
            let text = format.format(Date(timeIntervalSince1970: Double(seconds)))
            #expect(Timestamp.text(unixMicroseconds: seconds * 1_000_000) == text.dropLast() + ".000000Z")
        }
    }

    @Test("every event has its time, its adapter and, when it is an error, a code")
    func stamps() async throws {
        let run = try await ToolRun("-t", "sim", "--json", "gatt", "Jelling Heart", "read", "2A19", "2AFF")
        #expect(run.status == 1)
        let objects = try run.objects
        #expect(objects.count == 2)
        for object in objects {
            #expect(object["adapter"] as? String == "sim")
            let time = try #require(object["time"] as? String)
            #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/) != nil)
        }
        #expect(objects[1]["code"] as? String == "attributeNotFound")
    }
}
