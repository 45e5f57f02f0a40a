import BLEHost
import BLEPackets

/// A script of `gatt PEER script`: one step per line; `#` starts a comment.
///
///     discover [--service UUID]
///     read TARGET [--uint16 …]
///     write TARGET HEX [--command | --signed]
///     subscribe TARGET [--count N] [--duration S]
///     wait [--count N] [--duration S]
///
/// A `subscribe` with options also waits, as the command of this name does. A `wait` without a duration requires a
/// `subscribe` before it; otherwise it would never end.
package struct GATTScript: Equatable, Sendable {
    package struct Line: Equatable, Sendable {
        /// From 1.
        package var number: Int
        package var step: GATTStep

        package init(number: Int, step: GATTStep) {
            self.number = number
            self.step = step
        }
    }

    package var lines: [Line] = []

    /// - Throws: `ScriptProblem` with the number of the first invalid line.
    package init(_ text: String) throws(ScriptProblem) {
        var number = 0
        var isSubscribed = false
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0.isNewline }) {
            number += 1
            do throws(ScriptProblem) {
                let words = try Self.words(line)
                guard !words.isEmpty else { continue }
                for step in try Self.steps(ofLine: words) {
                    switch step {
                    case .subscribe: isSubscribed = true
                    case .wait(_, duration: nil, form: _) where !isSubscribed:
                        throw ScriptProblem(
                            "wait has no subscription to wait for; subscribe first, or give --duration")
                    default: break
                    }
                    lines.append(Line(number: number, step: step))
                }
            } catch {
                throw error.at(line: number)
            }
        }
    }

    /// The words of a line before a comment; what stands between quotation marks is one.
    package static func words(_ line: Substring) throws(ScriptProblem) -> [String] {
        var words: [String] = []
        var word: String?
        var quotation: Character?
        for character in line {
            if let mark = quotation {
                if character == mark { quotation = nil } else { word?.append(character) }
            } else if character == "#" {
                break
            } else if character == "\"" || character == "'" {
                quotation = character
                word = word ?? ""
            } else if character == " " || character == "\t" {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quotation == nil else { throw ScriptProblem("a quotation mark is missing") }
        return words + (word.map { [$0] } ?? [])
    }

    /// What a line of the shell asks for: like a line of a script, but several targets may be read or subscribed to.
    package static func steps(_ words: [String]) throws(ScriptProblem) -> [GATTStep] {
        guard let verb = words.first, verb == "read" || verb == "subscribe" else { return [try step(words)] }
        var words = Words(words)
        let wait = verb == "subscribe" ? try words.wait() : nil
        let options = words.rest.dropFirst().filter { $0.hasPrefix("--") }
        let targets = words.rest.dropFirst().filter { !$0.hasPrefix("--") }
        guard targets.count > 1 else { return [try step(words.rest)] + (wait.map { [$0] } ?? []) }
        return try targets.map { (target) throws(ScriptProblem) -> GATTStep in
            let step = try step([verb, target] + options)
            guard case .read(let target, let form, _) = step else { return step }
            return .read(target, form: form, isNamed: true)
        } + (wait.map { [$0] } ?? [])
    }

    private static func steps(ofLine words: [String]) throws(ScriptProblem) -> [GATTStep] {
        var words = Words(words)
        let wait = words.rest.first == "subscribe" ? try words.wait() : nil
        return [try step(words.rest)] + (wait.map { [$0] } ?? [])
    }

    /// The targets behind a verb.
    package static func targets(_ words: [String]) throws(ScriptProblem) -> [AttributeTarget] {
        var words = Words(Array(words.dropFirst()))
        var targets = [try words.target()]
        while !words.isEmpty { targets.append(try words.target()) }
        return targets
    }

    private static func step(_ words: [String]) throws(ScriptProblem) -> GATTStep {
        var words = Words(words)
        let step: GATTStep
        let verb = words.popFirst() ?? ""
        switch verb {
        case "discover": step = .discover(service: try words.option("--service", BluetoothUUID.init(service:)))
        case "read": step = .read(try words.target(), form: words.form(), isNamed: false)
        case "write":
            let isCommand = words.flag("--command")
            let isSigned = words.flag("--signed")
            if isCommand, isSigned { throw ScriptProblem("--command and --signed exclude each other") }
            let target = try words.target()
            let form = words.form()
            guard let text = words.popFirst(), let bytes = form.map({ $0.octets(of: text) }) ?? Hexadecimal.bytes(text)
            else {
                throw ScriptProblem(
                    "write needs a hexadecimal value after the target (\"\" for an empty one), or one in the form "
                        + "of an option")
            }
            guard bytes.count <= 512 else { throw ScriptProblem("a value has at most 512 bytes") }
            step = .write(target, bytes, isSigned ? .signed : isCommand ? .withoutResponse : .confirmed)
        case "subscribe": step = .subscribe(try words.target())
        case "wait": step = try words.wait() ?? .wait(count: nil, duration: nil, form: words.form())
        default:
            throw ScriptProblem("‘\(verb)’ is not one of discover, read, write, subscribe and wait")
        }
        if let extra = words.popFirst() { throw ScriptProblem("‘\(extra)’ is not expected here") }
        return step
    }

    /// The words of a line, read one by one.
    private struct Words {
        private(set) var rest: [String]

        init(_ words: [String]) { rest = words }

        var isEmpty: Bool { rest.isEmpty }

        mutating func popFirst() -> String? { rest.isEmpty ? nil : rest.removeFirst() }

        mutating func flag(_ name: String) -> Bool {
            guard let index = rest.firstIndex(of: name) else { return false }
            rest.remove(at: index)
            return true
        }

        mutating func option<Value>(_ name: String, _ parse: (String) -> Value?) throws(ScriptProblem) -> Value? {
            guard let index = rest.firstIndex(of: name) else { return nil }
            rest.remove(at: index)
            guard index < rest.count, let value = parse(rest.remove(at: index)) else {
                throw ScriptProblem("\(name) needs a value")
            }
            return value
        }

        /// The step that `--count`, `--duration` and the form of values ask for; `nil` without the first two.
        mutating func wait() throws(ScriptProblem) -> GATTStep? {
            let count = try option("--count", Self.count)
            let duration = try option("--duration", Self.duration)
            return count == nil && duration == nil ? nil : .wait(count: count, duration: duration, form: form())
        }

        private static func count(_ text: String) -> Int? { Int(text).flatMap { $0 > 0 ? $0 : nil } }

        private static func duration(_ text: String) -> Duration? {
            guard let seconds = Double(text), seconds >= 0, seconds <= 1e9 else { return nil }
            return .milliseconds(Int64(seconds * 1000))
        }

        /// The form of values that an option names, if one does.
        mutating func form() -> ValueForm? { ValueForm.allCases.first { flag("--" + $0.rawValue) } }

        mutating func target() throws(ScriptProblem) -> AttributeTarget {
            guard let text = popFirst() else {
                throw ScriptProblem("a target is missing: a UUID or its name, SERVICE/UUID or 0xHANDLE")
            }
            guard let target = AttributeTarget(text) else {
                throw ScriptProblem("‘\(text)’ is \(AttributeTarget.mistake(in: text))")
            }
            return target
        }
    }
}
