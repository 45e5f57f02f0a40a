import BLEPackets
import Testing

@testable import BLECapture

@Suite("What a sniffer hears")
struct LinkLayerFollowerTests {
    private static let accessAddress: [UInt8] = [0x2B, 0x4A, 0x65, 0x50]
    private static let central: [UInt8] = [2, 0, 0, 0, 0xDE, 0xC0]
    private static let peripheral: [UInt8] = [1, 0, 0, 0, 0xDE, 0xC0]

    /// CONNECT_IND, in a packet of an advertising channel.
    private static func request(_ accessAddress: [UInt8] = accessAddress) -> [UInt8] {
        let parameters: [UInt8] = accessAddress + [0xC5, 0xA3, 0x17, 1, 2, 0, 24, 0, 0, 0, 72, 0]
        let rest: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 0x25]
        return [0xD6, 0xBE, 0x89, 0x8E, 0xC5, 34] + central + peripheral + parameters + rest + [0, 0, 0]
    }

    private static func data(_ header: UInt8, _ content: [UInt8]) -> [UInt8] {
        accessAddress + [header, UInt8(content.count)] + content + [0, 0, 0]
    }

    private func receive(
        _ follower: inout LinkLayerFollower, _ bytes: [UInt8], _ notes: LinkLayerReading.Notes = [], at time: Int64 = 0
    ) -> LinkLayerFollower.Packet {
        follower.receive(LinkLayerReading(notes: notes), bytes.span.bytes, at: time)
    }

    /// Of a device that was heard on the air: header, address and data, then the CRC behind them.
    @Test("the CRC is that of a packet that was heard, and one wrong octet makes it another")
    func crc() {
        // The remainder of nothing is the start, turned around.
        let nothing: [UInt8] = []
        #expect(LinkLayerCRC.remainder(of: nothing.span.bytes, start: 0x555555) == 0xAAAAAA)
        var pdu: [UInt8] = [0x40, 9] + Self.peripheral + [2, 1, 6]
        let right = LinkLayerCRC.remainder(of: pdu.span.bytes, start: LinkLayerCRC.advertising)
        let octets = (0..<3).map { UInt8(truncatingIfNeeded: right >> ($0 * 8)) }
        var follower = LinkLayerFollower()
        let head: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E]
        #expect(!receive(&follower, head + pdu + octets).isDamaged)
        pdu[4] ^= 1
        #expect(receive(&follower, head + pdu + octets).isDamaged)
        #expect(!receive(&follower, head + pdu + octets, .hasValidCRC).isDamaged)
    }

    @Test("a connection begins with its request, and its data has a direction, sequence numbers and an end")
    func connection() {
        var follower = LinkLayerFollower()
        let begun = receive(&follower, Self.request())
        #expect(begun.kind == .advertising && begun.link == 0)
        let request = follower.links.first?.request
        #expect(request?.crcInit == 0x17A3C5 && request?.interval == 24 && request?.timeout == 72)
        #expect(request?.peripheral == .init(address: 0xC0DE_0000_0001, isRandom: true))
        let frame: [UInt8] = [3, 0, 4, 0, 0x0A, 3, 0]
        // The central begins an event, the peripheral follows at once, and the next event is the central's again.
        let first = receive(&follower, Self.data(0x02, frame), at: 1_000_000)
        #expect(first.kind == .data(isStart: true) && first.way == .hostToController && !first.isRepeated)
        #expect(receive(&follower, Self.data(0x05, []), at: 1_000_300).way == .controllerToHost)
        let again = receive(&follower, Self.data(0x02, frame), at: 1_030_000)
        #expect(again.way == .hostToController && again.isRepeated)
        // The same number, after another packet was lost.
        #expect(!receive(&follower, Self.data(0x02, frame + [1]), at: 1_060_000).isRepeated)
        #expect(receive(&follower, Self.data(0x03, [0x02, 0x13]), .fromCentral).kind == .control)
        #expect(follower.links.first?.isOver == true)
    }

    @Test("after the start of encryption everything with content is encrypted, and a paused connection is in the clear")
    func encryption() {
        var follower = LinkLayerFollower()
        _ = receive(&follower, Self.request())
        _ = receive(&follower, Self.data(0x03, [0x03] + [UInt8](repeating: 1, count: 22)), .fromCentral)
        _ = receive(&follower, Self.data(0x03, [0x04] + [UInt8](repeating: 2, count: 12)), .fromPeripheral)
        #expect(receive(&follower, Self.data(0x0B, [0x05]), .fromPeripheral).kind == .control)
        #expect(follower.links[0].isEncrypted)
        #expect(receive(&follower, Self.data(0x0B, [1, 2, 3, 4, 5]), .fromCentral).kind == .encrypted)
        #expect(receive(&follower, Self.data(0x01, []), .fromPeripheral).kind == .empty)
        #expect(receive(&follower, Self.data(0x03, [0x0B]), .fromCentral).kind == .control)
        #expect(!follower.links[0].isEncrypted)
        #expect(
            receive(&follower, Self.data(0x0A, [3, 0, 4, 0, 0x0A, 3, 0]), .fromCentral).kind == .data(isStart: true))
    }

    @Test("a key is tried past packets that were lost, as often as it is allowed, and no further")
    func attempts() {
        final class Count: @unchecked Sendable {
            // Only this test's thread uses it.
            var tries = 0
        }
        let count = Count()
        let open: LinkLayerKeys.Open = { text, _, nonce, additional, code in
            count.tries += 1
            return nonce[0] == 20 && additional == [0x02] && code == [9, 9, 9, 9] ? text : nil
        }
        var keys = LinkLayerKeys(encrypt: { key, _ in key }, open: open)
        #expect(!keys.add([1, 2, 3]) && keys.add([UInt8](repeating: 1, count: 16)))
        var follower = LinkLayerFollower(keys: keys)
        _ = receive(&follower, Self.request())
        _ = receive(&follower, Self.data(0x03, [0x03] + [UInt8](repeating: 1, count: 22)), .fromCentral)
        _ = receive(&follower, Self.data(0x03, [0x04] + [UInt8](repeating: 2, count: 12)), .fromPeripheral)
        _ = receive(&follower, Self.data(0x03, [0x05]), .fromPeripheral)
        let found = receive(&follower, Self.data(0x02, [1, 0, 4, 0, 0x0A, 9, 9, 9, 9]), .fromCentral)
        #expect(found.isDeciphered && follower.deciphered == [1, 0, 4, 0, 0x0A] && count.tries == 21)
        count.tries = 0
        #expect(receive(&follower, Self.data(0x0A, [1, 0, 4, 0, 0x0A, 8, 8, 8, 8]), .fromCentral).kind == .encrypted)
        #expect(count.tries <= 33)
    }

    @Test("octets of any kind are followed in bounded memory")
    func hostile() {
        var generator = SeededGenerator(seed: 38)
        var follower = LinkLayerFollower()
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            switch Int.random(in: 0...3, using: &generator) {
            case 0: bytes = Self.request((0..<4).map { _ in UInt8.random(in: 0...255, using: &generator) })
            case 1: bytes = [0xD6, 0xBE, 0x89, 0x8E, 0x07, UInt8(clamping: bytes.count)] + bytes
            default: break
            }
            let notes = LinkLayerReading.Notes(rawValue: UInt16.random(in: 0...2047, using: &generator))
            let packet = receive(&follower, bytes, notes, at: Int64.random(in: .min ... .max, using: &generator))
            #expect(packet.content.upperBound <= max(bytes.count, 0))
            #expect(follower.links.count <= LinkLayerFollower.maximumLinkCount)
            #expect(packet.link.map { $0 < follower.links.count } ?? true)
        }
    }
}
