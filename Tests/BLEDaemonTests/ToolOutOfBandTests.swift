import BLEHost
import BLEPackets
import Testing

@testable import BLEDaemon
@testable import BLEDaemonProtocol

@Suite("Out-of-band data of tools")
struct ToolOutOfBandTests {
    private static let peer = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)

    private static func made(_ number: UInt128) -> LocalOutOfBandData {
        LocalOutOfBandData(
            random: Key128(rawValue: number), confirm: Key128(rawValue: number << 8),
            privateKey: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32),
            publicKey: P256PublicKey(octets: Array(0..<64)) ?? .zero)
    }

    @Test("the private key stays with the daemon: the client gets the rest, and names the key by it")
    func privateKey() throws {
        let own = Self.made(7)
        let told = try WireCompleted(OperationID(rawValue: 1), .success(.outOfBandData(own))).outcome
        guard case .success(.outOfBandData(let known)) = told else {
            Issue.record("\(told)")
            return
        }
        #expect(known.privateKey.isEmpty)
        #expect(known.random == own.random && known.confirm == own.confirm && known.publicKey == own.publicKey)
        let message = WireCompleted(OperationID(rawValue: 1), .success(.outOfBandData(own))).framed()
        #expect(!message.indices.contains { message[$0...].starts(with: own.privateKey) })

        var data = ToolOutOfBand()
        let set = OutOfBandData(
            temporaryKey: Key128(rawValue: 3), peer: .init(random: Key128(rawValue: 4), confirm: Key128(rawValue: 5)),
            local: known)
        let request = try #require(
            WireRequest(.security(.setOutOfBandData(Self.peer, set)), operation: OperationID(rawValue: 2)))
        guard case .security(.setOutOfBandData(let peer, let taken)) = try HostCommand(request) else {
            Issue.record("\(request)")
            return
        }
        // Another tool's.
        #expect(data.set(taken, for: peer) == .invalidRequest(.notPermitted))
        #expect(data.data(for: Self.peer) == nil)
        data.keep(own)
        #expect(data.set(taken, for: peer) == nil)
        var whole = set
        whole.local = own
        #expect(data.data(for: Self.peer) == whole)
        #expect(data.set(nil, for: peer) == nil)
        #expect(data.data(for: Self.peer) == nil)
    }

    @Test("data without any values remove what was set; values of another length are an error")
    func wire() throws {
        let request = try #require(
            WireRequest(.security(.setOutOfBandData(Self.peer, nil)), operation: OperationID(rawValue: 2)))
        #expect(try HostCommand(request) == .security(.setOutOfBandData(Self.peer, nil)))
        #expect(request.revision == 2)
        for octets in [1, 15, 17, 64] {
            var wrong = request
            wrong.setOutOfBand.temporaryKey = .init(repeating: 1, count: octets)
            #expect(throws: WireError.invalidField) { try HostCommand(wrong) }
            wrong = request
            wrong.setOutOfBand.ofPeer.random = .init(repeating: 1, count: 16)
            wrong.setOutOfBand.ofPeer.confirm = .init(repeating: 1, count: octets)
            #expect(throws: WireError.invalidField) { try HostCommand(wrong) }
        }
        var answer = WireOutOfBand(Self.made(1))
        answer.publicKey.removeLast()
        #expect(throws: WireError.invalidField) { try LocalOutOfBandData(answer) }
    }

    @Test("a tool has data for eight peers and eight values of its own, the latest ones")
    func limits() {
        var data = ToolOutOfBand()
        for number in 1...20 { data.keep(Self.made(UInt128(number))) }
        #expect(data.set(OutOfBandData(local: Self.made(12)), for: Self.peer) == .invalidRequest(.notPermitted))
        #expect(data.set(OutOfBandData(local: Self.made(13)), for: Self.peer) == nil)
        let key = OutOfBandData(temporaryKey: Key128(rawValue: 1))
        let failures = (1...20).map { data.set(key, for: DeviceAddress(value: $0, kind: .public)) }
        #expect(failures.count { $0 == nil } == 7)
        #expect(failures.last == .limitReached)
        // One that has data gets others.
        #expect(data.set(key, for: Self.peer) == nil)
    }
}
