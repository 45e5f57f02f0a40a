import BLE
import BLEPackets
import BLETransport
import Synchronization
import Testing

@testable import BLEDaemon

/// Adapters that a kernel would have, which a test plugs in and pulls out.
private final class FakeKernel: Sendable {
    typealias Entry = (index: UInt16, address: UInt64, place: String?)
    private let state = Mutex<[Entry]>([])
    let lines = Mutex<[String]>([])
    let places = Mutex<[DeviceAddress: String]>([:])
    let appeared = Mutex<[String]>([])
    let book = AdapterBook()

    func set(_ entries: Entry...) { state.withLock { $0 = entries } }

    func configuration(
        _ index: UInt16, _ change: (inout Daemon.Configuration) -> Void = { _ in }
    )
        -> Daemon.Configuration
    {
        var configuration = Daemon.Configuration(
            transport: .userChannel(adapter: index), adapter: AdapterConfiguration(), socketPath: "@none", users: [])
        configuration.adapters = book
        configuration.listAdapters = { [self] () throws(TransportError) in
            PresentAdapters.fake(state.withLock { $0 }, owners: places.withLock { $0 })
        }
        configuration.adapterIsAt = { [self] address, place in places.withLock { $0[address] = place } }
        configuration.adapterAppeared = { [self] key in appeared.withLock { $0.append(key.text) } }
        configuration.logged = { [self] _, line in lines.withLock { $0.append(line) } }
        change(&configuration)
        return configuration
    }
}

@Suite("Finding the daemon's adapter")
struct AdapterFinderTests {
    private let kernel = FakeKernel()
    private static let shared: UInt64 = 0x001A_7DDA_7113

    private func number(_ finding: AdapterFinder.Finding) -> UInt16? {
        guard case .found(.userChannel(let index)) = finding else { return nil }
        return index
    }

    /// Finds it once more, from where it was.
    private func find(_ finder: inout AdapterFinder, from index: UInt16) throws -> UInt16? {
        number(try finder.find(.userChannel(adapter: index)))
    }

    @Test(
        "an adapter without an address, or with one that many have, is found at its USB port under another number (A9, A13, A79)",
        arguments: [0, shared, 0xAAAA_AAAA_AAAA])
    func byPort(address: UInt64) throws {
        kernel.set((0, address, "1-2.3"), (1, 0xC0DE_0000_0001, "1-1"))
        var finder = AdapterFinder(kernel.configuration(0))
        #expect(try find(&finder, from: 0) == 0)
        // With an address of zero it is sure only when the controller has answered.
        finder.isReady()
        #expect(finder.key == .place("1-2.3"))
        #expect(kernel.appeared.withLock { $0 } == ["port:1-2.3"])
        kernel.set((1, 0xC0DE_0000_0001, "1-1"))
        #expect(try find(&finder, from: 0) == nil)
        // Another one has its number.
        kernel.set((0, address, "1-4"), (1, 0xC0DE_0000_0001, "1-1"), (2, address, "1-2.3"))
        #expect(try find(&finder, from: 0) == 2)
        #expect(kernel.lines.withLock { $0 }.contains("the adapter port:1-2.3 is hci2 now"))
    }

    @Test("an adapter whose address the kernel reads late is known by it, not by its port")
    func late() throws {
        kernel.set((0, 0, "1-2.3"))
        var finder = AdapterFinder(kernel.configuration(0))
        #expect(try find(&finder, from: 0) == 0)
        #expect(finder.key == nil)
        kernel.set((0, 0xC0DE_0000_0001, "1-2.3"))
        #expect(try find(&finder, from: 0) == 0)
        finder.isReady()
        #expect(finder.key?.text == "C0:DE:00:00:00:01")
        // It is moved to another port.
        kernel.set((3, 0xC0DE_0000_0001, "1-4"))
        #expect(try find(&finder, from: 0) == 3)
    }

