import Glibc
import Testing

@testable import BLETransport

@Suite("Switches of radios")
struct RadioSwitchesTests {
    private let system = FakeSystem()

    /// A report as the kernel writes it: number, type, operation, soft, hard.
    private func report(
        _ number: UInt8, type: UInt8 = 2, _ operation: UInt8, soft: UInt8 = 0, hard: UInt8 = 0
    ) -> [UInt8] {
        [number, 0, 0, 0, type, operation, soft, hard]
    }

    @Test("switches of Bluetooth are followed as they come, change and go, and nothing is asked between (A94)")
    func followed() async throws {
        let device = system.path("rfkill")
        #expect(unsafe mkfifo(device, 0o600) == 0)
        for (number, name) in [(0, "phy0"), (3, "thinkpad_bluetooth"), (7, "hci0")] {
            system.folder("class/rfkill/rfkill\(number)")
            system.write("class/rfkill/rfkill\(number)/name", name + "\n")
        }
        let loop = try EventLoop(name: "switches")
        let (stream, continuation) = AsyncStream<[RadioSwitches.Switch]>.makeStream()
        let writer = unsafe open(device, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(writer) }
        let watcher = try RadioSwitches(on: loop, device: device, root: system.root) { continuation.yield($0) }
        nonisolated(unsafe) let held = watcher
        try loop.start()
        var changes = stream.makeAsyncIterator()
        func send(_ reports: [UInt8]...) {
            let octets = reports.flatMap { $0 }
            _ = unsafe write(writer, octets, octets.count)
        }
        send(report(0, type: 1, 0, soft: 1), report(7, 0), report(3, 0), report(250, type: 2, 9))
        let first = await changes.next()
        #expect(first?.map(\.number) == [3, 7] && first?.map(\.adapter) == [nil, 0])
        #expect(first?.map(\.name) == ["thinkpad_bluetooth", "hci0"])
        #expect(first?.contains { $0.block.isBlocked } == false)
        send(report(3, 2, soft: 1))
        #expect(await changes.next()?.first?.block == RadioBlock(isSoft: true, isHard: false))
        let wakeUps = loop.wakeUpCount
        try await Task.sleep(for: .milliseconds(100))
        #expect(loop.wakeUpCount == wakeUps, "nothing happens")
        // The same again is no change.
        send(report(3, 2, soft: 1), report(3, 2, soft: 0, hard: 1))
        #expect(await changes.next()?.first?.block == RadioBlock(isSoft: false, isHard: true))
        send(report(3, 1), report(9, 1))
        #expect(await changes.next()?.map(\.number) == [7])
        loop.run { unsafe held.cancel() }
        loop.stop()
        await loop.waitUntilStopped()
    }

    @Test("no more than sixty-four switches are kept, whatever is reported")
    func bounded() async throws {
        let device = system.path("rfkill")
        #expect(unsafe mkfifo(device, 0o600) == 0)
        let loop = try EventLoop(name: "switches")
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let writer = unsafe open(device, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(writer) }
        let watcher = try RadioSwitches(on: loop, device: device, root: system.root) { continuation.yield($0.count) }
        nonisolated(unsafe) let held = watcher
        let octets = (0..<200).flatMap { report(UInt8($0), 0, soft: 1) }
        _ = unsafe write(writer, octets, octets.count)
        try loop.start()
        var counts = stream.makeAsyncIterator()
        #expect(await counts.next() == 64)
        loop.run { unsafe held.cancel() }
        loop.stop()
        await loop.waitUntilStopped()
    }

    @Test("a machine without rfkill is told from one whose device must not be read")
    func absent() throws {
        let loop = try EventLoop(name: "switches")
        #expect(throws: TransportError.pathNotFound(system.path("none"))) {
            _ = try RadioSwitches(on: loop, device: system.path("none"), root: system.root) { _ in }
        }
        loop.stop()
    }
}
