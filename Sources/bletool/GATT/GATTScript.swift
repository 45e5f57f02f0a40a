import BLE

/// A script of `gatt PEER script`: a step a line; what follows `#` is a comment.
///
///     discover [--service UUID]
///     read TARGET
///     write TARGET HEX [--command]
///     subscribe TARGET
///     wait [--count N] [--duration S]
///
/// A `wait` without a duration stands behind a `subscribe`: it would never end.
struct GATTScript: Equatable, Sendable {
    struct Line: Equatable, Sendable {
        /// From 1.
        var number: Int
        var step: GATTStep
    }

    var lines: [Line] = []

    /// - Throws: `Failure` with the number of the first line that is none.
    init(_ text: String) throws {
        var number = 0
        var isSubscribed = false
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0.isNewline }) {
            number += 1
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }.map(String.init)
            guard !words.isEmpty else { continue }
            do {
                let step = try Self.step(words)
                switch step {
                case .subscribe: isSubscribed = true
                case .wait(_, duration: nil) where !isSubscribed:
                    throw Failure(
                        "wait has no subscription to wait for; subscribe first, or give --duration")
                default: break
                }
                lines.append(Line(number: number, step: step))
            } catch {
                var failure = Failure(error).at(line: number)
                failure.status = .usage
                throw failure
            }
        }
    }

    /// Reads a file; `-` is standard input.
    /// - Throws: `Failure` when it cannot be read or holds a line that is no step.
    init(path: String) throws {
        try self.init(String(decoding: try TextFile.bytes(of: path), as: UTF8.self))
    }

    private static func step(_ words: [String]) throws -> GATTStep {
        var words = Words(words)
        let step: GATTStep
        let verb = words.popFirst() ?? ""
        switch verb {
        case "discover": step = .discover(service: try words.option("--service", BluetoothUUID.init(argument:)))
        case "read": step = .read(try words.target())
        case "write":
            let isCommand = words.flag("--command")
            let target = try words.target()
            guard let text = words.popFirst(), let bytes = text == "\"\"" ? [] : Hexadecimal.bytes(text) else {
                throw Failure("write needs a hexadecimal value after the target (\"\" for an empty one)")
            }
            guard bytes.count <= 512 else { throw Failure("a value has at most 512 bytes") }
            step = .write(target, bytes, isCommand: isCommand)
        case "subscribe": step = .subscribe(try words.target())
        case "wait":
            step = .wait(
                count: try words.option("--count", Count.init(argument:))?.value,
                duration: try words.option("--duration", Seconds.init(argument:))?.duration)
        default:
            throw Failure("‘\(verb)’ is not one of discover, read, write, subscribe and wait")
        }
        if let extra = words.popFirst() { throw Failure("‘\(extra)’ was not expected") }
        return step
    }

    /// The words of a line, taken one by one.
    private struct Words {
        private var words: [String]

        init(_ words: [String]) { self.words = words }

        mutating func popFirst() -> String? { words.isEmpty ? nil : words.removeFirst() }

        mutating func flag(_ name: String) -> Bool {
            guard let index = words.firstIndex(of: name) else { return false }
            words.remove(at: index)
            return true
        }

        mutating func option<Value>(_ name: String, _ parse: (String) -> Value?) throws -> Value? {
            guard let index = words.firstIndex(of: name) else { return nil }
            words.remove(at: index)
            guard index < words.count, let value = parse(words.remove(at: index)) else {
                throw Failure("\(name) wants a value")
            }
            return value
        }

        mutating func target() throws -> TargetArgument {
            guard let text = popFirst(), let target = TargetArgument(argument: text) else {
                throw Failure("a target is UUID, SERVICE/UUID or 0xHANDLE")
            }
            return target
        }
    }
}
