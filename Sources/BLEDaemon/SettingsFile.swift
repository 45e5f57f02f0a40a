import BLEAppLifecycle
import BLEJSON
import FoundationEssentials
import Glibc

/// Reads the JSON files of the daemon: manifests of apps, and its configuration.
enum SettingsFile {
    /// What is wrong with a file, and what is right instead.
    struct Problem: Error, CustomStringConvertible { let description: String }

    /// - Parameters:
    ///   - keys: the keys of the outermost object. Another one is an error: a key with a mistake in it would have no
    ///     effect.
    ///   - inner: the keys of objects within it, by the object's key.
    ///   - isManifest: whether Apple's keys may stand in the outermost object, see `ManifestNames`.
    /// - Throws: `Problem`.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, keys: [String], within inner: [String: [String]] = [:],
        isManifest: Bool = false
    ) throws -> Value {
        let value: JSONValue
        do throws(JSONProblem) { value = try JSONReader.value(in: [UInt8](data)) } catch {
            throw Problem(description: "line \(error.line): \(error.message)")
        }
        guard case .object(let members) = value else {
            throw Problem(description: "it is not an object in braces")
        }
        if isManifest {
            if let problem = ManifestNames.problem(ofKeys: members.map(\.key), known: keys) {
                throw Problem(description: problem)
            }
        } else {
            try check(members, keys, in: "")
        }
        for member in members {
            guard let keys = inner[member.key], case .object(let members) = member.value else { continue }
            try check(members, keys, in: member.key + ".")
        }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch let error as DecodingError {
            throw Problem(description: describe(error))
        }
    }

    /// - Parameter place: what comes before the keys in messages.
    /// - Throws: `Problem` with the first key that is unknown.
    private static func check(_ members: [JSONValue.Member], _ keys: [String], in place: String) throws {
        for key in members.map(\.key) where !keys.contains(key) {
            let others = keys.sorted().map { "‘\($0)’" }.joined(separator: ", ")
            throw Problem(description: "there is no key ‘\(place)\(key)’; the keys are \(others)")
        }
    }

    private static func describe(_ error: DecodingError) -> String {
        switch error {
        case .dataCorrupted(let context):
            return place(context).map { "‘\($0)’: \(context.debugDescription)" } ?? context.debugDescription
        case .keyNotFound(let key, let context):
            return "‘\((context.codingPath + [key]).map(name).joined(separator: "."))’ is missing"
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            let kind =
                switch type {
                case is String.Type: "a text in quotation marks"
                case is any BinaryInteger.Type: "a whole number"
                case is Bool.Type: "true or false"
                case is [Any].Type: "a list in brackets"
                default: "an object in braces"
                }
            return "‘\(place(context) ?? "the file")’ is not \(kind)"
        @unknown default: return "it cannot be read: \(error)"
        }
    }

    private static func place(_ context: DecodingError.Context) -> String? {
        context.codingPath.isEmpty ? nil : context.codingPath.map(name).joined(separator: ".")
    }

    private static func name(_ key: any CodingKey) -> String { key.intValue.map { "\($0 + 1)" } ?? key.stringValue }

    /// What went wrong with a file, for people.
    static func describe(_ error: any Error) -> String {
        guard let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue else { return "\(error)" }
        return unsafe String(cString: strerror(code))
    }

    /// The value of `overflow`, which the configuration and manifests have.
    /// - Throws: `Problem`.
    static func overflow(_ text: String?) throws -> OverflowSetting {
        guard let text else { return .on }
        guard let setting = OverflowSetting(rawValue: text) else {
            throw Problem(description: "‘overflow’ is \(OverflowSetting.forms), not ‘\(text)’")
        }
        return setting
    }

    // MARK: Whose files

    /// The maximum size of a file, in octets.
    static let longestFile = 64 * 1024

    /// Anyone who can change a manifest or the configuration decides who runs what, so only root and the daemon's own
    /// user may.
    /// - Throws: `Problem`.
    static func read(_ path: String) throws -> Data {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw Problem(description: "it cannot be opened: \(reason)")
        }
        defer { close(descriptor) }
        var information = stat()
        guard unsafe fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
            information.st_uid == 0 || information.st_uid == geteuid(), information.st_mode & 0o022 == 0
        else {
            throw Problem(description: "it must be root's or this user's own, and no one else may write it")
        }
        guard information.st_size <= longestFile else {
            throw Problem(description: "it is longer than \(longestFile) octets")
        }
        var octets = [UInt8](repeating: 0, count: Int(information.st_size))
        guard unsafe Glibc.read(descriptor, &octets, octets.count) == octets.count else {
            throw Problem(description: "it cannot be read")
        }
        return Data(octets)
    }
}