    @Test(
        "two adapters with one address have a daemon each, which keeps its own when the other goes and comes (A12) (A13)"
    )
    func twins() throws {
        kernel.set((0, 0xC0DE_0000_0001, "1-1"), (1, 0xC0DE_0000_0001, "1-2"))
        var (first, second) = (AdapterFinder(kernel.configuration(0)), AdapterFinder(kernel.configuration(1)))
        #expect(try find(&first, from: 0) == 0)
        #expect(try find(&second, from: 1) == 1)
        #expect(first.key?.text == "C0:DE:00:00:00:01" && second.key?.text == "port:1-2")
        // The first is gone: its daemon does not take the other's, which stays what it is.
        kernel.set((1, 0xC0DE_0000_0001, "1-2"))
        #expect(try find(&first, from: 0) == nil)
        #expect(try find(&second, from: 1) == 1)
        // Both come back in another order.
        kernel.set((0, 0xC0DE_0000_0001, "1-2"), (1, 0xC0DE_0000_0001, "1-1"))
        #expect(try find(&first, from: 0) == 1)
        #expect(try find(&second, from: 1) == 0)
    }

    @Test("two virtual adapters with one address, which have no place, keep their numbers (A13)")
    func virtualTwins() throws {
        kernel.set((0, 0xC0DE_0000_0001, nil), (1, 0xC0DE_0000_0001, nil))
        var (first, second) = (AdapterFinder(kernel.configuration(0)), AdapterFinder(kernel.configuration(1)))
        #expect(try find(&first, from: 0) == 0)
        #expect(try find(&second, from: 1) == 1)
        kernel.set((1, 0xC0DE_0000_0001, nil))
        #expect(try find(&first, from: 0) == nil)
        #expect(try find(&second, from: 1) == 1)
        #expect(second.key == nil)
    }

    @Test(
        "a daemon that takes any adapter takes the next one when its own cannot be used; one that was named does not (A8)"
    )
    func next() throws {
        let replaced = Mutex<[String]>([])
        for isAny in [false, true] {
            let kernel = FakeKernel()
            kernel.set((0, 0xC0DE_0000_0001, nil), (1, 0xC0DE_0000_0002, nil), (2, 0xC0DE_0000_0003, nil))
            var other = AdapterFinder(kernel.configuration(1))
            #expect(try find(&other, from: 1) == 1)
            var finder = AdapterFinder(
                kernel.configuration(0) { configuration in
                    configuration.takesAnyAdapter = isAny
                    configuration.adapterReplaced = { old, new in
                        replaced.withLock { $0.append("\(old.text) \(new.text)") }
                        return true
                    }
                })
            #expect(try find(&finder, from: 0) == 0)
            // The one of another daemon is not taken.
            #expect(try finder.takeNext()?.index == (isAny ? 2 : nil))
            #expect(finder.key?.text == (isAny ? "C0:DE:00:00:00:03" : "C0:DE:00:00:00:01"))
        }
        #expect(replaced.withLock { $0 } == ["C0:DE:00:00:00:01 C0:DE:00:00:00:03"])
    }

    @Test("what people name by address or port is that one, also when it comes later")
    func named() throws {
        kernel.set((0, 0xC0DE_0000_0001, "1-1"))
        for (text, address, place) in [("port:1-9", UInt64(0), "1-9"), ("00:1A:7D:DA:71:13", Self.shared, "1-8")] {
            var finder = AdapterFinder(kernel.configuration(0) { $0.adapterKey = AdapterKey(text) })
            #expect(
                try finder.find(.userChannel(adapter: 0))
                    == .missing(
                        "the adapter \(text) is not there; plug it in, or name another with ‘--adapter’"))
            kernel.set((0, 0xC0DE_0000_0001, "1-1"), (4, address, place))
            #expect(try find(&finder, from: 0) == 4)
            kernel.set((0, 0xC0DE_0000_0001, "1-1"))
        }
    }
}
