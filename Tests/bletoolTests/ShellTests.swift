import ArgumentParser
import Foundation
import Testing

@testable import bletool

@Suite("The shell of gatt, from a pipe")
struct ShellTests {
    /// What the shell prints for lines.
    private func run(_ lines: String) async throws -> (output: String, errors: String) {
        let folder = try TestFolder()
        let path = try folder.write(lines, to: "lines")
        let input = try #require(FileHandle(forReadingAtPath: path))
        defer { try? input.close() }
        let descriptor = input.fileDescriptor
        let kept = try KeptConsole(isJSON: true)
        let session = Session(try GlobalOptions.parse(["-t", "sim", "--state", folder.path]), console: kept.console)
        try await session.withAdapter { adapter in
            let shell = GATTShell(session, adapter, .name("Jelling Heart"), PeerSearch())
            // A line that failed was told where it stands.
            try? await shell.runLines(StandardInput(descriptor: descriptor))
            await shell.end()
        }
        return (try kept.output, try kept.errors)
    }

    @Test("a wait that was in vain does not end the next one")
    func waitsAgain() async throws {
        let (output, errors) = try await run(
            """
            subscribe 2A37
            wait --count 1000000 --duration 0.2
            subscribe 2A37 --count 1
            wait --count 1

            """)
        #expect(errors.contains("fewer values than 1000000 arrived within 0.2 s"), "\(errors)")
        #expect(!errors.contains("cancelled"), "\(errors)")
        #expect(output.contains("\"notified\""))
    }

    @Test("a form of values is refused before anything is subscribed to, since nothing would be printed in it")
    func form() async throws {
        let (output, errors) = try await run("subscribe 2A37 --count 1 --uint16\nwait --count 1 --text\n")
        #expect(errors.contains("leave out --uint16") && errors.contains("leave out --text"), "\(errors)")
        #expect(!output.contains("\"subscribed\""))
    }

    @Test("each wait counts from its beginning, also after one that was cancelled")
    func counts() async {
        let counter = ArrivalCounter()
        for _ in 0..<3 { counter.add() }
        let vain = counter.restart()
        let waiting = Task { for await _ in vain {} }
        waiting.cancel()
        await waiting.value
        var counts = counter.restart().makeAsyncIterator()
        counter.add()
        let first = await counts.next()
        #expect(first == 1)
        for _ in 0..<2 { counter.add() }
        let third = await counts.next()
        #expect(third == 3)
    }
}
