import Foundation

/// The folder of public test vectors, which stands beside the package on some machines only.
///
/// `JELLING_VECTORS` names another folder. Tests that need a file ask `has(_:)` and are reported as skipped without it.
enum SharedVectors {
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["JELLING_VECTORS"], !path.isEmpty {
            return URL(fileURLWithPath: path, isDirectory: true)
        }
        var package = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { package.deleteLastPathComponent() }
        return package.deletingLastPathComponent().appendingPathComponent("shared/vectors", isDirectory: true)
    }()

    static func has(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path)
    }

    static func load<Contents: Decodable>(_ name: String, as type: Contents.Type = Contents.self) throws -> Contents {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(contentsOf: folder.appendingPathComponent(name)))
    }
}
