import BLEHost
import BLEJSON
import BLEPackets
import BLEScripts

/// One step of a request.
package enum GATTRequestStep: Equatable, Sendable {
    case connect
    case disconnect
    case script(GATTStep)
}

/// A request to carry out steps over a link with a device.
package struct GATTRequest: Equatable, Sendable {
    /// Letters, digits, `-`, `_` and `.`: it becomes a level of topics.
    package var id: String
    /// Distinguishes those who ask by the same door; empty for none.
    package var requester: String
    package var address: UInt64
    /// Whether the address is a random one; `nil`: as the device advertises.
    package var isRandom: Bool?
    package var steps: [GATTRequestStep]
    /// How long the link is kept afterwards.
    package var keep: Microseconds
    /// The time for all steps.
    package var timeout: Microseconds

    /// Why a text is no request.
    package struct Problem: Error, Equatable, Sendable {
        /// The identifier, if that could be read.
        package var id: String?
        package var text: String
    }

    package static let octetLimit = 65_536
    package static let stepLimit = 256
    private static let keys: Set<String> = ["id", "requester", "address", "addressType", "steps", "keep", "timeout"]

    /// Reads a JSON object.
    /// - Parameter defaultID: the identifier of a request that has none; `nil`: it needs one.
    package init(_ octets: [UInt8], defaultID: String?) throws(Problem) {
        var limits = JSONReader.Limits()
        (limits.depth, limits.byteCount, limits.valueCount) = (6, Self.octetLimit, 4 * Self.stepLimit + 64)
        let value: JSONValue
        do throws(JSONProblem) { value = try JSONReader.value(in: octets, limits: limits) } catch {
            throw Problem(id: nil, text: "this is not JSON: line \(error.line): \(error.message)")
        }
        guard case .object(let members) = value else { throw Problem(id: nil, text: "expected a JSON object") }
        var id = defaultID
        if let given = value["id"] {
            guard case .string(let text) = given, Self.isName(text) else {
                throw Problem(id: nil, text: "‘id’ has 1 to 64 letters, digits, ‘-’, ‘_’ and ‘.’")
            }
            id = text
        }
        guard let id else { throw Problem(id: nil, text: "‘id’ is missing") }
        func problem(_ text: String) -> Problem { Problem(id: id, text: text) }
        if let unknown = members.first(where: { !Self.keys.contains($0.key) }) {
            throw problem("‘\(unknown.key.prefix(40))’ is not a known key")
        }
        self.id = id
        requester = ""
        if let given = value["requester"] {
            guard case .string(let text) = given, Self.isName(text) else {
                throw problem("‘requester’ has 1 to 64 letters, digits, ‘-’, ‘_’ and ‘.’")
            }
            requester = text
        }
        guard case .string(let text)? = value["address"], text.utf8.count == 17, let address = DeviceAddress(text)
        else {
            throw problem("‘address’ needs six pairs of hexadecimal digits, such as A4:C1:38:00:00:01")
        }
        self.address = address.value
        switch value["addressType"] {
        case nil: isRandom = nil
        case "public"?: isRandom = false
        case "random"?: isRandom = true
        default: throw problem("‘addressType’ is package or random")
        }
        guard let keep = Self.span(value["keep"] ?? 0, 0...3600) else { throw problem("‘keep’ has 0 to 3600 seconds") }
        guard let timeout = Self.span(value["timeout"] ?? 30, 1...300) else {
            throw problem("‘timeout’ has 1 to 300 seconds")
        }
        (self.keep, self.timeout) = (keep, timeout)
        guard case .array(let items)? = value["steps"], (1...Self.stepLimit).contains(items.count) else {
            throw problem("‘steps’ needs 1 to \(Self.stepLimit) steps")
        }
        steps = []
        for (index, item) in items.enumerated() {
            do throws(ScriptProblem) { steps.append(try Self.step(item)) } catch {
                throw problem("step \(index): \(error)")
            }
        }
    }

    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }

    private static func span(_ value: JSONValue, _ range: ClosedRange<Double>) -> Microseconds? {
        guard let seconds = value.double, range.contains(seconds) else { return nil }
        return .microseconds(Int64(seconds * 1e6))
    }

    // MARK: Steps

    /// A line of a script, or an object that says the same in parts.
    private static func step(_ value: JSONValue) throws(ScriptProblem) -> GATTRequestStep {
        let words: [String]
        switch value {
        case .string(let line): words = try GATTScript.words(line[...])
        case .object(let members): words = try Self.words(members)
        default: throw ScriptProblem("expected a line of a script, or an object")
        }
        switch words.first {
        case "connect"?, "disconnect"?:
            guard words.count == 1 else { throw ScriptProblem("‘\(words[0])’ stands alone") }
            return words[0] == "connect" ? .connect : .disconnect
        default:
            let steps = try GATTScript.steps(words)
            guard steps.count == 1 else { throw ScriptProblem("this is more than one step") }
            return .script(steps[0])
        }
    }

    /// The words of the line that means the same.
    private static func words(_ members: [JSONValue.Member]) throws(ScriptProblem) -> [String] {
        let options: [String: Set<String>] = [
            "connect": [], "disconnect": [], "discover": [], "read": ["form"], "write": ["value", "form", "response"],
            "subscribe": [], "wait": ["form"],
        ]
        guard let verb = members.first(where: { options[$0.key] != nil }), let allowed = options[verb.key] else {
            throw ScriptProblem("expected one of \(options.keys.sorted().joined(separator: ", "))")
        }
        if let unknown = members.first(where: { $0.key != verb.key && !allowed.contains($0.key) }) {
            throw ScriptProblem("‘\(unknown.key.prefix(40))’ does not belong to ‘\(verb.key)’")
        }
        let object = JSONValue.object(members)
        var words = [verb.key]
        switch (verb.key, verb.value) {
        case ("connect", _), ("disconnect", _): break
        case ("discover", .string(let service)): words += ["--service", service]
        case ("discover", _): break
        case ("wait", .integer), ("wait", .number): words += ["--duration", "\(verb.value.double ?? 0)"]
        case ("wait", .object(let parts)):
            for part in parts {
                guard ["count", "duration"].contains(part.key), let number = part.value.double, number.magnitude < 1e9
                else { throw ScriptProblem("‘wait’ takes ‘count’ and ‘duration’, which are numbers") }
                words += ["--" + part.key, number == number.rounded() ? "\(Int(number))" : "\(number)"]
            }
        case ("wait", _): break
        case (_, .string(let target)): words.append(target)
        default: throw ScriptProblem("‘\(verb.key)’ needs a UUID, its name, SERVICE/UUID or 0xHANDLE")
        }
        if verb.key == "write" {
            guard case .string(let text)? = object["value"] else {
                throw ScriptProblem("‘write’ needs ‘value’, a text")
            }
            words.append(text)
            switch object["response"] {
            case nil, true?: break
            case false?: words.append("--command")
            default: throw ScriptProblem("‘response’ is true or false")
            }
        }
        if let form = object["form"] {
            guard case .string(let text) = form, ValueForm(rawValue: text) != nil else {
                throw ScriptProblem("‘form’ is one of \(ValueForm.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            words.append("--" + text)
        }
        return words
    }
}
