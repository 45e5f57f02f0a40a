/// Finds the declarations of one source that matter for delegates.
///
/// It knows which braces belong to types, and of everything else only that braces match. Where a source is not valid
/// Swift, it may find too little.
struct SourceScanner {
    private(set) var types: [DeclaredType] = []
    private(set) var functions: [DeclaredFunction] = []
    private(set) var typealiases: [String: [Token]] = [:]

    /// What a pair of braces belongs to.
    private enum Scope {
        case type(DeclaredType)
        case body
    }

    private let tokens: [Token]
    private var place = 0
    private var scopes: [Scope] = []
    private var conditions: [(text: String, scopes: Int)] = []
    private var modifiers: Set<String> = []
    private var attributes: [String] = []

    private static let modifierWords: Set = [
        "public", "open", "internal", "package", "private", "fileprivate", "final", "static", "class", "override",
        "dynamic", "nonisolated", "required", "convenience", "indirect", "isolated", "lazy", "weak", "unowned",
        "mutating", "nonmutating", "optional", "prefix", "postfix", "infix", "distributed", "consuming", "borrowing",
    ]
    private static let typeWords: Set = ["class", "struct", "enum", "actor", "extension", "protocol"]
    private static let notNames: Set = ["func", "var", "let", "init", "subscript", "case", "typealias", "deinit"]

    init(_ source: String) {
        tokens = Lexer.tokens(of: source)
        while place < tokens.count { step() }
    }

    private func token(_ offset: Int = 0) -> Token? {
        place + offset < tokens.count ? tokens[place + offset] : nil
    }

    private mutating func step() {
        let token = tokens[place]
        switch token.kind {
        case .directive:
            place += 1
            turn(at: token.text)
        case .word where Self.typeWords.contains(token.text) && beginsType: readType()
        case .word where Self.modifierWords.contains(token.text) && !isMember:
            place += 1
            // `private(set)` is no word about the declaration itself.
            if self.token()?.isSymbol("(") == true, self.token()?.isApart == false {
                skipBalanced()
            } else {
                modifiers.insert(token.text)
            }
        case .word where token.text == "func" && !isMember:
            place += 1
            readFunction()
            forgetWords()
        case .word where token.text == "typealias" && !isMember:
            place += 1
            readTypealias()
            forgetWords()
        case .symbol where token.text == "@":
            place += 1
            readAttribute()
        case .symbol where token.text == "{":
            place += 1
            scopes.append(.body)
            forgetWords()
        case .symbol where token.text == "}":
            place += 1
            // Not beyond what was open at the `#if`: the other branch has the same braces.
            if scopes.count > conditions.last?.scopes ?? 0 { scopes.removeLast() }
            forgetWords()
        default:
            place += 1
            forgetWords()
        }
    }

    private mutating func forgetWords() {
        modifiers = []
        attributes = []
    }

    /// Whether the word here is the name of a member: `.class`.
    private var isMember: Bool { place > 0 && tokens[place - 1].isSymbol(".") }

    // MARK: Conditions

    private mutating func turn(at directive: String) {
        if directive.hasPrefix("#if") {
            conditions.append(("(" + directive.dropFirst(3) + ")", scopes.count))
            return
        }
        guard let last = conditions.popLast() else { return }
        scopes.removeLast(max(0, scopes.count - last.scopes))
        guard !directive.hasPrefix("#endif") else { return }
        var text = "!(\(last.text))"
        if directive.hasPrefix("#elseif") { text += " && (" + directive.dropFirst(7) + ")" }
        conditions.append((text, last.scopes))
    }

    /// What surrounds a declaration here.
    private var context: DeclarationContext {
        var context = DeclarationContext(conditions: conditions.map(\.text))
        for scope in scopes {
            switch scope {
            case .body: context.hiding = "it is declared in a function"
            case .type(let type):
                context.path = type.context.path
                context.hiding = type.context.hiding ?? context.hiding
                context.actor = type.context.actor
            }
        }
        return context
    }

    private var isPrivate: Bool { modifiers.contains("private") || modifiers.contains("fileprivate") }
    private var isPublished: Bool { !modifiers.isDisjoint(with: ["internal", "package", "public", "open"]) }
    /// A global actor in the attributes here, except the main actor.
    private var globalActor: String? {
        attributes.first { $0.hasSuffix("Actor") && $0 != "MainActor" && $0 != "globalActor" }
    }

    // MARK: Declarations

    private mutating func readAttribute() {
        guard let name = token(), name.kind == .word, !name.isApart else { return }
        attributes.append(readName().last ?? "")
        if token()?.isSymbol("(") == true, token()?.isApart == false { skipBalanced() }
    }

    /// A name with the names of what it is in, without arguments of generic types.
    private mutating func readName() -> [String] {
        var names: [String] = []
        while let name = token(), name.kind == .word {
            names.append(name.text)
            place += 1
            if token()?.isSymbol("<") == true { skipBalanced() }
            guard token()?.isSymbol(".") == true else { break }
            place += 1
        }
        return names
    }

    /// Skips from an opening parenthesis, bracket or angle bracket to what follows the closing one.
    private mutating func skipBalanced() {
        var depth = 0
        while let token = token(), token.kind != .directive {
            if token.kind == .symbol {
                if "([<".contains(token.text) { depth += 1 }
                if ")]>".contains(token.text) { depth -= 1 }
                // Something else than arguments: `a < b {`.
                if "{}".contains(token.text) { return }
            }
            place += 1
            if depth <= 0 { return }
        }
    }

