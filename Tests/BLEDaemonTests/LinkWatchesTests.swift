import BLEHost
import BLEPackets
import Testing

@testable import BLEDaemon

@Suite("What several clients watch on one link")
struct LinkWatchesTests {
    private let link = LinkID(handle: ConnectionHandle(rawValue: 64), generation: 1)
    private let one = ClientID(rawValue: 1)
    private let two = ClientID(rawValue: 2)
    private let zones = PathLossZones(low: 40, high: 60)

    @Test("reports of power are on while anyone wants them, and go to those that do")
    func power() {
        var watches = LinkWatches()
        let first = watches.take(.reportTransmitPower(local: true, remote: false), on: link, from: one)
        #expect(first == .reportTransmitPower(local: true, remote: false))
        let second = watches.take(.reportTransmitPower(local: false, remote: true), on: link, from: two)
        #expect(second == .reportTransmitPower(local: true, remote: true))
        let power = TransmitPower(phy: .le1M, level: 4, maximum: 8, isLeast: false, isGreatest: false)
        #expect(watches.clients(for: .transmitPower(power, isPeers: true), on: link) == [two])
        #expect(watches.clients(for: .transmitPower(power, isPeers: false), on: link) == [one])
        let off = watches.take(.reportTransmitPower(local: false, remote: false), on: link, from: one)
        #expect(off == .reportTransmitPower(local: false, remote: true))
        let changes = watches.released(link, by: two)
        #expect(changes.map { $0.1 } == [.reportTransmitPower(local: false, remote: false)])
        #expect(watches.clients(for: .transmitPower(power, isPeers: true), on: link).isEmpty)
    }

    @Test("path loss is watched by one client, and nobody else can end or change it")
    func pathLoss() {
        var watches = LinkWatches()
        #expect(watches.take(.monitorPathLoss(zones: zones), on: link, from: one) == .monitorPathLoss(zones: zones))
        #expect(watches.take(.monitorPathLoss(zones: zones), on: link, from: two) == nil)
        #expect(watches.take(.monitorPathLoss(zones: nil), on: link, from: two) == nil)
        #expect(watches.clients(for: .pathLoss(PathLoss(zone: .high, decibels: 70)), on: link) == [one])
        #expect(watches.released(nil, by: two).isEmpty)
        #expect(watches.released(nil, by: one).map { $0.1 } == [.monitorPathLoss(zones: nil)])
        #expect(watches.take(.monitorPathLoss(zones: zones), on: link, from: two) == .monitorPathLoss(zones: zones))
    }

    @Test("the shortest time without proof of the key holds until its client has gone")
    func timeouts() {
        var watches = LinkWatches()
        let short = LinkProcedure.setAuthenticatedPayloadTimeout(.seconds(1))
        let long = LinkProcedure.setAuthenticatedPayloadTimeout(.seconds(600))
        #expect(watches.take(short, on: link, from: one) == short)
        #expect(watches.take(long, on: link, from: two) == short)
        #expect(watches.clients(for: .unauthenticated, on: link) == [one, two])
        #expect(watches.released(link, by: one).map { $0.1 } == [long])
        watches.ended(link)
        #expect(watches.clients(for: .unauthenticated, on: link).isEmpty)
    }

    @Test("other procedures are carried out as they are")
    func others() {
        var watches = LinkWatches()
        #expect(watches.take(.readPHY, on: link, from: one) == .readPHY)
        #expect(watches.released(nil, by: one).isEmpty)
    }
}
