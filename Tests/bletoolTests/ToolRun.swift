import Foundation

@testable import bletool

#if canImport(Glibc)
import Glibc
#endif

/// One run of the program within the test, its output kept.
struct ToolRun {
    let status: Int32
    let output: String
    let errors: String

    /// - Parameter interruptAt: ^C is pressed when all of these were printed, on either output; none: never.
    init(_ arguments: String..., interruptAt: [String] = []) async throws {
        try await self.init(list: arguments, interruptAt: interruptAt)
    }

    init(list arguments: [String], interruptAt: [String] = []) async throws {
        let folder = try TestFolder()
        let isCommand = !arguments.isEmpty
        try await self.init(
            plain: (isCommand ? ["--state", folder.path] : []) + arguments, interruptAt: interruptAt)
    }

    /// Without a state folder of its own.
    init(plain arguments: [String], interruptAt: [String] = []) async throws {
        let folder = try TestFolder()
        let outputFile = try folder.open("output")
        let errorFile = try folder.open("errors")
        let interruption = Interruption()
        let watch = Task {
            guard !interruptAt.isEmpty else { return }
            while true {
                let printed = try folder.read("output") + folder.read("errors")
                if interruptAt.allSatisfy({ printed.contains($0) }) { break }
                try await Task.sleep(for: .milliseconds(20))
            }
            interruption.request()
        }
        status = await Program.run(
            arguments, interruption: interruption, output: outputFile, errors: errorFile)
        watch.cancel()
        close(outputFile)
        close(errorFile)
        output = try folder.read("output")
        errors = try folder.read("errors")
    }

    /// The lines of standard output, each a JSON object.
    var objects: [[String: Any]] {
        get throws {
            try output.split(separator: "\n").map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
            }
        }
    }

    func events(_ name: String) throws -> [[String: Any]] {
        try objects.filter { $0["event"] as? String == name }
    }
}

/// A console whose output is kept.
final class KeptConsole {
    let console: Console
    private let folder: TestFolder
    private let descriptors: [Int32]

    init(isJSON: Bool = false) throws {
        folder = try TestFolder()
        descriptors = try [folder.open("output"), folder.open("errors")]
        console = Console(isJSON: isJSON, output: descriptors[0], errors: descriptors[1])
    }

    deinit { for descriptor in descriptors { close(descriptor) } }

    var output: String { get throws { try folder.read("output") } }
    var errors: String { get throws { try folder.read("errors") } }
}

/// A folder that is gone with the test.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "jelling-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open(_ name: String) throws -> Int32 {
        let descriptor = unsafe Glibc.open(path + "/" + name, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        return descriptor
    }

    func read(_ name: String) throws -> String { try String(contentsOfFile: path + "/" + name, encoding: .utf8) }

    func write(_ text: String, to name: String) throws -> String {
        let file = path + "/" + name
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }
}
