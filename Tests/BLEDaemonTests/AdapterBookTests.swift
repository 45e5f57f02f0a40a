import BLEPackets
import BLETransport
import Testing

@testable import BLEDaemon

@Suite("Which daemon has which adapter")
struct AdapterBookTests {
    private static func adapter(_ index: UInt16, _ address: UInt64, place: String? = nil) -> PresentAdapter {
        present((index, address, place)).all[0]
    }

    private static func present(_ adapters: (index: UInt16, address: UInt64, place: String?)...) -> PresentAdapters {
        PresentAdapters.fake(adapters)
    }

    private static let (one, two) = (adapter(1, 0xC0DE_0000_0001), adapter(2, 0xC0DE_0000_0002))

    @Test("a daemon that takes the first adapter gets the first free one, whatever its index, and no other")
    func first() {
        let book = AdapterBook()
        let member = book.join()
        book.awaitsFirst()
        #expect(book.chooseFirst(among: []) == nil)
        #expect(!book.isTaken(Self.one))
        #expect(book.chooseFirst(among: [Self.one, Self.two]) == Self.one)
        #expect(book.isTaken(Self.one))
        #expect(!book.isTaken(Self.two))
        // Asked again, by the daemon or because another one has come.
        #expect(book.chooseFirst(among: [Self.two, Self.one]) == Self.one)
        book.claim(Self.one.key, place: nil, index: 1, by: member)
        book.hasCome(1)
        #expect(book.chooseFirst(among: [Self.one, Self.two]) == nil)
        #expect(book.isTaken(Self.one))
        #expect(!book.isTaken(Self.one, besides: member))
        #expect(!book.isTaken(Self.two))
    }

    @Test("an adapter that has gone before the daemon has seen it gives way to the next one")
    func gone() {
        let book = AdapterBook()
        book.awaitsFirst()
        #expect(book.chooseFirst(among: [Self.one]) == Self.one)
        #expect(book.chooseFirst(among: []) == nil)
        #expect(!book.isTaken(Self.one))
        #expect(book.chooseFirst(among: [Self.two]) == Self.two)
        #expect(book.isTaken(Self.two))
    }

    @Test("adapters that others have, or wait for, are not chosen; without such a daemon none is")
    func taken() {
        let book = AdapterBook()
        #expect(book.chooseFirst(among: [Self.one]) == nil)
        book.claim(Self.one.key, place: nil, index: nil, by: book.join())
        book.awaits(2, by: book.join())
        book.awaitsFirst()
        #expect(book.chooseFirst(among: [Self.one, Self.two]) == nil)
        let third = Self.adapter(0, 0xC0DE_0000_0003)
        #expect(book.chooseFirst(among: [Self.one, Self.two, third]) == third)
    }

    @Test("of two adapters with one address, a daemon has the one that is where its own was (A13)")
    func twins() {
        let book = AdapterBook()
        let (first, second) = (book.join(), book.join())
        let both = Self.present((0, 0xC0DE_0000_0001, "1-1"), (1, 0xC0DE_0000_0001, "1-2"))
        book.claim(both.all[0].key, place: "1-1", index: 0, by: first)
        #expect(book.isTaken(both.all[0]) && !book.isTaken(both.all[1]))
        book.claim(both.all[1].key, place: "1-2", index: 1, by: second)
        #expect(book.isTaken(both.all[1]))
        // The first is pulled out: the other is the only one with the address, and still the second's.
        let rest = Self.present((1, 0xC0DE_0000_0001, "1-2"))
        #expect(rest.all[0].key == .address(rest.all[0].address))
        #expect(book.isTaken(rest.all[0], besides: first))
        #expect(rest.adapter(.address(rest.all[0].address)) { !book.isTaken($0, besides: first) } == nil)
        #expect(rest.adapter(.place("1-2")) { !book.isTaken($0, besides: second) } == rest.all[0])
        // Manifests may call it by its place.
        #expect(book.has("port:1-2") && book.has("port:1-1") && !book.has("port:1-3"))
    }

    @Test(
        "an adapter without an address is used when it has had none for a while, and has lost that when it is gone (A9)"
    )
    func unnamed() {
        let book = AdapterBook()
        let present = Self.present((0, 0, nil), (1, 0xC0DE_0000_0001, nil))
        #expect(book.usable(present).map(\.index) == [1])
        book.accept(unnamed: 0)
        #expect(book.usable(present).map(\.index) == [0, 1])
        #expect(book.usable(Self.present((1, 0xC0DE_0000_0001, nil))).map(\.index) == [1])
        #expect(book.usable(present).map(\.index) == [1])
    }
}

extension PresentAdapters {
    /// Adapters as the kernel may have them.
    static func fake(
        _ adapters: [(index: UInt16, address: UInt64, place: String?)], owners: [DeviceAddress: String] = [:]
    )
        -> PresentAdapters
    {
        PresentAdapters(
            adapters.map {
                KernelAdapter(
                    index: $0.index, name: "hci\($0.index)", address: DeviceAddress(value: $0.address, kind: .public),
                    hasLowEnergy: true)
            }, owners: owners
        ) { index in adapters.first { $0.index == index }?.place }
    }
}
