import Testing

@testable import BLEDaemon

@Suite("What a program may ask for while it does not read")
struct UnreadCreditTests {
    @Test("one that reads may ask for as much as it likes")
    func reading() {
        var share = UnreadCredit()
        for _ in 0..<1000 {
            share.spend(8, taken: 100, refused: 0)
            #expect(share.isHeard(taken: 100, refused: 0))
        }
    }

    @Test("one that reads nothing may ask for its share, once")
    func silent() {
        var share = UnreadCredit()
        var spent = 0
        while share.isHeard(taken: 100, refused: 50 + spent), spent < 1000 {
            share.spend(8, taken: 100, refused: 50 + spent)
            spent += 8
        }
        #expect(spent == UnreadCredit.share)
        #expect(!share.isHeard(taken: 149, refused: 1000))
        // It has read everything, or is gone.
        #expect(share.isHeard(taken: 149, refused: 0))
    }

    @Test("one that has read what waited then may ask for as much again, although more waits by now")
    func slow() {
        var share = UnreadCredit()
        for round in 0..<10 as Range<UInt64> {
            let taken = 1000 * round
            #expect(share.isHeard(taken: taken, refused: 1000))
            share.spend(UnreadCredit.share, taken: taken, refused: 1000)
            #expect(!share.isHeard(taken: taken + 999, refused: 1000))
        }
    }
}
