import BLEHost
import BLEMessages
import BLEPackets
import Testing

@testable import BLEDaemon

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
        let end = FromDaemon.completed(OperationID(rawValue: 1), .success(.outOfBandData(own)))
        let message = try end.encoded()
        let told = try FromDaemon(octets: message[...])
        guard case .completed(_, .success(.outOfBandData(let known))) = told else {
            Issue.record("\(told)")
            return
        }
        #expect(known.privateKey.isEmpty)
        #expect(known.random == own.random && known.confirm == own.confirm && known.publicKey == own.publicKey)
        #expect(!message.indices.contains { message[$0...].starts(with: own.privateKey) })

        var data = ToolOutOfBand()
        let set = OutOfBandData(
            temporaryKey: Key128(rawValue: 3), peer: .init(random: Key128(rawValue: 4), confirm: Key128(rawValue: 5)),
            local: known)
        let request = try FromClient(
            octets: FromClient.request(2, .security(.setOutOfBandData(Self.peer, set))).encoded()[...])
        guard case .request(let asked) = request,
            case .host(.security(.setOutOfBandData(let peer, let taken))) = asked.command
        else {
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
        let request = FromClient.request(2, .security(.setOutOfBandData(Self.peer, nil)))
        #expect(try FromClient(octets: request.encoded()[...]) == request)
        #expect(request.revision == 2)
        let peer = RawMessage.field(1, RawMessage.field(2, 1))
        for count in [1, 15, 17, 64] {
            let (right, wrong) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 1, count: count))
            let values = RawMessage.field(1, right) + RawMessage.field(2, wrong)
            for content in [RawMessage.field(2, wrong), RawMessage.field(3, values)] {
                var stage = ToolStage()
                stage.request(raw: RawMessage.field(42, peer + content))
                #expect(stage.submitted.isEmpty && stage.session.hasEnded)
            }
        }
        // The last octet of the public key is missing.
        let made = [UInt8](repeating: 1, count: 16)
        let values = RawMessage.field(1, RawMessage.field(1, made) + RawMessage.field(2, made))
        let answer = RawMessage.field(31, values + RawMessage.field(2, Array(0..<63)))
        #expect(throws: MessageError.invalidField) { try FromDaemon(octets: RawMessage.field(3, answer)[...]) }
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
