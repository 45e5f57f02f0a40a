/// The sources of a target, and the delegate methods that their classes add.
package struct DelegateSources {
    private var types: [DeclaredType] = []
    private var functions: [DeclaredFunction] = []
    private var typealiases: [String: [Token]] = [:]

    package init() {}

    /// Adds a file of the target.
    package mutating func read(_ source: String) {
        let scanner = SourceScanner(source)
        types += scanner.types
        functions += scanner.functions
        typealiases.merge(scanner.typealiases) { first, _ in first }
    }

    /// The source of a `CBDelegateMethodTable` with the methods.
    package var table: String { TableWriter.table(of: methods) }

    /// The methods, in the order of the sources.
    ///
    /// A class that has no superclass, or conforms to the protocol itself, adds nothing: its conformance has its methods.
    /// Whether the superclass is a delegate is not known here; if it is not, the entry does nothing.
    var methods: [AddedMethod] {
        let classes = Dictionary(types.filter { $0.kind == .class }.map { ($0.key, $0) }) { first, _ in first }
        let conformances = Dictionary(types.map { ($0.key, Set($0.inherited.map(Self.lastName))) }) { $0.union($1) }
        let names = Set(types.filter { $0.kind != .extension }.compactMap(\.context.path.last))
        return functions.compactMap { function in
            let key = function.context.path.joined(separator: ".")
            guard let owner = classes[key], let superclass = owner.inherited.first.map(Self.lastName),
                superclass != "NSObject", !KnownMethod.delegates.contains(superclass)
            else { return nil }
            let candidates = KnownMethod.named(function.base, labels: function.labels)
            let types = function.types.map { WrittenType.canonical($0, typealiases: typealiases, types: names) }
            let exact = candidates.first { $0.parameters.map(\.type) == types }
            guard let method = exact ?? candidates.first,
                conformances[key]?.isDisjoint(with: [method.delegate, method.delegate + "Additions"]) ?? true
            else { return nil }
            var hiding = owner.context.hiding ?? function.context.hiding
            if hiding == nil, exact == nil {
                hiding = "its parameters do not have the types of \(method.delegate), or are written in another way"
            }
            if hiding == nil, function.isConstrained { hiding = "it is declared with a where clause" }
            if hiding == nil, let actor = function.context.actor ?? globalActor(of: owner, in: classes) {
                hiding = "it is isolated to \(actor)"
            }
            // What it overrides can be called in its place.
            if function.isOverride, hiding != nil { return nil }
            return AddedMethod(
                method: method, className: key, conditions: function.context.conditions, hiding: hiding)
        }
    }

    /// The global actor that a class has from a superclass of this target.
    private func globalActor(of type: DeclaredType, in classes: [String: DeclaredType]) -> String? {
        var type = type
        for _ in 0..<32 {
            if let actor = type.context.actor { return actor }
            guard let superclass = type.inherited.first.flatMap({ classes[$0] }) else { return nil }
            type = superclass
        }
        return nil
    }

    private static func lastName(_ name: String) -> String {
        name.split(separator: ".").last.map(String.init) ?? name
    }
}

extension DeclaredType {
    /// The name within the module.
    fileprivate var key: String { context.path.joined(separator: ".") }
}
