import Testing

@testable import BLEDaemon

@Suite("Which daemon has which adapter")
struct AdapterBookTests {
    private static let (one, two) = (
        (address: "C0:DE:00:00:00:01", index: UInt16(1)), (address: "C0:DE:00:00:00:02", index: UInt16(2))
    )

    @Test("a daemon that takes the first adapter gets the first free one, whatever its index, and no other")
    func first() {
        let book = AdapterBook()
        book.awaitsFirst()
        #expect(book.chooseFirst(among: []) == nil)
        #expect(!book.isTaken(address: Self.one.address, index: 1))
        #expect(book.chooseFirst(among: [Self.one, Self.two]) == 1)
        #expect(book.isTaken(address: Self.one.address, index: 1))
        #expect(!book.isTaken(address: Self.two.address, index: 2))
        // Asked again, by the daemon or because another one has come.
        #expect(book.chooseFirst(among: [Self.two, Self.one]) == 1)
        book.add(Self.one.address)
        book.hasCome(1)
        #expect(book.chooseFirst(among: [Self.one, Self.two]) == nil)
        #expect(book.isTaken(address: Self.one.address, index: 1))
        #expect(!book.isTaken(address: Self.two.address, index: 2))
    }

    @Test("an adapter that has gone before the daemon has seen it gives way to the next one")
    func gone() {
        let book = AdapterBook()
        book.awaitsFirst()
        #expect(book.chooseFirst(among: [Self.one]) == 1)
        #expect(book.chooseFirst(among: []) == nil)
        #expect(!book.isTaken(address: Self.one.address, index: 1))
        #expect(book.chooseFirst(among: [Self.two]) == 2)
        #expect(book.isTaken(address: Self.two.address, index: 2))
    }

    @Test("adapters that others have, or wait for, are not chosen; without such a daemon none is")
    func taken() {
        let book = AdapterBook()
        #expect(book.chooseFirst(among: [Self.one]) == nil)
        book.add(Self.one.address)
        book.awaits(2)
        book.awaitsFirst()
        #expect(book.chooseFirst(among: [Self.one, Self.two]) == nil)
        #expect(book.chooseFirst(among: [Self.one, Self.two, (address: "C0:DE:00:00:00:03", index: 0)]) == 0)
    }
}
