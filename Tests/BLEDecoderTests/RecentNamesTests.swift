import BLEAssignedNumbers
import Testing

@testable import BLEDecoder

@Suite("Names that were looked up lately")
struct RecentNamesTests {
    @Test("a number has its own name, asked for the first time or again")
    func numbers() {
        var names = RecentNames()
        for number in stride(from: UInt16.min, through: .max, by: 13) {
            // One that nearly always takes the same place is asked for in between.
            for value in [number, number &+ 2584, number] {
                let type = AttributeType(value)
                if names.name(of: type)?.description != AssignedNumbers.uuid(value)?.description {
                    Issue.record("UUID \(value)")
                }
                if names.name(ofCompany: value)?.description != AssignedNumbers.company(value)?.description {
                    Issue.record("company \(value)")
                }
            }
        }
    }

    @Test("a long UUID is not taken for a short one, and a service's name not for an attribute's")
    func kinds() {
        var names = RecentNames()
        let vendor: [UInt8] = [
            0x9E, 0xCA, 0xDC, 0x24, 0x0E, 0xE5, 0xA9, 0xE0, 0x93, 0xF3, 0xA3, 0xB5, 0x01, 0x00, 0x40, 0x6E,
        ]
        for _ in 0..<2 {
            #expect(names.name(of: AttributeType(vendor.span.bytes))?.description == "Nordic UART Service")
            #expect(names.name(of: AttributeType(0x180D))?.description == "Heart Rate")
            #expect(names.attributeName(of: AttributeType(0x180D)) == nil)
            #expect(names.attributeName(of: AttributeType(0x2A37))?.description == "Heart Rate Measurement")
            #expect(names.name(of: AttributeType(0)) == nil)
        }
    }
}
