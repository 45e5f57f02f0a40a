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

    @Test("a link that is slower than links usually are becomes so for a user who comes later, and nothing of it worse")
    func quickened() {
        var timing = Timing.gateway
        timing.connectionInterval = ConnectionInterval(rawValue: 12)...ConnectionInterval(rawValue: 24)
        timing.peripheralLatency = 0
        timing.supervisionTimeout = SupervisionTimeout(rawValue: 500)
        func wish(_ interval: UInt16, latency: UInt16, timeout: UInt16) -> ConnectionParameterRequest? {
            ConnectionParameters(
                interval: ConnectionInterval(rawValue: interval), peripheralLatency: latency,
                supervisionTimeout: SupervisionTimeout(rawValue: timeout)
            ).quickened(timing)
        }
        for fast in [wish(24, latency: 0, timeout: 500), wish(6, latency: 0, timeout: 3200)] { #expect(fast == nil) }
        for (slow, interval, timeout) in [
            (wish(3200, latency: 0, timeout: 3200), 12...24, 3200), (wish(24, latency: 1, timeout: 500), 24...24, 500),
            (wish(6, latency: 0, timeout: 10), 6...6, 500),
        ] as [(ConnectionParameterRequest?, ClosedRange<UInt16>, UInt16)] {
            #expect(slow?.interval.lowerBound.rawValue == interval.lowerBound)
            #expect(slow?.interval.upperBound.rawValue == interval.upperBound)
            #expect(slow?.peripheralLatency == 0 && slow?.supervisionTimeout.rawValue == timeout)
        }
    }

    @Test("of what makes a link slower the latest of each sort is remembered until it is undone")
    func hindrances() {
        let link = LinkID(handle: ConnectionHandle(rawValue: 0x40), generation: 1)
        var book = LinkBook()
        book.hear(
            .connected(
                LinkInformation(
                    id: link, peer: DeviceAddress(value: 1, kind: .public), role: .central, parameters: now,
                    attMTU: 23),
                ClientID(rawValue: 1)))
        for octets: UInt16 in [27, 100] {
            book.note(.setDataLength(octets: octets, microseconds: 328), on: link, .gateway)
        }
        book.note(.setPHY(transmit: .leCoded, receive: .leCoded), on: link, .gateway)
        book.note(.readRSSI, on: link, .gateway)
        #expect(
            book.entries.first?.hindrances.compactMap { $0.undone(.gateway) } == [
                .setDataLength(octets: 251, microseconds: 17_040),
                .setPHY(transmit: [.le1M, .le2M], receive: [.le1M, .le2M]),
            ])
        book.forgetHindrances(of: link)
        #expect(book.entries.first?.hindrances.isEmpty == true)
    }
}
