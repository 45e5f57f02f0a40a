import BLEPackets
import Testing

@testable import BLEHost

@Suite("Numbers of signed writes")
struct SigningNumberTests {
    private func bond(_ counter: UInt32 = 0) -> Bond {
        Bond(
            identity: DeviceAddress(value: 0xC0FF_EE00_0042, kind: .random),
            localSigningKey: SigningKey(key: Key128(rawValue: 9), counter: counter))
    }

    @Test("300 signatures change the bond three times, and each has a number of its own")
    func blocks() {
        var numbers = SigningNumbers()
        var bond = bond()
        var changes = 0
        for expected in 0..<300 {
            if numbers.setAside(in: &bond) { changes += 1 }
            #expect(numbers.next(for: bond) == UInt32(expected))
        }
        #expect(changes == 3)
    }

    @Test("after a crash at any moment no number is used again")
    func crash() {
        for crashed in 1..<600 {
            var numbers = SigningNumbers()
            var bond = bond()
            var last: UInt32 = 0
            for _ in 0..<crashed {
                _ = numbers.setAside(in: &bond)
                last = numbers.next(for: bond) ?? .max
            }
            // Another process, with what the store has.
            var others = SigningNumbers()
            _ = others.setAside(in: &bond)
            #expect((others.next(for: bond) ?? 0) > last)
        }
    }

    @Test("a bond restored to an older state uses no number twice")
    func older() {
        var numbers = SigningNumbers()
        var bond = bond()
        for _ in 0..<300 {
            _ = numbers.setAside(in: &bond)
            _ = numbers.next(for: bond)
        }
        var older = self.bond(100)
        #expect(numbers.setAside(in: &older) && numbers.next(for: older) == 300)
    }

    @Test("a new key begins at its own number, and the last number is never passed")
    func ends() {
        var numbers = SigningNumbers()
        var old = bond(UInt32.max - 3)
        _ = numbers.setAside(in: &old)
        #expect(numbers.next(for: old) == UInt32.max - 3)
        #expect(numbers.next(for: old) == UInt32.max - 2)
        #expect(numbers.next(for: old) == UInt32.max - 1)
        #expect(!numbers.setAside(in: &old) && numbers.next(for: old) == nil)
        var new = bond()
        new.localSigningKey?.key = Key128(rawValue: 10)
        #expect(numbers.setAside(in: &new) && numbers.next(for: new) == 0)
    }
}
