import BLEHost
import BLEMessages
import BLEPackets
import Glibc
import Testing

@testable import BLEDaemon

@Suite("Turns of programs")
struct TurnTests {
    private func publish(_ operation: UInt64, service: UInt8 = 0x0D) -> [UInt8] {
        let uuid = BluetoothUUID(UInt16(service) << 8 | 0x18)
        return FromClient.request(operation, .server(.publish(GATTServiceDefinition(uuid: uuid)))).framed()
    }

    /// Services get their handles in the order in which they are published.
    private func handle(_ client: RawClient, _ operation: UInt64) throws -> UInt16? {
        guard case .success(.published(let service)) = try client.end(of: operation) else { return nil }
        return service.range.first.rawValue
    }

    @Test("a program that sends forty requests at once delays another one by a turn")
    func flood() throws {
        let stage = try DaemonStage()
        let flooding = try stage.connect()
        let victim = try stage.connect()
        #expect(try flooding.isWelcome())
        #expect(try victim.isWelcome())
        stage.whileBusy {
            #expect(flooding.send((1...40).flatMap { publish($0) }))
            #expect(victim.send(publish(1)))
        }
        let own = try #require(try handle(victim, 1))
        var before = 0
        for operation in 1...40 where try #require(try handle(flooding, UInt64(operation))) < own { before += 1 }
        #expect(before <= TurnLine.turn)
    }

    @Test("what a program asked for before it closed its end is done, however much it was")
    func lastWords() throws {
        var limits = ClientLimits()
        limits.clients = 2
        let stage = try DaemonStage(limits: limits)
        let watcher = try stage.connect()
        #expect(try watcher.isWelcome())
        watcher.send(publish(1, service: 0x10))
        let first = try #require(try handle(watcher, 1))
        do {
            let leaving = try stage.connect()
            #expect(try leaving.isWelcome())
            stage.whileBusy { #expect(leaving.send((1...40).flatMap { publish($0) })) }
        }
        // There is room for another program when that one has gone.
        var attempts = 0
        while try !stage.connect().isWelcome(), attempts < 6000 {
            attempts += 1
            usleep(10_000)
        }
        // Each of its forty services had a place, which is kept for one like it.
        watcher.send(publish(2, service: 0x11))
        #expect(try #require(try handle(watcher, 2)) > first + 40)
    }

    /// How much a socket of this host takes, compared with Linux's default: 1 at most.
    private func shareOfUsualBuffer(_ client: RawClient) -> Double {
        var byteCount: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        unsafe getsockopt(client.descriptor, SOL_SOCKET, SO_SNDBUF, &byteCount, &length)
        return min(1, Double(byteCount) / 212_992)
    }

    @Test("a program that does not read its answers is not heard until it does; then it gets all of them, in order")
    func backedUp() throws {
        let stage = try DaemonStage()
        let silent = try stage.connect()
        #expect(try silent.isWelcome())
        // Ends at once: there is no such operation.
        func cancel(_ operation: UInt64) -> [UInt8] {
            FromClient.request(operation, .cancel(OperationID(rawValue: 1 << 40))).framed()
        }
        // Far more than what may wait for a program, if it were heard: most of it is in the sockets, of both sides.
        let expected = UInt64(2000 * shareOfUsualBuffer(silent))
        let last = silent.sendUntilFull(atLeast: expected) { cancel($0) }
        #expect(last > expected)
        for operation in 1...last {
            guard case .completed(let end, _)? = try silent.next() else {
                Issue.record("no answer to \(operation) of \(last)")
                return
            }
            #expect(end.rawValue == operation)
        }
        silent.send(cancel(last + 1))
        #expect(try silent.end(of: last + 1) != nil)
    }

    @Test("a long message costs more of a turn than a short one")
    func costs() {
        #expect(TurnLine.cost(of: [1, 2, 3]) == 1)
        #expect(TurnLine.cost(of: ArraySlice(repeating: 0, count: 600)) == 1)
        #expect(TurnLine.cost(of: ArraySlice(repeating: 0, count: 64 * 1024)) > TurnLine.turn)
    }

    @Test("a reader of frames knows whether a whole one waits, or one that is too long")
    func wholeFrames() throws {
        var reader = FrameReader(limit: 300)
        #expect(!reader.hasNext)
        let message: [UInt8] = [2, 0, 0, 0, 7, 8]
        for octet in message {
            #expect(!reader.hasNext)
            let octets = [octet]
            reader.append(octets.span.bytes)
        }
        #expect(reader.hasNext)
        #expect(try reader.next().map(Array.init) == [7, 8])
        #expect(!reader.hasNext)
        let tooLong: [UInt8] = [45, 1, 0, 0]
        reader.append(tooLong.span.bytes)
        #expect(reader.hasNext)
    }
}
