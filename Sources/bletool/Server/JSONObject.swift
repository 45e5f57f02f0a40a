import BLE
import BLEJSON
import BLEScripts

/// An object of a file, read key by key. Errors name its place.
struct JSONObject {
    /// The place of the object, such as `services[0]`; empty for the whole file.
    let path: String
    private let value: JSONValue

    /// - Parameter keys: those that the object may have; `nil` for any.
    /// - Throws: `Failure` when the value is no object, or has other keys.
    init(_ value: JSONValue, path: String, keys: [String]?) throws {
        guard case .object(let members) = value else { throw Self.failure(path, "expected an object") }
        self.path = path
        self.value = value
        guard let keys, let other = members.first(where: { !keys.contains($0.key) }) else { return }
        throw Self.failure(
            path, "‘\(other.key)’ is not a known key; known keys: \(keys.joined(separator: ", "))")
    }

    /// The value of a file.
    /// - Throws: `Failure` with the line of a syntax error.
    static func value(in bytes: [UInt8]) throws -> JSONValue {
        do throws(JSONProblem) {
            return try JSONReader.value(in: bytes)
        } catch {
            throw Failure("line \(error.line): \(error.message)", status: .usage)
        }
    }

    private static func failure(_ path: String, _ message: String) -> Failure {
        Failure(path.isEmpty ? message : "\(path): \(message)", status: .usage)
    }

    func failure(_ key: String, _ message: String) -> Failure { Self.failure(place(key), message) }

    private func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// The value of a key; `nil` if there is none, or it is `null`.
    subscript(key: String) -> JSONValue? {
        guard let member = value[key], member != .null else { return nil }
        return member
    }

    func required<Value>(_ key: String, _ read: (String) throws -> Value?) throws -> Value {
        guard let value = try read(key) else { throw failure(key, "is missing") }
        return value
    }

    func string(_ key: String) throws -> String? {
        guard let value = self[key] else { return nil }
        guard case .string(let text) = value else { throw failure(key, "expected a string") }
        return text
    }

    func boolean(_ key: String) throws -> Bool? {
        guard let value = self[key] else { return nil }
        guard case .boolean(let isTrue) = value else { throw failure(key, "expected true or false") }
        return isTrue
    }

    /// Seconds, more than zero.
    func seconds(_ key: String) throws -> Double? {
        guard let value = self[key] else { return nil }
        let seconds: Double
        switch value {
        case .integer(let whole): seconds = Double(whole)
        case .number(let number): seconds = number
        default: throw failure(key, "expected a number of seconds")
        }
        guard seconds >= 0.001, seconds <= 1e6 else { throw failure(key, "must be 0.001 to 1000000 seconds") }
        return seconds
    }

    /// A handle, from 1.
    func handle(_ key: String) throws -> AttributeHandle? {
        guard let value = self[key] else { return nil }
        guard case .integer(let number) = value, let handle = UInt16(exactly: number), handle > 0 else {
            throw failure(key, "expected a handle, 1 to 65535")
        }
        return AttributeHandle(rawValue: handle)
    }

    func uuid(_ key: String) throws -> BluetoothUUID? {
        guard let text = try string(key) else { return nil }
        return try uuid(text, key)
    }

    func uuid(_ text: String, _ key: String) throws -> BluetoothUUID {
        guard let uuid = BluetoothUUID(text) else { throw failure(key, "‘\(text)’ is not a UUID") }
        return uuid
    }

    /// An attribute's value: at most 512 octets in hexadecimal.
    func octets(_ key: String) throws -> [UInt8]? {
        guard let text = try string(key) else { return nil }
        guard let octets = Hexadecimal.bytes(text) else { throw failure(key, "‘\(text)’ is not hexadecimal") }
        guard octets.count <= 512 else { throw failure(key, "must have at most 512 octets") }
        return octets
    }

    func strings(_ key: String) throws -> [String]? {
        try array(key)?.map { value in
            guard case .string(let text) = value else { throw failure(key, "expected strings") }
            return text
        }
    }

    /// The objects of a list; empty if there is no list.
    /// - Parameter keys: the allowed keys; `nil` for any.
    func objects(_ key: String, keys: [String]?) throws -> [JSONObject] {
        try (array(key) ?? []).enumerated().map { index, value in
            try JSONObject(value, path: "\(place(key))[\(index)]", keys: keys)
        }
    }

    private func array(_ key: String) throws -> [JSONValue]? {
        guard let value = self[key] else { return nil }
        guard case .array(let values) = value else { throw failure(key, "expected a list") }
        return values
    }
}
