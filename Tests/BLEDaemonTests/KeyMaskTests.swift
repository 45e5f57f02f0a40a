import BLE
import Testing

@testable import BLEDaemon

@Suite("Keys are never shown")
struct KeyMaskTests {
    private let key = [UInt8](1...16)
    private var mask = KeyMask()

    private mutating func masked(_ packet: [UInt8], _ direction: PacketDirection = .hostToController) -> [UInt8] {
        mask.masked(packet.span.bytes, direction)
    }

    @Test("keys in commands and events become zeros, and nothing else does")
    mutating func commandsAndEvents() {
        let rand = [UInt8](repeating: 0xAA, count: 10)
        #expect(
            masked([1, 0x19, 0x20, 28, 0x40, 0] + rand + key)
                == [1, 0x19, 0x20, 28, 0x40, 0] + rand + [UInt8](repeating: 0, count: 16))
        #expect(
            masked([1, 0x1A, 0x20, 18, 0x40, 0] + key)
                == [1, 0x1A, 0x20, 18, 0x40, 0] + [UInt8](repeating: 0, count: 16))
        let peer: [UInt8] = [1, 0x27, 0x20, 39, 0, 1, 2, 3, 4, 5, 6]
        #expect(masked(peer + key + key) == peer + [UInt8](repeating: 0, count: 32))
        #expect(
            masked([4, 0x3E, 34, 0x09, 0] + key + key, .controllerToHost)
                == [4, 0x3E, 34, 0x09, 0] + [UInt8](repeating: 0, count: 32))
        #expect(
            masked([4, 0x0E, 12, 1, 0x18, 0x20, 0] + key.prefix(8), .controllerToHost)
                == [4, 0x0E, 12, 1, 0x18, 0x20, 0] + [UInt8](repeating: 0, count: 8))
        let reading: [UInt8] = [4, 0x0E, 10, 1, 0x09, 0x10, 0, 1, 2, 3, 4, 5, 6]
        #expect(masked(reading, .controllerToHost) == reading)
        // Cut short.
        for length in 0..<6 { #expect(masked(Array([1, 0x1A, 0x20, 18, 0x40, 0].prefix(length))).count == length) }
    }

    @Test("keys that a pairing distributes become zeros, however the packet is divided", arguments: 1...21)
    mutating func fragments(_ length: Int) {
        let pdu: [UInt8] = [17, 0, 6, 0, 0x06] + key
        var start = 0
        var shown: [UInt8] = []
        while start < pdu.count {
            let part = pdu[start..<min(start + length, pdu.count)]
            let flags: UInt8 = start == 0 ? 0x20 : 0x10
            shown += masked([2, 0x40, flags, UInt8(part.count), 0] + part, .controllerToHost).dropFirst(5)
            // Another link, and the other direction, in between.
            let value: [UInt8] = [2, 0x41, 0x20, 9, 0, 5, 0, 4, 0, 0x12, 3, 0, 7, 8]
            #expect(masked(value, .controllerToHost) == value)
            #expect(masked([2, 0x40, 0x00, 9, 0, 5, 0, 4, 0, 0x12, 3, 0, 7, 8]).suffix(5) == [0x12, 3, 0, 7, 8])
            start += length
        }
        #expect(shown == [17, 0, 6, 0, 0x06] + [UInt8](repeating: 0, count: 16))
    }

    @Test("of a PDU whose beginning was not seen nothing is shown, of the next one all")
    mutating func late() {
        let rest: [UInt8] = [2, 0x40, 0x10, 16, 0] + key
        let hidden = Array(rest.prefix(5)) + [UInt8](repeating: 0, count: 16)
        #expect(masked(rest, .controllerToHost) == hidden && masked(rest, .controllerToHost) == hidden)
        let value: [UInt8] = [2, 0x40, 0x20, 9, 0, 5, 0, 4, 0, 0x12, 3, 0, 7, 8]
        #expect(masked(value, .controllerToHost) == value)
    }

    @Test("what the Security Manager says in public is shown")
    mutating func publicValues() {
        let confirm: [UInt8] = [2, 0x40, 0x20, 21, 0, 17, 0, 6, 0, 0x03] + key
        #expect(masked(confirm) == confirm)
    }
}
