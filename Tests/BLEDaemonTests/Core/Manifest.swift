import Foundation

/// The manifest of an app that is installed.
struct Manifest: Encodable {
    var bundleIdentifier: String
    var backgroundModes: [String] = []
    var user = "root"
    var command = ["/bin/true"]
    var roles: [String]?
    var mayPair: Bool?
    var wakeSeconds: Int?
    var systemServices: String?

    init(_ name: String, modes: [String] = [], user: String = "root") {
        bundleIdentifier = name
        backgroundModes = modes
        self.user = user
    }

    enum CodingKeys: String, CodingKey {
        case bundleIdentifier = "BundleIdentifier"
        case backgroundModes = "UIBackgroundModes"
        case user, command, roles, mayPair, wakeSeconds, systemServices
    }
}

/// A folder with manifests, which ends with it.
final class ManifestFolder {
    private let url = FileManager.default.temporaryDirectory.appendingPathComponent("apps-\(UUID())")
    var path: String { url.path }

    init(_ manifests: [Manifest]) {
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        manifests.forEach(write)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    private func file(_ name: String) -> URL { url.appendingPathComponent(name + ".json") }

    func write(_ manifest: Manifest) {
        try? JSONEncoder().encode(manifest).write(to: file(manifest.bundleIdentifier))
    }

    func delete(_ name: String) { try? FileManager.default.removeItem(at: file(name)) }
    func damage(_ name: String) { try? Data("{".utf8).write(to: file(name)) }
}
