import BLEAppLifecycle
import Foundation
import Testing

@testable import CoreBluetooth

/// What the streams of a channel tell a delegate on a run loop.
@Suite("L2CAP streams on run loops")
struct ChannelStreamTests {
    /// A delegate that reads as much as it may and closes at the end.
    final class Listener: NSObject, StreamDelegate, @unchecked Sendable {
        // @unchecked Sendable is safe because what it writes down is under a lock.
        struct Seen {
            var events: [String] = []
            var octets: [UInt8] = []
            var wrongThreads = 0
        }
        let seen = Locked(Seen())
        var isHere: @Sendable () -> Bool = { true }

        func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
            var octets: [UInt8] = []
            let event: String
            switch eventCode {
            case .openCompleted: event = "open"
            case .hasBytesAvailable:
                var buffer = [UInt8](repeating: 0, count: 512)
                let count = unsafe (aStream as? InputStream)?.read(&buffer, maxLength: buffer.count) ?? -1
                octets = Array(buffer.prefix(max(0, count)))
                event = "bytes \(count)"
            case .hasSpaceAvailable:
                let octets = [UInt8](repeating: 7, count: 600)
                let count = unsafe (aStream as? OutputStream)?.write(octets, maxLength: 600) ?? -1
                event = "space \(count)"
            case .endEncountered:
                aStream.close()
                event = "end"
            case .errorOccurred:
                event = "error \(text(aStream.streamError))"
                aStream.close()
            default: event = "\(eventCode.rawValue)"
            }
            let isWrong = !isHere()
            seen.with {
                $0.events.append(event)
                $0.octets += octets
                if isWrong { $0.wrongThreads += 1 }
            }
        }

