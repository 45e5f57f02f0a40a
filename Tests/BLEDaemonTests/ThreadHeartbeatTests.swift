import Synchronization
import Testing

@testable import BLEDaemon

@Suite("The sign of life of several daemons")
struct ThreadHeartbeatTests {
    @Test("it is given when each thread has given its own; one that never began is not waited for")
    func together() {
        let count = Mutex(0)
        let pulse = ThreadHeartbeat { count.withLock { $0 += 1 } }
        let one = pulse.member()
        // Its daemon could not be made.
        _ = pulse.member()
        one()
        #expect(count.withLock { $0 } == 1)
        let two = pulse.member()
        two()
        #expect(count.withLock { $0 } == 1)
        one()
        #expect(count.withLock { $0 } == 2)
        one()
        one()
        #expect(count.withLock { $0 } == 2)
        two()
        #expect(count.withLock { $0 } == 3)
    }
}
