import BLEAssignedNumbers
import Testing

@Suite("Assigned numbers")
struct AssignedNumbersTests {
    @Test("companies, first, last and between")
    func companies() {
        #expect(AssignedNumbers.company(0)?.description == "Ericsson AB")
        #expect(AssignedNumbers.company(0x004C)?.description == "Apple, Inc.")
        #expect(AssignedNumbers.company(0x0499)?.description == "Ruuvi Innovations Ltd.")
        #expect(AssignedNumbers.company(0xFFFE) == nil)
    }

    @Test("UUIDs of services, characteristics, descriptors and declarations")
    func uuids() {
        #expect(AssignedNumbers.uuid(0x180D)?.description == "Heart Rate")
        #expect(AssignedNumbers.uuid(0x2A37)?.description == "Heart Rate Measurement")
        #expect(AssignedNumbers.uuid(0x2902)?.description == "Client Characteristic Configuration")
        #expect(AssignedNumbers.uuid(0x2800)?.description == "Primary Service")
        #expect(AssignedNumbers.uuid(0x0001) == nil)
        #expect(
            AssignedNumbers.uuid(high: 0x6E40_0001_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E)?.description
                == "Nordic UART Service")
    }

    @Test("an appearance whose subcategory is unknown has the name of its category")
    func appearances() {
        #expect(AssignedNumbers.appearance(0x0340)?.description == "Heart Rate Sensor")
        #expect(AssignedNumbers.appearance(0x037F)?.description == "Heart Rate Sensor")
        #expect(AssignedNumbers.appearance(0xFFC0) == nil)
    }

    @Test("every assigned number is found, and the search for any other ends in time")
    func all() {
        let names = (0...UInt16.max).compactMap { AssignedNumbers.company($0) }
        #expect(names.count > 3000)
        #expect((0...UInt16.max).count { AssignedNumbers.uuid($0) != nil } > 1000)
        #expect((0...UInt16.max).count { AssignedNumbers.appearance($0) != nil } > 1000)
    }
}
