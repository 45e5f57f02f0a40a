import Foundation

/// The tables that the build plugin `DelegateMethods` wrote into the modules of this program.
enum DelegateTables {
    enum Finding {
        /// The class has the method; `call` is a `DelegateMethodCall`.
        case callable(any AnyObject & Sendable)
        /// The class has the method, but the table cannot call it.
        case hidden(reason: String)
        /// The class does not have the method.
        case absent
    }

    private static let tables = Locked<[String: [CBDelegateMethod]?]>([:])

    /// Looks for a method that this class declares itself; `nil` if its module has no table.
    static func find(_ signature: String, in type: AnyClass) -> Finding? {
        let name = ClassName(type)
        guard let table = table(of: name.module) else { return nil }
        for method in table where method.signature == signature {
            switch method.access {
            case .callable(let belongs, let call):
                // A subclass has the method as well; it is looked for in each class in turn.
                if belongs(type), _getSuperclass(type).map({ !belongs($0) }) ?? true { return .callable(call) }
            case .hidden(let className, let reason):
                if name.isSame(as: className) { return .hidden(reason: reason) }
            }
        }
        return .absent
    }

    private static func table(of module: String) -> [CBDelegateMethod]? {
        if let known = tables.with({ $0[module] }) { return known }
        // The mangled name of the enumeration: module, name, kind.
        let name = "_CBDelegateMethods"
        let type = _typeByName("\(module.utf8.count)\(module)\(name.utf8.count)\(name)O")
        let methods = (type as? any CBDelegateMethodTable.Type)?.methods
        tables.with { $0[module] = .some(methods) }
        return methods
    }
}

/// The name of a class, taken apart.
struct ClassName: Equatable {
    let module: String
    /// The name within the module, without arguments of generic types: `Outer.Inner`.
    let path: String
    /// Whether the class is private, within a private type, or within a function.
    let isHidden: Bool
}

extension ClassName {
    init(_ type: AnyClass) { self.init(String(reflecting: type)) }

    /// - Parameter text: as the runtime writes it: `App.Outer<Swift.Int>.Inner`, `App.(unknown context at $5f3c).Inner`,
    ///   `(extension in App):Other.Outer.Inner`.
    init(_ text: String) {
        var parts = [""]
        var depth = 0
        for character in text {
            switch character {
            case "<", "(": depth += 1
            case ">", ")": depth -= 1
            case "." where depth == 0: parts.append("")
            case _ where depth == 0: parts[parts.count - 1].append(character)
            default: break
            }
        }
        isHidden = parts.contains("")
        // What is left of "(extension in App):Other" is ":Other".
        let isExtension = parts[0].hasPrefix(":")
        if isExtension { parts[0].removeFirst() }
        let owner = text.prefix { $0 != ")" }.dropFirst("(extension in ".count)
        module = isExtension ? String(owner) : parts[0]
        path = (isExtension ? parts[...] : parts.dropFirst()).filter { !$0.isEmpty }.joined(separator: ".")
    }

    /// The name with its module, as a source has it.
    var shown: String { module + "." + path }

    /// Whether a class with this path in its source is meant. What surrounds a hidden class is unknown here.
    func isSame(as other: String) -> Bool {
        guard isHidden else { return path == other }
        return path.split(separator: ".").last == other.split(separator: ".").last
    }
}
