import Foundation
import Glibc
import Testing

@testable import bletool

/// Questions of pairings that go on at the same time.
@Suite("One question at a time")
struct QuestionDeskTests {
    /// A terminal, and the hand that types on it.
    private final class Keyboard: Sendable {
        let person: Int32
        let device: Int32

        init() throws {
            var ends: (Int32, Int32) = (-1, -1)
            guard unsafe openpty(&ends.0, &ends.1, nil, nil, nil) == 0 else { throw CocoaError(.fileWriteUnknown) }
            (person, device) = ends
        }

        deinit {
            close(person)
            close(device)
        }

        func type(_ text: String) { _ = unsafe text.withCString { unsafe write(person, $0, strlen($0)) } }

        /// Whether what was typed has arrived.
        var hasInput: Bool {
            var waited = pollfd(fd: device, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&waited, 1, 0) > 0
        }

        /// - Returns: `nil` when the task is cancelled, and after the timeout.
        func line(within seconds: Double = 3) -> String? {
            let end = Date().addingTimeInterval(seconds)
            var octets: [UInt8] = []
            while !Task.isCancelled, Date() < end {
                var waited = pollfd(fd: device, events: Int16(POLLIN), revents: 0)
                guard unsafe poll(&waited, 1, 20) > 0 else { continue }
                var octet: UInt8 = 0
                guard unsafe read(device, &octet, 1) == 1 else { return nil }
                if octet == 0x0A { return String(decoding: octets, as: UTF8.self) }
                octets.append(octet)
            }
            return nil
        }
    }

    @Test("input from before a question was shown does not answer it")
    func typedBefore() async throws {
        let keyboard = try Keyboard()
        let desk = QuestionDesk(input: keyboard.device)
        keyboard.type("y\n")
        while !keyboard.hasInput { try await Task.sleep(for: .milliseconds(2)) }
        let answer = await desk.turn { keyboard.line(within: 0.3) }
        #expect(answer == nil)
    }

    @Test("two questions: each is answered by what is typed while it is shown")
    func inTurn() async throws {
        let keyboard = try Keyboard()
        let desk = QuestionDesk(input: keyboard.device)
        let questions = ["y", "n"].map { answer in
            Task {
                await desk.turn {
                    keyboard.type(answer + "\n")
                    return keyboard.line(within: 120)
                }
            }
        }
        #expect(await questions[0].value == "y")
        #expect(await questions[1].value == "n")
    }

    @Test("the answer to a question that has just been withdrawn does not answer the next")
    func late() async throws {
        let keyboard = try Keyboard()
        let desk = QuestionDesk(input: keyboard.device)
        let (stands, standing) = AsyncStream<Void>.makeStream()
        let first = Task {
            await desk.turn {
                standing.yield()
                return keyboard.line(within: 60)
            }
        }
        for await _ in stands { break }
        let second = Task { await desk.turn { keyboard.line(within: 0.5) } }
        first.cancel()
        keyboard.type("y\n")
        _ = await first.value
        #expect(await second.value == nil)
    }
}
