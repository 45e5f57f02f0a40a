import BLEHost
import BLEPackets
import Testing

@testable import BLEDaemon

@Suite("Links of several users")
struct SharedLinkTests {
    private let now = ConnectionParameters(
        interval: ConnectionInterval(rawValue: 24), peripheralLatency: 2,
        supervisionTimeout: SupervisionTimeout(rawValue: 200))

    private func update(
        _ shortest: UInt16, _ longest: UInt16, latency: UInt16, timeout: UInt16
    ) -> LinkProcedure {
        .updateParameters(
            ConnectionParameterRequest(
                interval: ConnectionInterval(rawValue: shortest)...ConnectionInterval(rawValue: longest),
                peripheralLatency: latency, supervisionTimeout: SupervisionTimeout(rawValue: timeout)))
    }

    @Test("a longer interval or latency and a shorter timeout are at others' expense, the opposite is not")
    func parameters() {
        for better in [
            update(24, 24, latency: 2, timeout: 200), update(6, 24, latency: 0, timeout: 200),
            update(6, 6, latency: 2, timeout: 3200),
        ] {
            #expect(!better.isAtOthersExpense(now))
        }
        for worse in [
            update(6, 25, latency: 0, timeout: 200), update(24, 24, latency: 3, timeout: 200),
            update(6, 6, latency: 0, timeout: 199),
        ] {
            #expect(worse.isAtOthersExpense(now))
        }
    }

    @Test("what is only read, or reported to whoever asks, harms nobody")
    func others() {
        let harmless: [LinkProcedure] = [
            .readRSSI, .readRemoteVersion, .readPHY, .reportTransmitPower(local: true, remote: true),
            .monitorPathLoss(zones: nil),
        ]
        #expect(!harmless.contains { $0.isAtOthersExpense(now) })
        #expect(LinkProcedure.setDataLength(octets: 27, microseconds: 328).isAtOthersExpense(now))
    }
}
