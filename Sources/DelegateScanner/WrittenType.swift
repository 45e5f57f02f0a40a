/// A type as a source writes it.
struct WrittenType {
    /// The names that mean another type: those of the frameworks, and what the target declares.
    private static let aliases = [
        "CBL2CAPPSM": "UInt16", "CFAbsoluteTime": "Double", "CFTimeInterval": "Double", "TimeInterval": "Double",
    ]
    private static let modules: Set = ["Swift", "Foundation", "CoreBluetooth", "CoreFoundation"]
    private static let depthLimit = 16

    private let tokens: [Token]
    private let typealiases: [String: [Token]]
    private let types: Set<String>
    private let depth: Int
    private var place = 0

    private init(_ tokens: [Token], _ typealiases: [String: [Token]], _ types: Set<String>, depth: Int) {
        (self.tokens, self.typealiases, self.types, self.depth) = (tokens, typealiases, types, depth)
    }

    /// One spelling for all that mean the same: `[String:Any]`, `Error?`; `nil` for types that no delegate method has.
    /// - Parameters:
    ///   - typealiases: the target's own names for other types.
    ///   - types: the names of the target's own types.
    static func canonical(
        _ tokens: [Token], typealiases: [String: [Token]], types: Set<String>, depth: Int = 0
    ) -> String? {
        guard depth < depthLimit else { return nil }
        var type = WrittenType(tokens, typealiases, types, depth: depth)
        guard let text = type.read(), type.place == tokens.count else { return nil }
        return text
    }

    private var next: Token? { place < tokens.count ? tokens[place] : nil }

    private mutating func consume(_ symbol: String) -> Bool {
        guard next?.isSymbol(symbol) == true else { return false }
        place += 1
        return true
    }

    private mutating func read(depth: Int = 0) -> String? {
        guard depth < Self.depthLimit else { return nil }
        if next?.isWord("any") == true { place += 1 }
        var text: String
        if consume("(") {
            guard let inner = read(depth: depth + 1), consume(")") else { return nil }
            text = inner
        } else if consume("[") {
            guard let first = read(depth: depth + 1) else { return nil }
            if consume(":") {
                guard let second = read(depth: depth + 1) else { return nil }
                text = "[\(first):\(second)]"
            } else {
                text = "[\(first)]"
            }
            guard consume("]") else { return nil }
        } else {
            guard let named = readName(depth: depth) else { return nil }
            text = named
        }
        while consume("?") { text += "?" }
        return text
    }

    private mutating func readName(depth: Int) -> String? {
        guard let first = next, first.kind == .word else { return nil }
        place += 1
        var name = first.name
        var isQualified = false
        while consume(".") {
            guard Self.modules.contains(name), let part = next, part.kind == .word else { return nil }
            place += 1
            name = part.name
            isQualified = true
        }
        if consume("<") {
            var arguments: [String] = []
            repeat {
                guard let argument = read(depth: depth + 1) else { return nil }
                arguments.append(argument)
            } while consume(",")
            guard consume(">") else { return nil }
            switch (name, arguments.count) {
            case ("Optional", 1): return arguments[0] + "?"
            case ("Array", 1): return "[\(arguments[0])]"
            case ("Dictionary", 2): return "[\(arguments[0]):\(arguments[1])]"
            default: return nil
            }
        }
        if !isQualified, let meaning = typealiases[name] {
            return Self.canonical(meaning, typealiases: typealiases, types: types, depth: self.depth + 1)
        }
        if !isQualified, types.contains(name) { return nil }
        return Self.aliases[name] ?? name
    }
}