        /// Waits, for a bounded time, until so many events have come.
        func wait(for count: Int) async -> [String] {
            try? await waitUntil("\(count) events") { seen.current.events.count >= count }
            return seen.current.events
        }
    }

    /// A thread that does nothing but run its loop, until nothing is scheduled there.
    final class LoopThread: @unchecked Sendable {
        // @unchecked Sendable is safe because what changes is under a lock.
        private let hasEnded = Locked(false)

        /// - Parameter prepare: schedules something, else the loop ends at once.
        static func make(_ prepare: @escaping @Sendable (RunLoop) -> Void) async -> LoopThread {
            let made = LoopThread()
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                Thread.detachNewThread {
                    prepare(RunLoop.current)
                    continuation.resume()
                    while RunLoop.current.run(mode: .default, before: .distantFuture) {}
                    made.hasEnded.with { $0 = true }
                }
            }
            return made
        }

        func waitForEnd() async -> Bool {
            try? await waitUntil("the end of the loop") { hasEnded.current }
            return hasEnded.current
        }
    }

    @Test("events wake another thread's run loop, which does nothing else and ends with the stream (SPEC 2.5)")
    func otherThread() async {
        let pipe = ChannelPipe { _ in }
        let input = UncheckedBox(ChannelInputStream(pipe))
        let listener = Listener()
        let loop = await LoopThread.make { loop in
            let own = UncheckedBox(Thread.current)
            listener.isHere = { Thread.current === own.value }
            input.value.delegate = listener
            input.value.schedule(in: loop, forMode: .default)
            input.value.open()
        }
        #expect(await listener.wait(for: 1) == ["open"])
        for octet in UInt8(1)...3 {
            // The loop sleeps by now, or is about to.
            pipe.receive(.received([octet]))
            #expect(await listener.wait(for: 1 + Int(octet)).last == "bytes 1")
        }
        pipe.receive(.closed(nil))
        #expect(await listener.wait(for: 5).last == "end")
        #expect(listener.seen.current.octets == [1, 2, 3] && listener.seen.current.wrongThreads == 0)
        #expect(await loop.waitForEnd())
    }

    @Test("events come on the main run loop (SPEC 2.5)")
    func mainThread() async {
        let pipe = ChannelPipe { _ in }
        let input = UncheckedBox(ChannelInputStream(pipe))
        let listener = Listener()
        input.value.delegate = listener
        input.value.schedule(in: .main, forMode: .default)
        input.value.open()
        #expect(await listener.wait(for: 1) == ["open"])
        for octet in UInt8(1)...3 {
            pipe.receive(.received([octet]))
            #expect(await listener.wait(for: 1 + Int(octet)).last == "bytes 1")
        }
        input.value.close()
    }

    enum Step: CaseIterable { case delegate, schedule, open }

    @Test(
        "events from before there was a delegate, a run loop or an open stream are delivered once there is, in order (SPEC 2.5)",
        arguments: [
            [Step.open, .delegate, .schedule], [.open, .schedule, .delegate], [.delegate, .open, .schedule],
            [.schedule, .open, .delegate], [.delegate, .schedule, .open],
        ])
    func anyOrder(_ steps: [Step]) async {
        let pipe = ChannelPipe { _ in }
        pipe.receive(.received([UInt8](repeating: 1, count: 600)))
        let input = UncheckedBox(ChannelInputStream(pipe))
        let listener = Listener()
        _ = await LoopThread.make { loop in
            // The loop runs whatever is scheduled.
            let source = Timer(fire: .distantFuture, interval: 1e6, repeats: true) { _ in }
            loop.add(source, forMode: .default)
            for step in steps.dropLast() { Self.take(step, input.value, listener, loop) }
            let own = UncheckedBox((loop: loop, source: source))
            loop.perform {
                Self.take(steps[steps.count - 1], input.value, listener, own.value.loop)
                own.value.source.invalidate()
            }
        }
        #expect(await listener.wait(for: 3) == ["open", "bytes 512", "bytes 88"])
        pipe.receive(.closed(nil))
        #expect(await listener.wait(for: 4).last == "end")
    }

    private static func take(_ step: Step, _ stream: ChannelInputStream, _ listener: Listener, _ loop: RunLoop) {
        switch step {
        case .delegate: stream.delegate = listener
        case .schedule: stream.schedule(in: loop, forMode: .default)
        case .open: stream.open()
        }
    }

    @Test(
        "the end, or the loss of the link, comes after the last octet, even if it came before the stream was opened (SPEC 2.5)",
        arguments: [true, false], [true, false])
    func end(isLost: Bool, opensFirst: Bool) async {
        let pipe = ChannelPipe { _ in }
        let input = UncheckedBox(ChannelInputStream(pipe))
        let listener = Listener()
        let octets = (0..<2000).map { UInt8(truncatingIfNeeded: $0) }
        @Sendable func play() {
            pipe.receive(.received(octets))
            pipe.receive(.closed(isLost ? .coreBluetooth(.peripheralDisconnected) : nil))
        }
        let loop = await LoopThread.make { loop in
            input.value.delegate = listener
            input.value.schedule(in: loop, forMode: .default)
            if !opensFirst { play() }
            input.value.open()
            if opensFirst { play() }
            #expect(input.value.streamStatus == .open && input.value.hasBytesAvailable)
        }
        let end = isLost ? "error CBErrorDomain 7" : "end"
        #expect(await listener.wait(for: 6) == ["open", "bytes 512", "bytes 512", "bytes 512", "bytes 464", end])
        #expect(listener.seen.current.octets == octets)
        #expect(await loop.waitForEnd())
        #expect(listener.seen.current.events.count == 6)
        #expect(input.value.streamStatus == .closed)
    }

    @Test("a stream that ended without an octet says so as soon as it is opened (SPEC 2.5)")
    func endedBefore() async {
        let pipe = ChannelPipe { _ in }
        pipe.receive(.closed(nil))
        let input = UncheckedBox(ChannelInputStream(pipe))
        let output = UncheckedBox(ChannelOutputStream(pipe))
        let listeners = [Listener(), Listener()]
        _ = await LoopThread.make { loop in
            for (stream, listener) in zip([input.value, output.value] as [Stream], listeners) {
                stream.delegate = listener
                stream.schedule(in: loop, forMode: .default)
                stream.open()
                #expect(stream.streamStatus == .atEnd)
            }
        }
        for listener in listeners { #expect(await listener.wait(for: 2) == ["open", "end"]) }
    }

    @Test("room wakes the run loop of the writer (SPEC 2.5)")
    func room() async {
        let sent = Locked(0)
        let pipe = ChannelPipe { if case .send(let octets) = $0 { sent.with { $0 += octets.count } } }
        let output = UncheckedBox(ChannelOutputStream(pipe))
        let listener = Listener()
        let loop = await LoopThread.make { loop in
            output.value.delegate = listener
            output.value.schedule(in: loop, forMode: .default)
            output.value.open()
        }
        #expect(await listener.wait(for: 1) == ["open"])
        pipe.receive(.canSend(count: 1000))
        #expect(await listener.wait(for: 3) == ["open", "space 600", "space 400"])
        pipe.receive(.canSend(count: 50))
        #expect(await listener.wait(for: 4).last == "space 50")
        pipe.receive(.closed(nil))
        #expect(await listener.wait(for: 5).last == "end")
        #expect(sent.current == 1050)
        #expect(await loop.waitForEnd())
    }

    @Test("a stream that was removed reports nothing until it is scheduled again (SPEC 2.5)")
    func removed() async {
        let pipe = ChannelPipe { _ in }
        let input = UncheckedBox(ChannelInputStream(pipe))
        let listener = Listener()
        input.value.delegate = listener
        input.value.open()
        let first = await LoopThread.make { loop in
            input.value.schedule(in: loop, forMode: .default)
            input.value.remove(from: loop, forMode: .default)
        }
        #expect(await first.waitForEnd())
        pipe.receive(.received([1]))
        #expect(listener.seen.current.events.isEmpty)
        _ = await LoopThread.make { input.value.schedule(in: $0, forMode: .default) }
        #expect(await listener.wait(for: 2) == ["open", "bytes 1"])
        input.value.close()
    }
}
