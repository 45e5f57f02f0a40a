import Glibc
import Synchronization
import Testing

@testable import BLETransport

/// An actor that lives on a loop, as the adapter's does.
actor Resident {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private(set) var count = 0
    private var fired: [Int] = []
    private var deadline: EventLoop.Deadline?
    private var registration: EventLoop.Registration?

    init(loop: EventLoop) { self.loop = loop }

    func increment() -> Bool {
        count += 1
        return loop.isOnLoop
    }

    /// A handler made here is isolated to the actor, and reaches its state with no hop.
    func incrementByDeadline() async {
        await withCheckedContinuation { continuation in
            let deadline = loop.makeDeadline {
                self.count += 1
                continuation.resume()
            }
            deadline.set(atMicroseconds: loop.nowMicroseconds + 1_000)
            self.deadline = deadline
        }
        deadline?.cancel()
    }

    func deadlinesFire(after first: UInt64, _ second: UInt64) async -> [Int] {
        await withCheckedContinuation { continuation in
            let now = loop.nowMicroseconds
            let late = loop.makeDeadline {
                self.fired.append(2)
                continuation.resume()
            }
            let early = loop.makeDeadline { self.fired.append(1) }
            let never = loop.makeDeadline { self.fired.append(3) }
            never.set(atMicroseconds: now + first)
            late.set(atMicroseconds: now + second)
            early.set(atMicroseconds: now + first)
            never.clear()
        }
        return fired
    }

    func readByte(from descriptor: Int32) async -> UInt8 {
        let byte = await withCheckedContinuation { (continuation: CheckedContinuation<UInt8, Never>) in
            registration = try? loop.register(descriptor, for: .readable) { _ in
                var byte: UInt8 = 0
                unsafe read(descriptor, &byte, 1)
                self.registration?.cancel()
                continuation.resume(returning: byte)
            }
        }
        return byte
    }
}

@Suite("Event loop")
struct EventLoopTests {
    @Test("an actor on the loop runs on its thread, one job after another")
    func actorRunsOnLoop() async throws {
        let loop = try EventLoop()
        try loop.start()
        let resident = Resident(loop: loop)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1_000 { group.addTask { await resident.increment() } }
            for await isOnLoop in group { #expect(isOnLoop) }
        }
        #expect(await resident.count == 1_000)
        loop.stop()
        await loop.waitUntilStopped()
    }

    @Test("a task that prefers the loop runs on its thread, also between its calls of an actor there")
    func prefers() async throws {
        let loop = try EventLoop()
        try loop.start()
        let resident = Resident(loop: loop)
        let executor = LoopTaskExecutor(loop)
        let isAlwaysThere = await withTaskExecutorPreference(executor) {
            var isThere = loop.isOnLoop
            for _ in 0..<100 {
                isThere = await resident.increment() && isThere
                isThere = await nowhere(loop) && isThere
            }
            return isThere
        }
        #expect(isAlwaysThere)
        #expect(await resident.count == 100)
        #expect(await !nowhere(loop))
        loop.stop()
        await loop.waitUntilStopped()
    }

