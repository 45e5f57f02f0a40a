import BLEPackets
import Testing

@testable import BLEHost

/// One link with the rooms that it needs, and no engine.
private final class Bench {
    let link: Link
    var rooms: Rooms
    var effects = Effects()
    let now = Instant(microseconds: 1_000_000)

    static let peer = DeviceAddress(value: 0xC0_00_00_00_00_01, kind: .random)
    static let key = LongTermKey(key: Key128(rawValue: 0x77))

    init(_ role: LinkRole = .central, bond: Bond? = nil) {
        var configuration = HostConfiguration()
        configuration.hasCryptoProvider = true
        rooms = Rooms(configuration: configuration)
        if let bond { rooms.pairings.bonds.restore([bond]) }
        let id = rooms.links.nextID(for: ConnectionHandle(rawValue: 7))
        link = Link(
            id: id, peer: Self.peer, role: role, state: .open,
            parameters: ConnectionParameters(
                interval: .milliseconds(30), peripheralLatency: 0, supervisionTimeout: .milliseconds(2000)),
            localFeatures: [], localAddress: DeviceAddress(value: 2, kind: .public), peerAddress: Self.peer,
            gatt: GATTClientSettings())
        rooms.links.insert(link)
        rooms.server.connected(id, at: now)
        link.closeGate(&rooms.pairings)
    }

    static func bond() -> Bond {
        var bond = Bond(identity: peer)
        bond.peerKey = key
        bond.localKey = key
        return bond
    }

    /// What is left for the end of the input, in order.
    func wishes() -> [String] {
        var wishes: [String] = []
        while let (link, wish) = effects.deferred.popFirst() {
            #expect(link === self.link)
            wishes.append("\(wish)")
        }
        return wishes
    }

    func events() -> [HostEvent] {
        var events: [HostEvent] = []
        while let event = effects.events.popFirst() { events.append(event) }
        return events
    }

    /// Channels and payloads of what waits for the controller's buffers.
    func frames() -> [(L2CAPChannelIdentifier, [UInt8])] {
        var frames: [(L2CAPChannelIdentifier, [UInt8])] = []
        while let frame = link.queue.popFirst() { frames.append((frame.channel, frame.payload)) }
        return frames
    }

    func encryptionEnded(isOn: Bool, _ status: HCIStatus = .success) {
        link.encryptionEnded(isOn: isOn, status: status, &rooms, into: &effects)
    }
}

@Suite("The security of one link beside bonds and server")
struct LinkSecurityTests {
    private let operation = OperationID(rawValue: 9)

    @Test("a pairing that is asked for is carried out when the input ends, and then sends its request")
    func pairs() {
        let bench = Bench()
        bench.link.pair(nil, operation: operation, client: .local, &bench.rooms, into: &bench.effects)
        #expect(bench.link.security.isPairing && bench.link.queue.isEmpty)
        let wishes = bench.wishes()
        #expect(wishes == ["continuePairing"])
        bench.link.carryOutPairing(&bench.rooms, into: &bench.effects)
        let frames = bench.frames()
        #expect(frames.map { $0.0 } == [.securityManager])
        #expect(frames.first?.1.first == SMPOpcode.pairingRequest.rawValue)
        let events = bench.events()
        #expect(events == [.pairing(bench.link.id, .started)])
    }

    @Test("a pairing that cannot begin ends its operation with the reason")
    func refused() {
        let bench = Bench()
        bench.link.security.isBlocked = true
        bench.link.pair(nil, operation: operation, client: .local, &bench.rooms, into: &bench.effects)
        let events = bench.events()
        #expect(events == [.completed(operation, .failure(.security(.timedOut)))])
        let wishes = bench.wishes()
        #expect(wishes.isEmpty)
    }

    @Test("an operation on a bonded link tries the bond's key first; the frame is sent when it fits")
    func proof() {
        let bench = Bench(bond: Bench.bond())
        #expect(bench.link.security.isGated)
        bench.link.perform(
            .read(AttributeHandle(rawValue: 3)), operation: operation, client: .local, &bench.rooms.pairings,
            into: &bench.effects)
        #expect(bench.link.queue.isEmpty && bench.link.security.isChanging)
        bench.encryptionEnded(isOn: true)
        #expect(!bench.link.security.isGated)
        let wishes = bench.wishes()
        #expect(wishes == ["releasePostponed", "followSecurityRequest"])
        bench.link.releasePostponed(into: &bench.effects)
        let frames = bench.frames()
        #expect(frames.contains { $0.1 == [0x0A, 3, 0] }, "the read goes out")
    }

    @Test("if the peer has lost the bond's key, waiting operations end, and nothing is sent to it")
    func lostKey() {
        let bench = Bench(bond: Bench.bond())
        bench.link.perform(
            .read(AttributeHandle(rawValue: 3)), operation: operation, client: .local, &bench.rooms.pairings,
            into: &bench.effects)
        bench.encryptionEnded(isOn: false, .pinOrKeyMissing)
        let events = bench.events()
        #expect(events.contains(.completed(operation, .failure(.gatt(.security(.keyMissingAtPeer))))))
        #expect(events.contains(.pairing(bench.link.id, .failed(.keyMissingAtPeer))))
        let frames = bench.frames()
        #expect(frames.isEmpty)
    }

    @Test("a link that loses its encryption ends before anything else goes over it")
    func doubt() {
        let bench = Bench(bond: Bench.bond())
        bench.link.encrypt(operation: operation, &bench.rooms.pairings, into: &bench.effects)
        bench.encryptionEnded(isOn: true)
        _ = bench.wishes()
        bench.encryptionEnded(isOn: false)
        #expect(bench.link.isClosing && bench.link.security.isForfeited)
        let wishes = bench.wishes()
        #expect(wishes.count == 3 && wishes[0].hasPrefix("end(") && wishes[1] == "releasePostponed")
        bench.link.send([1], on: .attributeProtocol, into: &bench.effects)
        #expect(bench.link.queue.isEmpty)
    }

    @Test("a signed write without a signing key fails; on an encrypted link it is an ordinary write command")
    func signs() {
        let bench = Bench()
        let handle = AttributeHandle(rawValue: 5)
        bench.link.writeSigned(
            handle, [1], operation: operation, client: .local, &bench.rooms.pairings.bonds, into: &bench.effects)
        let events = bench.events()
        #expect(events == [.completed(operation, .failure(.gatt(.security(.noKey))))])
        bench.link.security.encryption = .on(Bench.bond().keyProperties)
        bench.link.writeSigned(
            handle, [1], operation: operation, client: .local, &bench.rooms.pairings.bonds, into: &bench.effects)
        let frames = bench.frames()
        #expect(frames.map { $0.1 } == [[0x52, 5, 0, 1]])
    }

    @Test("the server knows what protects the link")
    func server() {
        let bench = Bench(.peripheral, bond: Bench.bond())
        bench.link.reportSecurityToServer(&bench.rooms)
        #expect(!bench.rooms.server.security(of: bench.link.id).isEncrypted)
        bench.link.security.encryption = .on(Bench.bond().keyProperties)
        bench.link.reportSecurityToServer(&bench.rooms)
        #expect(bench.rooms.server.security(of: bench.link.id).isEncrypted)
    }
}
