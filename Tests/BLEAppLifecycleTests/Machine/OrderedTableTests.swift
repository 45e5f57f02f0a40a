import Testing

@testable import BLEAppLifecycle

@Suite("Ordered tables")
struct OrderedTableTests {
    @Test("iteration follows the order in which keys were added, whatever is changed or removed in between")
    func order() {
        var table = OrderedTable<Int, String>()
        for number in [5, 3, 9, 1] { table[number] = "\(number)" }
        table[3] = "three"
        table[9] = nil
        table[9] = "again"
        table[1]?.append("!")
        table.change(5) { $0 += "?" }
        table.change(77) { $0 += "?" }
        #expect(table.keys == [5, 3, 1, 9])
        #expect(Array(table) == ["5?", "three", "1!", "again"])
        #expect(table.remove(3) == "three" && table.remove(3) == nil)
        table.removeAll { $0.hasPrefix("5") }
        #expect(table.keys == [1, 9] && table.count == 2)
        table[9]? = "nine"
        table[3]?.append("?")
        var seen: [String] = []
        table.forEachInPlace { seen.append("\($0) \($1)") }
        #expect(seen == ["1 1!", "9 nine"])
        #expect(table.withValue(of: 9) { $0.count } == 4 && table.withValue(of: 3) { $0.count } == nil)
        table.removeAll()
        #expect(table.isEmpty && table[1] == nil)
    }
}