    @Test("a task that prefers a loop which has ended runs nevertheless, and the loop is freed afterwards")
    func prefersAnEndedLoop() async throws {
        weak var freed: EventLoop?
        do {
            let loop = try EventLoop()
            freed = loop
            try loop.start()
            let resident = Resident(loop: loop)
            let executor = LoopTaskExecutor(loop)
            for round in 0..<3 {
                if round == 1 {
                    loop.stop()
                    await loop.waitUntilStopped()
                }
                await withTaskExecutorPreference(executor) { for _ in 0..<10 { _ = await resident.increment() } }
            }
            #expect(await resident.count == 30)
        }
        var tries = 0
        while freed != nil, tries < 60_000 {
            tries += 1
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(freed == nil)
    }

    /// Outside of any actor.
    private func nowhere(_ loop: EventLoop) async -> Bool { loop.isOnLoop }

    @Test("a task on the loop that comes back at once, again and again, keeps no descriptor and no deadline waiting")
    func busyTask() async throws {
        let loop = try EventLoop()
        try loop.start()
        let resident = Resident(loop: loop)
        let busy = Task(executorPreference: LoopTaskExecutor(loop)) {
            while !Task.isCancelled { await Task.yield() }
        }
        await resident.incrementByDeadline()
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        unsafe #expect(write(ends[1], [7 as UInt8], 1) == 1)
        #expect(await resident.readByte(from: ends[0]) == 7)
        busy.cancel()
        await busy.value
        for descriptor in ends { close(descriptor) }
        loop.stop()
        await loop.waitUntilStopped()
    }

    @Test("a deadline's handler reaches the actor's state on the loop")
    func deadline() async throws {
        let loop = try EventLoop()
        try loop.start()
        let resident = Resident(loop: loop)
        await resident.incrementByDeadline()
        #expect(await resident.count == 1)
        loop.stop()
        loop.join()
    }

    @Test("deadlines share a timer and fire in the order of their times; a cleared one does not")
    func deadlineOrder() async throws {
        let loop = try EventLoop()
        try loop.start()
        #expect(await Resident(loop: loop).deadlinesFire(after: 1_000, 3_000) == [1, 2])
        loop.stop()
        loop.join()
    }

    @Test("a deadline in the past is due at once, but not within the call that sets it")
    func pastDeadline() async throws {
        let loop = try EventLoop()
        try loop.start()
        #expect(await Resident(loop: loop).deadlinesFire(after: 0, 1) == [1, 2])
        loop.stop()
        loop.join()
    }

    @Test("a descriptor's handler runs when there is something to read")
    func descriptor() async throws {
        let loop = try EventLoop()
        try loop.start()
        var ends: [Int32] = [0, 0]
        unsafe pipe(&ends)
        let resident = Resident(loop: loop)
        let writer = ends[1]
        loop.run {
            var byte: UInt8 = 42
            unsafe write(writer, &byte, 1)
        }
        #expect(await resident.readByte(from: ends[0]) == 42)
        loop.stop()
        loop.join()
        for end in ends { close(end) }
    }

    @Test("an idle loop with a descriptor and a distant deadline never wakes (DESIGN 7: 0 wake-ups)")
    func idle() async throws {
        let loop = try EventLoop()
        var ends: [Int32] = [0, 0]
        unsafe pipe(&ends)
        _ = try loop.register(ends[0], for: .readable) { _ in Issue.record("nothing was written") }
        loop.makeDeadline { Issue.record("an hour has not passed") }
            .set(atMicroseconds: loop.nowMicroseconds + 3_600_000_000)
        try loop.start()
        #expect(await Resident(loop: loop).increment())
        // What wakes it for the job may come once more behind it; nothing may come for ever.
        var (before, tries) = (loop.wakeUpCount &+ 1, 0)
        while loop.wakeUpCount != before, tries < 5 {
            (before, tries) = (loop.wakeUpCount, tries + 1)
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(loop.wakeUpCount == before)
        loop.stop()
        loop.join()
        for end in ends { close(end) }
    }

    @Test("jobs queued before the start run after it, and those queued before the stop run before the end")
    func queuedWorkRuns() throws {
        let count = Counter()
        let loop = try EventLoop()
        for _ in 0..<10 { loop.run { count.add() } }
        #expect(count.value == 0)
        try loop.start()
        for _ in 0..<10 { loop.run { count.add() } }
        loop.stop()
        loop.join()
        #expect(count.value == 20)
    }

    @Test("an actor whose loop has ended still answers: no caller hangs")
    func worksAfterEnd() async throws {
        let loop = try EventLoop()
        try loop.start()
        let resident = Resident(loop: loop)
        loop.stop()
        loop.join()
        for _ in 0..<100 { #expect(await resident.increment()) }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { await resident.increment() } }
            for await isOnLoop in group { #expect(isOnLoop) }
        }
        #expect(await resident.count == 200)
    }

    @Test("a loop that was never started can be stopped and joined")
    func stopWithoutStart() async throws {
        let loop = try EventLoop()
        loop.stop()
        loop.join()
        await loop.waitUntilStopped()
        #expect(await Resident(loop: loop).increment())
    }

    @Test("deferred work runs after the present job, never within it")
    func runLater() async throws {
        let loop = try EventLoop()
        try loop.start()
        let order = await withCheckedContinuation { (continuation: CheckedContinuation<[Int], Never>) in
            loop.run {
                let order = Box([Int]())
                loop.runLater {
                    order.value.append(2)
                    loop.runLater { continuation.resume(returning: order.value) }
                }
                order.value.append(1)
            }
        }
        #expect(order == [1, 2])
        loop.stop()
        loop.join()
    }

    @Test("a loop is freed after its end, with its descriptors")
    func freed() throws {
        weak var freed: EventLoop?
        do {
            let loop = try EventLoop()
            freed = loop
            try loop.start()
            loop.stop()
            loop.join()
        }
        // The thread lets go of the loop right after it has told its end.
        var tries = 0
        while freed != nil, tries < 60_000 {
            tries += 1
            usleep(1_000)
        }
        #expect(freed == nil)
    }
}
