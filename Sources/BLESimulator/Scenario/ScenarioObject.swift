import BLEJSON
import BLEPackets

/// An object of a scenario, read key by key; errors name the place and what would be right.
struct ScenarioObject {
    /// The place of the object, such as `devices[0]`; empty for the whole file.
    let path: String
    private let members: [JSONValue.Member]

    init(_ value: JSONValue, path: String, keys: [String]) throws(SimulatedScenario.Problem) {
        guard case .object(let members) = value else {
            throw .init(place: path, message: "expected an object in braces")
        }
        self.path = path
        self.members = members
        for member in members where !keys.contains(member.key) {
            throw .init(
                place: place(member.key),
                message: "this is not a known key; known keys: \(keys.joined(separator: ", "))")
        }
    }

    func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func problem(_ key: String, _ message: String) -> SimulatedScenario.Problem {
        .init(place: place(key), message: message)
    }

    subscript(key: String) -> JSONValue? {
        guard let value = members.first(where: { $0.key == key })?.value, value != .null else { return nil }
        return value
    }

    func text(_ key: String) throws(SimulatedScenario.Problem) -> String? {
        guard let value = self[key] else { return nil }
        guard case .string(let text) = value else { throw problem(key, "expected a string in quotes") }
        return text
    }

    func boolean(_ key: String) throws(SimulatedScenario.Problem) -> Bool? {
        guard let value = self[key] else { return nil }
        guard case .boolean(let isTrue) = value else { throw problem(key, "expected true or false") }
        return isTrue
    }

    func number(
        _ key: String, in range: ClosedRange<Double>, _ unit: String
    ) throws(SimulatedScenario.Problem) -> Double? {
        guard let value = self[key] else { return nil }
        guard let number = value.double, range.contains(number) else {
            let bounds = [range.lowerBound, range.upperBound].map { $0 == $0.rounded() ? "\(Int($0))" : "\($0)" }
            throw problem(key, "expected a number of \(unit) from \(bounds[0]) to \(bounds[1])")
        }
        return number
    }

    func integer(_ key: String, in range: ClosedRange<Int>, _ unit: String) throws(SimulatedScenario.Problem) -> Int? {
        guard let number = try number(key, in: Double(range.lowerBound)...Double(range.upperBound), unit) else {
            return nil
        }
        guard number == number.rounded() else { throw problem(key, "expected a whole number of \(unit)") }
        return Int(number)
    }

    /// A point in time, in microseconds.
    func time(_ key: String) throws(SimulatedScenario.Problem) -> Int64? {
        try number(key, in: 0...1e9, "seconds").map { Int64($0 * 1e6) }
    }

    func address(_ key: String) throws(SimulatedScenario.Problem) -> DeviceAddress? {
        guard let text = try text(key) else { return nil }
        guard let address = DeviceAddress(text) else {
            throw problem(key, "‘\(text)’ is not an address; write C0:00:00:00:00:01/random, or /public")
        }
        return address
    }

    func uuid(_ key: String) throws(SimulatedScenario.Problem) -> BluetoothUUID? {
        guard let text = try text(key) else { return nil }
        return try uuid(text, key)
    }

    func uuid(_ text: String, _ key: String) throws(SimulatedScenario.Problem) -> BluetoothUUID {
        guard let uuid = BluetoothUUID(text) else {
            throw problem(key, "‘\(text)’ is not a UUID; write 180D, or 128 bits with dashes")
        }
        return uuid
    }

    /// Octets in hexadecimal.
    func octets(_ key: String, limit: Int = 512) throws(SimulatedScenario.Problem) -> [UInt8]? {
        guard let text = try text(key) else { return nil }
        let digits = Array(text.utf8)
        let octets = stride(from: 0, to: digits.count, by: 2).map { start in
            UInt8(String(decoding: digits[start..<min(start + 2, digits.count)], as: UTF8.self), radix: 16)
        }
        guard digits.count % 2 == 0, !octets.contains(nil) else {
            throw problem(key, "‘\(text)’ is not hexadecimal; write two digits for each octet")
        }
        guard octets.count <= limit else { throw problem(key, "must have at most \(limit) octets") }
        return octets.compactMap { $0 }
    }

    func list(_ key: String) throws(SimulatedScenario.Problem) -> [JSONValue] {
        guard let value = self[key] else { return [] }
        guard case .array(let values) = value else { throw problem(key, "expected a list in brackets") }
        return values
    }

    func texts(_ key: String) throws(SimulatedScenario.Problem) -> [String] {
        var texts: [String] = []
        for value in try list(key) {
            guard case .string(let text) = value else { throw problem(key, "expected strings in quotes") }
            texts.append(text)
        }
        return texts
    }

    func times(_ key: String) throws(SimulatedScenario.Problem) -> [Int64] {
        var times: [Int64] = []
        for value in try list(key) {
            guard let seconds = value.double, 0...1e9 ~= seconds else {
                throw problem(key, "expected times in seconds")
            }
            times.append(Int64(seconds * 1e6))
        }
        return times
    }

    func integers(_ key: String, in range: ClosedRange<Int>) throws(SimulatedScenario.Problem) -> [Int] {
        var numbers: [Int] = []
        for value in try list(key) {
            guard let number = value.double, let whole = Int(exactly: number), range.contains(whole) else {
                throw problem(key, "expected whole numbers from \(range.lowerBound) to \(range.upperBound)")
            }
            numbers.append(whole)
        }
        return numbers
    }

    func objects(_ key: String, keys: [String]) throws(SimulatedScenario.Problem) -> [ScenarioObject] {
        var objects: [ScenarioObject] = []
        for (index, value) in try list(key).enumerated() {
            objects.append(try ScenarioObject(value, path: "\(place(key))[\(index)]", keys: keys))
        }
        return objects
    }

    func required<Value>(_ key: String, _ value: Value?) throws(SimulatedScenario.Problem) -> Value {
        guard let value else { throw problem(key, "this key is missing") }
        return value
    }
}
