import BLEHost
import BLEPackets
import Testing

@testable import BLEAppLifecycle

@Suite("Reasons of the link layer as errors of Core Bluetooth")
struct ErrorMappingTests {
    @Test(
        "each reason for the end of a link is the error that SPEC appendix A names, all others are unknown",
        arguments: [
            (0x08, 6), (0x13, 7), (0x14, 7), (0x15, 7), (0x16, 5), (0x3E, 10), (0x05, 14), (0x06, 14), (0x22, 15),
            (0x3D, 15), (0x09, 11), (0x0D, 4), (0x07, 4), (0x1F, 0), (0x2A, 0), (0x12, 0),
        ] as [(UInt8, Int)])
    func reasons(status: UInt8, code: Int) {
        let error = DisconnectionReason.controller(HCIStatus(rawValue: status)).clientError
        guard case .coreBluetooth(let found)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found.rawValue == code)
        #expect(HostFailure.connectionFailed(HCIStatus(rawValue: status)).connectionError == error)
    }

    @Test("an app that releases a link itself gets no error (SPEC 2.3)")
    func ownEnd() {
        #expect(DisconnectionReason.releasedByClient.clientError == nil)
        #expect(DisconnectionReason.controllerLost.clientError == .coreBluetooth(.unknown))
    }

    @Test("a request that failed because the link is not secure has that error (SPEC 2.3)")
    func security() {
        let expected: [(SecurityFailure, ClientError)] = [
            (.tooManyBonds, .coreBluetooth(.tooManyLEPairedDevices)),
            (.keyMissingAtPeer, .coreBluetooth(.peerRemovedPairingInformation)),
            (.timedOut, .coreBluetooth(.encryptionTimedOut)),
            (.encryptionFailed(HCIStatus(rawValue: 0x22)), .coreBluetooth(.encryptionTimedOut)),
            (.refusedByPeer(.pairingNotSupported), .att(.insufficientAuthentication)),
            (.cancelled, .att(.insufficientAuthentication)), (.linkLost, .coreBluetooth(.notConnected)),
        ]
        for (failure, error) in expected {
            #expect(HostFailure.gatt(.security(failure)).clientError == error)
            #expect(HostFailure.security(failure).clientError == error)
            #expect(HostFailure.security(failure).connectionError == error)
        }
    }
}
