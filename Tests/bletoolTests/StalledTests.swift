import BLEText
import Foundation
import Testing

@testable import bletool

#if canImport(Glibc)
import Glibc
#endif

@Suite("Readers that do not read, writers that do not write (DESIGN 6: SIGTERM ends cleanly)")
struct StalledTests {
    /// A run that is interrupted while it waits, and must end by itself.
    private func run(_ arguments: [String], output: Int32, errors: Int32) async -> Int32 {
        let interruption = Interruption()
        signalSoon(interruption)
        return await Program.run(arguments, interruption: interruption, output: output, errors: errors)
    }

    /// From a thread of its own as in the program, for those of tasks may all be waiting.
    private func signalSoon(_ interruption: Interruption) {
        Thread.detachNewThread {
            usleep(300_000)
            _ = interruption.receiveSignal(at: .now)
        }
    }

    private func makePipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test(
        "a program whose output is not read ends when it is told to; its output is lost: status 1",
        arguments: [["-t", "sim", "--json", "lescan", "--duplicates"], ["--help"]], [false, true])
    func unreadPipe(arguments: [String], isForErrorsToo: Bool) async throws {
        let folder = try TestFolder()
        let (reading, writing) = try makePipe()
        defer { for descriptor in [reading, writing] { close(descriptor) } }
        try fill(writing)
        let errors = try folder.open("errors")
        defer { close(errors) }
        let status = await run(
            ["--state", folder.path] + arguments, output: writing, errors: isForErrorsToo ? writing : errors)
        let told = try folder.read("errors")
        // A scan that had not begun, or had found nothing by then, has lost nothing.
        let withoutLoss = ["", "bletool: error: interrupted\n", "bletool: no device was heard\n"]
        if arguments.contains("lescan"), withoutLoss.contains(told) { return }
        #expect(status == 1)
        #expect(told == (isForErrorsToo ? "" : "bletool: error: the reader of standard output stopped reading\n"))
    }

    @Test("a terminal that accepts nothing more does not keep the program from ending")
    func unreadTerminal() throws {
        var (terminal, device): (Int32, Int32) = (-1, -1)
        try #require(unsafe openpty(&terminal, &device, nil, nil, nil) == 0)
        defer { for descriptor in [terminal, device] { close(descriptor) } }
        let interruption = Interruption()
        let console = Console(isJSON: false, output: device, errors: device, interruption: interruption)
        #expect(console.isTerminal)
        signalSoon(interruption)
        // Far more than a terminal keeps for its reader.
        let line = String(repeating: "a line of a hundred characters ", count: 3)
        for _ in 0..<10_000 where !console.outputHasEnded { console.printHelp(line) }
        #expect(console.outputFailure?.message == "the reader of standard output stopped reading")
    }

    @Test("a note begins a line of its own when a peer's octets on the terminal have ended within one")
    func noteAfterPeer() throws {
        var (terminal, device): (Int32, Int32) = (-1, -1)
        try #require(unsafe openpty(&terminal, &device, nil, nil, nil) == 0)
        defer { for descriptor in [terminal, device] { close(descriptor) } }
        let console = Console(isJSON: false, output: device, errors: device)
        var sieve = OctetSieve()
        for octets in ["whole\n", "half"] {
            console.writeForeign(Array(octets.utf8), through: &sieve)
            console.note("closed")
        }
        console.note("again")
        let expected = "whole\r\nbletool: closed\r\nhalf\r\nbletool: closed\r\nbletool: again\r\n"
        var shown: [UInt8] = []
        while shown.count < expected.utf8.count {
            // A terminal gives what has come, not all that will.
            var buffer = [UInt8](repeating: 0, count: 1000)
            let count = unsafe read(terminal, &buffer, buffer.count)
            try #require(count > 0)
            shown += buffer.prefix(count)
        }
        #expect(String(decoding: shown, as: UTF8.self) == expected)
    }

    @Test("a slow reader gets everything, in order, while nothing tells the program to end")
    func slowReader() async throws {
        let (reading, writing) = try makePipe()
        let console = Console(isJSON: false, output: writing, errors: writing)
        let text = (0..<30_000).map { "line \($0)" }.joined(separator: "\n")
        Thread.detachNewThread {
            console.printHelp(text)
            close(writing)
        }
        let handle = FileHandle(fileDescriptor: reading, closeOnDealloc: true)
        var read = Data()
        while let chunk = try handle.read(upToCount: 50_000), !chunk.isEmpty {
            read += chunk
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(String(decoding: read, as: UTF8.self) == text + "\n")
        #expect(console.outputFailure == nil)
    }

    @Test(
        "a wait for a pipe without a writer, or with a silent one, ends when it is told to",
        arguments: [
            ["decode", "PIPE"], ["-t", "sim", "gatt", "C0:DE:00:00:00:01/random", "script", "PIPE"],
            ["convert", "PIPE", "OUT.pcap"],
        ], [false, true])
    func silentWriter(arguments: [String], hasWriter: Bool) async throws {
        let folder = try TestFolder()
        let path = folder.path + "/pipe"
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let writing = unsafe hasWriter ? open(path, O_RDWR | O_CLOEXEC) : -1
        if hasWriter { #expect(unsafe write(writing, "btsnoop\0", 8) == 8) }
        let output = try folder.open("output")
        let errors = try folder.open("errors")
        defer { for descriptor in [writing, output, errors] { close(descriptor) } }
        let named = arguments.map {
            $0.replacing("PIPE", with: path).replacing("OUT", with: folder.path + "/out")
        }
        #expect(await run(["--state", folder.path] + named, output: output, errors: errors) == 1)
        #expect(try folder.read("errors") == "bletool: error: interrupted\n")
    }

    /// Leaves no room in a pipe.
    private func fill(_ descriptor: Int32) throws {
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        let page = [UInt8](repeating: 0x0A, count: 4096)
        while unsafe write(descriptor, page, page.count) > 0 {}
        _ = fcntl(descriptor, F_SETFL, flags)
    }
}
