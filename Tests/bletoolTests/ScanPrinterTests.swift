import BLE
import Testing

@testable import bletool

@Suite("Scans that print nothing")
struct ScanPrinterTests {
    @Test("what is said of a scan without a result is true, whatever the scan was limited to")
    func emptyNotes() throws {
        let kept = try KeptConsole()
        func note(_ request: ScanRequest, name: String? = nil) -> String? {
            ScanPrinter(console: kept.console, request: request, name: name).emptyNote
        }
        #expect(note(ScanRequest()) == "no device was heard")
        #expect(note(ScanRequest(), name: "Lamp") == "no device called ‘Lamp’ was heard")
        var accepting = ScanRequest()
        accepting.acceptList = [DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)]
        for request in [ScanRequest(minimumRSSI: -40), ScanRequest(serviceUUIDs: [.heartRate]), accepting] {
            #expect(note(request) == "no device that matches was heard")
            #expect(note(request, name: "Lamp") == "no device that matches was heard")
        }
        #expect(try kept.errors.isEmpty)
    }
}
