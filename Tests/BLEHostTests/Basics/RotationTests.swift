import BLEPackets
import Testing

@testable import BLEHost

/// Users take turns, and so do the clients of each.
@Suite("Rotation")
struct RotationTests {
    private typealias Users = Rotation<Int, Rotation<Int, Queue<Int>>>

    private func add(_ element: Int, of client: Int, _ user: Int, to users: inout Users) {
        users.add(to: user) { $0.add(to: client) { $0.append(element) } }
    }

    private func takeAll(_ users: inout Users) -> [Int] {
        var order: [Int] = []
        while let next = users.popFirst() { order.append(next) }
        return order
    }

    @Test("lines take turns, and each keeps its order")
    func turns() {
        var users = Users()
        for number in 0..<3 { for client in 1...3 { add(100 * client + number, of: client, 1, to: &users) } }
        for number in 0..<3 { add(900 + number, of: 9, 2, to: &users) }
        #expect(users.count == 12 && users.count(of: 1) == 9 && users.line(of: 1)?.count(of: 2) == 3)
        #expect(takeAll(&users) == [100, 900, 200, 901, 300, 902, 101, 201, 301, 102, 202, 302])
        #expect(users.isEmpty && users.count(of: 1) == 0)
    }

    @Test("who comes has its turn in the present round, unless it had one")
    func rounds() {
        var users = Users()
        for number in 0..<4 { add(number, of: 1, 1, to: &users) }
        #expect(users.popFirst() == 0)
        add(10, of: 2, 2, to: &users)
        #expect(users.popFirst() == 10)
        add(11, of: 2, 2, to: &users)
        add(20, of: 3, 3, to: &users)
        #expect(takeAll(&users) == [20, 1, 11, 2, 3])
    }

    @Test("the latest turn is remembered when nothing waits any more")
    func afterARest() {
        var users = Users()
        add(0, of: 1, 1, to: &users)
        #expect(users.popFirst() == 0)
        for number in 1...2 { add(number, of: 1, 1, to: &users) }
        add(10, of: 2, 2, to: &users)
        #expect(takeAll(&users) == [10, 1, 2])
    }

    @Test("what waits is found in the order of the turns, and what overtakes has its user's next turn")
    func overtaking() {
        var users = Users()
        for number in 0..<3 { for client in 1...2 { add(100 * client + number, of: client, 1, to: &users) } }
        for number in 0..<2 { add(900 + number, of: 9, 2, to: &users) }
        #expect((0..<users.count).map { users.element(at: $0) } == [100, 900, 200, 901, 101, 201, 102, 202])
        #expect(users.remove(at: 2) == 200)
        #expect((0..<users.count).map { users.element(at: $0) } == [900, 100, 901, 201, 101, 202, 102])
        #expect(takeAll(&users) == [900, 100, 901, 201, 101, 202, 102])
    }

    @Test("what is removed leaves the others their order, and no empty turn")
    func removing() {
        var users = Users()
        for number in 0..<3 { for client in 1...3 { add(100 * client + number, of: client, client / 2, to: &users) } }
        #expect(users.popFirst() == 100)
        users.retain { $0 / 100 != 2 && $0 != 101 }
        #expect(users.count == 4)
        #expect((0..<4).map { users.element(at: $0) } == [300, 102, 301, 302])
        add(200, of: 2, 1, to: &users)
        #expect(takeAll(&users) == [300, 102, 200, 301, 302])
    }

    @Test("lines that come and go without end neither keep one that waits from its turn nor take memory")
    func comers() {
        var users = Users()
        for number in 0..<2 { add(number, of: 1, 1, to: &users) }
        #expect(users.popFirst() == 0)
        var turn: Int?
        add(2, of: 2, 1, to: &users)
        for client in 3...2000 where turn == nil {
            add(client, of: client, 1, to: &users)
            if users.popFirst() == 1 { turn = client }
        }
        #expect((turn ?? .max) < 300)
    }

    @Test("each element is taken once, whatever order they come in", arguments: 1...20)
    func everything(seed: Int) {
        var random = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func draw(_ limit: Int) -> Int {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return Int(truncatingIfNeeded: random >> 33) % limit
        }
        var users = Users()
        var left: Set<Int> = []
        for number in 0..<1000 {
            switch draw(8) {
            case 0..<4:
                let client = draw(12)
                add(number << 8 | client, of: client, client % 4, to: &users)
                left.insert(number << 8 | client)
            case 4..<6: if let next = users.popFirst() { #expect(left.remove(next) != nil) }
            case 6 where !users.isEmpty:
                let turn = draw(users.count)
                let element = users.element(at: turn)
                #expect(users.remove(at: turn) == element && left.remove(element) != nil)
            case 7 where draw(10) == 0:
                let client = draw(12)
                users.retain { $0 & 0xFF != client }
                left = left.filter { $0 & 0xFF != client }
            default: break
            }
            #expect(users.count == left.count)
        }
        for element in takeAll(&users) { #expect(left.remove(element) != nil) }
        #expect(left.isEmpty)
    }
}
