import Testing

@testable import bletool

@Suite("Interruption")
struct InterruptionTests {
    @Test("several signals for one interruption end the work once and cleanly", arguments: [0, 1, 5, 999])
    func sameWish(_ milliseconds: Int) {
        let interruption = Interruption()
        let count = Counter()
        interruption.onRequest { count.increment() }
        let first = ContinuousClock.now
        #expect(!interruption.receiveSignal(at: first))
        #expect(!interruption.receiveSignal(at: first + .milliseconds(milliseconds)))
        #expect(count.value == 1)
    }

    @Test("a signal that comes later ends the program at once")
    func forced() {
        let interruption = Interruption()
        let first = ContinuousClock.now
        #expect(!interruption.receiveSignal(at: first))
        #expect(interruption.receiveSignal(at: first + .seconds(1)))
    }

    @Test("a signal that comes before the work begins ends it when it begins")
    func early() {
        let interruption = Interruption()
        let count = Counter()
        _ = interruption.receiveSignal(at: .now)
        interruption.onRequest { count.increment() }
        #expect(count.value == 1)
    }
}
