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
        watches.began(short, as: short, on: link, from: one, operation(1))
        #expect(watches.completed(operation(1), isSuccess: true) == nil)
        #expect(watches.take(long, on: link, from: two) == short)
        watches.began(long, as: short, on: link, from: two, operation(2))
        #expect(watches.completed(operation(2), isSuccess: true) == nil)
        #expect(watches.clients(for: .unauthenticated, on: link) == [one, two])
        #expect(watches.released(link, by: one).map { $0.1 } == [long])
        watches.ended(link)
        #expect(watches.clients(for: .unauthenticated, on: link).isEmpty)
    }

    @Test("a time that the controller refuses counts for nobody, however often it is asked for")
    func refusedTimeouts() {
        var watches = LinkWatches()
        let bad = LinkProcedure.setAuthenticatedPayloadTimeout(.microseconds(1))
        let good = LinkProcedure.setAuthenticatedPayloadTimeout(.seconds(5))
        #expect(watches.take(bad, on: link, from: one) == bad)
        watches.began(bad, as: bad, on: link, from: one, operation(1))
        // Neither while it is under way nor afterwards.
        #expect(watches.take(good, on: link, from: two) == good)
        watches.began(good, as: good, on: link, from: two, operation(2))
        #expect(watches.completed(operation(1), isSuccess: false) == nil)
        #expect(watches.completed(operation(2), isSuccess: true) == nil)
        #expect(watches.clients(for: .unauthenticated, on: link) == [two])
        // One who had a time and asks for a bad one keeps it.
        watches.began(bad, as: bad, on: link, from: two, operation(3))
        #expect(watches.completed(operation(3), isSuccess: false) == nil)
        #expect(watches.take(.setAuthenticatedPayloadTimeout(.seconds(9)), on: link, from: one) == good)
    }

    @Test("of two times that are asked for at once the shorter holds, and one whose client has gone meanwhile does not")
    func simultaneousTimeouts() {
        var watches = LinkWatches()
        let short = LinkProcedure.setAuthenticatedPayloadTimeout(.seconds(1))
        let long = LinkProcedure.setAuthenticatedPayloadTimeout(.seconds(5))
        watches.began(short, as: short, on: link, from: one, operation(1))
        watches.began(long, as: long, on: link, from: two, operation(2))
        #expect(watches.completed(operation(1), isSuccess: true) == nil)
        #expect(watches.completed(operation(2), isSuccess: true)?.1 == short)
        watches.began(short, as: short, on: link, from: one, operation(3))
        #expect(watches.released(link, by: one).map { $0.1 } == [long])
        #expect(watches.completed(operation(3), isSuccess: true) == nil)
        #expect(watches.clients(for: .unauthenticated, on: link) == [two])
        watches.began(short, as: short, on: link, from: one, operation(4))
        #expect(watches.released(nil, by: one).map { $0.1 } == [long])
    }

    @Test("zones that the controller refuses leave path loss to others; zones that it has stay those of their client")
    func refusedZones() {
        var watches = LinkWatches()
        let on = LinkProcedure.monitorPathLoss(zones: zones)
        #expect(watches.take(on, on: link, from: one) == on)
        watches.began(on, as: on, on: link, from: one, operation(1))
        #expect(watches.take(on, on: link, from: two) == nil)
        #expect(watches.completed(operation(1), isSuccess: false) == nil)
        #expect(watches.take(on, on: link, from: two) == on)
        watches.began(on, as: on, on: link, from: two, operation(2))
        #expect(watches.completed(operation(2), isSuccess: true) == nil)
        #expect(watches.take(on, on: link, from: two) == on)
        watches.began(on, as: on, on: link, from: two, operation(3))
        #expect(watches.completed(operation(3), isSuccess: false) == nil)
        #expect(watches.take(on, on: link, from: one) == nil)
    }

    private func operation(_ number: UInt64) -> OperationID { OperationID(rawValue: number) }

    @Test("other procedures are carried out as they are")
    func others() {
        var watches = LinkWatches()
        #expect(watches.take(.readPHY, on: link, from: one) == .readPHY)
        #expect(watches.released(nil, by: one).isEmpty)
    }
}
