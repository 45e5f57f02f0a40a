import BLEHost
import Testing

@testable import BLEDaemon

@Suite("What clients want of the radio")
struct RequestLedgerTests {
    private let one = ClientID(rawValue: 1)
    private let two = ClientID(rawValue: 2)
    private let scan = OperationID(rawValue: 1)
    private let advertisement = OperationID(rawValue: 2)
    private let change = OperationID(rawValue: 3)
    private static let packed = AdvertiseRequest(.packed(localName: nil, serviceUUIDs: []))

    @Test("a request of one kind does not become one of another kind by a change that names it")
    func otherKinds() {
        var ledger = RequestLedger()
        ledger.note(.radio(.scan(ScanRequest())), as: scan, from: one)
        ledger.note(.radio(.advertise(Self.packed)), as: advertisement, from: two)
        ledger.note(.radio(.changeAdvertising(scan, Self.packed)), as: change, from: one)
        ledger.note(.radio(.changeScan(advertisement, ScanRequest())), as: change, from: two)
        // The end of the scan is not that of an advertisement, which others would be told has stopped.
        #expect(ledger.completed(scan) == one)
        #expect(ledger.wantsAdvertising)
        #expect(ledger.completed(advertisement) == two)
        #expect(!ledger.wantsAdvertising)
        ledger.note(.radio(.advertise(Self.packed)), as: change, from: one)
        #expect(ledger.wantsAdvertising)
    }

    @Test("a change of its own kind is what is wanted from then on")
    func sameKind() {
        var ledger = RequestLedger()
        ledger.note(.radio(.scan(ScanRequest())), as: scan, from: one)
        ledger.note(.radio(.changeScan(scan, ScanRequest(name: "Other"))), as: change, from: one)
        guard case .scan(let request)? = ledger.radio.first?.command else {
            Issue.record("nobody scans")
            return
        }
        #expect(request.name == "Other" && ledger.radio.count == 1)
    }
}
