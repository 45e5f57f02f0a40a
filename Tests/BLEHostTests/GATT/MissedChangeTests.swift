import BLEPackets
import Testing

@testable import BLEHost

/// Service Changed that comes before the peer has proved its bond: it is confirmed, so that the peer does not repeat it.
@Suite("Service Changed before the proof of a bond")
struct MissedChangeTests {
    private static let changed = AttributeHandle(rawValue: 9)
    private static let all: [UInt8] = [1, 0, 0xFF, 0xFF]

    /// A proven link after this PDU came unencrypted.
    private func proven(after pdu: [UInt8]?) throws -> (rig: HostRig, link: LinkID) {
        let rig = BondProofTests.connected()
        if let pdu { rig.receive(frame: pdu, handle: 0x40) }
        BondProofTests.on(rig)
        #expect(BondProofTests.sent(rig).contains([0x1E]) == (pdu?.first == 0x1D))
        rig.receive(frame: [0x03, 23, 0], handle: 0x40)
        return (rig, try #require(rig.links.last?.id))
    }

    /// Discovers Service Changed.
    private func discover(_ rig: HostRig, on link: LinkID) {
        let range = AttributeHandleRange(AttributeHandle(rawValue: 7), AttributeHandle(rawValue: 10))
        rig.submit(.link(link, .gatt(.discoverCharacteristics(range, uuids: []))))
        rig.receive(frame: [0x09, 7, 8, 0, 0x20, 9, 0, 0x05, 0x2A], handle: 0x40)
        rig.receive(frame: [0x01, 0x08, 9, 0, 0x0A], handle: 0x40)
    }

    private func subscribe(_ rig: HostRig, on link: LinkID) {
        let configuration = AttributeHandle(rawValue: 10)
        let subscribing = rig.submit(
            .link(link, .gatt(.subscribe(Self.changed, configuration: configuration, mode: .indications))))
        rig.receive(frame: [0x13], handle: 0x40)
        #expect(rig.results(of: subscribing) == [.success(.gatt(.subscribed))])
    }

    private func values(_ rig: HostRig) -> [[UInt8]] {
        rig.events.compactMap { if case .gatt(_, .notification(let value)) = $0 { value.value } else { nil } }
    }

    @Test(
        "whoever follows Service Changed then is told that everything may have changed (Core 5.4, Vol 3, Part G, 7.1)")
    func missed() throws {
        let (rig, link) = try proven(after: [0x1D, 9, 0, 0x10, 0, 0x20, 0])
        discover(rig, on: link)
        subscribe(rig, on: link)
        #expect(values(rig) == [Self.all], "not the range that came unencrypted")
        // A later one is the peer's own.
        rig.receive(frame: [0x1D, 9, 0, 0x30, 0, 0x40, 0], handle: 0x40)
        #expect(values(rig) == [Self.all, [0x30, 0, 0x40, 0]])
    }

    @Test(
        "nothing else that comes unencrypted does so",
        arguments: [
            nil, [0x1D, 9, 0, 1, 2], [0x1B, 9, 0, 1, 0, 0xFF, 0xFF], [0x1D, 9, 0, 1, 0, 0xFF, 0xFF, 1], [0x1D],
        ]
            as [[UInt8]?])
    func others(pdu: [UInt8]?) throws {
        let (rig, link) = try proven(after: pdu)
        discover(rig, on: link)
        subscribe(rig, on: link)
        #expect(values(rig).isEmpty)
    }

    @Test("subscriptions stay, because a stranger may have sent it")
    func subscriptions() throws {
        let (rig, link) = try proven(after: [0x1D, 9, 0, 1, 0, 0xFF, 0xFF])
        let value = AttributeHandle(rawValue: 0x20)
        let configuration = AttributeHandle(rawValue: 0x21)
        rig.submit(.link(link, .gatt(.subscribe(value, configuration: configuration, mode: .notifications))))
        rig.receive(frame: [0x13], handle: 0x40)
        subscribe(rig, on: link)
        discover(rig, on: link)
        #expect(values(rig) == [Self.all])
        rig.receive(frame: [0x1B, 0x20, 0, 7], handle: 0x40)
        #expect(values(rig) == [Self.all, [7]])
        let forgotten = rig.events.contains { if case .gatt(_, .subscriptionsForgotten) = $0 { true } else { false } }
        #expect(!forgotten)
    }

    @Test("a peer that does not prove its bond changes nothing")
    func unproven() throws {
        let rig = BondProofTests.connected()
        rig.receive(frame: [0x1D, 9, 0, 1, 0, 0xFF, 0xFF], handle: 0x40)
        rig.receive(
            EncryptionChange(status: .pinOrKeyMissing, connectionHandle: BondProofTests.handle, state: .off))
        #expect(values(rig).isEmpty)
    }
}
