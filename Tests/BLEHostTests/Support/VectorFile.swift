import Foundation
import Testing

/// A file of vectors that need not be there: it lies in the folder that JELLING_VECTORS names, or beside the package.
struct VectorFile<Content: Decodable & Sendable>: Sendable {
    let isPresent: Bool
    /// Why tests that need it are left out.
    let absence: Comment
    /// `nil` where it is missing.
    let content: Result<Content?, any Error>

    init(_ name: String, decoder: JSONDecoder = JSONDecoder()) {
        let named = ProcessInfo.processInfo.environment["JELLING_VECTORS"].flatMap { $0.isEmpty ? nil : $0 }
        let folder = named ?? Self.package.deletingLastPathComponent().appendingPathComponent("shared/vectors").path
        let path = folder + "/" + name
        isPresent = FileManager.default.fileExists(atPath: path)
        absence = "\(name) is missing: set JELLING_VECTORS to the folder of the vectors"
        guard isPresent else {
            content = .success(nil)
            return
        }
        content = Result { try decoder.decode(Content.self, from: Data(contentsOf: URL(fileURLWithPath: path))) }
    }

    /// The folder of this package.
    static var package: URL {
        (0..<4).reduce(URL(fileURLWithPath: #filePath)) { folder, _ in folder.deletingLastPathComponent() }
    }

    /// What it holds, as far as it can be read.
    var readable: Content? { (try? content.get()) ?? nil }
}