    /// Whether the word here begins the declaration of a type, and is not a modifier or an ordinary name.
    private var beginsType: Bool {
        guard !isMember, let name = token(1), name.kind == .word, !name.startsLine || tokens[place].startsLine,
            !Self.notNames.contains(name.text), !Self.modifierWords.contains(name.text)
        else { return false }
        guard place > 0 else { return true }
        let last = tokens[place - 1]
        if tokens[place].text == "actor" || tokens[place].text == "extension" || tokens[place].text == "class" {
            return last.kind == .directive || tokens[place].startsLine || ";{})".contains(last.text)
                || Self.modifierWords.contains(last.text) || !attributes.isEmpty
        }
        return true
    }

    private mutating func readType() {
        let word = tokens[place].text
        place += 1
        var type = DeclaredType(
            kind: word == "class" ? .class : word == "extension" ? .extension : .other, context: context)
        let isExtension = type.kind == .extension
        type.context.path += readName()
        type.context.actor = globalActor ?? (isExtension ? nil : type.context.actor)
        if isExtension {
            type.isPrivateExtension = isPrivate
        } else if isPrivate, type.context.hiding == nil {
            type.context.hiding = "it is private"
        } else if case .type(let parent)? = scopes.last, parent.isPrivateExtension, !isPublished,
            type.context.hiding == nil
        {
            type.context.hiding = "it is private"
        }
        forgetWords()
        if token()?.isSymbol(":") == true {
            repeat {
                place += 1
                while let token = token(), token.isSymbol("@") || token.isSymbol("~") || token.isWord("nonisolated") {
                    place += 1
                    if token.isSymbol("@") { readAttribute() }
                    forgetWords()
                }
                type.inherited.append(readName().joined(separator: "."))
            } while token()?.isSymbol(",") == true || token()?.isSymbol("&") == true
        }
        if token()?.isWord("where") == true {
            type.isConstrained = isExtension
            while let token = token(), token.kind != .directive, !token.isSymbol("{"), !token.isSymbol("}") {
                place += 1
            }
        }
        types.append(type)
        guard token()?.isSymbol("{") == true else { return }
        place += 1
        scopes.append(.type(type))
    }

    private mutating func readTypealias() {
        guard let name = token(), name.kind == .word, token(1)?.isSymbol("=") == true else { return }
        place += 2
        var meaning: [Token] = []
        var depth = 0
        while let token = token(), token.kind == .word || token.kind == .symbol, !"{};@".contains(token.text),
            meaning.isEmpty || depth > 0 || !token.startsLine
        {
            if "([<".contains(token.text) { depth += 1 }
            if ")]>".contains(token.text) { depth -= 1 }
            meaning.append(token)
            place += 1
        }
        typealiases[name.name] = meaning
    }

    /// Reads a function's declaration up to its body.
    private mutating func readFunction() {
        guard case .type(let owner)? = scopes.last, owner.kind != .other, let name = token(), name.kind == .word,
            KnownMethod.bases.contains(name.name), token(1)?.isSymbol("(") == true, !modifiers.contains("static"),
            !modifiers.contains("class"), !isPrivate, !owner.isPrivateExtension || isPublished
        else { return }
        var context = context
        context.actor = modifiers.contains("nonisolated") ? nil : globalActor ?? context.actor
        place += 1
        let start = place + 1
        skipBalanced()
        guard place > start, let parameters = Self.parameters(tokens[start..<(place - 1)]), isPlain else { return }
        functions.append(
            DeclaredFunction(
                context: context, base: name.name, labels: parameters.map(\.label), types: parameters.map(\.type),
                isConstrained: owner.isConstrained || hasWhereClause, isOverride: modifiers.contains("override")))
    }

    /// Whether a function returns nothing, does not throw and does not wait, according to what follows its parameters.
    private var isPlain: Bool {
        guard let next = token() else { return true }
        if ["async", "throws", "rethrows", "reasync"].contains(next.text) { return false }
        guard next.isSymbol("->") else { return true }
        return token(1)?.isWord("Void") == true || token(1)?.isSymbol("(") == true && token(2)?.isSymbol(")") == true
    }

    /// Whether a `where` clause precedes the body.
    private var hasWhereClause: Bool {
        tokens[place...].prefix(8).prefix { !$0.isSymbol("{") && $0.kind != .directive }.contains { $0.isWord("where") }
    }

    /// Labels and types; `nil` for parameters that no delegate method has.
    private static func parameters(_ tokens: ArraySlice<Token>) -> [(label: String, type: [Token])]? {
        var parts: [[Token]] = [[]]
        var depth = 0
        for token in tokens {
            if "([<{".contains(token.text), token.kind == .symbol { depth += 1 }
            if ")]>}".contains(token.text), token.kind == .symbol { depth -= 1 }
            if depth == 0, token.isSymbol(",") {
                parts.append([])
            } else {
                parts[parts.count - 1].append(token)
            }
        }
        var parameters: [(label: String, type: [Token])] = []
        for part in parts {
            guard let colon = part.firstIndex(where: { $0.isSymbol(":") }), (1...2).contains(colon),
                part[..<colon].allSatisfy({ $0.kind == .word })
            else { return nil }
            let type = part[(colon + 1)...].prefix { !$0.isSymbol("=") }
            parameters.append((part[0].name, Array(type)))
        }
        return parameters
    }
}
